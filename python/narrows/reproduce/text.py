"""The ledger in words, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from narrows.reproduce.claims import DOCUMENTS, KINDS
from narrows.reproduce.ledger import Entry, Line, counts_by_kind, in_words


def ledger_lines(found: Sequence[Line]) -> Iterator[str]:
    """Every claim by document: the verdict, the claim, what was measured."""
    for document, title in DOCUMENTS.items():
        yield title
        for line in found:
            if line.claim.document == document:
                yield f"  {line.verdict:12} {line.claim.identifier}: {line.claim.expect}"
                for entry in line.entries:
                    yield f"               {_entry(entry)}"
        yield ""
    for kind, counts in counts_by_kind(found).items():
        yield f"{KINDS[kind]}: {in_words(counts)}"


def _entry(entry: Entry) -> str:
    quick = ", smaller grid" if entry.way.quick else ""
    measured = "; ".join(check["measured"] for check in (*entry.checks, *entry.notes))
    return f"{entry.way.backend}, {entry.way.profile}{quick}: {entry.verdict} ({measured})"
