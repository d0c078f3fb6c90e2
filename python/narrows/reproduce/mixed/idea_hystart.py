"""Section VII: bursts of BBR whose STARTUP also ends on HyStart's signals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Line, Panel
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import held, interval, ratios
from narrows.reproduce.mixed import ideas, testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

BUFFERS = (0.5, 1.0)
LABELS = {0: "BBR", 1: "BBR that HyStart stops"}
COLOURS = {0: "bbr", 1: "queue"}


def cases(scope: Scope) -> Iterator[Case]:
    """CUBIC-bbr in the two shallow buffers over all rates, with HyStart and without."""
    for hystart in LABELS:
        for room in BUFFERS:
            for rate in testbed.rates(scope):
                options = {"startup_hystart": bool(hystart)}
                spec = ideas.spec(scope, ("cubic", "bbr"), rate, room, options)
                yield Case({"hystart": hystart, "buffer_bdp": room, "rate_mbps": rate}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's results: one row."""
    row = testbed.outcome(trial)
    return {"outcome": row.with_columns(pl.col("utilization") * 100)}


def _rows(data: Data, hystart: int, room: float) -> pl.DataFrame:
    return data["outcome"].filter((pl.col("hystart") == hystart) & (pl.col("buffer_bdp") == room))


def draw(data: Data) -> list[Picture]:
    """Throughput of the large flow and utilisation over the rate."""
    panels = tuple(
        _panel(data, value, label, room)
        for value, label in (
            ("goodput_mbps", "Large flow (Mbit/s)"),
            ("utilization", "Utilisation (percent)"),
        )
        for room in BUFFERS
    )
    figure = Figure(
        "A STARTUP that HyStart ends",
        f"Large CUBIC flow beside 1 MB BBR flows, 45 ms, means; {data.scope.profile}",
        panels,
        "Throughput of the large CUBIC flow and utilisation, with BBR bursts of both kinds.",
        columns=2,
        height=3.0,
    )
    return [Picture("", "What BBR's bursts leave of a CUBIC flow and of the link", figure)]


def _panel(data: Data, value: str, label: str, room: float) -> Panel:
    lines = []
    for hystart, words in LABELS.items():
        rows = testbed.means(_rows(data, hystart, room), value, "rate_mbps")
        x, y = frames.column(rows, "rate_mbps"), frames.column(rows, "mean")
        lines.append(Line(words, x, y, COLOURS[hystart], marker="o"))
    return Panel("Bottleneck (Mbit/s)", label, tuple(lines), title=f"{room:g} BDP")


def judge(data: Data) -> list[Finding]:
    """The large flow has more throughput, and utilisation is higher."""
    checks = [
        more(data, "goodput_mbps", "The large CUBIC flow suffers less.", " Mbit/s"),
        more(data, "utilization", "The link's utilisation suffers less.", " %"),
    ]
    return [Finding("mixed/idea-hystart", checks)]


def _means(data: Data, hystart: int, room: float, value: str) -> list[float]:
    """The mean over the rates, by repetition."""
    rows = _rows(data, hystart, room).group_by("trial").agg(pl.col(value).mean()).sort("trial")
    return rows[value].to_list()


def more(data: Data, value: str, statement: str, unit: str) -> Check:
    """A value with HyStart and without, mean over the rates of each buffer."""
    found, told = {}, []
    for room in BUFFERS:
        new, old = (_means(data, hystart, room, value) for hystart in (1, 0))
        found[f"{room:g} BDP"] = ratios(new, old)
        told.append(f"{interval(new, 3, unit)} instead of {interval(old, 3, unit)}, {room:g} BDP")
    return held(
        "mixed/idea-hystart",
        value,
        statement,
        "Mean over the rates, with HyStart over that without.",
        found,
        f" ({'; '.join(told)})",
    )
