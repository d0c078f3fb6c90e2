"""A capture as a back end: it runs nothing and returns the results of `narrows analyze`.

Beside the simulator in `narrows compare`, it shows how well the specification made from a capture
describes it.
"""

from __future__ import annotations

from narrows.backends.protocol import Capabilities, Progress
from narrows.backends.sim import Simulator
from narrows.errors import InputError, SpecError
from narrows.spec.scenario import Scenario
from narrows.store import RunResult, open_result


class Captured:
    """The results directory `place` of a capture."""

    name = "capture"

    def __init__(self, place: str) -> None:
        result = open_result(place)
        if result.manifest["backend"] != self.name:
            found = f'"capture:{place}", the result of a run'
            raise InputError.at("--backend", found, "one of `narrows analyze`")
        self._trial = result.trials[0]
        self.selector = f"{self.name}:{place}"
        self.engine = f"capture {self._trial.info.digest}"

    def engine_of(self, scenario: Scenario) -> str:  # noqa: ARG002
        """The same for all scenarios."""
        return self.engine

    def capabilities(self) -> Capabilities:
        """Everything that a specification can name, since nothing is run."""
        return Simulator().capabilities()

    def check(self, scenario: Scenario) -> None:
        """Refuses nothing."""

    def run(self, scenario: Scenario, progress: Progress | None = None) -> RunResult:
        """Returns the tables of the capture; raises SpecError for a scenario with other flows."""
        if progress is not None:
            progress(self._trial.info.end_s, self._trial.info.packets)
        known, flows = self._trial.scenario["flows"], scenario["flows"]
        if [flow["name"] for flow in known] != [flow["name"] for flow in flows]:
            remedy = "the flows of the capture, as its own spec.toml has them,"
            raise SpecError.at("flows", f"{len(flows)} others than were captured", remedy)
        return RunResult(self._trial.tables, self._trial.info)
