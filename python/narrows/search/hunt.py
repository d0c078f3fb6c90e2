"""Chooses what to try: at random first, then near what was worst (Optuna's TPE)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from narrows.errors import InputError
from narrows.search.log import Log
from narrows.search.space import Dimension, Value
from narrows.search.trying import PointResults, PointRunner

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution

BATCH = 8
"""The number of conditions that are chosen together and run in parallel."""
_MOST = 100.0
"""The sampler doesn't distinguish values worse than this."""


def hunt(
    trying: PointRunner, log: Log, tries: int, report: Callable[[str, float], None]
) -> list[PointResults]:
    """Tries conditions until there are `tries`, including those in `log`; returns all of them.

    `report` gets the current activity and the part of the tries that is done.
    """
    space = trying.objective.space
    study = _study(space)
    tried = [_remember(study, space, one) for one in log.read()]
    while len(tried) < tries:
        trials = [study.ask(_distributions(space)) for _ in range(min(BATCH, tries - len(tried)))]
        points = [
            {one.name: one.round_value(trial.params[one.name]) for one in space} for trial in trials
        ]
        found = trying.all(points, [1])
        for trial, one in zip(trials, found, strict=True):
            study.tell(trial, min(one.badness[0], _MOST))
        log.append(found)
        tried += found
        report("trying conditions", len(tried) / tries)
    return tried


def _study(space: Sequence[Dimension]) -> optuna.Study:
    try:
        import optuna
    except ImportError:
        raise InputError.at(
            "search", "a Python without Optuna", "pip install 'narrows[search]'"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(
        seed=1, n_startup_trials=10 * len(space), constant_liar=True
    )
    return optuna.create_study(direction="maximize", sampler=sampler)


def _distributions(space: Sequence[Dimension]) -> dict[str, BaseDistribution]:
    return {one.name: one.distribution() for one in space}


def _remember(study: optuna.Study, space: Sequence[Dimension], tried: PointResults) -> PointResults:
    """Adds an earlier try to the study."""
    from optuna.trial import create_trial

    distributions = _distributions(space)
    params = {name: _clamp(distributions[name], value) for name, value in tried.point.items()}
    value = min(tried.badness[0], _MOST)
    study.add_trial(create_trial(params=params, distributions=distributions, value=value))
    return tried


def _clamp(distribution: BaseDistribution, value: Value) -> Value:
    """The value within the distribution's bounds: a zero becomes the lower bound."""
    low: Value = getattr(distribution, "low", value)
    return low if value == 0 else value
