"""The planned end of a run."""

from __future__ import annotations

from narrows.spec.scenario import Scenario


def planned_end_ns(scenario: Scenario) -> int:
    """Returns the instant in ns at which a run ends unless `stop_when` ends it earlier."""
    ends = [change["at_ns"] for change in scenario.get("changes", ()) if change.get("end")]
    return min([scenario["run"]["duration_ns"], *ends])
