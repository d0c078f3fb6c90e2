"""The contents of figures, before anything draws them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest
import synthetic_run

from narrows import figures
from narrows.figures import frames, palette
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.figures.runs.cwnd import cwnd
from narrows.figures.runs.internals import internals
from narrows.figures.runs.timeline import timeline, window_of
from narrows.spec import registry
from narrows.sweeps.figure import of_trial


@pytest.fixture(scope="module")
def scenario():
    return synthetic_run.scenario()


@pytest.fixture(scope="module")
def tables():
    return synthetic_run.tables()


def values(panel, label):
    return next(series for series in panel.lines if series.label == label)


def test_timeline_has_the_four_panels_with_units(scenario, tables):
    figure = timeline(scenario, tables)
    assert [panel.y_label for panel in figure.panels] == [
        "% of the rate",
        "BDP",
        "% of packets",
        "ms",
    ]
    assert {panel.x_label for panel in figure.panels} == {"Time (s)"}
    assert figure.stack.x_range == (0.0, 60.0)
    assert figure.title == "BBR and CUBIC over time"
    assert figure.subtitle == "2 BBR + 2 CUBIC, 80 Mbit/s, 25 ms, buffer 1.75 BDP"


def test_a_name_in_words_is_the_title_and_another_one_is_below_it(scenario, tables):
    named = of_trial(figures.describe("cwnd", {**scenario, "name": "fig9"}, tables), 1, 1)
    assert named.title == "BBR and CUBIC: windows"
    assert named.subtitle.startswith("fig9: 2 BBR + 2 CUBIC, ")
    spoken = {**scenario, "name": "BBR beside CUBIC"}
    assert figures.describe("timeline", spoken, tables).title == "BBR beside CUBIC"
    assert figures.describe("cwnd", spoken, tables).title == "BBR beside CUBIC: windows"
    told = of_trial(figures.describe("cwnd", spoken, tables), 1, 1).subtitle
    assert told.startswith("2 BBR + 2 CUBIC, ")


def test_timeline_throughput_is_of_the_rate_and_adds_up(scenario, tables):
    panel = timeline(scenario, tables).panels[0]
    bbr, cubic = values(panel, "BBR").y, values(panel, "CUBIC").y
    assert bbr + cubic == pytest.approx(np.full(121, 100.0), abs=0.01)
    assert bbr[30] > 70
    assert bbr[50] < 30


@pytest.mark.parametrize(
    ("end_s", "interval_s", "window_s"),
    [(60, 0.1, 0.5), (10, 0.1, 0.5), (9.9, 0.1, 0.2), (1, 0.01, 0.1), (60, 1, 1)],
)
def test_timeline_windows_suit_the_run(end_s, interval_s, window_s):
    run = {"sample_interval_ns": interval_s * 1e9}
    assert window_of({"run": run}, end_s) == window_s


def test_timeline_queue_is_in_bdp_under_the_buffer(scenario, tables):
    panel = timeline(scenario, tables).panels[1]
    assert panel.guides == (Guide(1.75, "buffer 1.75 BDP = 43.8 ms"),)
    backlog = tables["queue_samples"]["backlog_bytes"].to_numpy()
    assert panel.lines[0].y == pytest.approx(backlog / 250_000)


def test_timeline_counts_a_buffer_of_packets_as_full_sized(scenario, tables):
    path = {**scenario["path"], "buffer": {"packets": 500}}
    panel = timeline({**scenario, "path": path}, tables).panels[1]
    assert panel.guides[0].value == 3.0


def test_timeline_loss_is_in_percent_of_what_arrived(scenario, tables):
    loss = timeline(scenario, tables).panels[2].lines[0].y
    assert loss[:16].max() == 0
    assert loss[17:20] == pytest.approx(np.full(3, 100 * 120 / (120 + 10_000 / 3)), rel=0.03)


def test_timeline_shows_rtt_and_what_bbr_takes_for_rtprop(scenario, tables):
    panel = timeline(scenario, tables).panels[3]
    assert [series.label for series in panel.lines] == ["BBR", "CUBIC", "BBR's RTprop"]
    assert set(values(panel, "BBR's RTprop").y) == {25.0, 60.0}


def test_timeline_shades_every_stay_in_probe_rtt(scenario, tables):
    spans = timeline(scenario, tables).stack.spans
    assert [span.start for span in spans] == pytest.approx([8, 18, 28, 38, 48, 58])
    assert all(span.end - span.start == pytest.approx(0.3) for span in spans)


def test_classes_follow_the_groups_and_keep_the_colour_of_the_control(scenario, tables):
    groups = ["early", "late", "cubic", "cubic"]
    panel = timeline(scenario, tables, groups).panels[0]
    assert [(s.label, s.colour, s.dash) for s in panel.lines] == [
        ("early (BBR)", "bbr", "solid"),
        ("late (BBR)", "bbr#1", "dash"),
        ("CUBIC", "cubic", "solid"),
    ]


def test_classes_need_a_group_for_every_flow(scenario):
    with pytest.raises(ValueError, match="zip"):
        frames.flow_classes(scenario, ["bbr"])


def test_a_run_without_a_sample_of_the_clock_still_has_a_figure(scenario, tables):
    blind = tables["flow_samples"].with_columns(pl.lit(None, dtype=pl.Float64).alias("rtt_ms"))
    seen = {**tables, "flow_samples": blind, "internals": frames.NO_INTERNALS}
    panel = timeline(scenario, seen).panels[3]
    assert panel.marks == ()
    assert panel.limits() == (0.0, pytest.approx(26.5))


def test_cwnd_shows_states_and_losses(scenario, tables):
    figure = cwnd(scenario, tables)
    bbr, _, cubic, _ = figure.panels
    assert [span.label for span in bbr.spans[:4]] == ["STARTUP", "DRAIN", "PROBE_BW", "PROBE_RTT"]
    assert {span.label for span in cubic.spans} == {"recovery"}
    lost = values(cubic, "loss").x
    assert lost.min() == pytest.approx(8.3)
    assert np.isin(lost, values(cubic, "cwnd").x).all()


def test_cwnd_of_many_flows_shows_some_of_each_class_and_says_so():
    ccas = ("bbr",) * 6 + ("cubic",) * 3 + ("reno",)
    figure = cwnd(synthetic_run.scenario(5.0, ccas), synthetic_run.tables(5.0, ccas), most=5)
    assert [panel.title for panel in figure.panels] == [
        "bbr-0 (BBR)",
        "bbr-1 (BBR)",
        "cubic-6 (CUBIC)",
        "cubic-7 (CUBIC)",
        "reno-9 (Reno)",
    ]
    assert figure.subtitle.endswith("5 of 10 flows")


def test_internals_have_a_panel_for_every_name(scenario, tables):
    figure = internals(scenario, tables)
    assert [(panel.title, panel.y_label) for panel in figure.panels] == [
        ("bw_mbps", "Mbit/s"),
        ("min_rtt_ms", "ms"),
        ("pacing_gain", "gain"),
        ("w_last_max", "value"),
    ]
    assert [len(panel.lines) for panel in figure.panels] == [2, 2, 2, 2]


def test_a_back_end_that_sees_no_internals_has_no_panels(scenario, tables):
    seen = {name: table for name, table in tables.items() if name != "internals"}
    assert internals(scenario, seen).panels == ()
    assert internals(scenario, {**seen, "internals": frames.NO_INTERNALS}).panels == ()


def test_loss_is_a_gap_where_nothing_arrives(scenario, tables):
    counters = ("arrived_packets", "dropped_packets")
    idle = tables["queue_samples"].with_columns(pl.lit(0).alias(name) for name in counters)
    panel = timeline(scenario, {**tables, "queue_samples": idle}).panels[2]
    assert np.isnan(panel.lines[0].y).all()
    assert panel.limits() == (0.0, 1.0)


def test_every_figure_of_the_catalogue_can_be_described(scenario, tables):
    for name in (entry.name for entry in figures.of("run")):
        figure = figures.describe(name, scenario, tables)
        assert figure.name == name
        assert figure.alt
        assert all(panel.y_label for panel in figure.panels)


def test_stays_end_where_the_next_value_begins():
    rows = pl.DataFrame({"time_s": [0.0, 1.0, 2.0, 3.0], "cca_state": ["a", "a", "b", "a"]})
    assert frames.stays(rows, "cca_state") == [(0, 2, "a"), (2, 3, "b"), (3, 3, "a")]
    assert frames.stays(rows, "cca_state", "b") == [(2, 3, "b")]
    assert frames.stays(rows.clear(), "cca_state") == []


def test_union_joins_what_overlaps():
    assert frames.union([(3, 4), (0, 1), (0.5, 2), (4, 5)]) == [(0, 2), (3, 5)]


def test_limits_follow_the_data_and_the_reference_lines():
    line = Line("x", np.array([0.0, 1.0]), np.array([10.0, np.nan]), "queue")
    low, high = Panel("", "", (line,), guides=(Guide(20, ""),)).limits()
    assert (low, high) == pytest.approx((0, 21.2))
    low, high = Panel("", "", (line,), y_range=(None, None)).limits()
    assert low < 10 < high
    assert Panel("", "", ()).limits()[1] > 0


def test_limits_of_a_stretch_leave_out_the_rest():
    line = Line("x", np.arange(5.0), np.array([90.0, 1, 2, 3, 70]), "queue")
    assert Panel("", "", (line,)).limits((1, 3)) == pytest.approx((0, 3.18))
    assert Panel("", "", (line,), least_high=5.0).limits((1, 3)) == (0, 5)


def test_lines_refuse_vectors_that_do_not_match():
    with pytest.raises(ValueError, match=r"\(2,\)"):
        Line("x", np.zeros(2), np.zeros(3), "queue")


def test_legend_names_every_entry_once():
    line = Line("a", np.zeros(2), np.zeros(2), "bbr", group="BBR")
    other = replace(line, label="b")
    alone, silent = replace(line, group=None), replace(line, group="")
    panel = Panel("", "", (silent, line, other, alone))
    legend = Figure("f", "", (panel, panel), "").legend()
    assert list(legend) == ["BBR", "a"]
    assert legend["BBR"] is line


def test_an_entry_with_lines_in_several_colours_is_in_ink():
    bbr = Line("run B", np.zeros(2), np.zeros(2), "bbr")
    panels = tuple(Panel("", "", (replace(bbr, colour=hue),)) for hue in ("bbr", "cubic", "bbr"))
    [(entry, shown)] = Figure("f", "", panels, "").legend().items()
    assert (entry, shown.colour) == ("run B", "ink")


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("cca", [*registry.ccas(), "some-new-control"])
def test_lines_stand_out_from_light_and_dark_grounds(cca):
    colour = palette.colour(cca)
    assert 1.05 / (luminance(colour.light) + 0.05) >= 3
    assert (luminance(colour.dark) + 0.05) / (luminance("#14171c") + 0.05) >= 4.5


def test_a_control_always_has_the_same_colour():
    assert palette.colour("bbr") != palette.colour("cubic")
    assert palette.colour("some-new-control") == palette.colour("some-new-control")


def apart(one, other):
    return sum(abs(int(one[i : i + 2], 16) - int(other[i : i + 2], 16)) for i in (1, 3, 5))


def test_no_two_controls_of_the_registry_look_alike():
    colours = {cca: palette.colour(cca) for cca in registry.ccas()}
    for (first, a), (second, b) in combinations(colours.items(), 2):
        assert apart(a.light, b.light) > 40, (first, second)
        assert apart(a.dark, b.dark) > 40, (first, second)


def test_a_new_control_has_a_colour_of_its_own(monkeypatch):
    known = {**registry.ccas(), "aa-new": {}, "bb-new": {}}
    monkeypatch.setattr(registry, "ccas", lambda: known)
    colours = [palette.colour(cca) for cca in known]
    assert len(set(colours)) == len(known)


def test_every_control_of_the_registry_has_its_title():
    assert {palette.name(cca) for cca in registry.ccas()} >= {"BBRv3", "LEDBAT++", "Westwood+"}
    assert palette.name("unheard_of") == "unheard_of"


def test_a_control_is_no_bbr_by_its_name():
    assert registry.is_bbr("bbr_shallow")
    assert not registry.is_bbr("bbr_of_mine:Control")
