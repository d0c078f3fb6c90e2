"""What checks measure, on frames made by hand."""

from __future__ import annotations

import polars as pl
import pytest

from narrows.reproduce.cs244 import fig5 as cs244_fig5
from narrows.reproduce.exhibit import Data, Scope
from narrows.reproduce.ietf98 import convergence
from narrows.reproduce.panaderia import fig5, fig7

QUICK, WHOLE = (Scope("linux-4.17", quick) for quick in (True, False))
TRIALS = (1, 2, 3, 4, 5)


def losses(scope: Scope, rooms: tuple[float, ...]) -> Data:
    rows = [
        {"timers": "late", "rate_mbps": 80, "buffer_bdp": room, "trial": trial,
         "loss": max(16.5 - 11 * room, 0.0), "utilization": 1.0}
        for room in rooms
        for trial in TRIALS
    ]  # fmt: skip
    return Data({"loss": pl.DataFrame(rows)}, scope)


def test_a_line_through_two_points_is_no_check() -> None:
    assert list(fig7.linear(losses(QUICK, (0.5, 1.0, 1.75)))) == []
    (check,) = fig7.linear(losses(WHOLE, (0.25, 0.5, 0.75, 1.0, 1.25, 1.5)))
    assert check.passed is True


@pytest.mark.parametrize(("filled", "passed"), [(1.0, True), (0.9, False)])
def test_a_full_queue_is_full_in_the_buffer_of_its_trial(filled, passed) -> None:
    rooms = [8.0, 7.8, 8.2, 7.9, 8.1]
    rows = pl.DataFrame({
        "set": "figure", "kind": "cubic", "trial": TRIALS, "room_bdp": rooms,
        "queue_max_bdp": [filled * room for room in rooms],
    })  # fmt: skip
    assert fig5.climbs(Data({"standing": rows}, WHOLE)).passed is passed


def test_a_full_queue_s_rtt_is_that_of_the_trial_s_buffer() -> None:
    rows = [
        {"environment": place, "kind": "cubic", "trial": trial, "time_s": 2.0,
         "rtt_ms": 250.0 + 7 * trial, "full_ms": 250.0 + 7 * trial}
        for place in ("VMs", "Mininet")
        for trial in TRIALS
    ]  # fmt: skip
    assert cs244_fig5.climbs(Data({"rtt": pl.DataFrame(rows)}, WHOLE)).passed is True


@pytest.mark.parametrize(("swing", "passed"), [(0.0, True), (0.2, False)])
def test_two_flows_that_alternate_have_not_converged(swing, passed) -> None:
    rows = [
        {"flows": count, "trial": trial, "class": f"flow {flow}", "start_s": 40 + step / 5,
         "throughput_mbps": 100 / count * (1 + (swing if (step // 50 + flow) % 2 else -swing))}
        for count in convergence.COUNTS
        for trial in TRIALS
        for flow in range(count)
        for step in range(100)
    ]  # fmt: skip
    assert convergence.equal(Data({"throughput": pl.DataFrame(rows)}, WHOLE)).passed is passed
