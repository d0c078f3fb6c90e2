"""The reasons that stand beside a verdict: other conditions of a testbed, another kernel."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from narrows.backends import get_backend
from narrows.backends.sim import Simulator
from narrows.errors import SpecError
from narrows.report import Check
from narrows.reproduce import catalogue, fit, ledger, make, seeds, testbeds
from narrows.reproduce.claims import claims
from narrows.reproduce.exhibit import Case, Data, Finding, Scope
from narrows.reproduce.gather import conditions
from narrows.reproduce.judgements import Judgement, without_reason
from narrows.reproduce.judging import version
from narrows.reproduce.make import ReproducedFigure, with_versions
from narrows.reproduce.site import StoredFigure
from narrows.reproduce.standing import NOT_SPECIFIC, standing
from narrows.reproduce.study_code import load
from narrows.spec.scenario import Scenario

fig8 = load("mixed", "fig8.py")
testbed = load("mixed", "testbed.py")
fig6 = load("panaderia", "fig6.py")

SCOPE = Scope("linux-4.11", quick=True)
MET = Check("It holds.", "Passes if it does.", "yes", "yes", passed=True)
NOT_MET = replace(MET, measured="no", passed=False)


def case(pair: tuple[str, str] = ("cubic", "bbr")) -> Case:
    return Case({"gap_s": 0.1}, testbed.spec(SCOPE, *pair, 40, 0.5))


def on(document: str, name: str, given: Case) -> Mapping[str, Any]:
    """The specification on a testbed."""
    (found,) = [one for one in testbeds.testbeds(document) if one.name == name]
    before = copy.deepcopy(given)
    changed = found.change.of(given).spec
    assert given == before
    return changed


def test_super_packets_are_counted_by_a_queue_of_packets() -> None:
    spec = on("mixed", "offload", case())
    assert spec["path"]["buffer"] == "75pkt"  # half of 40 Mbit/s times 45 ms
    assert spec["host"]["gso"] is True


def test_iperf3_s_conversation_lengthens_the_gaps() -> None:
    assert on("mixed", "iperf3", case())["flows"][1]["repeat_gap"] == "0.28s"
    spec = on("mixed", "iperf3, metrics", case())
    assert spec["flows"][1]["repeat_gap"] == "0.28s"
    assert spec["host"]["metrics_save"] is True


def test_timers_are_late_where_hosts_pace_themselves() -> None:
    (first, *_) = fig6.cases(Scope("linux-4.17", quick=True))
    assert on("panaderia", "timers on time", first)["host"]["timer_lateness"] == "0s"
    paced = on("cs244", "timers 100 us late", case())
    assert "timer_lateness" not in paced["host"]


def test_one_kind_starts_ahead_of_the_other_and_alone_as_it_did() -> None:
    given = case()
    given.spec["flows"][1].pop("start")
    starts = [flow.get("start") for flow in on("panaderia", "BBR first", given)["flows"]]
    assert starts == ["5s", None]
    alone = on("panaderia", "BBR first", case(("cubic", "cubic")))["flows"]
    assert [flow.get("start") for flow in alone] == [None, "0.5s"]


def test_every_figure_can_be_made_on_every_testbed_of_its_document() -> None:
    for exhibit in catalogue.exhibits().values():
        first, *_ = exhibit.method().cases(Scope(exhibit.profile, quick=True))
        for change in testbeds.of(exhibit):
            assert list(conditions([change.of(first)], get_backend("sim")))


def test_windows_are_shifted_by_starting_later() -> None:
    starts = [flow["start"] for flow in on("panaderia", "windows shifted", case())["flows"]]
    assert starts == ["0.25s", "0.75s"]


def test_four_flows_of_our_choice_become_two_or_eight() -> None:
    exhibit = catalogue.exhibits()["panaderia/fig8"]
    first, other, *_ = exhibit.method().cases(Scope(exhibit.profile, quick=True))
    few = on("panaderia", "2 flows", first)["flows"]
    assert [flow["count"] for flow in few] == [1, 1]
    late = on("panaderia", "timers on time, 8 flows", first)
    assert [flow["count"] for flow in late["flows"]] == [4, 4]
    assert late["host"]["timer_lateness"] == "0s"
    assert [flow["count"] for flow in on("panaderia", "2 flows", other)["flows"]] == [4, 4]


def test_a_number_of_flows_that_the_paper_gives_isn_t_varied() -> None:
    given = catalogue.exhibits()["panaderia/fig9"]
    assert not any("flows" in change.name for change in testbeds.of(given))
    left_open = catalogue.exhibits()["panaderia/fig7"]
    assert any("flows" in change.name for change in testbeds.of(left_open))


def test_how_a_route_is_confirmed_is_open_for_the_figure_that_proposes_it() -> None:
    names = {change.name for change in testbeds.of(catalogue.exhibits()["panaderia/fix-rtprop"])}
    assert {"3 probes", "10 probes", "many probes alone", "a drastic probe alone"} <= names
    assert not any("probe" in c.name for c in testbeds.of(catalogue.exhibits()["panaderia/fig9"]))
    confirming = {"rtprop": "confirm"}
    flows = [{"cca": "bbr", "options": confirming}, {"cca": "bbr"}]
    given = Case({}, {**case().spec, "flows": flows})
    changed, plain = on("panaderia", "3 probes", given)["flows"]
    assert changed["options"] == {"rtprop": "confirm", "rtprop_probes": 3}
    assert "options" not in plain


@pytest.mark.parametrize(
    ("verdicts", "over"),
    [
        (["confirmed", "confirmed"], "confirmed"),
        (["refuted", "refuted"], "refuted"),
        (["confirmed", "refuted"], "depends"),
        (["confirmed", "partly", "refuted"], "depends"),
        (["confirmed", "undecided"], "undecided"),
        (["confirmed", "partly"], "undecided"),
        (["refuted", "partly"], "undecided"),
        (["partly", "undecided"], "undecided"),
        (["partly", "partly"], "partly"),
    ],
)
def test_a_claim_is_decided_only_if_it_is_on_every_testbed(verdicts, over) -> None:
    assert testbeds.verdict_over(dict(enumerate(verdicts))) == over


def judge(claim: str, testbed: str, verdict: str, *passed: bool | None) -> Judgement:
    checks = tuple(asdict(Check("s", "", "", "", each, {}, 5.5)) for each in passed)
    return Judgement(claim, testbed, "linux-4.11", False, verdict, False, checks)


def test_a_verdict_that_depends_says_on_what() -> None:
    found = [
        judge("cs244/fig5", "", "refuted"),
        judge("cs244/fig5", "timers 100 us late", "confirmed"),
        judge("cs244/fig5", "CUBIC first", "refuted"),
        judge("cs244/fig5", "seeds 1", "undecided"),
    ]
    told = standing("cs244/fig5", "refuted", "linux-4.11", found)
    assert told.verdict == "depends"
    assert told.more == "refuted as chosen, confirmed with timers 100 us late"
    assert standing("cs244/fig5", "refuted", "linux-6.12", found).verdict == "refuted"
    quick = [replace(one, quick=True) for one in found]
    assert standing("cs244/fig5", "refuted", "linux-4.11", quick).verdict == "refuted"
    open_ = [replace(one, verdict="undecided") for one in found]
    assert standing("cs244/fig5", "undecided", "linux-4.11", open_).more == ""


def test_the_ledger_says_what_a_verdict_depends_on_and_how_many_checks_are_met() -> None:
    exhibit = catalogue.exhibits()["cs244/fig5"]
    finding = Finding("cs244/fig5", [MET, NOT_MET])
    entry = ledger.entry(exhibit, finding, ledger.Way("sim", "1", exhibit.profile, False))

    def headline(*found: Judgement) -> str:
        lines = ledger.lines([entry], {"cs244/fig5": exhibit.profile}, found)
        (line,) = [line for line in lines if line.entries]
        return line.headline

    assert headline() == "refuted (1 of 2 checks met)"
    places = {"": "refuted", "timers on time": "confirmed"}
    found = [
        replace(judge("cs244/fig5", name, verdict), profile=exhibit.profile)
        for name, verdict in places.items()
    ]
    assert headline(*found) == "depends (refuted as chosen, confirmed with timers on time)"


def test_a_confirmed_claim_that_a_named_rival_meets_as_well_isn_t_specific() -> None:
    claim, profile = "cs244/fig6", "linux-4.11"
    assert claims()[claim].rivals == ("reno", "cubic", "vegas")

    def stand(**verdicts: str) -> tuple[str, str]:
        found = [judge(claim, "", "confirmed", True)]
        found += [
            judge(claim, f"{rival}-for-bbr", verdict, verdict == "confirmed")
            for rival, verdict in verdicts.items()
        ]
        made = standing(claim, "confirmed", profile, found)
        return made.verdict, made.more

    fail = {"reno": "refuted", "cubic": "refuted", "vegas": "refuted"}
    assert stand(**fail) == ("confirmed", "")
    assert stand(**{**fail, "reno": "confirmed"}) == (NOT_SPECIFIC, "also with Reno")
    assert stand(**fail, bbr3="confirmed") == ("confirmed", "also with BBRv3")


def test_a_verdict_says_which_named_rivals_never_ran() -> None:
    claim, profile = "cs244/fig6", "linux-4.11"
    found = [judge(claim, "", "confirmed", True), judge(claim, "reno-for-bbr", "refuted", False)]
    told = standing(claim, "confirmed", profile, found)
    assert (told.verdict, told.more) == ("confirmed", "not run with CUBIC, Vegas")
    assert standing(claim, "confirmed", "linux-6.12", found).more == "rivals not run"
    assert standing(claim, "refuted", profile, found).more == ""
    assert standing("mixed/idea-hystart", "confirmed", profile, []).more == ""


def test_all_numbers_of_a_document_are_asked_of_each_testbed() -> None:
    exhibits = [catalogue.exhibits()[f"cs244/{name}"] for name in ("fig6", "gso")]
    own = [testbed.for_exhibit(exhibits[0]).name for testbed in testbeds.testbeds("cs244")]
    names = list(dict.fromkeys(own))
    found = [judge("cs244/fig6", name, "v", True, name == "CUBIC first") for name in names]
    found += [judge("cs244/gso", name, "v", None) for name in names]
    fits = fit.fits("cs244", found, exhibits)
    assert [one.testbed for one in fits] == ["as chosen", *names[1:]]
    possible = [one.testbed for one in fits if one.possible]
    assert possible == ["CUBIC first"]
    told = list(fit.describe("cs244", fits))
    assert told[-1].startswith("6 testbeds of `cs244` were tried against 3 published numbers.")
    assert told[-1].endswith("Possible remain: CUBIC first.")
    without = [replace(one, checks=()) for one in found if one.claim == "cs244/gso"]
    assert len(fit.fits("cs244", [*found[: len(names)], *without], exhibits)) == len(names)
    fewer = list(fit.describe("cs244", fit.fits("cs244", found[:-1], exhibits)))
    assert fewer[-1].startswith("6 testbeds of `cs244` were tried against 2 published numbers.")
    none = [one for one in fits if not one.possible]
    *_, last = fit.describe("cs244", none)
    assert "None remains possible. Fewest numbers, 1, are missed with as chosen;" in last


def test_the_matrix_has_the_verdict_over_all_testbeds() -> None:
    exhibits = list(catalogue.exhibits().values())
    found = [
        judge("ietf98/policer", "", "confirmed"),
        judge("ietf98/policer", "offload", "refuted"),
    ]
    (matrix,) = testbeds.matrices(found, exhibits)
    *_, row = testbeds.describe(matrix)
    assert row == "| `ietf98/policer` | depends | confirmed | refuted |"


def test_a_reason_doesn_t_count_on_a_testbed() -> None:
    assert without_reason(Finding("cs244/fig5", [NOT_MET], MET)) == "refuted"


SAME = "These verdicts are the same with every set:\n"


def test_a_verdict_that_changes_with_the_seeds_is_reported() -> None:
    found = [
        judge(claim, name, verdict)
        for claim, told in (("cs244/fig5", "cc"), ("cs244/fig6", "cr"))
        for name, verdict in zip(("", "seeds 1"), told, strict=True)
    ]
    words = {"c": "confirmed", "r": "refuted"}
    found = [replace(one, verdict=words[one.verdict]) for one in found]
    *_, last = seeds.describe(found)
    assert last.startswith("1 of 2 verdicts changes with the seeds; 1 of them from confirmed")
    assert "leave a check open" not in last
    assert "| `cs244/fig6` | confirmed, refuted |" in list(seeds.describe(found))
    told = list(seeds.describe(found))
    assert "- confirmed: `cs244/fig5`" in told[told.index(SAME) + 1 :]


class Offloadless(Simulator):
    """A back end that has no super-packets."""

    name = "offloadless"

    def check(self, scenario: Mapping[str, Any]) -> None:
        """Refuses them."""
        if scenario["host"]["gso"]:
            raise SpecError.at("host.gso", "true", "false")


def test_back_ends_that_can_t_run_an_aside_leave_it_out() -> None:
    def cases(_scope: Scope) -> Iterator[Case]:
        (offload,) = refused_cases(_scope)
        yield case()
        yield replace(offload, key={"gap_s": 0.2}, aside=True)

    ran = list(conditions(cases(SCOPE), Offloadless()))
    assert [cell.key["gap_s"] for cell in ran] == [0.1]
    assert len(list(conditions(cases(SCOPE), get_backend("sim")))) == 2


def test_a_claim_that_only_another_kernel_misses_differs() -> None:
    exhibit = catalogue.exhibits()["panaderia/fig6"]

    def make_study(profile: str, check: Check) -> ReproducedFigure:
        plates = StoredFigure(exhibit.identifier, "sim", profile, False, (), (), ())
        finding = Finding("panaderia/fig6", [check])
        return ReproducedFigure(exhibit, Scope(profile), Data({}, SCOPE), plates, (finding,))

    def verdicts(own: Check, other: Check) -> list[str]:
        pair = [make_study(exhibit.profile, own), make_study("linux-6.12", other)]
        return [item.findings[0].verdict for item in with_versions(pair)]

    def later(kept: Check, **way: Any) -> str:
        made_so = ledger.Way("sim", "1", exhibit.profile, False)
        entry = ledger.entry(exhibit, Finding("panaderia/fig6", [kept]), made_so)
        (item,) = with_versions(
            [make_study("linux-6.12", NOT_MET)], [replace(entry, way=replace(entry.way, **way))]
        )
        return item.findings[0].verdict

    assert [later(MET), later(NOT_MET)] == ["differs", "refuted"]
    assert [later(MET, quick=True), later(MET, backend="uml")] == ["refuted", "refuted"]
    assert verdicts(MET, NOT_MET) == ["confirmed", "differs"]
    assert verdicts(NOT_MET, NOT_MET) == ["refuted", "refuted"]
    assert verdicts(NOT_MET, MET) == ["refuted", "confirmed"]


def test_a_real_kernel_s_version_makes_the_difference_where_it_does_in_the_simulator() -> None:
    exhibit = catalogue.exhibits()["panaderia/fig6"]
    plates = StoredFigure(exhibit.identifier, "uml", "linux-6.12", False, (), (), ())

    def entry(check: Check, profile: str) -> ledger.LedgerEntry:
        finding = Finding("panaderia/fig6", [check])
        return ledger.entry(exhibit, finding, ledger.Way("sim", "1", profile, False))

    def verdict(*kept: ledger.LedgerEntry) -> str:
        finding = Finding("panaderia/fig6", [NOT_MET])
        made = ReproducedFigure(exhibit, Scope("linux-6.12"), Data({}, SCOPE), plates, (finding,))
        (item,) = with_versions([made], kept, real=True)
        return item.findings[0].verdict

    own, later = exhibit.profile, "linux-6.12"
    assert verdict(entry(MET, own), entry(NOT_MET, later)) == "differs"
    assert verdict(entry(MET, own), entry(MET, later)) == "refuted"
    assert verdict(entry(NOT_MET, own), entry(NOT_MET, later)) == "refuted"
    assert verdict(entry(MET, own)) == "refuted"


def test_a_check_that_the_document_s_kernel_wasn_t_held_to_shows_nothing() -> None:
    other = replace(NOT_MET, statement="Something else.")
    reason = version(Finding("x", [NOT_MET, other]), Finding("x", [MET]), "linux-4.11")
    assert not reason.passed


def test_a_figure_that_is_refused_whole_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make, "get_backend", lambda _name: Offloadless())
    monkeypatch.setattr(fig8, "cases", refused_cases)
    done = make.reproduce("mixed/fig8", quick=True, out=tmp_path)
    (refusal,) = done.refused
    assert "host.gso" in refusal.reason
    assert done.index.is_file()


def test_a_figure_whose_conditions_run_elsewhere_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make, "get_backend", lambda _name: Offloadless())
    monkeypatch.setattr(fig8, "cases", lambda _scope: [replace(case(), backend="sim")])
    done = make.reproduce("mixed/fig8", quick=True, out=tmp_path)
    assert [one.reason for one in done.refused] == [make.ELSEWHERE]
    assert not done.made


def refused_cases(_scope: Scope) -> Iterator[Case]:
    given = case()
    yield replace(given, spec={**given.spec, "host": {**given.spec["host"], "gso": True}})


def test_a_ledger_is_written_where_a_back_end_refuses_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class RefusingBackend(Simulator):
        name = "kernel"

        def check(self, scenario: Scenario) -> None:
            raise SpecError.at("host.fq", f"{scenario['host']['fq']}", "another kernel")

    monkeypatch.setattr(make, "get_backend", lambda _: RefusingBackend())
    done = make.reproduce("panaderia/fig6", backend="kernel", quick=True, out=tmp_path / "new")
    assert {one.exhibit.identifier for one in done.refused} == {"panaderia/fig6"}
    assert (tmp_path / "new" / "ledger.json").exists()
