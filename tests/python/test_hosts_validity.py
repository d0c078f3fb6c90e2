"""Which runs on hosts count: their clocks and interfaces."""

from __future__ import annotations

from narrows.backends.hosts.clocks import Offset
from narrows.backends.hosts.measure import HostMeasurements
from narrows.backends.hosts.validity import clock_conditions, clock_reasons, drop_reasons

MS = 1_000_000
BEFORE = Offset(monotonic_ns=7_000 * MS, realtime_ns=3_000 * MS, uncertainty_ns=MS // 2)


def run_of(moved_ns: int, unsure_ns: int = MS // 2, dropped: int = 0) -> HostMeasurements:
    """A run of one host, whose clock moved."""
    after = Offset(BEFORE.monotonic_ns + moved_ns, BEFORE.realtime_ns + moved_ns, unsure_ns)
    return HostMeasurements({"churro1": BEFORE}, {"churro1": after}, {"churro1": dropped})


def test_a_clock_that_moves_beyond_the_uncertainty_makes_a_run_invalid() -> None:
    assert not [*clock_reasons(run_of(0))]
    # 2 ms, and half a millisecond for each of the two measurements.
    assert not [*clock_reasons(run_of(3 * MS))]
    for moved_ns in (4 * MS, -4 * MS):
        (reason,) = clock_reasons(run_of(moved_ns))
        assert reason == "the clock of churro1 moved by more than 3.0 ms; the limit is 2 ms"


def test_a_clock_that_is_hardly_known_makes_a_run_invalid() -> None:
    (reason,) = clock_reasons(run_of(0, unsure_ns=5 * MS))
    assert reason == "the clock of churro1 is known to within 5.0 ms; the limit is 2 ms"


def test_a_wall_clock_is_reported_and_makes_nothing_invalid() -> None:
    told = clock_conditions(run_of(MS // 4))
    assert told == {"churro1": {"ahead_ms": 3000.0, "drift_us": 250.0, "uncertainty_us": 500.0}}
    assert not [*clock_reasons(run_of(MS // 4))]


def test_packets_that_interfaces_drop_make_a_run_invalid() -> None:
    assert not [*drop_reasons(run_of(0))]
    (reason,) = drop_reasons(run_of(0, dropped=3))
    assert reason == "3 packets were dropped or damaged at the interfaces of churro1"
