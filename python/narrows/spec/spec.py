"""A specification that the native module has read and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from narrows.spec.check import ResultCheck, read_check
from narrows.spec.scenario import Scenario

if TYPE_CHECKING:
    from narrows._native import SpecOutput


@dataclass(frozen=True)
class Until:
    """Trials continue until half of the 95 % interval of a metric's mean is `within` a bound.

    `within` is in the metric's own unit, or a part of the mean if `relative`.
    There are at most `max_trials`.
    """

    metric: str
    within: float
    relative: bool
    max_trials: int


class Spec:
    """One experiment with its complete scenarios."""

    def __init__(self, output: SpecOutput, files: Mapping[str, str]) -> None:
        self._output = output
        self.files = files
        """The texts of the files that it refers to, by the names that it gives them."""

    @property
    def name(self) -> str:
        """The specification's name."""
        return self._output.name

    @property
    def trials(self) -> int:
        """The number of runs, with consecutive seeds."""
        return self._output.trials

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The class of each flow by id: the entry's name, or its control and the difference."""
        return tuple(self._output.classes)

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario of the first trial."""
        first: Scenario = json.loads(self.canonical(1))
        return first

    @cached_property
    def checks(self) -> tuple[ResultCheck, ...]:
        """The checks of the results, which don't affect the runs."""
        return tuple(read_check(entry) for entry in json.loads(self._output.checks))

    def canonical(self, trial: int) -> str:
        """Returns the scenario of a trial, counting from 1, as canonical JSON."""
        return self._output.scenario(trial)

    def __eq__(self, other: object) -> bool:
        """Returns True if both would run the same, with the same checks."""
        if not isinstance(other, Spec):
            return NotImplemented
        same = (self.trials, self.groups, self.checks) == (other.trials, other.groups, other.checks)
        return same and self.canonical(1) == other.canonical(1)

    def __hash__(self) -> int:
        return hash(self.canonical(1))
