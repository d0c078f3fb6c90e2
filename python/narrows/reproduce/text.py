"""The ledger in words, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from narrows.reproduce.claims import DOCUMENTS
from narrows.reproduce.ledger import VERDICTS, Entry, Line


def ledger_lines(found: Sequence[Line]) -> Iterator[str]:
    """Every claim by document: the verdict, the claim, what was measured."""
    for document, title in DOCUMENTS.items():
        yield title
        for line in found:
            if line.claim.document == document:
                yield f"  {line.verdict:10} {line.claim.identifier}: {line.claim.expect}"
                for entry in line.entries:
                    yield f"             {_entry(entry)}"
        yield ""
    counts = [(sum(line.verdict == verdict for line in found), verdict) for verdict in VERDICTS]
    yield ", ".join(f"{count} {verdict}" for count, verdict in counts if count)


def _entry(entry: Entry) -> str:
    quick = ", smaller grid" if entry.way.quick else ""
    measured = "; ".join(check["measured"] for check in entry.checks)
    return f"{entry.way.backend}, {entry.way.profile}{quick}: {entry.verdict} ({measured})"
