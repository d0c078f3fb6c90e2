"""The first command to try: a published figure, computed and judged in seconds, on one screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.backends import get_backend
from narrows.errors import NarrowsError
from narrows.execute import Watcher
from narrows.figures.model import Floats
from narrows.metrics.intervals import explain_zero

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.reproduce.make import Reproduction

FIGURE = "panaderia/fig9"
SHOWN = (
    ("panaderia/fig9-cycle", 0),
    ("panaderia/fig9-cycle", 2),
    ("panaderia/fig9-rtprop", 1),
    ("panaderia/fig9-rtprop", 2),
    ("panaderia/fig9-loss", 0),
)
"""The claims that tell the story, and a check of each; the page has all."""
WIDE = 50.0
"""An interval with half of this width leaves nearly every percentage possible."""
COLUMNS, COLUMN_S = 60, 1.0
"""The number of columns of the sparklines, and the seconds over which each is a mean."""
TICK_COLUMNS = 20
LEVELS = "▁▂▃▄▅▆▇█"
MARKS = {True: "✓", False: "✗", None: "?"}
EXPLAINED = (
    (False, "✗ isn't an error: the paper gives a number that narrows doesn't find."),
    (None, "? is undecided: the interval of so few runs is on both sides of a bound."),
)
"""The marks that need an explanation, if some check has them."""


@dataclass(frozen=True, slots=True)
class Demo:
    """The reproduced figure, with BBR's share of the link from `start_s` on, in each `COLUMN_S`."""

    reproduction: Reproduction
    share: Floats
    start_s: float
    simulated_s: float

    @property
    def page(self) -> Path:
        """The page of the figure."""
        return self.reproduction.pages[FIGURE]


def compute(out: str | Path | None = None, watcher: Watcher | None = None) -> Demo:
    """Reproduces the figure on its small grid; raises NarrowsError if a run fails."""
    from narrows.reproduce.catalogue import exhibits
    from narrows.reproduce.exhibit import Scope
    from narrows.reproduce.gather import measurements, work
    from narrows.reproduce.make import OUT, reproduce

    exhibit = exhibits()[FIGURE]
    place = Path(out) if out is not None else OUT
    profile = exhibit.profile
    done = reproduce(FIGURE, profile=profile, quick=True, looks=1, out=place, watcher=watcher)
    if done.gathered.failures:
        raise NarrowsError(f"a run failed: {done.gathered.failures[0].error}")
    item = work(exhibit, Scope(profile, quick=True), get_backend("sim"))
    shares = measurements(item, place)["share"]
    starts, bbr = (shares[name].to_numpy() for name in ("start_s", "bbr"))
    windows = round(COLUMN_S / (starts[1] - starts[0]))
    means = bbr[: COLUMNS * windows].reshape(-1, windows).mean(axis=1)
    simulated_s = sum(job.trial.scenario["run"]["duration_ns"] for job in item.jobs()) / 1e9
    return Demo(done, means, float(starts[0]), simulated_s)


def lines(demo: Demo) -> Iterator[str]:
    """Yields one screen: the observation, the cycle, the verdicts, and the path of the page."""
    checks = _checks(demo.reproduction)
    turn = "they take turns every 20 s" if checks[0].passed else "no regular cycle was found"
    yield f"Two BBR and two CUBIC flows share a link of 80 Mbit/s: {turn}."
    yield ""
    yield from _chart(demo.share, demo.start_s)
    yield ""
    yield from explain_zero(_verdict_line(check) for check in checks)
    yield from (f"({said})" for passed, said in EXPLAINED if passed in {c.passed for c in checks})
    yield ""
    yield f"The paper is {demo.reproduction.made[0].exhibit.source}."
    yield f"{demo.simulated_s / 60:.0f} minutes of traffic, {_time_taken(demo.reproduction)}."


def _checks(done: Reproduction) -> list[Check]:
    findings = {finding.claim: finding for item in done.made for finding in item.findings}
    return [findings[claim].checks[number] for claim, number in SHOWN]


def _verdict_line(check: Check) -> str:
    """Returns the mark of a verdict, what was checked, and what was measured."""
    measured = check.measured.partition(" (")[0].partition(";")[0]
    wide = re.fullmatch(r"(\S+) ± (\S+) %", measured)
    if wide is not None and float(wide[2]) >= WIDE:
        measured = f"{wide[1]} %, of too few runs"
    return f"{MARKS[check.passed]} {check.statement.removesuffix('.')}: {measured}"


def _time_taken(done: Reproduction) -> str:
    if not done.gathered.new:
        return "computed earlier"
    return f"computed in {done.gathered.wall_s:.1f} s"


def _chart(share: Floats, start_s: float) -> Iterator[str]:
    """Yields the shares of both kinds as sparklines from 0 to 100 %, above an axis of time."""
    for name, part in (("BBR", share), ("CUBIC", 1 - share)):
        yield f"{name:5} {sparkline(part.tolist())}  {part.min():.0%} to {part.max():.0%}"
    ticks = (
        f"|{start_s + column * COLUMN_S:.0f} s" for column in range(0, len(share), TICK_COLUMNS)
    )
    yield f"      {''.join(f'{tick:{TICK_COLUMNS}}' for tick in ticks).rstrip()}"


def sparkline(values: Sequence[float]) -> str:
    """Returns values between 0 and 1 as blocks of eight heights."""
    top = len(LEVELS) - 1
    return "".join(LEVELS[min(max(round(value * top), 0), top)] for value in values)
