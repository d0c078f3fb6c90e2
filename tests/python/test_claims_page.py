"""The page with the verdict on every claim."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from narrows.reproduce import ledger
from narrows.reproduce.claims import claims
from narrows.reproduce.ledger import Entry, Way
from narrows.reproduce.negative import Control
from narrows.reproduce.site import own_profiles
from narrows.reproduce.testbeds import Judged

TOOLS = Path(__file__).parents[2] / "tools"
WAY = Way("sim", "1", "linux-4.17", quick=False)
CHECK = {
    "statement": "It loses.", "rule": "r", "expected": "5 %", "measured": "7 %", "passed": False,
}  # fmt: skip
ENTRY = Entry("panaderia/fig7", "panaderia/fig7", WAY, "refuted", (CHECK,), None)


def test_the_page_says_what_was_found_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    import write_claims

    reason = {**CHECK, "statement": "Timers are late.", "measured": "1 to 9 %", "passed": True}
    quick = replace(ENTRY, way=Way("uml", "1", "linux-6.12", quick=True), verdict="confirmed")
    differs = replace(ENTRY, verdict="differs", reason=reason)
    page = write_claims.page(ledger.lines([quick, differs], own_profiles()))
    numbers = [claim for claim in claims().values() if claim.kind == "number"]
    assert f"There are {len(claims())} claims." in page
    told = f"| {len(numbers)} | 1 differs, {len(numbers) - 1} not run |"
    assert f"| published numbers {told}" in page
    (row,) = [line for line in page.splitlines() if line.startswith("| `panaderia/fig7`")]
    assert row.endswith("| differs |  | confirmed, smaller grid |")
    assert "It loses. Measured 7 %; stated: 5 %." in page
    assert "Reason: Timers are late. Measured: 1 to 9 %." in page
    sys.modules.pop("write_claims")


def test_the_page_says_where_the_kernel_itself_decides_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    import write_claims

    def page(real: bool | None, quick: bool = False) -> str:
        simulated = replace(ENTRY, way=Way("sim", "1", "linux-6.12", quick=False))
        check = {**CHECK, "passed": real, "measured": "5.6 %"}
        way = Way("uml", "1", "linux-6.12", quick=quick)
        there = replace(ENTRY, way=way, verdict="undecided", checks=(check,))
        return write_claims.page(ledger.lines([simulated, there], own_profiles()))

    told = "It loses. Measured 5.6 % (undecided); in the simulator 7 % (not met)."
    assert told in page(None)
    assert "**`panaderia/fig7`** undecided, in the simulator refuted." in page(None)
    assert "decide differently" not in page(False)
    assert "decide differently" not in page(None, quick=True)
    sys.modules.pop("write_claims")


def test_notes_on_a_kernel_are_about_claims_that_it_decided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    import write_claims

    decided = {entry.claim for entry in ledger.recorded() if entry.way.backend == "uml"}
    assert set(write_claims.kernel_notes()) <= decided
    page = write_claims.TARGET.read_text(encoding="utf-8")
    assert all(note in page for note in write_claims.kernel_notes().values())
    sys.modules.pop("write_claims")


def test_a_smaller_grid_stands_only_where_there_is_no_whole_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    import write_claims

    quick = replace(ENTRY, way=replace(WAY, quick=True))
    elsewhere = replace(ENTRY, way=Way("uml", "1", "linux-6.12", quick=True))
    assert write_claims.whole([quick, elsewhere, ENTRY]) == [elsewhere, ENTRY]
    sys.modules.pop("write_claims")


def test_every_claim_stands_on_the_page_in_the_documentation() -> None:
    text = (TOOLS.parent / "docs/reference/claims.md").read_text(encoding="utf-8")
    missing = [name for name in claims() if f"| `{name}` |" not in text]
    assert not missing


def test_the_page_has_the_matrices_and_the_negative_controls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    import write_claims

    judged = [Judged("cs244/gso", "as chosen", quick=True, verdict="confirmed")]
    controls = [
        Control("mixed/fig5", "reno-for-bbr", quick=True, failed="It is pinned.", measured="50 %"),
        Control("mixed/fig6", "reno-for-bbr", quick=False, failed="", measured="10 %"),
    ]
    page = write_claims.page(ledger.lines([], own_profiles()), judged, controls)
    assert "### cs244, smaller grids" in page
    assert "| `cs244/gso` | confirmed | not run | not run | not run |" in page
    assert "The checks noticed\n1 of 2, 1 of which ran on the whole grid;" in page
    control = "| `mixed/fig5` | Reno in BBR's place, smaller grid | yes | It is pinned. 50 % |"
    assert control in page
    failing = Control(
        "panaderia/fig7", "reno-for-bbr", quick=False, failed="It loses.", measured=""
    )
    page = write_claims.page(ledger.lines([ENTRY], own_profiles()), (), [failing])
    assert "In 1 of them" in page
    assert "1 of these claims have no check that is met" in page
    assert "| fails anyway | It loses.  |" in page
    whole = replace(controls[0], quick=False)
    for both in ([whole, *controls], [*controls, whole]):
        assert write_claims.strongest(both) == [whole, controls[1]]
    kept = write_claims.shipped([ENTRY])
    assert '"rule":""' in kept
    assert "7 %" in kept
    sys.modules.pop("write_claims")
