"""Trials are added until checks are decided, without more errors than allowed."""

from __future__ import annotations

import numpy as np
import pytest

from narrows.backends import get_backend
from narrows.execute import BatchOutcome, RunProgress
from narrows.execute.watcher import progress_line
from narrows.metrics.bounds import decide
from narrows.metrics.intervals import student
from narrows.report import Check
from narrows.reproduce import catalogue, gather, judging, settle
from narrows.reproduce.exhibit import MOST_TRIALS, Data, Finding, Scope
from narrows.reproduce.paths import with_factor
from narrows.reproduce.settle import LOOKS


def check(passed: bool | None, mean: float | None = 1.0) -> Check:
    return Check("It holds.", "r", "e", "m", passed, {"": (mean, 0.1)})


def finding(*passed: bool | None) -> Finding:
    return Finding("panaderia/fig6", [check(each) for each in passed])


@pytest.fixture
def item() -> gather.Work:
    exhibit = catalogue.exhibits()["panaderia/fig6"]
    return gather.work(exhibit, Scope(exhibit.profile, quick=True), get_backend("sim"))


def settle_with(monkeypatch, item, answers, same=(), **options):
    """The trials of each look, and the outcome; the findings of the looks are `answers`."""
    looked: list[gather.Work] = []

    def gather_alike(works, _out, *, watcher=None, **_more):
        looked.extend(works)
        if watcher:
            total = sum(1 for work in works for _ in work.jobs())
            watcher(RunProgress(total, 0, total, 1.0, 1.0, 10, 1.0))
        return BatchOutcome(1, 0, (), 10, 0.5)

    monkeypatch.setattr(settle, "gather", gather_alike)
    monkeypatch.setattr(settle, "measurements", lambda work, _out: Data({}, work.scope))
    monkeypatch.setattr(settle, "judge_figure", lambda _work, _data: (answers[len(looked) - 1],))
    monkeypatch.setattr(settle, "repeated_conditions", lambda *_: list(same))
    (outcome,), done = settle.settle([item], None, **options)
    assert done.new == len(looked)
    return looked, outcome


def test_trials_double_until_every_check_is_decided(monkeypatch, item):
    answers = [finding(True, None), finding(True, None), finding(True, True)]
    looked, outcome = settle_with(monkeypatch, item, answers, looks=5)
    counts = [len(work.cells[0].cell.plan.trials) for work in looked]
    assert counts == [3, 6, 12]
    assert outcome.findings == (answers[2],)
    assert outcome.work is looked[-1]
    seeds = [trial.seed for trial in looked[-1].cells[0].cell.plan.trials]
    assert seeds == list(range(1, 13))


def test_trials_double_to_the_number_that_was_asked_for(monkeypatch, item):
    looks = settle.looks_for([item], 100, quick=True)
    looked, _ = settle_with(monkeypatch, item, [finding(None)] * looks, looks=looks, trials=100)
    counts = [len(work.cells[0].cell.plan.trials) for work in looked]
    assert counts == [3, 6, 12, 24, 48, 96, 100]


def test_as_many_looks_are_made_as_the_trials_need(item):
    asked = (1, 3, 4, 6, 7, 384, 385)
    assert [settle.looks_for([item], n, quick=True) for n in asked] == [1, 1, 2, 2, 3, 8, 9]
    assert [settle.looks_for([item], None, quick=quick) for quick in (False, True)] == [5, 3]


def test_a_check_that_the_last_look_leaves_open_is_undecided(monkeypatch, item):
    looked, outcome = settle_with(monkeypatch, item, [finding(None)] * 3, looks=3)
    assert len(looked) == 3
    assert outcome.findings[0].verdict == "undecided"


def test_no_trial_is_added_for_what_isn_t_measured_or_never_ends(monkeypatch, item):
    nothing = Finding("panaderia/fig6", [check(None, None), Check("x", "", "", "", None)])
    assert len(settle_with(monkeypatch, item, [nothing], looks=5)[0]) == 1


def test_each_look_tells_its_own_runs_and_then_its_figures(monkeypatch, item):
    told: list[RunProgress] = []
    answers = [finding(None), finding(True)]
    settle_with(monkeypatch, item, answers, looks=5, watcher=told.append)
    runs = [(state.step, state.done, state.total) for state in told if state.total]
    first = sum(1 for _ in item.jobs())
    assert runs == [
        ("look 1 of up to 5", first, first),
        ("look 2 of up to 5", first, first),  # as many again, not all so far
    ]
    assert [progress_line(state, 1.0) for state in told if not state.total] == [
        f"look {look} of up to 5, judging figure 1 of 1" for look in (1, 2)
    ]


def test_a_verdict_needs_no_more_trials_once_a_check_failed():
    assert settle.verdict(finding(False, None))
    assert not settle.every_check(finding(False, None))
    assert not settle.verdict(finding(True, None))


def test_equal_runs_get_further_trials_on_paths_of_their_own(monkeypatch, item):
    key = item.cells[0].key
    answers = [finding(None), finding(True)]
    looked, _ = settle_with(monkeypatch, item, answers, same=[key], looks=5)
    first, *others = (trial.scenario for trial in looked[1].cells[0].cell.plan.trials)
    assert first == item.cells[0].cell.plan.trials[0].scenario
    assert len({other["path"]["rtt_ns"] for other in others}) == len(others)


def test_a_condition_has_at_most_so_many_trials(item):
    (cell, *_) = with_factor(1000, item).cells
    assert len(cell.cell.plan.trials) == MOST_TRIALS
    hashes = [trial.hash for trial in with_factor(2, item).cells[0].cell.plan.trials]
    assert hashes[:3] == [trial.hash for trial in item.cells[0].cell.plan.trials]
    assert len(set(hashes)) == 6


def test_the_level_of_a_look_leaves_the_whole_at_99_percent():
    data = Data({}, Scope("linux-6.12"), settle.confidence_of_a_look(5))
    assert judging.interval(data, [1.0, 2.0, 3.0]).endswith("± 13")  # 22.33 / sqrt(3)
    assert student(2, 0.998) == pytest.approx(22.327, rel=1e-3)
    assert student(9, 0.99) == pytest.approx(3.2498, rel=1e-4)


@pytest.mark.parametrize("shift", [0.05, 0.3, 1.0])
def test_all_looks_together_err_in_one_of_a_hundred_repetitions(shift):
    """The true mean lies `shift` standard deviations outside the limits."""
    random, wrong, repetitions = np.random.default_rng(38), 0, 1500
    level = settle.confidence_of_a_look(LOOKS[False])
    for _ in range(repetitions):
        values = (random.standard_normal(48) - shift).tolist()
        looks = (decide(values[: 3 * 2**k], 0.0, np.inf, level).passed for k in range(5))
        wrong += next((one for one in looks if one is not None), None) is True
    assert wrong <= 0.01 * repetitions
