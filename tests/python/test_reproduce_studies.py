"""Studies that are files: what they run, what their checks compare, and that they are whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from narrows.backends import get_backend
from narrows.execute import run_all
from narrows.figures.model import Panel
from narrows.reproduce import catalogue, study_check, testbeds
from narrows.reproduce.changes import changes
from narrows.reproduce.claims import claims
from narrows.reproduce.exhibit import Case, Data, Exhibit, Scope
from narrows.reproduce.gather import conditions
from narrows.reproduce.library import DOCUMENTS, studies_folder
from narrows.reproduce.rules import rule
from narrows.reproduce.study import labels
from narrows.reproduce.study.measures import value
from narrows.reproduce.study.method import StudyMethod
from narrows.reproduce.study_code import load
from narrows.reproduce.study_files import studies
from narrows.store import StoredTrial, open_store

measures = load("panaderia", "measures.py")
PROFILE = "linux-4.17"
TABLE: dict[str, Any] = {
    "title": "Made up",
    "source": "nowhere",
    "conditions": "nothing",
    "spec": {
        "path": {"rate": "10mbit", "rtt": "10ms", "buffer": "1bdp"},
        "host": {"jitter": "20us"},
        "run": {"duration": "60s"},
        "flows": [{"name": "a", "cca": "bbr"}, {"name": "b", "cca": "cubic"}],
    },
    "own_host": {"timer_lateness": "50us"},
    "axes": {
        "control": {"BBR": {"flows.a.cca": "bbr"}, "Reno": {"flows.a.cca": "reno"}},
        "path.buffer": ["1bdp", "2bdp"],
    },
    "quick": {"path.buffer": ["1bdp"], "set": {"run.duration": "30s"}},
    "measures": {"share": {"metric": "a.share", "times": 100, "label": "Share", "unit": " %"}},
    "figure": [{"y": "share", "x": "path.buffer", "by": "control"}],
    "claim": [],
}
STUDY = StudyMethod("panaderia/made-up", TABLE, PROFILE)
FILES = [exhibit for exhibit in catalogue.exhibits().values() if not exhibit.code]


def data(*rows: tuple[str, str, int, float | None]) -> Data:
    names = ("control", "path.buffer", "trial", "share")
    return Data({"outcome": pl.DataFrame(rows, schema=names, orient="row")}, Scope(PROFILE))


MEASURED = data(
    ("BBR", "1bdp", 1, 80.0), ("BBR", "1bdp", 2, 90.0), ("BBR", "2bdp", 1, 60.0),
    ("Reno", "1bdp", 1, 40.0), ("Reno", "1bdp", 2, 30.0), ("Reno", "2bdp", 1, None),
)  # fmt: skip


def test_every_combination_of_labels_is_a_condition() -> None:
    cases = list(STUDY.cases(Scope(PROFILE)))
    assert [tuple(case.key.values()) for case in cases] == [
        ("BBR", "1bdp"), ("BBR", "2bdp"), ("Reno", "1bdp"), ("Reno", "2bdp"),
    ]  # fmt: skip
    last = cases[-1].spec
    assert (last["flows"][0]["cca"], last["path"]["buffer"]) == ("reno", "2bdp")
    assert last["host"] == {"profile": PROFILE, "jitter": "20us", "timer_lateness": "50us"}


def test_a_small_grid_has_the_labels_that_it_names() -> None:
    cases = list(STUDY.cases(Scope("linux-6.12", quick=True)))
    assert [case.key["path.buffer"] for case in cases] == ["1bdp", "1bdp"]
    assert cases[0].spec["run"]["duration"] == "30s"
    assert "timer_lateness" not in cases[0].spec["host"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"where": {"control": "BBR", "path.buffer": "1bdp"}}, {"": [80.0, 90.0]}),
        ({"where": {"control": "BBR"}}, {"1bdp": [80.0, 90.0], "2bdp": [60.0]}),
        ({"where": {"control": "Reno"}}, {"1bdp": [40.0, 30.0], "2bdp": []}),
        ({"where": {"control": "Cubic"}}, {}),
        ({"ratio": {"control": ["BBR", "Reno"]}, "where": {"path.buffer": "1bdp"}},
         {"": [2.0, 3.0]}),
        ({"difference": {"control": ["BBR", "Reno"]}, "where": {"path.buffer": "1bdp"}},
         {"": [40.0, 60.0]}),
        ({"ratio": {"path.buffer": ["1bdp", "4bdp"]}}, {}),
    ],
)  # fmt: skip
def test_a_check_is_about_the_conditions_that_it_names(asked, found) -> None:
    assert STUDY.samples({"measure": "share", **asked}, MEASURED) == found


def test_a_check_of_conditions_that_were_not_run_is_left_out() -> None:
    check = {"name": "x", "statement": "x", "measure": "share", "where": {"control": "Vegas"}}
    table = {**TABLE, "claim": [{"id": "made-up", "check": [check]}]}
    (finding,) = StudyMethod("panaderia/made-up", table, PROFILE).judge(MEASURED)
    assert finding.verdict == "not run"


def test_a_note_tells_a_ratio_without_a_unit() -> None:
    note = {"statement": "x", "measure": "share", "where": {"path.buffer": "1bdp"}}
    over = {**note, "ratio": {"control": ["BBR", "Reno"]}}
    table = {**TABLE, "claim": [{"id": "made-up", "note": [note, over]}]}
    (finding,) = StudyMethod("panaderia/made-up", table, PROFILE).judge(MEASURED)
    alone, ratio = (note.measured for note in finding.notes)
    assert " %" in alone
    assert "%" not in ratio


def test_every_condition_with_a_value_has_a_bar() -> None:
    (picture,) = STUDY.draw(MEASURED)
    (panel,) = picture.figure.panels
    assert [(bar.label, bar.y) for bar in panel.marks] == [
        ("BBR", 85.0), ("BBR", 60.0), ("Reno", 35.0),
    ]  # fmt: skip


def draw_panel(**figure: Any) -> Panel:
    table = {**TABLE, "figure": [{"y": "share", **figure}]}
    (picture,) = StudyMethod("panaderia/made-up", table, PROFILE).draw(MEASURED)
    (panel,) = picture.figure.panels
    return panel


def test_a_label_has_the_colour_of_the_control_that_it_names() -> None:
    bars = draw_panel(x="path.buffer", by="control").marks
    assert {(bar.label, bar.colour) for bar in bars} == {("BBR", "bbr"), ("Reno", "reno")}
    assert [bar.colour for bar in draw_panel(x="control").marks] == ["bbr", "reno"]


def test_a_quantity_gives_its_axis_title_and_places_and_lines_shades() -> None:
    panel = draw_panel(x="path.buffer", by="control", kind="lines")
    assert panel.x_label == "Buffer (BDP)"
    assert panel.lines[0].x.tolist() == [1, 2]
    panel = draw_panel(x="control", by="path.buffer")
    assert [bar.label for bar in panel.marks] == ["1bdp", "1bdp", "2bdp"]
    assert [bar.colour for bar in panel.marks] == ["step:0", "step:0", "step:4"]
    assert draw_panel(x="path.buffer").x_label == "Buffer"


def test_a_measure_of_one_control_has_its_colour_beside_any_other() -> None:
    table = {
        **TABLE,
        "spec": {**TABLE["spec"], "flows": [{"name": "bbr", "cca": "bbr"}, {"name": "b"}]},
        "axes": {"beside": {"BBR": {"flows.b.cca": "bbr"}, "Reno": {"flows.b.cca": "reno"}}},
        "measures": {"share": {**TABLE["measures"]["share"], "metric": "bbr.share"}},
        "figure": [{"y": "share", "x": "beside"}],
    }
    measured = Data({"outcome": MEASURED["outcome"].rename({"control": "beside"})}, MEASURED.scope)
    (picture,) = StudyMethod("panaderia/made-up", table, PROFILE).draw(measured)
    assert [bar.colour for bar in picture.figure.panels[0].marks] == ["bbr", "bbr"]
    table["measures"]["share"] = {"series": "bbr.share", "take": "mean", "label": "Share"}
    assert labels.control_of_measure(table, "share") == "bbr"
    table["axes"] = {"beside": {"BBR": {"flows.bbr.cca": "bbr"}}}
    assert labels.control_of_measure(table, "share") is None


def test_tables_have_no_scale() -> None:
    pages = {"one": {"flows.a.workload": {"http": "2"}}, "two": {"flows.a.workload": {}}}
    assert labels.scale({"axes": {"protocol": pages}}, "protocol") is None


def test_a_legend_says_what_has_a_control() -> None:
    axes = {"bursts": {"BBR": {"flows.b.cca": "bbr"}}, "version": {"4.9": {"flows.b.cca": "bbr"}}}
    study = {"axes": {**TABLE["axes"], **axes}}
    assert labels.say_in_legend(study, "bursts", "BBR") == "Bursts: BBR"
    assert labels.say_in_legend(study, "control", "Reno") == "Reno"
    assert labels.say_in_legend(study, "version", "4.9") == "Version 4.9"


@pytest.mark.parametrize(
    ("flows", "metric", "control"),
    [
        (["bbr", "cubic"], "a.share", "bbr"),
        (["vegas", "cubic"], "a.share", "vegas"),
        (["bbr", "cubic"], "utilization", None),
        (["bbr", "bbr"], "utilization", "bbr"),
    ],
)
def test_a_measure_has_the_control_of_its_flows(flows, metric, control) -> None:
    study = {
        "spec": {"flows": [{"name": n, "cca": c} for n, c in zip("ab", flows, strict=True)]},
        "axes": {"path.buffer": ["1bdp"]},
        "measures": {"it": {"metric": metric}},
    }
    assert labels.control_of_measure(study, "it") == control


def test_every_study_speaks_of_its_own_labels_and_measures() -> None:
    study_check.check()


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("exhibit", FILES, ids=lambda e: e.identifier)
def test_a_study_has_no_empty_figure_and_a_finding_for_each_claim(
    exhibit: Exhibit, quick: bool
) -> None:
    study, scope = exhibit.method(), Scope(exhibit.profile, quick)
    rows = [
        {**case.key, "trial": trial, **dict.fromkeys(study.table["measures"], float(trial))}
        for case in study.cases(scope)
        for trial in (1, 2, 3)
    ]
    measured = Data({"outcome": pl.DataFrame(rows)}, scope)
    (picture,) = study.draw(measured)
    assert all(panel.marks for panel in picture.figure.panels)
    findings = study.judge(measured)
    assert [finding.claim for finding in findings] == list(exhibit.claims)
    assert all(finding.verdict != "not run" for finding in findings)


def test_a_file_gives_claims_rules_lessons_and_testbeds() -> None:
    for document in DOCUMENTS:
        for name, table in studies(document).items():
            assert catalogue.lessons()[name]
            for claim in table.get("claim", ()):
                found = claims()[f"{document}/{claim['id']}"]
                assert set(found.fails_under) <= set(changes())
                for check in claim.get("check", ()):
                    assert rule(found.identifier, check["name"]).basis
            names = {level.name for axis in testbeds.axes(document) for level in axis.levels}
            assert set(table.get("testbeds", ())) <= names


def test_a_study_s_testbed_changes_its_own_figure_alone() -> None:
    own, other = (catalogue.exhibits()[name] for name in ("mixed/rtt-bias", "mixed/fig5"))
    level = "a buffer of 100 KB"
    (change,) = [change for change in testbeds.of(own) if change.name == level]
    case, *_ = own.method().cases(Scope(own.profile, quick=True))
    assert change.of(case).spec["path"]["buffer"] == "100kb"
    assert level not in [change.name for change in testbeds.of(other)]


def trial_of(tmp_path: Path, flows: list[dict[str, Any]], **path: str) -> StoredTrial:
    """A run of 20 s, of which the first 5 s are warm-up."""
    spec = {
        "name": "x",
        "path": {"rate": "20mbit", "rtt": "25ms", "buffer": "1.75bdp", **path},
        "flows": flows,
        "host": {"profile": PROFILE},
        "run": {"duration": "20s", "warmup": "5s", "sample_interval": "50ms"},
    }
    (condition,) = conditions([Case({"a": "b"}, spec)], get_backend("sim"))
    run_all(list(condition.jobs()), tmp_path, jobs=1)
    (trial,) = condition.stored_trials(open_store(tmp_path / "runs"))
    return trial


MIX = [{"cca": "bbr", "count": 2}, {"cca": "cubic", "count": 2}]


def test_a_queue_in_order_gives_a_flow_its_share_of_the_queue(tmp_path) -> None:
    in_order = measures.shares_apart(trial_of(tmp_path / "fifo", MIX))
    in_turns = measures.shares_apart(trial_of(tmp_path / "fq", MIX, queue="fq_codel"))
    assert in_order is not None
    assert in_order < 0.05
    assert in_turns is None or in_turns > 2 * in_order


def test_one_estimate_is_the_rate_and_several_exceed_it(tmp_path) -> None:
    alone = measures.sum_of_estimates(trial_of(tmp_path / "1", [{"cca": "bbr"}], buffer="8bdp"))
    four = [{"cca": "bbr", "count": 4}]
    several = measures.sum_of_estimates(trial_of(tmp_path / "4", four, buffer="8bdp"))
    assert alone == 0
    assert several is not None
    assert several > 0.5


def test_a_short_flow_lives_in_startup_and_a_long_one_in_steady_state(tmp_path) -> None:
    def steady(size: str) -> float | None:
        flow = {"name": "small", "cca": "bbr", "size": size, "repeat_gap": "0.1s"}
        return load("mixed", "measures.py").steady_state(trial_of(tmp_path / size, [flow]))

    assert steady("50kb") == 0
    assert (steady("30mb") or 0) > 0.8


def test_cubic_s_growth_ends_with_the_first_drop(tmp_path) -> None:
    grown = measures.growth_until_loss(trial_of(tmp_path, MIX))
    assert grown is None or 0 < grown < 2.75
    nothing_lost = trial_of(tmp_path / "deep", MIX, buffer="200bdp")
    assert measures.growth_until_loss(nothing_lost) is None


def test_a_measure_is_what_a_check_takes(tmp_path) -> None:
    trial = trial_of(tmp_path, MIX)
    share = {"metric": "bbr.share", "times": 100, "label": "Share"}
    assert 0 < (value("panaderia", share, trial) or 0) < 100
    series = {"series": "bbr.cwnd", "take": "max", "over": "sum", "label": "Windows"}
    assert (value("panaderia", series, trial) or 0) > 8
    assert value("panaderia", {**share, "metric": "reno.share"}, trial) is None
    assert value("panaderia", {**series, "series": "reno.cwnd"}, trial) is None


@pytest.mark.parametrize(
    ("name", "level", "kind"),
    [("panaderia/fig8", "two token buckets", "tbf"), ("mixed/fig5", "htb", "htb")],
)
def test_a_document_s_shaper_is_a_testbed(name, level, kind) -> None:
    exhibit = catalogue.exhibits()[name]
    (change,) = [change for change in testbeds.of(exhibit) if change.name == level]
    case, *_ = exhibit.method().cases(Scope(exhibit.profile, quick=True))
    path = change.of(case).spec["path"]
    assert path["service"]["kind"] == kind
    assert [link["rate"] for link in path.get("links", ())] in ([], [path["rate"]])
    preset, *_ = catalogue.exhibits()["panaderia/networks"].method().cases(Scope(PROFILE))
    assert change.of(preset).spec == preset.spec


def test_runs_that_differ_are_not_taken_for_one_because_a_count_is_zero(tmp_path) -> None:
    spec = {**TABLE["spec"], "host": {"profile": PROFILE, "jitter": "20us"}}
    spec["run"] = {"duration": "10s", "trials": 3}
    (condition,) = conditions([Case({"control": "BBR"}, spec)], get_backend("sim"))
    run_all(list(condition.jobs()), tmp_path, jobs=1)
    counted = {**TABLE, "measures": {"flows": {"metric": "flows", "label": "Flows"}}}
    study = StudyMethod("panaderia/made-up", counted, PROFILE)
    parts = [
        study.measure(trial) for trial in condition.stored_trials(open_store(tmp_path / "runs"))
    ]
    assert len({part["outcome"]["flows"][0] for part in parts}) == 1
    assert len({part["run"].row(0) for part in parts}) == 3


def test_studies_of_the_repository_come_before_a_copy_in_the_package(tmp_path) -> None:
    package = tmp_path / "python/narrows"
    (package / "studies/panaderia").mkdir(parents=True)
    (tmp_path / "studies").mkdir()
    assert studies_folder(package) == package / "studies"
    (tmp_path / "studies/panaderia").mkdir()
    assert studies_folder(package) == tmp_path / "studies"
