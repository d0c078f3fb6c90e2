"""Writes docs/reference/claims.md: what was found of every claim, from ledgers of reproductions.

    python tools/write_claims.py OUT...

Each OUT is a directory that `narrows reproduce` wrote, such as one of the simulator and one
of a real kernel; of two that made the same figure in the same way the later counts. Nothing in
the page is written by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from narrows.reproduce import ledger
from narrows.reproduce.claims import DOCUMENTS, KINDS
from narrows.reproduce.ledger import Entry, Line
from narrows.reproduce.site import own_profiles

OPEN = ("differs", "refuted", "undecided", "partly")
"""Verdicts whose failed and undecided checks are listed."""
TARGET = Path(__file__).parents[1] / "docs" / "reference" / "claims.md"
HEAD = """\
# What was found of every claim

Each statement of the four documents, with the verdict under the document's kernel on its whole
grid, and what it is in other ways: with another kernel's TCP, or on a real kernel (uml, on a
smaller grid where it says so). The rules are in docs/how-to/reproduce.md; measurements, rules
and figures stand on the pages that `narrows reproduce all` makes. `tools/write_claims.py` made
this page from such runs.
"""


def page(found: Sequence[Line]) -> str:
    """The whole page."""
    return "\n".join([HEAD, *_counts(found), *_chapters(found)]).rstrip() + "\n"


def _counts(found: Sequence[Line]) -> Iterator[str]:
    yield f"There are {len(found)} claims.\n"
    yield "| Kind | Claims | What was found |\n|---|---|---|"
    for kind, told in ledger.counts_by_kind(found).items():
        yield f"| {KINDS[kind]} | {sum(told.values())} | {ledger.in_words(told)} |"
    yield ""


def _chapters(found: Sequence[Line]) -> Iterator[str]:
    for document, title in DOCUMENTS.items():
        yield f"## {title}\n"
        yield "| Claim | Kind | Stated | Verdict | Other ways |\n|---|---|---|---|---|"
        mine = [line for line in found if line.claim.document == document]
        for line in mine:
            yield f"| {' | '.join(_cells(line))} |"
        yield ""
        for line in mine:
            if line.entries and line.verdict in OPEN:
                yield from _why(line.entries[0])


def _cells(line: Line) -> Iterator[str]:
    yield f"`{line.claim.identifier}`"
    yield line.claim.kind
    yield line.claim.expect.replace("|", "\\|")
    yield line.verdict
    yield "; ".join(f"{entry.way}: {entry.verdict}" for entry in line.entries[1:])


def _why(entry: Entry) -> Iterator[str]:
    """What failed, and the reason if one is shown."""
    yield f"**`{entry.claim}`** {entry.verdict}."
    for check in entry.checks:
        if not check["passed"]:
            yield f"{check['statement']} Measured {check['measured']}; stated: {check['expected']}."
    if entry.reason:
        yield f"Reason: {entry.reason['statement']} Measured: {entry.reason['measured']}."
    yield ""


def main(places: Sequence[str]) -> None:
    """Writes the page from the ledgers in the directories."""
    entries = {entry.key: entry for place in places for entry in ledger.read(Path(place))}
    found = ledger.lines(list(entries.values()), own_profiles())
    TARGET.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
