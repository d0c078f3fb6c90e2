"""Prints reproductions and the ledger in words, for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from narrows.report import Check
from narrows.reproduce.claims import KINDS
from narrows.reproduce.exhibit import Finding
from narrows.reproduce.ledger import ClaimVerdicts, LedgerEntry, counts_by_kind, in_words
from narrows.reproduce.library import documents
from narrows.reproduce.make import ReproducedFigure, Reproduction
from narrows.reproduce.site import NOT_RECORDED
from narrows.reproduce.unchanged import still_holds
from narrows.reproduce.values_set import values_in
from narrows.words import align

WIDTH = 100
"""The columns of the terminal that sentences may take; paths aren't broken."""
SMALL = " on the small grid"


def reproduction_lines(done: Reproduction, *, verbose: bool = False) -> Iterator[str]:
    """Yields every claim with a line for each check, then the page.

    With `verbose` the rule of every check with its history, and the pictures.
    """
    for item in done.made:
        yield from _figure_lines(item, done.whole, verbose=verbose)
        yield ""
    for refusal in done.refused:
        yield from _wrap(f"{refusal.exhibit.identifier}: not run here. {refusal.reason}")
    for failure in done.gathered.failures:
        at = f"{failure.cell}, seed {failure.trial.seed}"
        yield from _wrap(f"a run failed: {at}: {failure.error}")
    if done.index is None:
        yield NOT_RECORDED
        yield from (f"page: {page}" for page in done.pages.values())
        return
    if not verbose and any(item.findings for item in done.made):
        yield "--verbose shows the rule of every check and its history; so does the page"
    page = next(iter(done.pages.values())) if len(done.pages) == 1 else done.index
    yield f"page: {page}"


def _figure_lines(
    item: ReproducedFigure, whole: Mapping[tuple[str, str], str], *, verbose: bool
) -> Iterator[str]:
    yield from _wrap(f"{item.exhibit.identifier}: {item.exhibit.source}")
    way = (item.scope.profile, item.exhibit.in_words(item.scope), item.variation)
    yield from _wrap(f"{item.exhibit.title} ({', '.join(filter(None, way))})")
    if left_out := item.exhibit.left_out(item.scope):
        yield from _wrap(f"--quick leaves out {left_out}", 2)
    if item.too_short:
        yield from _wrap(item.too_short, 2)
    if not item.exhibit.claims and not item.exhibit.code:
        yield from _value_lines(item)
    before = {one.claim: one for one in item.unchanged.findings} if item.unchanged else {}
    for finding in item.findings:
        told = finding_lines if verbose else _short_finding_lines
        unchanged = before.get(finding.claim)
        extent = _extent(unchanged or finding, whole.get((finding.claim, item.scope.profile)))
        yield from told(
            finding,
            unchanged,
            values_in(item.variation),
            extent if item.scope.quick else "",
        )
    yield from (f"  figure: {file}" for file in item.stored.pictures if file.endswith(".png"))


def _value_lines(item: ReproducedFigure) -> Iterator[str]:
    """Yields the measures of a study without claims, with the way to add one."""
    method = item.exhibit.method()
    axes, *rows = method.values(item.data)
    if item.unchanged:
        _, *before = method.values(item.unchanged.data)
        told = [
            ["", *axes],
            *(["changed", *row] for row in rows),
            *(["unchanged", *row] for row in before),
        ]
        yield from (f"  {line}" for line in align(told, 2))
    else:
        yield from (f"  {line}" for line in align([axes, *rows]))
    yield "  means \N{PLUS-MINUS SIGN} half of the 99 % interval"
    yield (
        "  no claims, so nothing is judged: a [[claim]] in the study adds one "
        "(`narrows init paper` has an example)"
    )


def _extent(finding: Finding, whole: str | None) -> str:
    """Says after a verdict that a small grid has it, and that of the whole figure if it differs."""
    differs = whole not in (None, finding.verdict)
    return SMALL + (f" ({whole} on the whole figure and all testbeds)" if differs else "")


def _headline(finding: Finding, unchanged: Finding | None, change: str, extent: str) -> str:
    """Returns the verdict on a claim, or whether it still holds with a change of conditions."""
    if not change:
        return f"{finding.verdict}{extent}: {finding.claim}"
    words = still_holds(finding)
    if "," in words:
        words += ","
    before = f" (as written: {unchanged.verdict}{extent})" if unchanged else ""
    return f"{words}{SMALL if extent else ''} with {change}: {finding.claim}{before}"


def finding_lines(
    finding: Finding, unchanged: Finding | None = None, change: str = "", extent: str = ""
) -> Iterator[str]:
    """Yields a claim with every check, its rule with the history, and the notes.

    Beside a finding under a `change` of conditions, `unchanged` has the values as the document has
    it.
    """
    yield from _wrap(_headline(finding, unchanged, change, extent), 2)
    reasons = [finding.reason] if finding.reason and finding.verdict == "differs" else []
    for check in [*finding.checks, *reasons]:
        yield from _check_lines(check)
        yield from _unchanged_lines(check, unchanged)
        yield from _wrap(check.rule, 6)
    for note in finding.notes:
        yield from _note_lines(note)
        yield from _wrap(note.rule, 6)


def _short_finding_lines(
    finding: Finding, unchanged: Finding | None = None, change: str = "", extent: str = ""
) -> Iterator[str]:
    """Yields a claim with a line for each check, and the reason for a difference if known."""
    yield from _wrap(_headline(finding, unchanged, change, extent), 2)
    for check in finding.checks:
        yield from _wrap(_in_brief(check), 4)
        yield from _unchanged_lines(check, unchanged)
    if finding.reason and finding.verdict == "differs":
        yield from _check_lines(finding.reason)
    for note in () if finding.checks else finding.notes:
        yield from _note_lines(note)


def _unchanged_lines(check: Check, unchanged: Finding | None) -> Iterator[str]:
    """Yields the verdict and the measurement of a check under the document's own conditions."""
    for one in unchanged.checks if unchanged else ():
        if one.statement == check.statement:
            yield from _wrap(f"unchanged: {one.measured} ({one.verdict})", 6)


def _in_brief(check: Check) -> str:
    """Returns the verdict, the statement and the measurement.

    The stated value is added unless the check is confirmed.
    """
    told = f"{check.verdict}: {check.statement.removesuffix('.')}: {check.measured}"
    return told if check.passed else f"{told}; {check.expectation}"


def _check_lines(check: Check) -> Iterator[str]:
    yield from _wrap(f"{check.verdict}: {check.statement}", 4)
    yield from _wrap(f"measured {check.measured}; {check.expectation}", 6)


def _note_lines(note: Check) -> Iterator[str]:
    yield from _wrap(f"note: {note.statement}", 4)
    yield from _wrap(f"measured {note.measured}", 6)


def _wrap(text: str, indent: int = 0) -> list[str]:
    """Returns the lines of a paragraph; those after the first are indented by two more."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )


def ledger_lines(found: Sequence[ClaimVerdicts], here: Sequence[LedgerEntry] = ()) -> Iterator[str]:
    """Yields every claim by document: verdict, claim, measurement, and whether made `here`."""
    for document, title in documents().items():
        its = [line for line in found if line.claim.document == document]
        if its:
            yield title
        for line in its:
            yield f"  {line.headline:12} {line.claim.identifier}: {line.claim.expect}"
            for entry in line.entries:
                yield f"               {_entry(entry, entry in here)}"
        if its:
            yield ""
    for kind, counts in counts_by_kind(found).items():
        yield f"{KINDS[kind]}: {in_words(counts)}"
    yield _origin(found, here)


def _origin(found: Sequence[ClaimVerdicts], here: Sequence[LedgerEntry]) -> str:
    """Says where the findings come from."""
    decisive = [line.decisive for line in found if line.decisive]
    mine = sum(entry in here for entry in decisive)
    return (
        f"{mine} of these verdicts were found here, {len(decisive) - mine} were recorded with this "
        "version of narrows; `narrows reproduce` finds them again"
    )


def _entry(entry: LedgerEntry, here: bool) -> str:
    origin = "here" if here else "recorded"
    measured = "; ".join(check["measured"] for check in (*entry.checks, *entry.notes))
    way = f"{entry.way.backend}, {entry.way.profile}{entry.extent}, {origin}"
    return f"{way}: {entry.verdict} ({measured})"
