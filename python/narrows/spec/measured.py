"""The parts of a scenario that a measurement may leave unknown: the path, controls of flows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from narrows.spec.scenario import Scenario

UNKNOWN_CONTROL = "unknown"
"""The control of a flow that a measurement doesn't show."""
_UNNAMED = ("unsure", "hidden")
"""Findings on a control that is unknown: the evidence contradicts itself, or there is none."""


def capacity_known(scenario: Scenario) -> bool:
    """Returns True if the bottleneck's rate is known; a measurement may not show it."""
    return scenario["path"].get("capacity_known", True)


def delay_known(scenario: Scenario) -> bool:
    """Returns True if the path's delay is known; a measurement may not show it."""
    return scenario["path"].get("delay_known", True)


def measured_control(flow: Mapping[str, Any]) -> str:
    """Returns the control that was found for a measured flow, or "unknown"."""
    found = str(flow["control"]["control"])
    return UNKNOWN_CONTROL if found in _UNNAMED else found
