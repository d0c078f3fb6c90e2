"""The reasons that stand beside a verdict: other conditions of a testbed, another kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from narrows.backends import get_backend
from narrows.backends.sim import Simulator
from narrows.errors import SpecError
from narrows.report import Check
from narrows.reproduce import catalogue, make
from narrows.reproduce.exhibit import Case, Data, Finding, Scope
from narrows.reproduce.gather import work
from narrows.reproduce.judging import version
from narrows.reproduce.make import Made, with_versions
from narrows.reproduce.mixed import fig8, testbed, unstated
from narrows.reproduce.site import Plates

SCOPE = Scope("linux-4.11", quick=True)
MET = Check("It holds.", "Passes if it does.", "yes", "yes", passed=True)
NOT_MET = replace(MET, measured="no", passed=False)


def test_super_packets_are_counted_by_a_queue_of_packets() -> None:
    cases = [case for case in fig8.cases(SCOPE) if case.key["condition"] == "offload"]
    assert cases
    for case in cases:
        assert case.spec["path"]["buffer"] == "75pkt"  # half of 40 Mbit/s times 45 ms
        assert case.spec["host"]["gso"] is True
        assert case.aside


def test_a_condition_leaves_the_study_s_own_runs_alone() -> None:
    plain = [dict(case.spec) for case in fig8.described(SCOPE)]
    list(unstated.under(unstated.OFFLOAD, fig8.described(SCOPE), rate_mbps=40, buffer_bdp=0.5))
    assert plain == [dict(case.spec) for case in fig8.described(SCOPE)]


def test_iperf3_s_conversation_lengthens_the_gaps() -> None:
    (case,) = unstated.under(
        unstated.METRICS,
        [next(iter(fig8.described(SCOPE)))],
    )
    small = case.spec["flows"][1]
    assert small["repeat_gap"] == f"{4 * testbed.RTT_MS / 1000:g}s"
    assert case.spec["host"]["metrics_save"] is True


def test_a_reason_needs_what_was_measured_under_its_condition() -> None:
    rows = pl.DataFrame({"condition": [unstated.PLAIN, "offload"], "used": [0.4, 0.9]})

    def judge(data: Data) -> list[Check]:
        used = data["outcome"]["used"].item()
        return [replace(MET, measured=f"{used}", passed=used > 0.5)]

    both = Data({"outcome": rows}, SCOPE)
    reason = unstated.reason(unstated.OFFLOAD, both, judge)
    assert reason is not None
    assert reason.passed
    assert reason.measured == "0.9"
    assert reason.statement.endswith("It holds.")
    plain = Data({"outcome": rows.head(1)}, SCOPE)
    assert unstated.reason(unstated.OFFLOAD, plain, judge) is None
    assert not judge(unstated.only(both))[0].passed


def test_both_halves_of_a_reason_are_needed() -> None:
    assert unstated.both(MET, None) is None
    one = unstated.both(MET, NOT_MET)
    assert one is not None
    assert not one.passed


class Offloadless(Simulator):
    """A back end that has no super-packets."""

    name = "offloadless"

    def check(self, scenario: Mapping[str, Any]) -> None:
        """Refuses them."""
        if scenario["host"]["gso"]:
            raise SpecError.at("host.gso", "true", "false")


def test_back_ends_that_can_t_run_a_condition_leave_it_out() -> None:
    exhibit = catalogue.exhibits()["mixed/fig8"]
    names = {cell.key["condition"] for cell in work(exhibit, SCOPE, Offloadless()).cells}
    assert names == {unstated.PLAIN}
    simulated = work(exhibit, SCOPE, get_backend("sim"))
    assert {cell.key["condition"] for cell in simulated.cells} == {unstated.PLAIN, "offload"}


def test_a_claim_that_only_another_kernel_misses_differs() -> None:
    exhibit = catalogue.exhibits()["panaderia/fig6"]

    def made(profile: str, check: Check) -> Made:
        plates = Plates(exhibit.identifier, "sim", profile, False, (), (), ())
        finding = Finding("panaderia/fig6", [check])
        return Made(exhibit, Scope(profile), plates, (finding,))

    def verdicts(own: Check, other: Check) -> list[str]:
        pair = [made(exhibit.profile, own), made("linux-6.12", other)]
        return [item.findings[0].verdict for item in with_versions(pair)]

    assert verdicts(MET, NOT_MET) == ["confirmed", "differs"]
    assert verdicts(NOT_MET, NOT_MET) == ["refuted", "refuted"]
    assert verdicts(NOT_MET, MET) == ["refuted", "confirmed"]


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


def refused_cases(scope: Scope) -> Iterator[Case]:
    for case in fig8.described(scope):
        yield Case(case.key, {**case.spec, "host": {**case.spec["host"], "gso": True}})
