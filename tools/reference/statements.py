"""docs/reference/statements.md from the statements of the documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from narrows.reproduce.library import DOCUMENTS
from reference import PAGES
from reference.statement_list import STATUSES, Statement, statements

TARGET = PAGES / "statements.md"
HEAD = """\
# Statement by statement

This page lists what the four documents state, sentence by sentence and in our words, with what
answers it: claims, whose verdicts are in [claims.md](claims.md), a page, or a command. "Tested"
says that a claim judges the statement as it is written, not that the statement was confirmed.
Where a document only asks for an experiment, the claim reports its result.
`make reference` makes this page from `studies/DOCUMENT/statements.toml`.
"""


def pages() -> dict[Path, str]:
    """The files by their paths."""
    return {TARGET: generate()}


def generate() -> str:
    """The page."""
    return "\n".join([HEAD, *_counts(), *_chapters()]).rstrip() + "\n"


def _counts() -> Iterator[str]:
    """How many statements have each status, by document."""
    yield f"| Status | Meaning | {' | '.join(DOCUMENTS)} | all |"
    yield "|---" * (len(DOCUMENTS) + 3) + "|"
    numbers = Counter((one.document, one.status) for one in statements())
    for status, meaning in STATUSES.items():
        row = [numbers[document, status] for document in DOCUMENTS]
        yield f"| {status} | {meaning} | {' | '.join(map(str, row))} | {sum(row)} |"
    row = [sum(numbers[document, status] for status in STATUSES) for document in DOCUMENTS]
    yield f"| all | | {' | '.join(map(str, row))} | {sum(row)} |"
    yield ""


def _chapters() -> Iterator[str]:
    for document, title in DOCUMENTS.items():
        yield f"## {title}\n"
        yield "| Statement | Where | Status | Answered by | Why not as written |"
        yield "|---|---|---|---|---|"
        for one in statements():
            if one.document == document:
                yield _row(one)
        yield ""


def _row(one: Statement) -> str:
    answers = [*(f"`{claim}`" for claim in one.claims), *map(_answer, one.answer)]
    cells = (one.says, one.where, one.status, ", ".join(answers), one.reason)
    return f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |")


def _answer(place: str) -> str:
    """A link to a page of the documentation, or a command."""
    if not place.startswith("docs/"):
        return f"`{place}`"
    path = place.removeprefix("docs/")
    target = path.removeprefix("reference/") if path.startswith("reference/") else f"../{path}"
    return f"[{Path(place).name}]({target})"
