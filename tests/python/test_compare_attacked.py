"""The rule of comparisons under attack: how often it is wrong, on a small scale.

The page docs/reference/comparisons.md is the same on a large one.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from narrows.compare import EquivalenceVerdict

TOOLS = Path(__file__).parents[2] / "tools"
REPETITIONS = 60


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(TOOLS), *sys.path])


def test_a_scenario_neither_differs_from_itself_nor_agrees_with_another() -> None:
    import attack_comparisons as attack

    first, second = attack.Pair("reno", "cubic", "path.loss=0.02").pools(40)
    truth = attack.true_verdicts(first, second)
    assert list(truth.values()).count(EquivalenceVerdict.DIFFER) >= 4
    chance = random.Random(2)
    for trials in (2, 3, 6, 10):
        itself: Counter[EquivalenceVerdict] = Counter()
        others: Counter[EquivalenceVerdict] = Counter()
        for _ in range(REPETITIONS):
            itself += attack.same(first, trials, chance)
            others += attack.different(first, second, truth, trials, chance)
        assert itself[EquivalenceVerdict.DIFFER] <= 0.01 * itself.total()
        assert others[EquivalenceVerdict.AGREE] <= 0.01 * others.total()
        if trials == 2:
            assert set(itself) | set(others) == {EquivalenceVerdict.UNDECIDED}
        if trials == 10:
            assert others[EquivalenceVerdict.DIFFER] >= 0.8 * others.total()
            assert itself[EquivalenceVerdict.AGREE] >= 0.3 * itself.total()
