"""The table of the documents' statements: complete, and each with an answer that exists."""

from __future__ import annotations

from pathlib import Path

import pytest
from reference.statement_list import STATUSES, _statement, statements

from narrows.reproduce.claims import claims
from narrows.reproduce.library import DOCUMENTS

ROOT = Path(__file__).parents[2]


def test_every_claim_that_a_statement_names_exists() -> None:
    named = {claim for one in statements() for claim in one.claims}
    assert named - set(claims()) == set()


def test_every_claim_of_the_ledger_belongs_to_a_statement() -> None:
    named = {claim for one in statements() for claim in one.claims}
    assert set(claims()) - named == set()


def test_every_page_that_answers_a_statement_is_there() -> None:
    answers = {answer for one in statements() for answer in one.answer}
    lost = [answer for answer in answers if not answer.startswith(("docs/", "narrows "))]
    lost += [page for page in answers if page.startswith("docs/") and not (ROOT / page).is_file()]
    assert lost == []


def test_no_statement_is_listed_twice() -> None:
    said = [(one.document, one.says) for one in statements()]
    assert len(said) == len(set(said))
    assert {one.document for one in statements()} == set(DOCUMENTS)


def test_no_statement_is_without_an_answer() -> None:
    assert [one.says for one in statements() if one.status == "missing"] == []


@pytest.mark.parametrize(
    ("status", "lacking"),
    [("tested", "claims"), ("weaker", "reason"), ("elsewhere", "answer"), ("untestable", "reason")],
)
def test_a_status_needs_what_it_promises(status, lacking) -> None:
    assert status in STATUSES
    with pytest.raises(ValueError, match=f"no {lacking}"):
        _statement("mixed", {"says": "x", "where": "y", "status": status})
