"""Properties of a path that are unknown when its scenario describes a measurement."""

from __future__ import annotations

from narrows.spec.scenario import Scenario


def capacity_known(scenario: Scenario) -> bool:
    """Returns True if the bottleneck's rate is known; a measurement may not show it."""
    return scenario["path"].get("capacity_known", True)


def delay_known(scenario: Scenario) -> bool:
    """Returns True if the path's delay is known; a measurement may not show it."""
    return scenario["path"].get("delay_known", True)
