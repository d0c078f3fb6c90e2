"""The trials of a figure: their number, their paths, and whether they are the same run.

Where hosts draw no random numbers, as in virtual time and without jitter in the simulator, trials
with other seeds are one run (docs/decisions/025-equal-runs-are-one-trial.md).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from narrows.compare.vary import vary
from narrows.late import pl
from narrows.plan import Trial, trial_of
from narrows.reproduce.exhibit import MOST_TRIALS, Data, Finding, Frames, Key
from narrows.reproduce.gather import FigureCondition, Work
from narrows.reproduce.judging import SAME


def with_at_most(trials: int | None, item: Work) -> Work:
    """Returns the same figure with the first `trials` of each condition; all of them for None."""
    return replace(item, cells=tuple(_with_at_most(trials, cell) for cell in item.cells))


def _with_at_most(trials: int | None, condition: FigureCondition) -> FigureCondition:
    return _with_trials(condition, condition.cell.plan.trials[:trials])


def _with_trials(condition: FigureCondition, trials: tuple[Trial, ...]) -> FigureCondition:
    cell = condition.cell
    return replace(condition, cell=replace(cell, plan=replace(cell.plan, trials=trials)))


def with_factor(factor: int, item: Work, trials: int | None = None) -> Work:
    """Returns the same figure with `factor` times the trials per condition, at most `trials`.

    That is `MOST_TRIALS` for None. A condition that asks for more keeps its own number.
    """
    most = trials or MOST_TRIALS
    return replace(item, cells=tuple(_with_factor(factor, cell, most) for cell in item.cells))


def _with_factor(factor: int, condition: FigureCondition, most: int) -> FigureCondition:
    """Returns the condition with more trials, which differ from the first in their seeds alone."""
    engine, plan = condition.engine, condition.cell.plan
    trials, groups = plan.trials, plan.groups
    count = max(len(trials), min(factor * len(trials), most))
    more = []
    for number in range(len(trials) + 1, count + 1):
        scenario = trials[0].scenario
        scenario["seed"] += number - 1
        more.append(trial_of(number, scenario, engine.engine_of(scenario), engine.name, groups))
    return _with_trials(condition, (*trials, *more))


def on_varied_paths(item: Work) -> Work:
    """Returns the figure with its own buffer and delay in every trial but the first.

    See decision 021.
    """
    return replace(item, cells=tuple(condition_on_varied_paths(cell) for cell in item.cells))


def condition_on_varied_paths(condition: FigureCondition) -> FigureCondition:
    """Returns the same condition with its own buffer and delay in every trial but the first."""
    engine, plan = condition.engine, condition.cell.plan
    scenarios = [vary(trial.scenario, trial.number) for trial in plan.trials]
    trials = tuple(
        trial_of(number, scenario, engine.engine_of(scenario), engine.name, plan.groups)
        for number, scenario in enumerate(scenarios, start=1)
    )
    return _with_trials(condition, trials)


def judge_figure(item: Work, data: Data) -> tuple[Finding, ...]:
    """Returns the findings of a figure; trials that are the same run count as one."""
    same_runs = bool(repeated_conditions(item, data))
    return tuple(item.exhibit.method().judge(replace(data, same_runs=same_runs)))


def repeated_conditions(item: Work, data: Data) -> list[Key]:
    """Returns the conditions in which every trial was the same run, as far as measured.

    Trials on their own paths never are, though they may lose the same number of packets.
    """
    alike = [c for c in item.cells if _share_a_path(c)]
    return [c.key for c in alike if _one_run(c.key, len(c.cell.plan.trials), data.frames)]


def _share_a_path(condition: FigureCondition) -> bool:
    """Returns True if there are several trials, and only their seeds differ."""
    first, *others = ({**t.scenario, "seed": 0} for t in condition.cell.plan.trials)
    return bool(others) and all(other == first for other in others)


def _one_run(key: Key, trials: int, frames: Frames) -> bool:
    mine = [frame.filter(**key) for frame in frames.values() if key.keys() <= set(frame.columns)]
    told = [frame for frame in mine if frame.height and not _of_the_first_alone(frame)]
    return bool(told) and all(_alike(frame, trials) for frame in told)


def _of_the_first_alone(frame: pl.DataFrame) -> bool:
    """Returns True for the records of the first trial that a picture shows."""
    return frame["trial"].unique().to_list() == [1]


def _alike(frame: pl.DataFrame, trials: int) -> bool:
    """Returns True if all trials have rows and these are the same, numbers up to rounding."""
    parts = [part.drop("trial") for part in frame.partition_by("trial")]
    same = all(part.height == parts[0].height and _equal(part, parts[0]) for part in parts)
    return len(parts) == trials and same


def _equal(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    for name in one.columns:
        a, b = one[name], other[name]
        if not a.dtype.is_float():
            if not a.equals(b):
                return False
        elif not np.allclose(a.to_numpy(), b.to_numpy(), rtol=SAME, atol=0, equal_nan=True):
            return False
    return True
