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
from narrows.reproduce import catalogue, gather, judgements, negative, rivals, settle
from narrows.reproduce.changes import ConditionChange, changes, merges, seeds, touches
from narrows.reproduce.claims import RIVALS, claims
from narrows.reproduce.elsewhere import Elsewhere, judge_elsewhere
from narrows.reproduce.exhibit import Case, Finding, Scope
from narrows.reproduce.gather import conditions, work
from narrows.reproduce.judgements import AS_WRITTEN, Judgement
from narrows.store import open_store

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
PLAIN = ConditionChange("plain", "BBR as it is in the place of the proposal", options=False)
CHEAP = (
    "panaderia/fig1", "panaderia/fig6",
    "mixed/fig5", "mixed/fig10", "mixed/fig11", "mixed/fig12", "mixed/fig13", "mixed/fig14",
    "mixed/fig15", "mixed/order",
    "ietf98/bufferbloat", "ietf98/policer", "ietf98/startup", "ietf98/state-walk",
    "cs244/fig5", "cs244/needs-fq",
)  # fmt: skip
"""Figures and claims whose negative controls on the small grid take a second or two each.

`make controls` runs those of all others.
"""


def test_a_replaced_flow_keeps_its_name_and_nothing_else() -> None:
    spec = changes()["reno-for-bbr"].of(CASE).spec
    assert spec["flows"] == [
        {"name": "bbr-1", "cca": "reno"},
        {"name": "bbr-2", "cca": "reno", "start": "1s"},
        {"name": "small", "cca": "cubic", "size": "1mb"},
    ]
    assert "name" not in CASE.spec["flows"][0]


def test_values_are_set_in_their_places() -> None:
    change = ConditionChange("m", "words", set={"path.loss": 0.1, "flows.small.size": "5mb"})
    spec = change.of(CASE).spec
    assert spec["path"]["loss"] == 0.1
    assert [flow.get("size") for flow in spec["flows"]] == [None, None, "5mb"]


def test_without_options_a_proposal_is_plain_bbr() -> None:
    spec = PLAIN.of(CASE).spec
    assert all("options" not in flow for flow in spec["flows"])


def test_a_change_may_concern_some_conditions_only() -> None:
    change = changes()["farther-simulator"]
    assert change.of(CASE).spec["path"]["rtt"] == "60ms"
    other = Case({"place": "uml"}, CASE.spec)
    assert change.of(other) is other


def test_every_claim_that_can_fail_names_a_change_and_no_other_does() -> None:
    for claim in claims().values():
        free = claim.kind in ("reported", "deployment")
        assert bool(claim.fails_under) is not free, claim.identifier
        assert set(claim.fails_under) <= set(changes())
    used = {name for claim in claims().values() for name in claim.fails_under}
    assert used == set(changes())
    assert set(RIVALS.values()) <= used


def test_every_change_alters_conditions_that_can_run() -> None:
    for exhibit in catalogue.exhibits().values():
        cases = list(exhibit.method().cases(Scope(exhibit.profile, quick=True)))
        for name in {name for claim in exhibit.claims for name in claims()[claim].fails_under}:
            changed = [changes()[name].of(case) for case in cases]
            first, *_ = (b for a, b in zip(cases, changed, strict=True) if a.spec != b.spec)
            assert list(conditions([first], get_backend("sim"))) or first.backend, name


def test_flows_are_called_what_they_stand_for() -> None:
    exhibit = catalogue.exhibits()["cs244/extension"]
    scope = Scope(exhibit.profile, quick=True)
    plain = work(exhibit, scope, get_backend("sim"))
    changed = work(exhibit, scope, get_backend("sim"), changes()["reno-for-bbr"])
    assert [c.called for c in changed.cells] == [c.called for c in plain.cells]
    assert changed.name == f"{plain.name}-reno-for-bbr"
    (run,) = {job.trial.scenario["flows"][1]["cca"] for job in changed.jobs()}
    assert run == "reno"


def test_a_replaced_flow_is_stored_under_the_name_of_the_original(tmp_path) -> None:
    (changed,) = conditions([CASE], get_backend("sim"), changes()["reno-for-bbr"])
    run_all(list(changed.jobs()), tmp_path)
    (trial,) = changed.stored_trials(open_store(tmp_path / "runs"))
    assert [flow["cca"] for flow in trial.scenario["flows"]] == ["bbr", "bbr", "cubic"]
    assert trial.number == 1
    states = set(trial.tables["flow_samples"].filter(pl.col("flow") == 0)["cca_state"])
    assert "probe_bw" not in states


def test_a_change_of_the_number_of_flows_leaves_them_their_controls(tmp_path) -> None:
    (changed,) = conditions(
        [CASE], get_backend("sim"), ConditionChange("m", "w", set={"flows.small.count": 2})
    )
    run_all(list(changed.jobs()), tmp_path)
    (trial,) = changed.stored_trials(open_store(tmp_path / "runs"))
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
    assert list(catalogue.claims_asked_for(exhibit, wanted)) == meant


def test_a_document_is_meant_with_every_claim() -> None:
    for wanted in ("mixed", "all"):
        for exhibit in catalogue.select(wanted):
            assert catalogue.claims_asked_for(exhibit, wanted) == exhibit.claims


def test_the_word_after_claim_must_be_a_claim() -> None:
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
    assert judgements.judge(named, negative.named_changes, quick=True, out=tmp_path) == []
    told = "not run here: cs244/two-environments, which needs uml"
    assert list(judgements.left_out(named, quick=True)) == [told]
    assert list(judgements.left_out("cs244/fig5", quick=True)) == []


@pytest.mark.parametrize("named", CHEAP)
def test_claims_fail_where_they_must(named, tmp_path) -> None:
    made = judgements.judge(named, own_controls, quick=True, out=tmp_path, jobs=1)
    found = negative.controls(made)
    assert found
    missed = {one.claim for one in found if one.answer == negative.MISSED}
    assert not missed
    kept = [one.key for one in judgements.read(tmp_path)]
    assert kept == [one.key for one in judgements.newest(made)]


def test_a_control_that_estimates_no_bandwidth_is_noticed_as_well(tmp_path) -> None:
    changed = [changes()["vegas-for-bbr"]]
    made = judgements.judge("ietf98/startup", lambda _: changed, quick=True, out=tmp_path, jobs=1)
    (found,) = negative.controls(made)
    assert (found.answer, found.failed) == (
        negative.NOTICED,
        "BBR leaves on a plateau of the delivery rate.",
    )


def own_controls(exhibit) -> list[ConditionChange]:
    """The controls of a figure without those that only put a rival in BBR's place, but the first.

    All rivals are run for the page, in minutes.
    """
    named = negative.named_changes(exhibit)
    others = [change for change in named if change.name not in RIVALS.values()]
    first = [change for change in named if change.name in RIVALS.values()][:1]
    return [*first, *others]


def test_equal_runs_are_one_trial_in_a_control_as_well(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(
        "narrows.reproduce.paths.repeated_conditions", lambda item, _: [item.cells[0].key]
    )
    monkeypatch.setattr(settle, "repeated_conditions", lambda *_: [])
    made = judgements.judge("mixed/fig13", own_controls, quick=True, looks=1, out=tmp_path)
    assert {one.looks for one in made} == {1}
    told = " ".join(check.measured for one in made for check in one.as_checks)
    assert "on one path" in told


def check(passed, statement="It holds.", values=None) -> Check:
    return Check(statement, "", "e", "m", passed, values or {"": (3.0, 0.5)})


def judgement(change=AS_WRITTEN, *checks, claim="mixed/fig5", merged=False, verdict="v"):
    stored = tuple(asdict(one) for one in checks)
    return Judgement(claim, change, "linux-4.11", False, verdict, merged, stored)


def test_a_control_is_settled_by_the_checks_that_are_met_without_it() -> None:
    other, met = "It fails anyway.", {("mixed/fig5", "It holds.")}

    def is_settled(passed) -> bool:
        checks = [check(passed), check(False, other)]
        return judgements.notices(Finding("mixed/fig5", checks), met)

    assert not is_settled(None)
    assert is_settled(False)
    assert is_settled(True)
    assert judgements.notices(Finding("mixed/fig5", [check(None)]), set())


def test_no_trials_are_added_for_a_claim_that_isn_t_asked_for() -> None:
    until = judgements.only_of({"mixed/fig5"}, settle.verdict)
    open_ = [check(None)]
    assert not until(Finding("mixed/fig5", open_))
    assert until(Finding("mixed/fig5", [check(True)]))
    assert until(Finding("mixed/fig6", open_))


def answer(under, *before) -> str:
    changed = judgement("reno-for-bbr", *under)
    return negative.control(changed, judgement(AS_WRITTEN, *before)).answer


def test_a_check_notices_a_change_only_if_it_is_met_without_it() -> None:
    assert answer([check(False)], check(True)) == negative.NOTICED
    assert answer([check(False)], check(False)) == negative.ANYWAY
    assert answer([check(False)], check(None)) == negative.ANYWAY
    assert answer([check(None)], check(True)) == negative.MISSED
    assert answer([check(True)], check(True)) == negative.MISSED
    alone = negative.control(judgement("reno-for-bbr", check(False)), None)
    assert alone.answer == negative.ANYWAY


def test_the_check_that_is_met_without_the_change_is_the_one_that_is_named() -> None:
    failed = [check(False, "First."), check(False, "Second.")]
    before = judgement(AS_WRITTEN, check(False, "First."), check(True, "Second."))
    assert negative.control(judgement("reno-for-bbr", *failed), before).failed == "Second."


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_condition_that_is_compared_with_itself_shows_nothing(value) -> None:
    trivial = check(False, values={"1 BDP": (value, 0.0), "2 BDP": (value, 0.0)})
    before = judgement(AS_WRITTEN, check(True))
    changed = judgement("reno-for-bbr", trivial, merged=True)
    assert negative.control(changed, before).answer == negative.ITSELF
    apart = judgement("reno-for-bbr", trivial)
    assert negative.control(apart, before).answer == negative.NOTICED
    varying = check(False, values={"1 BDP": (value, 0.1)})
    other = judgement("reno-for-bbr", varying, merged=True)
    assert negative.control(other, before).answer == negative.NOTICED


def test_conditions_that_a_change_makes_equal_are_recognised() -> None:
    plain = Case({"v": "plain"}, {**CASE.spec, "flows": [{"cca": "bbr"}]})
    option = {"cca": "bbr", "name": "other", "options": {"cwnd_gain": 1}}
    proposed = Case({"v": "new"}, {**CASE.spec, "flows": [option]})
    both = [plain, proposed]
    assert merges(PLAIN, both)
    assert merges(changes()["reno-for-bbr"], both)
    assert not merges(seeds(1), both)
    assert not touches(changes()["vegas-for-cubic"], both)


def test_sets_of_seeds_are_disjoint() -> None:
    first = [seeds(n).of(CASE).spec["run"]["seed"] for n in range(3)]
    assert first == [1, 1001, 2001]


def test_a_claim_that_a_named_rival_meets_is_not_specific() -> None:
    assert claims()["mixed/fig5"].rivals == ("reno", "cubic", "vegas")
    held = judgement(AS_WRITTEN, check(True), verdict="confirmed")
    passing = judgement("reno-for-bbr", check(True), verdict="confirmed")
    failing = judgement("vegas-for-bbr", check(False), verdict="refuted")
    unnamed = judgement("copa-for-bbr", check(True), verdict="confirmed")
    silent = judgement("reno-for-bbr", check(None), verdict="undecided")
    assert rivals.is_specific("mixed/fig5", [held]) is None
    assert rivals.is_specific("mixed/fig5", [held, silent, unnamed]) is None
    others = [replace(silent, change=RIVALS[rival]) for rival in ("cubic", "vegas")]
    assert rivals.is_specific("mixed/fig5", [held, silent, *others]) is False
    assert rivals.is_specific("mixed/fig5", [held, silent, failing, unnamed]) is True
    assert rivals.is_specific("mixed/fig5", [held, passing, failing]) is False
    (*_, row) = rivals.describe([held, passing, failing])
    told = "confirmed | confirmed | not run | fails | not run | not run | reno, cubic, vegas | no"
    assert row == f"| `mixed/fig5` | {told} |"
    (*_, row) = rivals.describe([held, silent])
    assert row.endswith("| reno, cubic, vegas | not known |")


def test_a_proposal_and_what_isn_t_about_bbr_have_no_rivals() -> None:
    fixed_window = catalogue.exhibits()["panaderia/fig1"]
    assert rivals.of(fixed_window) == []
    one = judgement("reno-for-bbr", check(True), claim="mixed/idea-hystart")
    assert rivals.is_specific("mixed/idea-hystart", [one]) is None
    assert len(rivals.of(catalogue.exhibits()["mixed/fig5"])) == len(RIVALS)


def test_unnoticed_changes_are_reported(tmp_path) -> None:
    found = [
        negative.Control("mixed/fig5", "reno-for-bbr", True, negative.NOTICED, "Pinned.", "50 %"),
        negative.Control("mixed/fig6", "reno-for-bbr", True, negative.MISSED, "", "10 Mbit/s"),
        negative.Control("mixed/fig7", "reno-for-bbr", True, negative.ANYWAY, "It dips.", "1"),
    ]
    lines = list(negative.describe(found))
    assert lines[0] == "noticed: mixed/fig5, with Reno in BBR's place"
    assert lines[2] == "NOT NOTICED: mixed/fig6, with Reno in BBR's place"
    assert lines[4] == "fails anyway: mixed/fig7, with Reno in BBR's place"
    told = "3 negative controls: 1 noticed, 1 not noticed, 1 that show nothing"
    assert lines[-1] == told
    (tmp_path / judgements.RECORD).write_text(json.dumps({"judgements": "damaged"}))
    assert judgements.read(tmp_path) == []


def test_a_command_runs_each_change_once_and_fails_if_one_isn_t_noticed(tmp_path) -> None:
    both = Elsewhere(controls=True, rivals=True, seeds=2)
    names = [change.name for change in both.of(catalogue.exhibits()["mixed/fig13"])]
    assert sorted(names) == sorted({*RIVALS.values(), "seeds 1"})
    seeded = judge_elsewhere("panaderia/fig6", Elsewhere(seeds=2), quick=True, out=tmp_path)
    assert seeded.good
    assert seeded.lines[-1].endswith("of them from confirmed to refuted or back.")


@pytest.mark.parametrize(
    ("option", "given"),
    [("--vary-paths", {"vary_paths": True}), ("--backend", {"backend": "uml"})],
)
def test_changed_conditions_run_in_the_simulator_as_their_figure_says(option, given) -> None:
    with pytest.raises(InputError, match=option):
        judgements.only_simulated(**{"backend": "sim", "vary_paths": False, **given})
    judgements.only_simulated("sim", vary_paths=False)


def test_a_judgement_with_fewer_looks_replaces_none() -> None:
    first, fewer, more = (
        replace(judgement(verdict=verdict), looks=looks)
        for verdict, looks in (("confirmed", 3), ("undecided", 1), ("refuted", 3))
    )
    assert judgements.newest([first, fewer]) == [first]
    assert judgements.newest([fewer, first, more]) == [more]
