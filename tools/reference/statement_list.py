"""Every statement of the four documents, and what answers it: a claim, a page, a command.

The claims are those that an experiment decides; a statement may need several, and some have their
answer elsewhere or can't be tested. Each document has a file statements.toml.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from narrows.reproduce.library import DOCUMENTS, STATEMENTS, STUDIES, read_table

STATUSES = {
    "tested": "judged by claims of the ledger",
    "weaker": "judged more weakly, or under another condition, than written",
    "elsewhere": "answered by another page or command",
    "untestable": "no laboratory can test it",
    "missing": "neither tested nor answered yet",
}
"""The answers that a statement can have. A claim that "judges" one may confirm or refute it."""
NEEDS = {
    "tested": ("claims",),
    "weaker": ("reason",),
    "elsewhere": ("answer",),
    "untestable": ("reason",),
    "missing": (),
}
"""The fields without which a status says nothing."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a document: what it `says`, in our words, `where`, and its answer.

    `claims` are ids of the ledger, `answer` pages of the documentation and commands. `reason` says
    why it is tested more weakly than written, or not at all.
    """

    document: str
    says: str
    where: str
    status: str
    claims: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    reason: str = ""


@cache
def statements() -> tuple[Statement, ...]:
    """All of them, document by document, in the order of the text."""
    found = []
    for document in DOCUMENTS:
        table = read_table(STUDIES / document / STATEMENTS)
        found += [_statement(document, entry) for entry in table["statement"]]
    return tuple(found)


def _statement(document: str, entry: dict[str, Any]) -> Statement:
    claims, answer = (tuple(entry.pop(key, ())) for key in ("claims", "answer"))
    made = Statement(document, **entry, claims=claims, answer=answer)
    lacking = [name for name in NEEDS[made.status] if not getattr(made, name)]
    if lacking:
        raise ValueError(f"{document}, {made.says!r}: {made.status}, but no {lacking[0]}")
    return made
