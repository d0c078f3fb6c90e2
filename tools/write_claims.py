"""Writes docs/reference/claims.md and the ledger that is shipped, from ledgers of reproductions.

    python tools/write_claims.py OUT...

Each OUT is a directory that `narrows reproduce` wrote, such as one of the simulator and one
of a real kernel; if two made the same figure in the same way, the later counts. Nothing in the page
is written by hand but for what kernel_notes.toml says of a kernel and its model.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from narrows.reproduce import ledger, negative, testbeds
from narrows.reproduce.claims import DATA, DOCUMENTS, KINDS, claims
from narrows.reproduce.ledger import Entry, Line
from narrows.reproduce.mutations import mutations
from narrows.reproduce.negative import Control
from narrows.reproduce.site import own_profiles
from narrows.reproduce.testbeds import Judged
from narrows.store.atomic import write_text

OPEN = ("differs", "refuted", "undecided", "partly")
"""Verdicts whose failed and undecided checks are listed."""
NOTES = Path(__file__).with_name("kernel_notes.toml")
TARGET = Path(__file__).parents[1] / "docs" / "reference" / "claims.md"
HEAD = """\
# The verdict on every claim

This page lists each statement of the four documents with the verdict under the document's kernel on
its whole grid, then with that under the TCP of Linux 6.12 in the simulator, and with that of a real
Linux 6.12 in virtual time (uml). A real kernel lacks BBR's options and proposed changes, BBR
Shallow, BBRv3 and the TCP of other versions: a claim that needs these, or that wasn't run there,
has no verdict in that column. Where a check is
met with one of the last two and not with the other, both measurements stand below the table. On
uml hosts have no jitter, so trials may all be the same run. Equal values then count as one trial,
which decides nothing ("on one path"); "varied paths" says that each trial had its own buffer and
delay, "at most N trials" that conditions which ask for more had so many. The rules are in
docs/how-to/reproduce.md; measurements, rules and figures are on the pages that `narrows reproduce
all` makes. `tools/write_claims.py` made this page from such runs.
"""
LATER = "linux-6.12"
WAYS = (("sim", "TCP of 6.12"), ("uml", "Linux 6.12 itself"))
"""The back ends of the columns beside the verdict, and what these are called."""

ANSWERS = {True: "met", False: "not met", None: "undecided"}
OTHERWISE = """\
### Where Linux 6.12 itself and its TCP in the simulator decide differently
"""

TESTBEDS_HEAD = """\
## Testbeds

Where the documents don't describe their testbeds, several are possible. All claims of a document
were judged on each, by their checks alone (`narrows reproduce DOCUMENT --testbeds`).
"""
CONTROLS_HEAD = """\
## Negative controls

Conditions under which a claim must fail (`narrows reproduce all --mutations`). The checks noticed
{noticed} of {all}, {whole} of which ran on the whole grid; an undecided check hasn't noticed.
In {open} of them ("fails anyway") the check named isn't met without the change either, so that it
shows less there. {bare} of these claims have no check that is met, so that there is none that a
change could break.
"""


def page(
    found: Sequence[Line],
    judged: Sequence[Judged] = (),
    controls: Sequence[Control] = (),
) -> str:
    """The whole page, with the matrices of testbeds and the negative controls that were run."""
    parts = [HEAD, *_counts(found), *_chapters(found), *_matrices(judged)]
    parts += _controls(controls, found)
    return "\n".join(parts).rstrip() + "\n"


def _matrices(judged: Sequence[Judged]) -> Iterator[str]:
    """The claims of each document on every possible testbed."""
    if not judged:
        return
    yield TESTBEDS_HEAD
    for matrix in testbeds.matrices(judged):
        quick = any(one.quick for one in judged if claims()[one.claim].document == matrix.document)
        yield f"### {matrix.document}{', smaller grids' if quick else ''}\n"
        yield from testbeds.describe(matrix)
        yield ""
        for testbed in testbeds.TESTBEDS[matrix.document]:
            yield f"- {testbed.name}: {testbed.why}"
        yield ""


def _controls(controls: Sequence[Control], found: Sequence[Line]) -> Iterator[str]:
    """The result of each negative control."""
    if not controls:
        return
    unmet = {
        (line.claim.identifier, check["statement"])
        for line in found
        if line.decisive
        for check in line.decisive.checks
        if check["passed"] is False
    }
    anyway = [one for one in controls if (one.claim, one.failed) in unmet]
    met = {
        line.claim.identifier
        for line in found
        if line.decisive and any(check["passed"] for check in line.decisive.checks)
    }
    bare = {one.claim for one in anyway} - met
    noticed = sum(control.noticed for control in controls)
    whole = sum(not control.quick for control in controls)
    yield CONTROLS_HEAD.format(
        all=len(controls), whole=whole, noticed=noticed, open=len(anyway), bare=len(bare)
    )
    yield "| Claim | With | Noticed | Measured |\n|---|---|---|---|"
    for one in controls:
        grid = ", smaller grid" if one.quick else ""
        words = mutations()[one.mutation].words
        told = f"{one.failed} {one.measured}".replace("|", "\\|")
        answer = "fails anyway" if one in anyway else "yes" if one.noticed else "no"
        yield f"| `{one.claim}` | {words}{grid} | {answer} | {told} |"
    yield ""


def strongest(controls: Sequence[Control]) -> list[Control]:
    """Each control once, on the whole grid if possible, in the order of the claims."""
    kept: dict[tuple[str, str], Control] = {}
    for one in sorted(controls, key=lambda control: not control.quick):
        kept[one.claim, one.mutation] = one
    order = {identifier: place for place, identifier in enumerate(claims())}
    return sorted(kept.values(), key=lambda one: (order[one.claim], one.mutation))


def _counts(found: Sequence[Line]) -> Iterator[str]:
    yield f"There are {len(found)} claims.\n"
    yield "| Kind | Claims | Verdicts |\n|---|---|---|"
    for kind, told in ledger.counts_by_kind(found).items():
        yield f"| {KINDS[kind]} | {sum(told.values())} | {ledger.in_words(told)} |"
    yield ""


def _chapters(found: Sequence[Line]) -> Iterator[str]:
    for document, title in DOCUMENTS.items():
        yield f"## {title}\n"
        names = " | ".join(name for _, name in WAYS)
        yield f"| Claim | Kind | Stated | Verdict | {names} |\n|---|---|---|---|---|---|"
        mine = [line for line in found if line.claim.document == document]
        for line in mine:
            yield f"| {' | '.join(_cells(line))} |"
        yield ""
        for line in mine:
            if line.decisive and line.verdict in OPEN:
                yield from _why(line.decisive)
        yield from _otherwise(mine)


def _cells(line: Line) -> Iterator[str]:
    yield f"`{line.claim.identifier}`"
    yield line.claim.kind
    yield line.claim.expect.replace("|", "\\|")
    yield line.verdict
    for backend, _ in WAYS:
        yield _way(line, backend)


def _way(line: Line, backend: str) -> str:
    """The verdict of a back end under the later kernel."""
    entry = _later(line, backend)
    if entry is None:
        return ""
    varied = ", varied paths" if entry.way.varied else ""
    return f"{entry.verdict}{', smaller grid' if entry.way.quick else ''}{varied}{entry.way.limit}"


def _later(line: Line, backend: str) -> Entry | None:
    """The finding of a back end under the later kernel, on the whole grid if there is one."""
    for entry in line.entries:
        if (entry.way.backend, entry.way.profile) == (backend, LATER):
            return entry
    return None


def _otherwise(found: Sequence[Line]) -> Iterator[str]:
    """The checks of which the kernel itself and its TCP in the simulator say different things."""
    told = [part for line in found for part in _unlike(line)]
    if told:
        yield OTHERWISE
        yield from told


def _unlike(line: Line) -> Iterator[str]:
    """A sentence for each check that is met in one and not in the other."""
    real, simulated = (_later(line, backend) for backend in ("uml", "sim"))
    if real is None or simulated is None or real.way.quick != simulated.way.quick:
        return
    there = {check["statement"]: check for check in simulated.checks}
    told = [
        f"{check['statement']} Measured {_answer(check)}; in the simulator {_answer(other)}."
        for check in real.checks
        if (other := there.get(check["statement"])) and other["passed"] != check["passed"]
    ]
    if told:
        yield f"**`{line.claim.identifier}`** {real.verdict}, in the simulator {simulated.verdict}."
        note = kernel_notes().get(line.claim.identifier)
        yield "\n".join([*told, note] if note else told) + "\n"


def kernel_notes() -> dict[str, str]:
    """What was found out about such differences, by claim."""
    found: dict[str, str] = tomllib.loads(NOTES.read_text(encoding="utf-8"))
    return found


def _answer(check: dict[str, Any]) -> str:
    return f"{check['measured']} ({ANSWERS[check['passed']]})"


def _why(entry: Entry) -> Iterator[str]:
    """The failed checks, and the reason if one is shown."""
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
    found = ledger.lines(whole(list(entries.values())), own_profiles())
    judged = [one for place in places for one in testbeds.read(Path(place))]
    controls = strongest([one for place in places for one in negative.read(Path(place))])
    TARGET.write_text(page(found, judged, controls), encoding="utf-8")
    write_text(DATA / ledger.LEDGER, shipped([entry for line in found for entry in line.entries]))


def whole(entries: Sequence[Entry]) -> list[Entry]:
    """Those of smaller grids only where there is none of the whole one."""
    made = {(*entry.key[:3],) for entry in entries if not entry.way.quick}
    return [entry for entry in entries if not entry.way.quick or entry.key[:3] not in made]


def shipped(entries: Sequence[Entry]) -> str:
    """The ledger that the package includes, without the rules, which it contains anyway."""
    short = [asdict(_short(entry)) for entry in entries]
    return json.dumps({"entries": short}, separators=(",", ":"), ensure_ascii=False) + "\n"


def _short(entry: Entry) -> Entry:
    return replace(entry, checks=_without_rules(entry.checks), notes=_without_rules(entry.notes))


def _without_rules(checks: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    return tuple({**check, "rule": ""} for check in checks)


if __name__ == "__main__":
    main(sys.argv[1:])
