"""Turns a specification into runs: one scenario for every trial, each with its content hash."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from narrows.errors import SpecError
from narrows.plan.canonical import canonical_json, content_hash
from narrows.spec import Scenario, Spec
from narrows.words import count_of

MOST_FLOWS = 1_000_000
"""The most flows of all planned runs together. Until the last run is done, each combination takes 4
kB of memory, each of its flows 0.8 kB, and each of its runs 0.3 kB."""


EngineVersion = str | Callable[[Scenario], str]
"""The version of an engine, for all scenarios or for each."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A run: its number from 1 on, its scenario, and the hash of everything that determines it.

    That includes the classes of its flows, on which its derived tables depend. The trials of an
    experiment share `base` unless more than their seeds differ: a sweep may have a million.
    """

    number: int
    base: Scenario
    """The scenario apart from the seed."""
    seed: int
    """The seed of the run's random streams."""
    hash: str

    @classmethod
    def of(cls, number: int, scenario: Scenario, key: str) -> Trial:
        """Returns the trial with this complete scenario and hash."""
        return cls(number, scenario, scenario["seed"], key)

    @property
    def scenario(self) -> Scenario:
        """The complete scenario: a new dictionary, whose values other trials share."""
        scenario = self.base.copy()
        scenario["seed"] = self.seed
        return scenario


@dataclass(frozen=True)
class Plan:
    """All runs of an experiment.

    `groups` has the class of each flow by id; `hash` covers every trial, the engine's version and
    the back end.
    """

    name: str
    trials: tuple[Trial, ...]
    groups: tuple[str, ...]
    hash: str


def plan(
    spec: Spec, engine: EngineVersion, backend: str = "sim", trials: int | None = None
) -> Plan:
    """Plans the runs of `spec` on `backend`, whose engine has the version `engine`.

    There are `trials` of them, by default as many as the specification says. Raises SpecError if
    there are too many.
    """
    count = trials or spec.trials
    if (flows := count * len(spec.groups)) > MOST_FLOWS:
        found = f"{count_of(count, 'trial')} with {flows:,} flows in all"
        raise SpecError.at("run.trials", found, f"at most {MOST_FLOWS:,} flows in all")
    runs: list[Trial] = []
    text = spec.canonical(1)
    first: Scenario = json.loads(text)
    same = text.removesuffix(f"{first['seed']}}}")
    for number in range(1, count + 1):
        text, seed = spec.canonical(number), first["seed"] + number - 1
        base = first if text == f"{same}{seed}}}" else _sharing(json.loads(text), first)
        version = engine if isinstance(engine, str) else engine(base)
        key = content_hash([text, version, backend, *spec.groups])
        runs.append(Trial(number, base, seed, key))
    whole = content_hash(trial.hash for trial in runs)
    return Plan(spec.name, tuple(runs), spec.groups, whole)


def _sharing(scenario: Scenario, other: Mapping[str, Any]) -> Scenario:
    """Returns a scenario that shares the parts equal to another scenario's with it in memory."""
    parts = {
        sys.intern(name): known if (known := other.get(name)) == value else value
        for name, value in scenario.items()
    }
    return cast("Scenario", parts)


def trial_of(
    number: int, scenario: Scenario, engine: str, backend: str, groups: Iterable[str]
) -> Trial:
    """Returns a scenario as a trial, with the hash of everything that determines its results."""
    parts = [canonical_json(scenario), engine, backend, *groups]
    return Trial.of(number, scenario, content_hash(parts))
