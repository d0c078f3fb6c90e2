"""Negative controls: conditions under which a claim must fail, and what they make of a case."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import polars as pl
import pytest

from narrows.backends import Backend, get_backend
from narrows.errors import InputError
from narrows.execute import run_all
from narrows.report import Check
from narrows.reproduce import catalogue, gather, ledger, negative, paths
from narrows.reproduce.claims import claims
from narrows.reproduce.exhibit import Case, Finding, Scope
from narrows.reproduce.gather import conditions, work
from narrows.reproduce.mutations import Mutation, mutations
from narrows.store import RunStore

CASE = Case(
    {"place": "sim"},
    {
        "name": "x",
        "path": {"rate": "10mbit", "rtt": "40ms", "buffer": "1bdp"},
        "flows": [
            {"cca": "bbr", "options": {"cwnd_gain": 1}},
            {"cca": "bbr", "start": "1s"},
            {"name": "small", "cca": "cubic", "size": "1mb"},
        ],
        "host": {"profile": "linux-4.11"},
        "run": {"duration": "5s"},
    },
)
CHEAP = (
    "panaderia/fig1", "panaderia/fig6",
    "mixed/fig5", "mixed/fig10", "mixed/fig11", "mixed/fig12", "mixed/fig13", "mixed/fig14",
    "mixed/fig15", "mixed/order", "mixed/idea-bw-window",
    "ietf98/bufferbloat", "ietf98/lte-startup", "ietf98/policer",
    "ietf98/reno", "ietf98/rwnd-throttle", "ietf98/startup", "ietf98/state-walk",
    "cs244/extension", "cs244/fig5", "cs244/needs-fq",
)  # fmt: skip
"""Figures and claims whose negative controls on the small grid take a second or two each."""


def test_a_replaced_flow_keeps_its_name_and_nothing_else() -> None:
    spec = mutations()["reno-for-bbr"].of(CASE).spec
    assert spec["flows"] == [
        {"name": "bbr-1", "cca": "reno"},
        {"name": "bbr-2", "cca": "reno", "start": "1s"},
        {"name": "small", "cca": "cubic", "size": "1mb"},
    ]
    assert "name" not in CASE.spec["flows"][0]


def test_values_are_set_in_their_places() -> None:
    change = Mutation("m", "words", set={"path.loss": 0.1, "flows.small.size": "5mb"})
    spec = change.of(CASE).spec
    assert spec["path"]["loss"] == 0.1
    assert [flow.get("size") for flow in spec["flows"]] == [None, None, "5mb"]


def test_without_options_a_proposal_is_plain_bbr() -> None:
    spec = mutations()["without-the-change"].of(CASE).spec
    assert all("options" not in flow for flow in spec["flows"])


def test_a_change_may_concern_some_conditions_only() -> None:
    change = mutations()["farther-simulator"]
    assert change.of(CASE).spec["path"]["rtt"] == "60ms"
    other = Case({"place": "uml"}, CASE.spec)
    assert change.of(other) is other


def test_every_claim_that_can_fail_names_a_change_and_no_other_does() -> None:
    for claim in claims().values():
        free = claim.kind in ("reported", "deployment")
        assert bool(claim.fails_under) is not free, claim.identifier
        assert set(claim.fails_under) <= set(mutations())
    used = {name for claim in claims().values() for name in claim.fails_under}
    assert used == set(mutations())


def test_every_change_alters_conditions_that_can_run() -> None:
    for exhibit in catalogue.exhibits().values():
        cases = list(exhibit.method().cases(Scope(exhibit.profile, quick=True)))
        for name in {name for claim in exhibit.claims for name in claims()[claim].fails_under}:
            changed = [mutations()[name].of(case) for case in cases]
            first, *_ = (b for a, b in zip(cases, changed, strict=True) if a.spec != b.spec)
            assert list(conditions([first], get_backend("sim"))) or first.backend, name


def test_flows_are_called_what_they_stand_for() -> None:
    exhibit = catalogue.exhibits()["cs244/extension"]
    scope = Scope(exhibit.profile, quick=True)
    plain = work(exhibit, scope, get_backend("sim"))
    changed = work(exhibit, scope, get_backend("sim"), mutations()["reno-for-bbr"])
    assert [c.called for c in changed.cells] == [c.called for c in plain.cells]
    assert changed.name == f"{plain.name}-reno-for-bbr"
    (run,) = {job.trial.scenario["flows"][1]["cca"] for job in changed.jobs()}
    assert run == "reno"


def test_what_is_stored_of_a_replaced_flow_is_called_what_it_stands_for(tmp_path) -> None:
    (changed,) = conditions([CASE], get_backend("sim"), mutations()["reno-for-bbr"])
    run_all(list(changed.jobs()), tmp_path)
    (trial,) = changed.stored(RunStore(tmp_path / "runs"))
    assert [flow["cca"] for flow in trial.scenario["flows"]] == ["bbr", "bbr", "cubic"]
    assert trial.number == 1
    states = set(trial.tables["flow_samples"].filter(pl.col("flow") == 0)["cca_state"])
    assert "probe_bw" not in states


def test_a_change_of_the_number_of_flows_leaves_them_their_controls(tmp_path) -> None:
    (changed,) = conditions(
        [CASE], get_backend("sim"), Mutation("m", "w", set={"flows.small.count": 2})
    )
    run_all(list(changed.jobs()), tmp_path)
    (trial,) = changed.stored(RunStore(tmp_path / "runs"))
    assert [flow["cca"] for flow in trial.scenario["flows"]] == ["bbr", "bbr", "cubic", "cubic"]


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("mixed/fig4", ["mixed/fig4", "mixed/fig4-cubic"]),
        ("claim:mixed/fig4", ["mixed/fig4"]),
        ("mixed/fig4-cubic", ["mixed/fig4-cubic"]),
        ("claim:mixed/fig4-cubic", ["mixed/fig4-cubic"]),
        ("ietf98/reno", ["ietf98/reno-1x", "ietf98/reno-4x", "ietf98/reno-16x"]),
    ],
)
def test_a_figure_is_meant_with_all_its_claims_and_a_claim_alone(wanted, meant) -> None:
    (exhibit,) = catalogue.select(wanted)
    assert list(catalogue.asked(exhibit, wanted)) == meant


def test_a_document_is_meant_with_every_claim() -> None:
    for wanted in ("mixed", "all"):
        for exhibit in catalogue.select(wanted):
            assert catalogue.asked(exhibit, wanted) == exhibit.claims


def test_what_follows_claim_must_be_one() -> None:
    with pytest.raises(InputError, match='"claim:panaderia/fig9-loss"'):
        catalogue.select("claim:panaderia/fig9-los")
    with pytest.raises(InputError, match="reproduce"):
        catalogue.select("claim:all")


def test_a_control_that_needs_a_back_end_that_isn_t_set_up_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unbuilt(name: str) -> Backend:
        if name == "sim":
            return get_backend(name)
        raise InputError.at("--backend", name, "another")

    monkeypatch.setattr(gather, "get_backend", unbuilt)
    named = "cs244/two-environments"
    assert negative.run(named, quick=True, out=tmp_path) == []
    told = "not run here: cs244/two-environments, which needs uml"
    assert list(negative.left_out(named, quick=True)) == [told]
    assert list(negative.left_out("cs244/fig5", quick=True)) == []


@pytest.mark.parametrize("named", CHEAP)
def test_claims_fail_where_they_must(named, tmp_path) -> None:
    controls = negative.run(named, quick=True, out=tmp_path, jobs=1)
    judged = [claim for e in catalogue.select(named) for claim in catalogue.asked(e, named)]
    expected = [(claim, name) for claim in judged for name in claims()[claim].fails_under]
    assert sorted((one.claim, one.mutation) for one in controls) == sorted(expected)
    assert [one.claim for one in controls if not one.noticed] == []
    assert sorted(map(str, negative.read(tmp_path))) == sorted(map(str, controls))


def test_equal_runs_are_one_trial_in_a_control_as_well(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(paths, "repeated", lambda item, _: [item.cells[0].key])
    made = negative.run("mixed/fig13", quick=True, out=tmp_path)
    assert made
    assert all("on one path" in one.measured for one in made)


def check(passed) -> Check:
    return Check("It holds.", "r", "e", "m", passed)


def test_an_undecided_check_notices_nothing() -> None:
    finding = Finding("mixed/fig5", [check(True), check(None)])
    assert not negative.control(finding, "reno-for-bbr", quick=True).noticed
    finding = Finding("mixed/fig5", [check(True), check(False)])
    assert negative.control(finding, "reno-for-bbr", quick=True).failed == "It holds."


def test_the_check_named_is_met_without_the_change_where_one_is() -> None:
    failed = [replace(check(False), statement=words) for words in ("First.", "Second.", "Third.")]
    finding = Finding("mixed/fig5", failed)
    before = {("mixed/fig5", "Third."): True, ("mixed/fig6", "First."): True}
    assert negative.control(finding, "reno-for-bbr", False, before).failed == "Third."
    before = {("mixed/fig5", "First."): False, ("mixed/fig5", "Second."): None}
    assert negative.control(finding, "reno-for-bbr", False, before).failed == "Second."
    assert negative.control(finding, "reno-for-bbr", False).failed == "First."


def entry(claim, passed, quick=False, backend="sim", profile="linux-4.11") -> ledger.Entry:
    way = ledger.Way(backend, "e", profile, quick)
    return ledger.Entry(claim, claim, way, "v", (asdict(check(passed)),), None)


def test_the_checks_without_a_change_are_those_of_the_documents_kernel() -> None:
    whole, small = entry("mixed/fig5", False), entry("mixed/fig5", True, quick=True)
    elsewhere = [
        entry("mixed/fig6", True, backend="uml"),
        entry("mixed/fig6", True, profile="linux-6.12"),
    ]
    named = ("mixed/fig5", "It holds.")
    assert negative.unchanged([whole, small, *elsewhere], quick=False) == {named: False}
    assert negative.unchanged([small, whole, *elsewhere], quick=True) == {named: True}
    assert negative.unchanged([whole], quick=True) == {named: False}


def test_what_went_unnoticed_is_told(tmp_path) -> None:
    controls = [
        negative.Control("mixed/fig5", "reno-for-bbr", True, "It is pinned.", "50 %"),
        negative.Control("mixed/fig6", "reno-for-bbr", True, "", "10 Mbit/s"),
    ]
    lines = list(negative.describe(controls))
    assert lines[0] == "noticed: mixed/fig5, with Reno in BBR's place"
    assert lines[2] == "NOT NOTICED: mixed/fig6, with Reno in BBR's place"
    assert lines[-1] == "2 negative controls, 1 of them not noticed"
    (tmp_path / negative.RECORD).write_text(json.dumps({"controls": "damaged"}))
    assert negative.read(tmp_path) == []


def test_a_kept_control_that_no_claim_names_any_more_is_left_out(tmp_path) -> None:
    named, former = (
        negative.Control("mixed/fig5", mutation, False, "It is pinned.", "50 %")
        for mutation in ("reno-for-bbr", "former")
    )
    told = json.dumps({"controls": [asdict(named), asdict(former)]})
    (tmp_path / negative.RECORD).write_text(told)
    assert negative.read(tmp_path) == [named]


@pytest.mark.parametrize(("backend", "profile"), [("uml", None), ("sim", "linux-6.12")])
def test_other_back_ends_and_kernels_are_refused(backend, profile) -> None:
    with pytest.raises(InputError, match="these run in the simulator"):
        negative.only_simulated(backend, profile)


@pytest.mark.parametrize(
    ("option", "given"), [("--vary-paths", {"vary_paths": True}), ("--trials", {"trials": 3})]
)
def test_changed_conditions_keep_their_figures_trials_and_paths(option, given) -> None:
    with pytest.raises(
        InputError, match=f"{option}.*have the trials and the paths of their figure"
    ):
        negative.only_as_written(**{"vary_paths": False, "trials": None, **given})
    negative.only_as_written(vary_paths=False, trials=None)
