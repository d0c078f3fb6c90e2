"""Writes docs/reference/claims.md and the ledger that is shipped, from ledgers of reproductions.

    python tools/write_claims.py OUT...

Each OUT is a directory that `narrows reproduce` wrote, such as one of the simulator and one
of a real kernel; of two that made the same figure in the same way the later counts. Nothing in
the page is written by hand.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from narrows.reproduce import ledger
from narrows.reproduce.claims import DATA, DOCUMENTS, KINDS
from narrows.reproduce.ledger import Entry, Line
from narrows.reproduce.site import own_profiles
from narrows.store.atomic import write_text

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
            if line.decisive and line.verdict in OPEN:
                yield from _why(line.decisive)


def _cells(line: Line) -> Iterator[str]:
    yield f"`{line.claim.identifier}`"
    yield line.claim.kind
    yield line.claim.expect.replace("|", "\\|")
    yield line.verdict
    yield "; ".join(f"{entry.way}: {entry.verdict}" for entry in line.others)


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
    write_text(DATA / ledger.LEDGER, shipped([entry for line in found for entry in line.entries]))


def shipped(entries: Sequence[Entry]) -> str:
    """The ledger that the package brings along; its rules stand in the package anyway."""
    short = [asdict(_short(entry)) for entry in entries]
    return json.dumps({"entries": short}, separators=(",", ":"), ensure_ascii=False) + "\n"


def _short(entry: Entry) -> Entry:
    return replace(entry, checks=_without_rules(entry.checks), notes=_without_rules(entry.notes))


def _without_rules(checks: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    return tuple({**check, "rule": ""} for check in checks)


if __name__ == "__main__":
    main(sys.argv[1:])
