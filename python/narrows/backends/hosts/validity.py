"""Judges by the hosts' own measurements whether a run on them can be trusted."""

from __future__ import annotations

from collections.abc import Iterator

from narrows.backends.hosts.clocks import Offset
from narrows.backends.hosts.measure import HostMeasurements

MOST_UNCERTAIN_NS = 2_000_000
"""How unsure the offset of a host's clock may be: samples of both ends are joined by it."""
MOST_DRIFT_NS = 2_000_000
"""How far a host's clock may move against ours during a run, beyond the uncertainty."""


def clock_conditions(measured: HostMeasurements) -> dict[str, dict[str, float]]:
    """Each host's wall clock against ours, its drift during the run, and how sure both are."""
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
    """The reasons why the hosts' clocks make a run invalid."""
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
    """The reasons why interfaces make a run invalid."""
    for name, count in measured.dropped.items():
        if count > 0:
            yield f"{count} packets were dropped or damaged at the interfaces of {name}"
