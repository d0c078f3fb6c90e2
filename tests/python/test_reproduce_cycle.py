"""Measurements that verdicts rest on, and the checks of the cycle of BBR and CUBIC."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import synthetic_run

from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.reproduce import measure
from narrows.reproduce.exhibit import Data, Finding, Scope
from narrows.reproduce.study_code import load
from narrows.reproduce.text import finding_lines
from narrows.reproduce.unchanged import without_documents_lines

cycle, cycle_checks = (load("panaderia", name) for name in ("cycle.py", "cycle_checks.py"))
fig9 = load("panaderia", "fig9.py")

DURATION_S = 300.0


NEAR_60_MS = 0.886
"""The factor that gives 60 ms of the made-up RTT while BBR's RTprop is inflated."""


def trial(change=None, rtprop=None, rtt=NEAR_60_MS, **how):
    """A made-up trial of 300 s, the samples of the flows and BBR's RTprop changed."""
    tables = synthetic_run.tables(DURATION_S, **how)
    tables["flow_samples"] = tables["flow_samples"].with_columns(rtt_ms=rtt * pl.col("rtt_ms"))
    if change is not None:
        tables["flow_samples"] = tables["flow_samples"].with_columns(change)
    if rtprop is not None:
        value = pl.when(pl.col("name") == "min_rtt_ms").then(rtprop).otherwise("value")
        tables["internals"] = tables["internals"].with_columns(value.alias("value"))
    scenario = synthetic_run.scenario(DURATION_S)
    return SimpleNamespace(tables=tables, scenario=scenario, info=SimpleNamespace(end_s=DURATION_S))


DATA = Data({}, Scope("linux-4.17"))


def data_of(trials, data=DATA):
    """The measurements of these trials."""
    runs = [cycle.Evidence(one) for one in trials]
    made = {
        name: pl.concat(
            [of(one).with_columns(trial=pl.lit(number)) for number, one in enumerate(runs, 1)]
        )
        for name, of in (("outcome", cycle.outcome), ("bursts", cycle.burst_times))
    }
    return replace(data, frames=made)


def checks(made_up):
    """The checks of three runs that are alike."""
    data = data_of([made_up] * 3)
    return [*cycle_checks.turns(data), *cycle_checks.rtprop(data), *cycle_checks.losses(data)]


NAMES = ("period", "swing", "sides", "probing", "part", "inflated", "accurate", "follows",
         "every", "quiet")  # fmt: skip


def failed_checks(made_up):
    """The names of the checks that didn't pass."""
    return {
        name for name, check in zip(NAMES, checks(made_up), strict=True) if check.passed is False
    }


def test_the_cycle_of_the_document_is_confirmed():
    made = checks(trial())
    assert [check.passed for check in made] == [True] * 10
    told = dict(zip(NAMES, (check.measured for check in made), strict=True))
    assert told["period"].startswith("20 ± 0 s")
    assert told["probing"] == "10 ± 0 s (+0 %)"
    assert told["part"].startswith("48.3 ± 0 %")
    assert told["inflated"].startswith("59.9 ± 0 ms")
    assert told["follows"] == "100 ± 0 %"


@pytest.mark.parametrize("period_s", [30.0, 40.0])
def test_a_longer_cycle_is_not(period_s):
    assert "period" in failed_checks(trial(period_s=period_s))


ELSEWHERE = replace(DATA, changed_path=True)


def test_numbers_of_the_documents_path_are_not_judged_on_another():
    made = cycle_checks.rtprop(data_of([trial()] * 3, ELSEWHERE))
    assert [check.verdict for check in made] == ["met", "met", "not judged", "not judged"]
    assert made[2].measured == "59.9 ± 0 ms"
    assert made[2].expectation == "the number is of the document's path"
    finding = Finding("panaderia/fig9-rtprop", made)
    assert finding.verdict == "confirmed"
    head, *lines = finding_lines(finding, finding, "path.rtt=60ms")
    assert head.startswith("  holds, as far as it can be judged, with path.rtt=60ms: panaderia/")
    assert "      measured 59.9 ± 0 ms; the number is of the document's path" in lines


def turns(periods_s, data=ELSEWHERE):
    """The check of the period in trials that have these; infinity stands for none."""
    still = (pl.col("time_s") * 2.5e6).cast(pl.UInt64).alias("wire_bytes")
    trials = [
        trial(period_s=period) if math.isfinite(period) else trial(still) for period in periods_s
    ]
    return cycle_checks.turns(data_of(trials, data))[0]


@pytest.mark.parametrize(
    ("periods_s", "measured"),
    [
        ((15, 20, 30), "15 to 30 s in 3 trials"),
        ((20, 30, math.inf, 20), "none in 1 of 4 trials, 20 to 30 s in the others"),
        ((20, math.inf, math.inf), "none in 2 of 3 trials, 20 s in the other"),
        ((30, 40, 50), "30 to 50 s in 3 trials"),
    ],
)
def test_trials_without_a_common_period_have_no_regular_cycle_on_another_path(periods_s, measured):
    check = turns(periods_s)
    assert check.passed is False
    assert check.measured == f"no regular cycle: {measured}"
    assert "half of the trials or more have no such peak" in check.rule


def test_a_regular_cycle_may_be_missing_in_a_few_trials_on_another_path():
    check = turns((20, 20, 20, math.inf))
    assert check.verdict == "undecided"
    told = "20 ± 0 s in 3 of 4 trials, never in 1; more trials wouldn't decide it"
    assert check.measured == told
    assert "met only if every trial lies inside" in check.rule
    assert turns((20, 20, 20)).passed


def test_the_documents_own_path_is_judged_by_its_rule_alone():
    check = turns((15, 20, 30), DATA)
    assert check.passed is None
    assert "another path" not in check.rule


def test_spread_of_times_between_bursts_is_shown_on_another_path():
    there, here = (data_of([trial()] * 3, data) for data in (ELSEWHERE, DATA))
    (every,) = (c for c in cycle_checks.losses(there) if c.statement == "They come every 20 s.")
    assert every.measured.endswith(", the median; 90 % of the single times are 20 to 20 s")
    assert "single times" not in cycle_checks.losses(here)[1].measured


def test_a_changed_figure_lacks_lines_at_the_documents_numbers():
    guides = (Guide(60, "the paper: around 60"), Guide(50, "fair"), Guide(1, "slide: 1 s"))
    panel = Panel("Time (s)", "ms", (), guides=guides)
    (left,) = without_documents_lines(Figure("", "", (panel,), "")).panels
    assert [guide.label for guide in left.guides] == ["fair"]


def test_classes_that_never_change_places_are_not():
    even = (pl.col("time_s") * 2.5e6).cast(pl.UInt64).alias("wire_bytes")
    assert {"period", "swing"} <= failed_checks(trial(even))


def test_probes_every_20_s_are_not():
    late = ((pl.col("time_s") + 2.05) % 20 > 18).not_() & (pl.col("cca_state") == "probe_rtt")
    state = pl.when(late).then(pl.lit("probe_bw")).otherwise("cca_state").alias("cca_state")
    assert "probing" in failed_checks(trial(state))


def test_a_flow_that_never_probes_is_not():
    state = pl.lit("probe_bw").alias("cca_state")
    assert {"probing", "part"} <= failed_checks(trial(state))


@pytest.mark.parametrize("rtprop_ms", [25.0, 60.0])
def test_an_rtprop_that_never_changes_is_not(rtprop_ms):
    assert "part" in failed_checks(trial(rtprop=pl.lit(rtprop_ms)))


def test_an_rtt_that_is_not_near_60_ms_is_not():
    assert failed_checks(trial(rtt=0.7 * NEAR_60_MS)) == {"inflated"}


def test_how_high_the_inflated_rtprop_is_decides_nothing():
    lower = pl.when(pl.col("value") > 30).then(45.0).otherwise(pl.col("value"))
    made_up = trial(rtprop=lower)
    assert failed_checks(made_up) == set()
    assert cycle_checks.meanwhile(data_of([made_up] * 3)).measured == "45 ± 0 ms"


def test_a_run_without_loss_has_no_bursts():
    assert failed_checks(trial(bursts=False)) == {"follows", "every"}


def test_bursts_before_the_inflation_do_not_follow_it():
    late = pl.col("value").shift(50, fill_value=25.0).over("flow", "name")
    assert {"follows", "quiet"} <= failed_checks(trial(rtprop=late))


def test_measures_that_a_back_end_lacks_are_undecided():
    blind = checks(trial(pl.lit("").alias("cca_state")))
    undecided = {n for n, check in zip(NAMES, blind, strict=True) if check.passed is None}
    assert undecided == {"probing", "part", "inflated", "accurate", "follows", "quiet"}


def test_period_finds_the_first_of_equal_peaks_to_a_fraction_of_a_step():
    time = np.arange(0, 300, 0.5)
    found = measure.period(np.sin(2 * np.pi * time / 22.3), 0.5, 5.0, 60.0)
    assert found.seconds == pytest.approx(22.3, abs=0.05)
    assert found.correlation == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("values", [np.ones(600), np.arange(600.0), np.sin(np.arange(50.0))])
def test_values_without_a_period_have_none(values):
    assert measure.period(values, 0.5, 5.0, 60.0) is None


def test_stretches_end_with_the_first_sample_outside():
    times = np.arange(6.0)
    assert measure.stretches(times, [True, False, False, True, True, True]) == [(0, 1), (3, 5)]
    assert measure.stretches(times, [False] * 6) == []
    assert measure.within(times, [(1, 3), (5, 9)]).tolist() == [0, 1, 1, 0, 0, 1]


def test_smooth_keeps_the_level_at_both_ends():
    assert measure.smooth(np.full(9, 3.0), 5).tolist() == [3.0] * 9
    assert measure.smooth(np.array([0, 0, 6.0, 0, 0]), 3).tolist() == [0, 2, 2, 2, 0]


def test_the_chart_has_the_paper_s_rtt_and_its_axis_of_the_loss_unless_more_is_lost() -> None:
    def draw(percent: float) -> Figure:
        loss = Line("loss", np.array([0.0, 1.0]), np.array([math.nan, percent]), "loss")
        shares, rtt = Panel("s", "% of the rate", ()), Panel("s", "ms", ())
        panels = (shares, Panel("s", "%", (loss,)), rtt)
        return fig9.with_papers_axes(Figure("run", "", panels, "alt"))

    assert [draw(percent).panels[1].y_range for percent in (5.9, 6.1)] == [(0, 6), (0, None)]
    assert [guide.value for guide in draw(1.0).panels[0].guides] == [50, 60]
    assert [guide.value for guide in draw(1.0).panels[2].guides] == [60]
    assert draw(1.0).panels[2].y_range == (20, 120)
