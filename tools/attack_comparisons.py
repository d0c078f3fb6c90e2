"""Writes docs/reference/comparisons.md: how often a comparison is right.

    python tools/attack_comparisons.py

Each scenario is run many times. Comparisons are then drawn from these runs: of a scenario with
itself, which must never differ, and with another one, which must never agree in a quantity whose
means are known to differ by more than is allowed.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from narrows.backends import get_backend
from narrows.compare import CellComparison, ComparedQuantity, EquivalenceVerdict
from narrows.compare.quantities import Measured, measure
from narrows.plan import plan
from narrows.spec import parse

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "comparisons.md"
POOL, REPETITIONS = 400, 200
TRIALS = (2, 3, 4, 6, 8, 10)
DESCRIPTION = """
[path]
rate = "20mbit"
rtt = "40ms"
buffer = "1bdp"
loss = 0.01
[[flows]]
cca = "{first}"
[[flows]]
cca = "{second}"
[run]
duration = "30s"
warmup = "5s"
sample_interval = "50ms"
"""
Drawn = dict[int, list[Counter[EquivalenceVerdict]]]
"""The verdicts of each comparison, by its number of trials."""
HEAD = """\
# How often a comparison is right

Made by `python tools/attack_comparisons.py`; not to be edited. The rule under test is that of
`narrows compare`: two means agree if the whole 95 % interval of their difference lies within what
the quantity allows, differ if all of it lies outside, and are undecided otherwise.
"""


@dataclass(frozen=True)
class Pair:
    """A scenario of two flows, and the change that makes it another one."""

    first: str
    second: str
    change: str

    @property
    def title(self) -> str:
        """The two flows and the change, in words."""
        return f"{self.first} and {self.second}, `{self.change}`"

    def pools(self, size: int) -> tuple[list[Measured], list[Measured]]:
        """The measurements of `size` runs of either scenario."""
        text = DESCRIPTION.format(first=self.first, second=self.second)
        return _pool(text, [], size), _pool(text, [self.change], size)


PAIRS = (
    Pair("reno", "cubic", "path.loss=0.02"),
    Pair("reno", "cubic", "path.rtt=60ms"),
    Pair("bbr", "cubic", "path.loss=0.0"),
    Pair("bbr", "cubic", "flows.1.cca=reno"),
    Pair("bbr", "bbr", "path.loss=0.05"),
)


def _pool(text: str, changes: Sequence[str], size: int) -> list[Measured]:
    spec = parse(text, "attacked", [*changes, f"run.trials={size}"]).spec
    made, simulator = plan(spec, "attack"), get_backend("sim")

    def run(number: int) -> Measured:
        scenario = made.trials[number].scenario
        result = simulator.run(scenario)
        return measure(scenario, result.tables, result.info, made.groups)

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(run, range(size)))


def values(runs: Sequence[Measured], cell: ComparedQuantity) -> tuple[float, ...]:
    """The cell's value in each run."""
    return tuple(run[cell] for run in runs)


def true_verdicts(
    first: Sequence[Measured], second: Sequence[Measured]
) -> dict[ComparedQuantity, EquivalenceVerdict]:
    """The verdict of whole pools on each common cell, which is taken for the truth."""
    cells = sorted(set(first[0]) & set(second[0]))
    return {c: CellComparison(c, "b", values(second, c), values(first, c)).verdict for c in cells}


def same(
    runs: Sequence[Measured], trials: int, chance: random.Random
) -> Counter[EquivalenceVerdict]:
    """The verdicts on a scenario beside itself, in disjoint runs."""
    drawn = chance.sample(runs, 2 * trials)
    first, second = drawn[:trials], drawn[trials:]
    return Counter(true_verdicts(first, second).values())


def different(
    first: Sequence[Measured],
    second: Sequence[Measured],
    truth: dict[ComparedQuantity, EquivalenceVerdict],
    trials: int,
    chance: random.Random,
) -> Counter[EquivalenceVerdict]:
    """The verdicts on the cells that truly differ."""
    judged = true_verdicts(chance.sample(first, trials), chance.sample(second, trials))
    return Counter(v for cell, v in judged.items() if truth.get(cell) is EquivalenceVerdict.DIFFER)


def page() -> str:
    """The whole page."""
    chance = random.Random(1)  # noqa: S311 - draws runs, not secrets
    parts = [HEAD]
    itself: Drawn = {trials: [] for trials in TRIALS}
    others: Drawn = {trials: [] for trials in TRIALS}
    listing = []
    for pair in PAIRS:
        first, second = pair.pools(POOL)
        truth = true_verdicts(first, second)
        listing.append((pair, truth))
        for trials in TRIALS:
            for _ in range(REPETITIONS):
                itself[trials].append(same(first, trials, chance))
                others[trials].append(different(first, second, truth, trials, chance))
    parts += _table(
        "A scenario compared with itself",
        "It must never differ.",
        itself,
        EquivalenceVerdict.DIFFER,
    )
    about = f"Only cells that differ in {POOL} runs of each are counted; they must never agree."
    parts += _table("A scenario compared with another", about, others, EquivalenceVerdict.AGREE)
    parts += _pairs(listing)
    return "\n".join(parts).rstrip() + "\n"


def _table(title: str, about: str, drawn: Drawn, wrong: EquivalenceVerdict) -> Iterator[str]:
    yield f"## {title}\n"
    yield f"{about} {REPETITIONS} comparisons of each of {len(PAIRS)} scenarios.\n"
    yield "| Trials | Cells | Agree | Differ | Undecided | Comparisons without a wrong cell |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: |"
    for trials, comparisons in drawn.items():
        found = sum(comparisons, Counter[EquivalenceVerdict]())
        shares = [f"{100 * found[verdict] / found.total():.2f} %" for verdict in EquivalenceVerdict]
        right = sum(not comparison[wrong] for comparison in comparisons) / len(comparisons)
        cells = [str(trials), str(found.total()), *shares, f"{100 * right:.1f} %"]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _pairs(
    listing: Sequence[tuple[Pair, dict[ComparedQuantity, EquivalenceVerdict]]],
) -> Iterator[str]:
    yield "## The scenarios\n"
    yield "Each is 20 Mbit/s, 40 ms, 1 BDP, 1 % of random loss and 30 s, then the same changed.\n"
    yield "| Flows and change | Cells that differ | Cells that agree | Neither |"
    yield "| --- | ---: | ---: | ---: |"
    for pair, truth in listing:
        found = Counter(truth.values())
        order = (EquivalenceVerdict.DIFFER, EquivalenceVerdict.AGREE, EquivalenceVerdict.UNDECIDED)
        yield f"| {pair.title} | {' | '.join(str(found[v]) for v in order)} |"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
