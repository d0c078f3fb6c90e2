"""The response to the report: several CUBIC and BBR flows in large buffers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures.model import Figure, Guide, Panel
from narrows.reproduce import run_frames, spread
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, make_note

from . import testbed
from .extension import BUFFERS

if TYPE_CHECKING:
    from narrows.store import StoredTrial

COUNTS = (1, 2, 4)
TRIALS = 5


def cases(scope: Scope) -> Iterator[Case]:
    """Equal numbers of each kind, in both buffers, with BBR's own pacing."""
    for label, (room, _) in BUFFERS.items():
        for count in COUNTS:
            spec = testbed.spec(
                scope,
                "Mininet",
                {**testbed.SLOW, "buffer": room},
                [{"cca": "cubic", "count": count}, {"cca": "bbr", "count": count}],
                duration="100s",
                trials=3 if scope.quick else TRIALS,
                sample_interval="500ms",
            )
            yield Case({"buffer": label, "flows": count}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """BBR's share of the payload."""
    row = run_frames.summary(trial)
    return {"share": row.select((pl.col("bbr.share") * 100).alias("percent"))}


def draw(data: Data) -> list[Picture]:
    """BBR's share over the number of flows."""
    lines = []
    for place, (label, (_, words)) in enumerate(BUFFERS.items()):
        found = spread.over(data["share"].filter(pl.col("buffer") == label), "flows", "percent")
        lines.append(spread.line(found, "flows", words, f"flow:{place}"))
    panel = Panel("Flows of each kind", "BBR's share (%)", tuple(lines), y_range=(0, 102),
                  guides=(Guide(50, "fair"),))  # fmt: skip
    figure = Figure(
        "Several CUBIC and BBR flows in large buffers",
        f"10 Mbit/s, 40 ms, 100 s, Mininet, mean and range of the trials; {data.scope.profile}",
        (panel,),
        "BBR's share over the number of flows of each kind in two large buffers.",
        height=3.2,
    )
    return [Picture("", "BBR's share of the goodput", figure)]


def judge(data: Data) -> list[Finding]:
    """The results; the response only asks."""
    notes = []
    for label, (_, words) in BUFFERS.items():
        told = []
        for count in COUNTS:
            rows = data["share"].filter((pl.col("buffer") == label) & (pl.col("flows") == count))
            told.append(f"{count} of each: {interval(data, rows['percent'].to_list(), 3, ' %')}")
        how = "BBR's share of the goodput."
        notes.append(make_note(f"What BBR has at {words}.", how, "; ".join(told)))
    return [Finding("cs244/several-flows", [], notes=notes)]
