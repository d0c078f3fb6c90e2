"""Another STARTUP in the bursts of BBR beside a large CUBIC flow, as Section VII proposes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.looks import Look
from narrows.figures.model import Figure, Line, Panel
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, ratios

from . import ideas, testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

BUFFERS = (0.5, 1.0)
LOOKS = (Look("bbr", "solid"), Look("bbr#2", "dash"))
"""The looks of BBR and of the changed BBR."""
LABELS = {
    "goodput_mbps": "Large flow (Mbit/s)",
    "utilization": "Utilisation (%)",
    "loss": "Loss (%)",
}
UNITS = {"goodput_mbps": " Mbit/s", "utilization": " %", "loss": " %"}


@dataclass(frozen=True, slots=True)
class Startup:
    """An option of BBR that changes STARTUP, its claim, and words for its bursts."""

    claim: str
    option: str
    title: str
    words: str
    shown: tuple[str, ...]

    def cases(self, scope: Scope) -> Iterator[Case]:
        """CUBIC-bbr in the two shallow buffers over all rates, with the option and without."""
        for changed in (0, 1):
            for buffer in BUFFERS:
                for rate in testbed.rates(scope):
                    options = {self.option: bool(changed)}
                    spec = ideas.spec(scope, ("cubic", "bbr"), rate, buffer, options)
                    key = {"changed": changed, "buffer_bdp": buffer, "rate_mbps": rate}
                    yield Case(key, spec)

    def draw(self, data: Data) -> list[Picture]:
        """The panels of both kinds of bursts, over the rate."""
        panels = tuple(
            self._panel(data, value, buffer) for value in self.shown for buffer in BUFFERS
        )
        figure = Figure(
            self.title,
            f"Large CUBIC flow beside 1 MB BBR flows, 45 ms, means; {data.scope.profile}",
            panels,
            "What the large CUBIC flow and the link get beside BBR bursts of both kinds.",
            columns=2,
            height=3.0,
        )
        return [Picture("", "What BBR's bursts leave of a CUBIC flow and of the link", figure)]

    def _panel(self, data: Data, value: str, buffer: float) -> Panel:
        lines = []
        for changed, words in enumerate(("BBR", self.words)):
            cells = data.rows("outcome", changed=changed, buffer_bdp=buffer)
            rows = testbed.means(cells, value, "rate_mbps")
            x, y = frames.column(rows, "rate_mbps"), frames.column(rows, "mean")
            look = LOOKS[changed]
            lines.append(Line(words, x, y, look.hue, marker="o", dash=look.dash))
        return Panel("Bottleneck (Mbit/s)", LABELS[value], tuple(lines), title=f"{buffer:g} BDP")

    def against_plain(self, data: Data, value: str, statement: str) -> Check:
        """A value with the option over that without, mean over the rates of each buffer."""
        found, told = {}, []
        for buffer in BUFFERS:
            new, old = (_means(data, changed, buffer, value) for changed in (1, 0))
            found[f"{buffer:g} BDP"] = ratios(new, old)
            a, b = (interval(data, values, 3, UNITS[value]) for values in (new, old))
            told.append(f"{a} instead of {b}, {buffer:g} BDP")
        how = "Mean over the rates, with the change over that without."
        return judge_bounds(data, self.claim, value, statement, how, found, f" ({'; '.join(told)})")


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's results: one row, with the packets dropped of those arrived."""
    loss = (run_frames.summary(trial)["loss_rate"] * 100).alias("loss")
    row = testbed.outcome(trial).with_columns(loss, pl.col("utilization") * 100)
    return {"outcome": row}


def _means(data: Data, changed: int, buffer: float, value: str) -> list[float]:
    """The mean over the rates, by repetition."""
    cells = data.rows("outcome", changed=changed, buffer_bdp=buffer)
    return cells.group_by("trial").agg(pl.col(value).mean()).sort("trial")[value].to_list()
