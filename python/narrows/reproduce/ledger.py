"""The ledger: the verdict on each claim, by back end and version of Linux.

It is one file in the output of `narrows reproduce`. A new finding replaces the one that was made in
the same way; one of a quick form (`--quick`) never replaces one of the whole figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from narrows.report import Check
from narrows.reproduce.catalogue import exhibits
from narrows.reproduce.claims import KINDS, Claim, claims
from narrows.reproduce.exhibit import Exhibit, Finding, Scope
from narrows.reproduce.judgements import Judgement
from narrows.reproduce.library import DATA, OURS, library
from narrows.reproduce.records import read_list, write_list
from narrows.reproduce.standing import NOT_SPECIFIC, Standing, standing
from narrows.words import count_of

LEDGER = "ledger.json"
CLAIM_FIELDS = ("identifier", "kind", "where", "setup", "expect")
VERDICTS = (
    "confirmed", NOT_SPECIFIC, "partly", "undecided", "depends", "differs", "refuted", "reported",
    "not testable", "not run",
)  # fmt: skip
"""Confirmed: every check passed. Not specific to BBR: so they did with other controls in its place.
Partly: some passed, the rest are undecided. Undecided: none is decided. Depends: not the same on
every testbed that the document allows. Differs: some failed, and data show why they must here.
Refuted: some failed. Reported: the document leaves the answer open. Not testable: no laboratory
can."""


VARIED = ", on varied paths"
"""Added to the engine of a finding whose trials had their own paths."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a finding was made."""

    backend: str
    engine: str
    profile: str
    quick: bool
    trials: int | None = None
    """The limit of `--trials`: no condition had more trials than these."""
    looks: int = 1
    """How often trials could be added until every check was decided."""
    confidence: float = 0.95
    """The share of all repetitions in which a decided check is decided rightly."""

    def __str__(self) -> str:
        """Describes the way: back end unless it is the simulator, kernel, and peculiarities."""
        backend = "" if self.backend == "sim" else f"{self.backend}, "
        unusual = f"{', quick' if self.quick else ''}{VARIED if self.has_varied_paths else ''}"
        return f"{backend}{self.profile}{unusual}{self.limit}"

    @property
    def limit(self) -> str:
        """The limit of the trials, as words that follow a comma."""
        return "" if self.trials is None else f", at most {self.trials} trials"

    @property
    def has_varied_paths(self) -> bool:
        """Returns True if each trial had its own buffer and delay."""
        return self.engine.endswith(VARIED)


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """The verdict on a claim and the checks behind it, as plain data."""

    claim: str
    figure: str
    way: Way
    verdict: str
    checks: tuple[dict[str, Any], ...]
    reason: dict[str, Any] | None
    notes: tuple[dict[str, Any], ...] = ()

    @property
    def key(self) -> tuple[str, str, str, bool]:
        """The key under which a newer entry replaces this one."""
        return (self.claim, self.way.backend, self.way.profile, self.way.quick)

    @property
    def extent(self) -> str:
        """How much of the figure a quick form makes: ", quick: shorter runs"; else empty."""
        if not self.way.quick:
            return ""
        exhibit = exhibits().get(self.figure)
        told = exhibit.in_words(Scope(self.way.profile, quick=True)) if exhibit else ""
        return f", {told or 'quick'}"


def entry(exhibit: Exhibit, finding: Finding, way: Way) -> LedgerEntry:
    """Returns a finding as an entry."""
    reason = asdict(finding.reason) if finding.reason and finding.verdict == "differs" else None
    return LedgerEntry(
        finding.claim,
        exhibit.identifier,
        way,
        finding.verdict,
        tuple(asdict(check) for check in finding.checks),
        reason,
        tuple(asdict(check) for check in finding.notes),
    )


def finding(entry: LedgerEntry) -> Finding:
    """Returns the finding of an entry."""
    checks, notes = ([Check(**one) for one in some] for some in (entry.checks, entry.notes))
    reason = Check(**entry.reason) if entry.reason else None
    return Finding(entry.claim, checks, reason, notes)


def read(out: Path) -> list[LedgerEntry]:
    """Returns all entries in the directory; none if nothing was reproduced there."""
    return read_list(out / LEDGER, "entries", _entry)


def read_recorded() -> list[LedgerEntry]:
    """Returns the entries recorded when the package was made; none for an own paper."""
    return read(DATA) if library() is OURS else []


def read_known(out: Path) -> tuple[list[LedgerEntry], list[LedgerEntry]]:
    """Returns the entries found here, and the recorded ones that they don't replace."""
    here = read(out)
    keys = {item.key for item in here}
    return here, [item for item in read_recorded() if item.key not in keys]


def _entry(fields: dict[str, Any]) -> LedgerEntry:
    way = Way(**fields.pop("way"))
    checks, notes = tuple(fields.pop("checks")), tuple(fields.pop("notes"))
    return LedgerEntry(way=way, checks=checks, notes=notes, **fields)


def write(out: Path, new: Iterable[LedgerEntry]) -> list[LedgerEntry]:
    """Adds entries to those in the directory and returns all, in the order of the claims."""
    kept = {item.key: item for item in read(out)}
    kept.update({item.key: item for item in new})
    order = {identifier: place for place, identifier in enumerate(claims())}
    entries = sorted(
        (item for item in kept.values() if item.claim in order),
        key=lambda item: (order[item.claim], item.key),
    )
    write_list(out / LEDGER, "entries", entries)
    return entries


@dataclass(frozen=True, slots=True)
class ClaimVerdicts:
    """A claim with all its verdicts, whole grids before quick ones."""

    claim: Claim
    entries: tuple[LedgerEntry, ...]
    judgements: tuple[Judgement, ...] = ()

    @property
    def decisive(self) -> LedgerEntry | None:
        """The decisive finding: that of the document's kernel on the whole grid."""
        return self.entries[0] if self.entries and not self.entries[0].way.quick else None

    @property
    def others(self) -> tuple[LedgerEntry, ...]:
        """The findings made in other ways."""
        return self.entries[1:] if self.decisive else self.entries

    @property
    def verdict(self) -> str:
        """The verdict of the whole figure; a quick form alone doesn't count as run."""
        if self.claim.kind == "deployment":
            return "not testable"
        return self.standing(self.decisive).verdict if self.decisive else "not run"

    @property
    def headline(self) -> str:
        """The verdict, with the number of checks met unless all are, or with what it depends on."""
        return self.verdict + (self.more(self.decisive) if self.decisive else "")

    def standing(self, entry: LedgerEntry) -> Standing:
        """Returns the verdict of a finding beside the judgements under its kernel."""
        if entry.way.quick or entry.way.backend != "sim":
            return Standing(entry.verdict)
        profile = entry.way.profile
        return standing(self.claim.identifier, entry.verdict, profile, self.judgements)

    def more(self, entry: LedgerEntry) -> str:
        """Returns the words in parentheses after a verdict, if it needs them."""
        told = self.standing(entry)
        if told.more or told.verdict not in ("partly", "differs", "refuted"):
            return f" ({told.more})" if told.more else ""
        met = sum(check["passed"] is True for check in entry.checks)
        return f" ({met} of {count_of(len(entry.checks), 'check')} met)"


def lines(
    entries: Sequence[LedgerEntry], profiles: dict[str, str], judgements: Sequence[Judgement] = ()
) -> list[ClaimVerdicts]:
    """Returns a line for each claim; `profiles` names the kernel of each claim's document."""
    found = []
    for identifier, claim in claims().items():
        mine = [item for item in entries if item.claim == identifier]
        wanted = profiles.get(identifier)
        mine.sort(
            key=lambda e: (e.way.quick, e.verdict == "not run", e.way.profile != wanted, e.key)
        )
        judged = tuple(one for one in judgements if one.claim == identifier)
        found.append(ClaimVerdicts(claim, tuple(mine), judged))
    return found


def counts(found: Sequence[ClaimVerdicts]) -> dict[str, int]:
    """Counts the claims with each verdict that occurs."""
    told = {verdict: sum(line.verdict == verdict for line in found) for verdict in VERDICTS}
    return {verdict: count for verdict, count in told.items() if count}


def counts_by_kind(found: Sequence[ClaimVerdicts]) -> dict[str, dict[str, int]]:
    """Counts the claims with each verdict by kind of claim, in the order of `KINDS`."""
    told = {kind: counts([line for line in found if line.claim.kind == kind]) for kind in KINDS}
    return {kind: count for kind, count in told.items() if count}


def in_words(told: dict[str, int]) -> str:
    """Returns the counts as in "3 confirmed, 1 refuted"."""
    return ", ".join(f"{count} {verdict}" for verdict, count in told.items())


def document(found: Sequence[ClaimVerdicts], here: Sequence[LedgerEntry] = ()) -> dict[str, Any]:
    """Returns the document of `narrows reproduce --json`.

    Findings say whether they were made `here`.
    """
    return {
        "counts": counts_by_kind(found),
        "claims": [
            {
                **{name: getattr(line.claim, name) for name in CLAIM_FIELDS},
                "verdict": line.verdict,
                "headline": line.headline,
                "findings": [{**asdict(item), "here": item in here} for item in line.entries],
            }
            for line in found
        ],
    }
