"""Measurements of checks, on frames made by hand."""

from __future__ import annotations

import polars as pl
import pytest

from narrows.reproduce.exhibit import Data, Scope
from narrows.reproduce.study_code import load

cs244_fig5 = load("cs244", "fig5.py")
buffer_sweep = load("ietf98", "buffer_sweep.py")
convergence = load("ietf98", "convergence.py")
policer = load("ietf98", "policer.py")
reno = load("ietf98", "reno.py")
fig14 = load("mixed", "fig14.py")
fig5 = load("panaderia", "fig5.py")
fig7 = load("panaderia", "fig7.py")
fig9 = load("panaderia", "fig9.py")
fig11 = load("panaderia", "fig11.py")

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


@pytest.mark.parametrize(("beside_bbr", "passed"), [(0.8, True), (1.25, True), (1.8, False)])
def test_to_starve_oneself_is_no_fairer_than_to_starve_reno(beside_bbr, passed) -> None:
    rows = [
        {"slide": "1x", "kind": kind, "order": order, "of_fair": part + order / 1000}
        for kind, part in (("bbr", beside_bbr), ("cubic", 0.7))
        for order in range(5)
    ]
    assert reno.at_least(Data({"share": pl.DataFrame(rows)}, WHOLE), "1x").passed is passed


def test_a_busy_link_without_loss_isn_t_busy_in_spite_of_it() -> None:
    lossy = losses(WHOLE, (0.25, 0.5, 0.75, 1.0, 1.25))
    assert fig7.in_spite(lossy).passed is True
    clean = lossy["loss"].with_columns(loss=pl.lit(0.1))
    assert fig7.in_spite(Data({"loss": clean}, WHOLE)).passed is False


def test_drops_count_after_the_estimate_is_given_up_again() -> None:
    used = [0.0, 1.0, 1.0, 0.0, 1.0]
    rows = pl.DataFrame({
        "estimate": "with", "trial": 1, "time_s": [float(n) for n in range(5)],
        "used": used, "sent": 100.0, "dropped": [90.0, 0.0, 0.0, 40.0, 0.0], "rate": 10.0,
    })  # fmt: skip
    data = Data({"windows": rows}, WHOLE)
    assert policer._loss(policer._since(data)) == [10.0]
    assert policer._loss(policer._steady(data)) == [0.0]


@pytest.mark.parametrize(("shallow", "passed"), [(0.0, True), (0.17, False)])
def test_less_of_a_small_loss_is_less(shallow, passed) -> None:
    rows = [
        {"variant": name, "mix": fig11.MIX, "buffer_bdp": 1.25, "trial": trial, "loss": loss}
        for name, loss in zip(fig11.VARIANTS, (0.17, shallow), strict=True)
        for trial in TRIALS
    ]
    (finding,) = fig11.judge(Data({"outcome": pl.DataFrame(rows)}, WHOLE))
    assert finding.checks[0].passed is passed


def test_much_closer_to_ten_round_trips_is_a_comparison() -> None:
    def data(rounds: dict[float, float]) -> Data:
        rows = [
            {"beside": "bbr", "buffer_bdp": room, "trial": trial, "fct_s": 0.1 * count,
             "cca": "cubic", "instance": 3}
            for room, count in rounds.items()
            for trial in TRIALS
        ]  # fmt: skip
        rtts = [
            {"beside": "bbr", "buffer_bdp": room, "trial": trial, "rtt_ms": 100.0}
            for room in rounds
            for trial in TRIALS
        ]
        return Data({"times": pl.DataFrame(rows), "rtt": pl.DataFrame(rtts)}, WHOLE)

    assert fig14.ten_rounds(data({1.0: 17.6, 2.0: 6.8})).passed is True
    assert fig14.ten_rounds(data({1.0: 12.0, 2.0: 8.5})).passed is False


@pytest.mark.parametrize("scope", [QUICK, WHOLE], ids=["quick", "whole"])
def test_the_minute_that_a_figure_shows_is_in_its_run(scope) -> None:
    first, *_ = fig5.cases(scope)
    warmup, end = (float(first.spec["run"][key].rstrip("s")) for key in ("warmup", "duration"))
    assert warmup + fig5.SHOWN_SINCE_WARMUP_S[1] <= end
    (case,) = fig9.cases(scope)
    assert fig9.SHOWN_S[1] <= float(case.spec["run"]["duration"].rstrip("s"))


def test_a_figure_over_time_draws_one_trial() -> None:
    rows = [
        {"kind": kind, "trial": trial, "time_s": 60.0 + second, "queue_bdp": 1.0}
        for kind in ("bbr", "cubic")
        for trial in TRIALS
        for second in range(3)
    ]
    (picture,) = fig5.draw(Data({"queue": pl.DataFrame(rows)}, WHOLE))
    for line in picture.figure.panels[0].lines:
        assert list(line.x) == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("panel", "where"),
    [(lambda data: reno._panel(data, "1x", "bbr"), {"slide": "1x", "kind": "bbr"}),
     (buffer_sweep._point, {"buffer_bdp": buffer_sweep.POINT})],
)  # fmt: skip
def test_a_panel_over_time_draws_one_trial(panel, where) -> None:
    rows = [
        {**where, "order": 0, "trial": trial, "class": kind, "start_s": float(second),
         "throughput_mbps": 5.0}
        for kind in ("bbr", "cubic")
        for trial in TRIALS
        for second in range(3)
    ]  # fmt: skip
    for line in panel(Data({"throughput": pl.DataFrame(rows)}, WHOLE)).lines:
        assert list(line.x) == [0.0, 1.0, 2.0]
