"""The reasons that stand beside a verdict: other conditions of a testbed, another kernel."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from narrows.backends import get_backend
from narrows.backends.sim import Simulator
from narrows.errors import SpecError
from narrows.report import Check
from narrows.reproduce import catalogue, ledger, make, testbeds
from narrows.reproduce.exhibit import Case, Finding, Scope
from narrows.reproduce.gather import conditions
from narrows.reproduce.judging import version
from narrows.reproduce.make import Made, with_versions
from narrows.reproduce.mixed import fig8, testbed
from narrows.reproduce.panaderia import fig6
from narrows.reproduce.site import Plates

SCOPE = Scope("linux-4.11", quick=True)
MET = Check("It holds.", "Passes if it does.", "yes", "yes", passed=True)
NOT_MET = replace(MET, measured="no", passed=False)


def case(pair: tuple[str, str] = ("cubic", "bbr")) -> Case:
    return Case({"gap_s": 0.1}, testbed.spec(SCOPE, *pair, 40, 0.5))


def on(document: str, name: str, given: Case) -> Mapping[str, Any]:
    """The specification on a testbed."""
    (found,) = [one for one in testbeds.TESTBEDS[document] if one.name == name]
    before = copy.deepcopy(given)
    changed = found.of(given).spec
    assert given == before
    return changed


def test_super_packets_are_counted_by_a_queue_of_packets() -> None:
    spec = on("mixed", "offload", case())
    assert spec["path"]["buffer"] == "75pkt"  # half of 40 Mbit/s times 45 ms
    assert spec["host"]["gso"] is True


def test_iperf3_s_conversation_lengthens_the_gaps() -> None:
    assert on("mixed", "iperf3", case())["flows"][1]["repeat_gap"] == "0.28s"
    spec = on("mixed", "metrics", case())
    assert spec["flows"][1]["repeat_gap"] == "0.28s"
    assert spec["host"]["metrics_save"] is True


def test_timers_are_late_where_hosts_pace_themselves() -> None:
    (first, *_) = fig6.cases(Scope("linux-4.17", quick=True))
    assert on("panaderia", "perfect timers", first)["host"]["timer_lateness"] == "0s"
    paced = on("cs244", "later timers", case())
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
        for one in testbeds.TESTBEDS[exhibit.document]:
            assert list(conditions([one.of(first)], get_backend("sim")))


def judged(testbed: str, *verdicts: str) -> list[testbeds.Judged]:
    names = ("cs244/fig5", "cs244/fig6", "cs244/gso")
    pairs = zip(names, verdicts, strict=True)
    return [testbeds.Judged(name, testbed, quick=True, verdict=v) for name, v in pairs]


def test_the_best_testbed_is_the_one_on_which_most_holds() -> None:
    found = [
        *judged(testbeds.DESCRIBED, "confirmed", "refuted", "undecided"),
        *judged("later timers", "confirmed", "undecided", "undecided"),
        *judged("CUBIC first", "refuted", "refuted", "confirmed"),
    ]
    (matrix,) = testbeds.matrices(found)
    assert matrix.best == "later timers"
    lines = list(testbeds.describe(matrix))
    assert "| `cs244/fig6` | refuted | undecided | not run | refuted |" in lines
    assert "| **confirmed, refuted** | 1, 1 | 1, 0 | 0, 0 | 1, 2 |" in lines
    assert lines[-1].endswith('"later timers".')


def test_a_reason_doesn_t_count_on_a_testbed() -> None:
    assert testbeds.alone(Finding("cs244/fig5", [NOT_MET], MET)) == "refuted"


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

    def made(profile: str, check: Check) -> Made:
        plates = Plates(exhibit.identifier, "sim", profile, False, (), (), ())
        finding = Finding("panaderia/fig6", [check])
        return Made(exhibit, Scope(profile), plates, (finding,))

    def verdicts(own: Check, other: Check) -> list[str]:
        pair = [made(exhibit.profile, own), made("linux-6.12", other)]
        return [item.findings[0].verdict for item in with_versions(pair)]

    def later(kept: Check, **way: Any) -> str:
        made_so = ledger.Way("sim", "1", exhibit.profile, False)
        entry = ledger.entry(exhibit, Finding("panaderia/fig6", [kept]), made_so)
        (item,) = with_versions(
            [made("linux-6.12", NOT_MET)], [replace(entry, way=replace(entry.way, **way))]
        )
        return item.findings[0].verdict

    assert [later(MET), later(NOT_MET)] == ["differs", "refuted"]
    assert [later(MET, quick=True), later(MET, backend="uml")] == ["refuted", "refuted"]
    assert verdicts(MET, NOT_MET) == ["confirmed", "differs"]
    assert verdicts(NOT_MET, NOT_MET) == ["refuted", "refuted"]
    assert verdicts(NOT_MET, MET) == ["refuted", "confirmed"]


def test_a_real_kernel_s_version_makes_the_difference_where_it_does_in_the_simulator() -> None:
    exhibit = catalogue.exhibits()["panaderia/fig6"]
    plates = Plates(exhibit.identifier, "uml", "linux-6.12", False, (), (), ())

    def entry(check: Check, profile: str) -> ledger.Entry:
        finding = Finding("panaderia/fig6", [check])
        return ledger.entry(exhibit, finding, ledger.Way("sim", "1", profile, False))

    def verdict(*kept: ledger.Entry) -> str:
        finding = Finding("panaderia/fig6", [NOT_MET])
        made = Made(exhibit, Scope("linux-6.12"), plates, (finding,))
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


def refused_cases(_scope: Scope) -> Iterator[Case]:
    given = case()
    yield replace(given, spec={**given.spec, "host": {**given.spec["host"], "gso": True}})
