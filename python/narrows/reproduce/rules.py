"""The rules by which claims are judged, as data: limits, where they come from, their history.

A rule belongs to one check of one claim. Its limits come from the document: the precision of a
number that it states, a reading of a figure or, where it gives only words, our choice; `basis` says
which. A changed rule keeps its old form, the reason, and whether a result had been seen by then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from narrows.reproduce.library import documents, per_library
from narrows.reproduce.study_files import rule_tables

SEEN = ("before", "after", "not recorded")
"""The words for rules that were made before, or after, a result of their check was seen."""

OF_PATH = (" ms", " Mbit/s")
"""The units of limits that hold for one path only: another has other delays and rates."""


@dataclass(frozen=True, slots=True)
class RuleChange:
    """One step in a rule's history: `was` is the rule that it replaced, if there was one."""

    since: str
    was: str
    why: str
    results: str

    def __str__(self) -> str:
        """Describes the change in a sentence."""
        seen = f"{self.results} the first result" if self.results != SEEN[2] else "results or not"
        if not self.was:
            return f"First made {self.since} ({self.why})."
        return f"Changed {self.since}, {seen} was seen; it was: {self.was}. {self.why}"


@dataclass(frozen=True, slots=True)
class Rule:
    """The limits of a check, in `unit`; `says` is the document's statement, `stated` its number."""

    claim: str
    check: str
    low: float
    high: float
    unit: str
    says: str
    stated: float | None
    basis: str
    history: tuple[RuleChange, ...]

    @property
    def bounds(self) -> str:
        """The limits in words."""
        if math.isinf(self.high):
            return f"{self.low:g}{self.unit} or more"
        if math.isinf(self.low):
            return f"{self.high:g}{self.unit} or less"
        return f"{self.low:g} to {self.high:g}{self.unit}"

    @property
    def is_of_path(self) -> bool:
        """True if the limits are delays or rates of the document's own path, not a comparison."""
        return self.unit in OF_PATH and any(math.isfinite(v) and v for v in (self.low, self.high))

    @property
    def words(self) -> str:
        """Says when the rule is met and when not, the source of the bounds, and their changes."""
        changes = " ".join(str(change) for change in self.history)
        return (
            f"Met if the whole 99 % interval lies within {self.bounds}, not met if it lies "
            f"outside, otherwise undecided. {self.basis} {changes}"
        ).strip()


@per_library
def rules() -> dict[tuple[str, str], Rule]:
    """Returns every rule by claim and check, in the order of the files."""
    found = {}
    for document in documents():
        for claim, check, entry in rule_tables(document):
            found[claim, check] = _rule(claim, check, entry)
    return found


def rule(claim: str, check: str) -> Rule:
    """Returns the rule of one check; raises KeyError if there is none."""
    return rules()[claim, check]


def _rule(claim: str, check: str, entry: dict[str, Any]) -> Rule:
    low, high = float(entry.pop("at_least", -math.inf)), float(entry.pop("at_most", math.inf))
    changes = [RuleChange(**{"was": "", **change}) for change in entry.pop("history", ())]
    stated = entry.pop("stated", None)
    made = Rule(
        claim,
        check,
        low,
        high,
        entry.pop("unit", ""),
        entry.pop("says"),
        None if stated is None else float(stated),
        entry.pop("basis"),
        tuple(changes),
    )
    unknown = [change.results for change in changes if change.results not in SEEN]
    if entry or unknown or not (math.isfinite(low) or math.isfinite(high)) or low > high:
        raise ValueError(f"{claim}, {check}: {entry or unknown or 'no limits'}")
    return made
