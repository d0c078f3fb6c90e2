"""Figure 8: throughput and utilisation for growing gaps between the 1 MB flows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Line, Panel
from narrows.figures.palette import name
from narrows.metrics.intervals import mean
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import differences, judge_bounds

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

RATE, BUFFER = 40, 0.5
GAPS = tuple(round(0.1 * step, 1) for step in range(10))
QUICK_GAPS = (0.0, 0.3, 0.6, 0.9)


def cases(scope: Scope) -> Iterator[Case]:
    """A CUBIC flow of 90 MB beside 1 MB flows of both controls, gaps from 0 to 0.9 s."""
    for small in ("bbr", "cubic"):
        for gap in QUICK_GAPS if scope.quick else GAPS:
            spec = testbed.spec(
                scope, "cubic", small, RATE, BUFFER, large_size="90mb", gap=f"{gap:g}s"
            )
            yield Case({"small": small, "gap_s": gap}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's results: one row."""
    return {"outcome": testbed.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Throughput and utilisation over the gap."""
    panels = (
        _panel(data, "goodput_mbps", "Throughput of the large flow (Mbit/s)", 1.0),
        _panel(data, "utilization", "Utilisation (%)", 100.0),
    )
    figure = Figure(
        "Growing gaps between 1 MB flows",
        f"Large CUBIC flow of 90 MB, 40 Mbit/s, 45 ms, 0.5 BDP; {data.scope.profile}",
        panels,
        "Throughput of the large flow and utilisation over the gap, beside BBR and CUBIC flows.",
        columns=2,
        height=3.2,
    )
    return [Picture("", "Mean of the repetitions", figure)]


def _panel(data: Data, value: str, y_label: str, scale: float) -> Panel:
    lines = []
    for small in ("bbr", "cubic"):
        rows = testbed.means(data["outcome"].filter(pl.col("small") == small), value, "gap_s")
        x, y = frames.column(rows, "gap_s"), scale * frames.column(rows, "mean")
        lines.append(Line(f"CUBIC-{small}", x, y, small, marker="o"))
    return Panel("Gap between flows (s)", y_label, tuple(lines), x_range=(-0.03, 0.93))


def judge(data: Data) -> list[Finding]:
    """The gap at which CUBIC-cubic and CUBIC-bbr differ most."""
    return [Finding("mixed/fig8", [widest(data), wider(data)])]


def _utilisation(data: Data, small: str, gap: float) -> list[float]:
    rows = data["outcome"].filter((pl.col("small") == small) & (pl.col("gap_s") == gap))
    return (100 * rows["utilization"]).to_list()


def widest(data: Data) -> Check:
    """The difference of the utilisations by gap."""
    gaps = data["outcome"]["gap_s"].unique().sort().to_list()
    apart = {
        gap: differences(_utilisation(data, "cubic", gap), _utilisation(data, "bbr", gap))
        for gap in gaps
    }
    last = apart[gaps[-1]]
    words = ", ".join(f"{mean(values):.1f}" for values in apart.values())
    kinds = f"{name('cubic')}-cubic and {name('cubic')}-bbr"
    return judge_bounds(
        data,
        "mixed/fig8",
        "widest",
        f"The utilisations of {kinds} are farthest apart at the longest gap.",
        f"Difference of the utilisations at {gaps[-1]:g} s less that at a shorter gap.",
        {f"{gap:g} s": differences(last, apart[gap]) for gap in gaps[:-1]},
        f" ({words} points at gaps of {gaps[0]:g} to {gaps[-1]:g} s)",
    )


def wider(data: Data) -> Check:
    """The difference at that gap."""
    gap = float(str(data["outcome"]["gap_s"].max()))
    return judge_bounds(
        data,
        "mixed/fig8",
        "wider",
        "There BBR's bursts leave more of the link unused than CUBIC's.",
        f"Difference of the utilisations at {gap:g} s.",
        differences(_utilisation(data, "cubic", gap), _utilisation(data, "bbr", gap)),
    )
