"""The page with the verdict on every claim."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import write_claims

from narrows.reproduce import ledger
from narrows.reproduce.claims import claims
from narrows.reproduce.judgements import Judgement
from narrows.reproduce.ledger import LedgerEntry, Way
from narrows.reproduce.site import own_profiles

ROOT = Path(__file__).parents[2]
WAY = Way("sim", "1", "linux-4.17", quick=False, confidence=0.99)
CHECK = {
    "statement": "It loses.", "rule": "r", "expected": "5 %", "measured": "7 %", "passed": False,
}  # fmt: skip
ENTRY = LedgerEntry("panaderia/fig7", "panaderia/fig7", WAY, "refuted", (CHECK,), None)


def test_the_page_says_what_was_found_and_why() -> None:
    reason = {**CHECK, "statement": "Timers are late.", "measured": "1 to 9 %", "passed": True}
    quick = replace(
        ENTRY, way=Way("uml", "1", "linux-6.12", quick=True, confidence=0.99), verdict="confirmed"
    )
    differs = replace(ENTRY, verdict="differs", reason=reason)
    page = write_claims.page(ledger.lines([quick, differs], own_profiles()))
    numbers = [claim for claim in claims().values() if claim.kind == "number"]
    assert f"There are {len(claims())} claims." in page
    told = f"| {len(numbers)} | {len(numbers)} not run | 1 differs, {len(numbers) - 1} not run |"
    assert f"| published numbers {told}" in page
    (row,) = [line for line in page.splitlines() if line.startswith("| `panaderia/fig7`")]
    quick_words = "quick: 5 of 30 conditions, shorter runs"
    assert row.endswith(f"|  | differs (0 of 1 check met) | confirmed, {quick_words} |")
    assert "It loses. Measured 7 %; stated: 5 %." in page
    assert "Reason: Timers are late. Measured: 1 to 9 %." in page


def test_a_judgement_with_more_looks_counts_before_the_ledger() -> None:
    more = {**CHECK, "passed": True, "measured": "5 %"}
    judged = Judgement(
        "panaderia/fig7",
        "",
        "linux-4.17",
        quick=False,
        verdict="confirmed",
        checks=(more,),
        looks=5,
    )
    [settled] = write_claims.with_more_looks([ENTRY], [judged])
    assert (settled.verdict, settled.way.looks, settled.checks) == ("confirmed", 5, (more,))
    as_often = replace(ENTRY, way=replace(WAY, looks=5))
    explained = replace(ENTRY, verdict="differs", reason=CHECK)
    real = replace(ENTRY, way=replace(WAY, backend="uml"))
    kept = [as_often, explained, real]
    assert write_claims.with_more_looks(kept, [judged]) == kept
    shipped = replace(judged, checks=({**more, "measured": ""},))
    elsewhere = replace(judged, change="seeds 1")
    assert write_claims.with_more_looks([ENTRY], [shipped, elsewhere]) == [ENTRY]


def test_the_page_says_where_the_kernel_itself_decides_otherwise() -> None:
    def page(real: bool | None, quick: bool = False, confidence: float = 0.95) -> str:
        way = Way("sim", "1", "linux-6.12", quick=False, confidence=confidence)
        simulated = replace(ENTRY, way=way)
        check = {**CHECK, "passed": real, "measured": "5.6 %"}
        way = Way("uml", "1", "linux-6.12", quick=quick)
        there = replace(ENTRY, way=way, verdict="undecided", checks=(check,))
        return write_claims.page(ledger.lines([simulated, there], own_profiles()))

    told = "It loses. Measured 5.6 % (undecided); in the simulator 7 % (not met)."
    assert told in page(None)
    assert "**`panaderia/fig7`** undecided, in the simulator refuted." in page(None)
    newer = page(None, confidence=0.99)
    assert "**`panaderia/fig7`** undecided by older rules, in the simulator refuted." in newer
    assert "decide differently" not in page(False)
    assert "decide differently" not in page(None, quick=True)


def test_notes_on_a_kernel_are_about_claims_that_it_decided() -> None:
    decided = {entry.claim for entry in ledger.read_recorded() if entry.way.backend == "uml"}
    assert set(write_claims.kernel_notes()) <= decided
    page = write_claims.TARGET.read_text(encoding="utf-8")
    assert all(note in page for note in write_claims.kernel_notes().values())


def test_a_smaller_grid_stands_only_where_there_is_no_whole_one() -> None:
    quick = replace(ENTRY, way=replace(WAY, quick=True))
    elsewhere = replace(ENTRY, way=Way("uml", "1", "linux-6.12", quick=True, confidence=0.99))
    assert write_claims.whole([quick, elsewhere, ENTRY]) == [elsewhere, ENTRY]


def test_every_claim_stands_on_the_page_in_the_documentation() -> None:
    text = (ROOT / "docs/reference/claims.md").read_text(encoding="utf-8")
    missing = [name for name in claims() if f"| `{name}` |" not in text]
    assert not missing


def judgement(claim: str, change: str, verdict: str, passed: bool, **more) -> Judgement:
    check = {**CHECK, "rule": "", "passed": passed}
    profile = own_profiles()[claim]
    return Judgement(claim, change, profile, more.pop("quick", False), verdict, False, (check,))


def test_the_page_has_the_matrices_and_the_negative_controls() -> None:
    found = [
        judgement("cs244/gso", "", "confirmed", True, quick=True),
        judgement("cs244/gso", "CUBIC first", "refuted", False, quick=True),
        judgement("mixed/fig5", "", "confirmed", True),
        judgement("mixed/fig5", "reno-for-bbr", "refuted", False),
        judgement("mixed/fig6", "", "confirmed", True),
        judgement("mixed/fig6", "reno-for-bbr", "confirmed", True),
        judgement("panaderia/fig7", "", "refuted", False),
        judgement("panaderia/fig7", "reno-for-bbr", "refuted", False),
    ]
    page = write_claims.page(ledger.lines([], own_profiles()), found)
    assert "### cs244, quick forms" in page
    assert "| `cs244/gso` | depends | confirmed | not run | not run | not run | refuted |" in page
    words = " ".join(page.split())
    assert "Of 3, 3 of which ran on the whole grid, the checks noticed 1:" in words
    assert "1 weren't noticed" in words
    assert "1 show nothing, because only checks fail that fail without the change" in words
    assert "| `mixed/fig5` | Reno in BBR's place | yes | It loses. 7 % |" in page
    assert "| `panaderia/fig7` | Reno in BBR's place | fails anyway | It loses. 7 % |" in page
    assert "so none can break: `panaderia/fig7`." in words
    assert "though a check is met: `mixed/fig6`." in words
    others = dict(write_claims.other_pages(found))
    assert set(others) == {write_claims.RIVALS_PAGE}
    assert "| `mixed/fig5` | confirmed | fails |" in others[write_claims.RIVALS_PAGE]
    seeded = [*found, judgement("mixed/fig5", "seeds 1", "partly", True)]
    text = dict(write_claims.other_pages(seeded))[write_claims.SEEDS_PAGE]
    assert "1 of 1 verdicts changes with the seeds" in text
    assert "Where they change otherwise, the trials of some sets leave a check open." in text
    kept = write_claims.shipped_ledger([ENTRY])
    assert '"rule":""' in kept
    first = replace(ENTRY, claim="a/first")
    _, *lines, _ = write_claims.shipped_ledger([ENTRY, first]).splitlines()
    assert [json.loads(line.rstrip(","))["claim"] for line in lines] == ["a/first", ENTRY.claim]
    assert "7 %" in kept


def test_the_shipped_files_suffice_for_the_pages() -> None:
    made = [
        judgement("mixed/fig5", "", "confirmed", True),
        judgement("mixed/fig5", "", "undecided", True, quick=True),
        judgement("mixed/fig5", "reno-for-bbr", "refuted", False),
        judgement("mixed/fig5", "copa-for-bbr", "refuted", False),
        judgement("mixed/fig5", "seeds 1", "partly", True),
    ]
    shipped = json.loads(write_claims.shipped_judgements(made))["judgements"]
    told = {one["change"]: [check["measured"] for check in one["checks"]] for one in shipped}
    assert told == {"": [""], "reno-for-bbr": ["7 %"], "copa-for-bbr": [""], "seeds 1": []}
    again = [Judgement(**{**one, "checks": tuple(one["checks"])}) for one in shipped]
    assert dict(write_claims.other_pages(again)) == dict(write_claims.other_pages(made))
    pages = [write_claims.page(ledger.lines([], own_profiles()), some) for some in (made, again)]
    assert pages[0] == pages[1]


def test_the_page_says_how_far_its_verdicts_reach() -> None:
    made = [judgement("mixed/fig5", "seeds 1", "confirmed", True)]
    made += [judgement("mixed/fig5", change, "confirmed", True) for change in ("", "offload")]
    rivals = ("reno", "cubic", "vegas")

    def page(*run: str) -> str:
        some = [judgement("mixed/fig5", f"{one}-for-bbr", "refuted", False) for one in run]
        entry = replace(ENTRY, claim="mixed/fig5", way=replace(WAY, profile="linux-4.11"))
        lines = ledger.lines(
            [replace(entry, verdict="confirmed")], own_profiles(), [*made[:2], *some]
        )
        return " ".join(write_claims.page(lines, [*made, *some]).split())

    assert "claims with checks 1 with other seeds and 1 on other testbeds" in page()
    assert "must fail; 0 of them were judged with each" in page(*rivals[:2])
    assert "must fail; 1 of them were judged with each" in page(*rivals)
    assert "Where rivals are missing" in page()
    assert "| confirmed (rivals not run) |" in page()
    assert "| confirmed (not run with Vegas) |" in page(*rivals[:2])
    assert "| confirmed |" in page(*rivals)


def test_a_page_of_older_verdicts_says_so() -> None:
    def page(confidence: float, looks: int) -> str:
        entry = replace(ENTRY, way=replace(WAY, confidence=confidence, looks=looks))
        return write_claims.page(ledger.lines([entry], own_profiles()))

    assert "So are 1 of 1 of the simulator." in page(0.95, 1)
    assert "| refuted (0 of 1 check met) † |" in page(0.95, 1)
    assert "†" not in page(0.99, 1)
    assert "whole grids: 1: 1." in " ".join(page(0.99, 1).split())
    assert "looked at less often" not in page(0.99, 5)
