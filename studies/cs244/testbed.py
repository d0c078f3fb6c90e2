"""The two environments of the reproduction, as conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.exhibit import Scope

ENVIRONMENTS = {"VMs": True, "Mininet": False}
"""The sender's queue is fq only on the virtual machines, not in Mininet."""
SLOW = {"rate": "10mbit", "rtt": "40ms"}
JITTER = "20us"
PATCHED = {"linux-4.11": "linux-4.11-paced"}
"""Mininet ran on a kernel with the patch that lets BBR pace without fq."""
LATENESS = "50us"
"""Delay of the timers of BBR's own pacing, which didn't compensate for it before Linux 4.20."""


def spec(
    scope: Scope,
    environment: str,
    path: Mapping[str, Any],
    flows: Sequence[Mapping[str, Any]],
    lateness: str = LATENESS,
    **run: Any,  # noqa: ANN401 (keys of the table `run`)
) -> dict[str, Any]:
    """A specification in one of the environments."""
    paced = ENVIRONMENTS[environment]
    hosts = {"fq": paced, "jitter": JITTER, "timer_lateness": "0s" if paced else lateness}
    profile = scope.profile if paced else PATCHED.get(scope.profile, scope.profile)
    return dumbbell("cs244", path, flows, profile=profile, host=hosts, **run)


def number(value: object) -> float:
    """A statistic of polars as a float; NaN if there is none."""
    return float(value) if isinstance(value, int | float) else float("nan")
