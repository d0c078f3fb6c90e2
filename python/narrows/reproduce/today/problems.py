"""Problems and versions, as data (studies/still_true/problems.toml), and their cases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from narrows.reproduce.exhibit import Case
from narrows.reproduce.library import STILL_TRUE, STUDIES, read_table
from narrows.reproduce.proposals import TESTED

TRIALS = 4
RUN = {"duration": "60s", "warmup": "20s"}
PROFILE = "linux-6.12"


@dataclass(frozen=True, slots=True)
class BbrProblem:
    """A problem found in BBR; it exists if a `value` is above or below a limit."""

    name: str
    words: str
    claim: str
    how: str
    path: Mapping[str, Any]
    flows: Sequence[Mapping[str, Any]]
    value: str
    unit: str
    because: str
    above: float = math.inf
    below: float = -math.inf
    run: Mapping[str, Any] = field(default_factory=dict)

    @property
    def limit(self) -> str:
        """The limit beyond which it is a problem, in words."""
        if math.isfinite(self.above):
            return f"above {self.above:g}{self.unit}"
        return f"below {self.below:g}{self.unit}"


@dataclass(frozen=True, slots=True)
class BbrVersion:
    """A version of BBR: a control with its options, in a kernel, perhaps on its own back end."""

    name: str
    cca: str = "bbr"
    profile: str = PROFILE
    backend: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


@cache
def problems() -> dict[str, BbrProblem]:
    """Returns all problems by name."""
    found = [BbrProblem(claim=entry.pop("from"), **entry) for entry in _data()["problem"]]
    return {problem.name: problem for problem in found}


@cache
def versions() -> dict[str, BbrVersion]:
    """Returns all versions by name."""
    return {entry["name"]: BbrVersion(**entry) for entry in _data()["version"]}


def _data() -> dict[str, list[dict[str, Any]]]:
    return read_table(STUDIES / STILL_TRUE / "problems.toml")


def case(problem: BbrProblem, version: BbrVersion) -> Case:
    """Returns the case that shows whether a version has a problem."""
    spec = {
        "name": "still-true",
        "path": dict(problem.path),
        "flows": [_flow(flow, version) for flow in problem.flows],
        "host": {"profile": version.profile, "fq": True, "jitter": "20us"},
        "run": {**RUN, "trials": TRIALS, "sample_interval": "100ms", **problem.run},
    }
    key = {"problem": problem.name, "version": version.name}
    return Case(key, spec, version.backend, aside=True)


def _flow(flow: Mapping[str, Any], version: BbrVersion) -> dict[str, Any]:
    if flow["cca"] != TESTED:
        return dict(flow)
    return {"name": TESTED, **flow, "cca": version.cca, "options": dict(version.options)}
