"""The ledger in words, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from narrows.reproduce.claims import DOCUMENTS, KINDS
from narrows.reproduce.ledger import Entry, Line, counts_by_kind, in_words


def ledger_lines(found: Sequence[Line], here: Sequence[Entry] = ()) -> Iterator[str]:
    """Every claim by document: the verdict, the claim, what was measured, and whether `here`."""
    for document, title in DOCUMENTS.items():
        yield title
        for line in found:
            if line.claim.document == document:
                yield f"  {line.verdict:12} {line.claim.identifier}: {line.claim.expect}"
                for entry in line.entries:
                    yield f"               {_entry(entry, entry in here)}"
        yield ""
    for kind, counts in counts_by_kind(found).items():
        yield f"{KINDS[kind]}: {in_words(counts)}"
    yield _origin(found, here)


def _origin(found: Sequence[Line], here: Sequence[Entry]) -> str:
    """Where the findings come from."""
    decisive = [line.decisive for line in found if line.decisive]
    mine = sum(entry in here for entry in decisive)
    return (
        f"{mine} of these verdicts were found here, {len(decisive) - mine} were recorded with this "
        "version of narrows; `narrows reproduce` finds them again"
    )


def _entry(entry: Entry, here: bool) -> str:
    quick = ", smaller grid" if entry.way.quick else ""
    origin = "here" if here else "recorded"
    measured = "; ".join(check["measured"] for check in (*entry.checks, *entry.notes))
    way = f"{entry.way.backend}, {entry.way.profile}{quick}, {origin}"
    return f"{way}: {entry.verdict} ({measured})"
