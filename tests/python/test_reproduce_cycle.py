"""Measurements that verdicts rest on, and the checks of the cycle of BBR and CUBIC."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import synthetic_run

from narrows.reproduce import measure
from narrows.reproduce.panaderia import cycle

DURATION_S = 300.0


def trial(change=None, rtprop=None, **how):
    """A made-up trial of 300 s, the samples of the flows and BBR's RTprop changed."""
    tables = synthetic_run.tables(DURATION_S, **how)
    if change is not None:
        tables["flow_samples"] = tables["flow_samples"].with_columns(change)
    if rtprop is not None:
        value = pl.when(pl.col("name") == "min_rtt_ms").then(rtprop).otherwise("value")
        tables["internals"] = tables["internals"].with_columns(value.alias("value"))
    scenario = synthetic_run.scenario(DURATION_S)
    return SimpleNamespace(tables=tables, scenario=scenario, info=SimpleNamespace(end_s=DURATION_S))


def verdicts(made_up):
    return [check.passed for check in cycle.checks(made_up)]


def test_the_cycle_of_the_document_is_confirmed():
    checks = cycle.checks(trial())
    assert [check.passed for check in checks] == [True] * 6
    turns, swing, probing, inflation, bursts, quiet = (check.measured for check in checks)
    assert turns.startswith("20.0 s")
    assert swing == "26 to 74 %"
    assert probing == "10.00 s over 56 intervals"
    assert inflation.startswith("48 % of 58 probes, 60 ms")
    assert bursts == "14 of 14 bursts, in 15 times of inflation"
    assert quiet.startswith("0.000 %")


def test_a_cycle_of_40_s_is_not():
    assert verdicts(trial(period_s=40.0))[0] is False


def test_classes_that_never_change_places_are_not():
    even = (pl.col("time_s") * 2.5e6).cast(pl.UInt64).alias("wire_bytes")
    assert verdicts(trial(even))[:2] == [False, False]


def test_probes_every_20_s_are_not():
    late = ((pl.col("time_s") + 2.05) % 20 > 18).not_() & (pl.col("cca_state") == "probe_rtt")
    state = pl.when(late).then(pl.lit("probe_bw")).otherwise("cca_state").alias("cca_state")
    assert verdicts(trial(state))[2] is False


@pytest.mark.parametrize("rtprop_ms", [25.0, 60.0])
def test_an_rtprop_that_never_changes_is_not(rtprop_ms):
    assert verdicts(trial(rtprop=pl.lit(rtprop_ms)))[3] is False


def test_a_run_without_loss_has_no_bursts():
    assert verdicts(trial(bursts=False))[4:] == [False, True]


def test_bursts_before_the_inflation_do_not_follow_it():
    late = pl.col("value").shift(50, fill_value=25.0).over("flow", "name")
    assert verdicts(trial(rtprop=late))[4:] == [False, False]


def test_what_a_back_end_does_not_tell_is_not_measurable():
    blind = trial(pl.lit("").alias("cca_state"))
    assert verdicts(blind) == [True, True, None, None, None, None]


def test_period_finds_the_first_of_equal_peaks_to_a_fraction_of_a_step():
    time = np.arange(0, 300, 0.5)
    found = measure.period(np.sin(2 * np.pi * time / 22.3), 0.5, 5.0, 60.0)
    assert found.seconds == pytest.approx(22.3, abs=0.05)
    assert found.correlation == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("values", [np.ones(600), np.arange(600.0), np.sin(np.arange(50.0))])
def test_what_has_no_period_has_none(values):
    assert measure.period(values, 0.5, 5.0, 60.0) is None


def test_stretches_end_with_the_first_sample_outside():
    times = np.arange(6.0)
    assert measure.stretches(times, [True, False, False, True, True, True]) == [(0, 1), (3, 5)]
    assert measure.stretches(times, [False] * 6) == []
    assert measure.within(times, [(1, 3), (5, 9)]).tolist() == [0, 1, 1, 0, 0, 1]


def test_smooth_keeps_the_level_at_both_ends():
    assert measure.smooth(np.full(9, 3.0), 5).tolist() == [3.0] * 9
    assert measure.smooth(np.array([0, 0, 6.0, 0, 0]), 3).tolist() == [0, 2, 2, 2, 0]
