"""Judges from the hosts' own measurements whether a run can be trusted."""

from __future__ import annotations

from collections.abc import Iterator

from narrows.backends.hosts.clocks import Offset
from narrows.backends.hosts.measure import HostMeasurements

MOST_UNCERTAIN_NS = 2_000_000
"""The largest valid uncertainty of a host's clock, by which samples of both ends are joined."""
MOST_DRIFT_NS = 2_000_000
"""The largest valid drift of a host's clock against ours in a run, beyond the uncertainty."""


def clock_conditions(measured: HostMeasurements) -> dict[str, dict[str, float]]:
    """Returns each host's wall clock relative to ours, its drift, and the uncertainty."""
    return {
        name: {
            "ahead_ms": before.realtime_ns / 1e6,
            "drift_us": _drift_ns(before, measured.after[name]) / 1e3,
            "uncertainty_us": max(before.uncertainty_ns, measured.after[name].uncertainty_ns) / 1e3,
        }
        for name, before in measured.before.items()
    }


def _drift_ns(before: Offset, after: Offset) -> int:
    return after.monotonic_ns - before.monotonic_ns


def clock_reasons(measured: HostMeasurements) -> Iterator[str]:
    """Yields the reasons why the hosts' clocks make a run invalid."""
    for name, before in measured.before.items():
        after = measured.after[name]
        unsure = max(before.uncertainty_ns, after.uncertainty_ns)
        if unsure > MOST_UNCERTAIN_NS:
            yield (
                f"the clock of {name} is known to within {unsure / 1e6:.1f} ms; "
                f"the limit is {MOST_UNCERTAIN_NS / 1e6:g} ms"
            )
        drift = abs(_drift_ns(before, after)) - before.uncertainty_ns - after.uncertainty_ns
        if drift > MOST_DRIFT_NS:
            yield (
                f"the clock of {name} moved by more than {drift / 1e6:.1f} ms; "
                f"the limit is {MOST_DRIFT_NS / 1e6:g} ms"
            )


def drop_reasons(measured: HostMeasurements) -> Iterator[str]:
    """Yields the reasons why interfaces make a run invalid."""
    for name, count in measured.dropped.items():
        if count > 0:
            yield f"{count} packets were dropped or damaged at the interfaces of {name}"
