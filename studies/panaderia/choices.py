"""Variations of conditions that the paper leaves open: order of starts, number of flows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

from narrows.figures.model import Figure, Guide, Panel
from narrows.reproduce import run_frames, spread
from narrows.reproduce.conditions import mix
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope

from . import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

BUFFERS = (0.5, 1.0, 1.75, 4.0, 8.0)
AHEAD = "5s"
STARTS = ("together", "BBR first", "CUBIC first")
COUNTS = (2, 4, 8)


def cases(scope: Scope) -> Iterator[Case]:
    """Different starts with four flows; different numbers of flows with common starts."""
    for room in BUFFERS:
        for start in STARTS:
            yield _case(scope, start, 4, room)
        for count in COUNTS:
            if count != 4:
                yield _case(scope, "together", count, room)


def _case(scope: Scope, start: str, count: int, room: float) -> Case:
    case = testbed.cell(scope, "mix", count, 80, room)
    spec = {**case.spec, "flows": _flows(start, count)}
    return Case({"start": start, **case.key}, spec)


def _flows(start: str, count: int) -> list[dict[str, Any]]:
    """Half BBR, half CUBIC; one kind may start earlier."""
    bbr, cubic = mix(bbr=count // 2, cubic=count // 2)
    late = {"BBR first": cubic, "CUBIC first": bbr}.get(start)
    if late is not None:
        late["start"] = AHEAD
    return [bbr, cubic]


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """BBR's share of the payload after the warm-up: one row, `percent`."""
    row = run_frames.summary(trial)
    return {"share": row.select((pl.col("bbr.share") * 100).alias("percent"))}


def draw(data: Data) -> list[Picture]:
    """BBR's share over the buffer: a panel for the starts, one for the number of flows."""
    rows = data["share"]
    starts = [(s, (pl.col("start") == s) & (pl.col("flows") == 4)) for s in STARTS]
    counts = [
        (f"{n} flows", (pl.col("flows") == n) & (pl.col("start") == "together")) for n in COUNTS
    ]
    panels = (
        _panel(rows, starts, "Who starts, 5 s ahead", 0),
        _panel(rows, counts, "How many flows, half of each kind", 3),
    )
    figure = Figure(
        "What the paper leaves open, varied",
        f"BBR's share beside CUBIC, 80 Mbit/s, 25 ms, {testbed.span(data.scope)}; "
        f"{data.scope.profile}",
        panels,
        "BBR's share over the buffer for different starts and numbers of flows.",
        columns=2,
        height=3.4,
    )
    return [Picture("", "Mean and range of the trials", figure)]


def _panel(rows: pl.DataFrame, variants: list[tuple[str, pl.Expr]], title: str, tint: int) -> Panel:
    lines = []
    for place, (label, wanted) in enumerate(variants):
        found = spread.over(rows.filter(wanted), "buffer_bdp", "percent")
        lines.append(spread.line(found, "buffer_bdp", label, f"flow:{place + tint}"))
    return Panel("Router queue (multiples of BDP)", "BBR's share (%)", tuple(lines),
                 title=title, x_range=(0, 8.2), y_range=(0, 102),
                 guides=(Guide(50, "fair"),))  # fmt: skip


def judge(data: Data) -> list[Finding]:  # noqa: ARG001 (no claim is decided here)
    """No findings; the figure shows how much the choices matter."""
    return []
