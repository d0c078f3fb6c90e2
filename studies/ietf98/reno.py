"""Slides 'friendliness to 1x, 4x and 16x Reno': the share that BBR and CUBIC leave to Reno."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.figures.palette import name
from narrows.report import Check
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, ratios

from . import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

SLIDES = {"1x": (1, 1, 120), "4x": (1, 4, 120), "16x": (2, 16, 240)}
"""Flows of BBR or CUBIC, flows of Reno, seconds."""
KINDS = ("bbr", "cubic")
BUFFER = "1mb"


def cases(scope: Scope) -> Iterator[Case]:
    """Every slide with BBR and with CUBIC, and other starting orders."""
    offsets = testbed.OFFSETS[: 4 if scope.quick else None]
    for slide, (few, many, length) in SLIDES.items():
        for kind in KINDS:
            for place, (first, second) in enumerate(offsets):
                flows = [
                    {"cca": kind, "count": few, "start": first},
                    {"cca": "reno", "count": many, "start": second},
                ]
                path = {**testbed.SLOW, "buffer": BUFFER}
                spec = testbed.spec(
                    scope, path, flows, duration=f"{length}s", sample_interval="500ms"
                )
                yield Case({"slide": slide, "kind": kind, "order": place}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Throughput of each flow in windows of 1 s; goodput of Reno and of the others."""
    rows = testbed.per_flow(trial).with_columns(reno=pl.col("cca") == "reno")
    total = rows["goodput_mbps"].sum()
    mine = rows.filter(pl.col("reno"))
    fair = mine.height / rows.height
    got = testbed.number(mine["goodput_mbps"].sum())
    share = pl.DataFrame({"reno_mbps": [got], "of_fair": [got / (testbed.number(total) * fair)]})
    return {"throughput": run_frames.by_flow(trial, 1.0), "share": share}


def draw(data: Data) -> list[Picture]:
    """Throughput of every flow, BBR beside Reno on the left, CUBIC beside Reno on the right."""
    panels = tuple(_panel(data, slide, kind) for slide in SLIDES for kind in KINDS)
    figure = Figure(
        "What BBR and CUBIC leave to Reno in a deep buffer",
        f"10 Mbit/s, 40 ms, 1 MB buffer; windows of 1 s, all start together; {data.scope.profile}",
        panels,
        "Six panels, throughput of each flow over time: one BBR or CUBIC with one and four Reno, "
        "two with sixteen.",
        columns=2,
        height=2.3,
    )
    return [Picture("", "Throughput of each flow; dashed: the fair share", figure)]


def _panel(data: Data, slide: str, kind: str) -> Panel:
    few, many, length = SLIDES[slide]
    first = (pl.col("order") == 0) & (pl.col("trial") == 1)
    rows = data["throughput"].filter((pl.col("slide") == slide) & (pl.col("kind") == kind) & first)
    lines = []
    for label in sorted(rows["class"].unique().to_list(), key=_reno_first):
        mine = rows.filter(pl.col("class") == label)
        cca = "reno" if label.startswith("reno") else kind
        x, y = frames.column(mine, "start_s"), frames.column(mine, "throughput_mbps")
        thin = cca == "reno" and many > 1
        lines.append(Line(name(cca), x, y, cca, width=0.7 if thin else 1.5,
                          opacity=0.6 if thin else 1.0))  # fmt: skip
    return Panel(
        "Time (s)",
        "Mbit/s",
        tuple(lines),
        title=f"{few} {name(kind)} with {many} Reno",
        x_range=(0, length),
        y_range=(0, 10),
        guides=(Guide(10 / (few + many), ""),),
    )


def _reno_first(label: str) -> tuple[bool, str]:
    return (not label.startswith("reno"), label)


def judge(data: Data) -> list[Finding]:
    """On each slide BBR leaves Reno at least as much as CUBIC does."""
    return [Finding(f"ietf98/reno-{slide}", [at_least(data, slide)]) for slide in SLIDES]


def at_least(data: Data, slide: str) -> Check:
    """Reno's part of its fair share beside each."""
    few, many, _ = SLIDES[slide]
    verb = "is" if few == 1 else "are"
    rows = data["share"].filter(pl.col("slide") == slide).sort("order")
    beside = {kind: rows.filter(pl.col("kind") == kind)["of_fair"].to_list() for kind in KINDS}
    fair = {kind: [_fair(value) for value in values] for kind, values in beside.items()}
    percent = {kind: interval(data, [100 * v for v in values]) for kind, values in beside.items()}
    return judge_bounds(
        data,
        f"ietf98/reno-{slide}",
        "at-least",
        f"{few} BBR {verb} at least as fair to {many} Reno as {few} CUBIC.",
        "Goodput of the Reno flows together, as a part of their fair share, in each order of "
        "starting, or the inverse if it is more than that: who starves is no fairer than who "
        "starves others. What it is beside BBR over what it is beside CUBIC.",
        ratios(fair["bbr"], fair["cubic"]),
        f" ({percent['bbr']} % of the fair share beside BBR, {percent['cubic']} % beside CUBIC)",
    )


def _fair(part: float) -> float:
    """How near a part of a fair share is to it, from either side; 1 if it is fair."""
    return min(part, 1 / part) if part else 0.0
