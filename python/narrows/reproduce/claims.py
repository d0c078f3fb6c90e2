"""The published statements as data, with their places in the documents."""

from __future__ import annotations

from dataclasses import dataclass

from narrows.reproduce.library import Table, documents, per_library
from narrows.reproduce.study_files import claim_tables

RIVALS = {name: f"{name}-for-bbr" for name in ("reno", "cubic", "vegas", "copa", "bbr3")}
"""The controls that take BBR's place for every claim about it, and the changes that do so."""

KINDS = {
    "number": "published numbers",
    "shape": "published shapes",
    "proposal": "proposals, evaluated here",
    "reported": "left open by the document, reported here",
    "deployment": "numbers of a deployment, which no laboratory can test",
}
"""Kinds of statements: the document gives a number, shows a pattern, suggests something without
evaluating it, asks for an experiment, or reports a measurement in the field."""
UNCHECKED = ("reported", "deployment")
"""The kinds that have no checks."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement: `where` it is in its document, its `setup`, and what one can `expect` from it.

    `kind` is one of `KINDS`; `fails_under` names changed conditions under which the claim can't
    hold; `quote` gives a number in the document's own words. `about` is its subject: a control, the
    path, or the laboratory.
    """

    identifier: str
    kind: str
    where: str
    setup: str
    expect: str
    fails_under: tuple[str, ...] = ()
    quote: str = ""
    about: str = "bbr"

    @property
    def rivals(self) -> tuple[str, ...]:
        """The controls that make the claim fail in BBR's place."""
        return tuple(rival for rival, name in RIVALS.items() if name in self.fails_under)

    @property
    def document(self) -> str:
        """The key of its document."""
        return self.identifier.partition("/")[0]


@per_library
def claims() -> dict[str, Claim]:
    """Returns all statements by id, in the order of the documents."""
    found = [_claim(entry) for document in documents() for entry in claim_tables(document)]
    return {claim.identifier: claim for claim in found}


def _claim(entry: Table) -> Claim:
    fails_under = tuple(entry.get("fails_under", ()))
    where, setup, expect = entry["where"], entry.get("setup", ""), entry["expect"]
    quote, about = entry.get("quote", ""), entry.get("about", "bbr")
    return Claim(entry["id"], entry["kind"], where, setup, expect, fails_under, quote, about)
