"""The figures that can be reproduced, and the claims that each decides."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module

from narrows.errors import InputError
from narrows.reproduce import study_files
from narrows.reproduce.claims import DATA, DOCUMENTS
from narrows.reproduce.exhibit import Exhibit
from narrows.spec.suggest import one_of

CLAIM_ALONE = "claim:"
"""Before the name of a claim that a figure has, too: "claim:mixed/fig4" is one of two claims."""


def exhibits() -> dict[str, Exhibit]:
    """All figures by id, document by document."""
    found: dict[str, Exhibit] = {}
    for document in DOCUMENTS:
        package = import_module(f"narrows.reproduce.{document}")
        listed: list[Exhibit] = [*package.EXHIBITS, *package.DOCUMENT.studies()]
        found.update({exhibit.identifier: exhibit for exhibit in listed})
    return found


def select(wanted: str) -> list[Exhibit]:
    """The figures that a name means: a figure, a claim, a document, or "all".

    Raises InputError for a name that means none.
    """
    known = exhibits()
    chosen = [exhibit for exhibit in known.values() if _means(exhibit, wanted)]
    if not chosen:
        stated = [claim for exhibit in known.values() for claim in exhibit.claims]
        names = [*known, *stated, *DOCUMENTS, "all"]
        if wanted.startswith(CLAIM_ALONE):
            names = [f"{CLAIM_ALONE}{claim}" for claim in stated]
        remedy = one_of(wanted, list(dict.fromkeys(names)))
        raise InputError.at("reproduce", f'"{wanted}"', remedy)
    return chosen


def asked(exhibit: Exhibit, wanted: str) -> tuple[str, ...]:
    """The claims of a figure that a name means: one if it names a claim, else all.

    A figure that is called like one of its claims is meant with all of them.
    """
    claim = _claim(wanted)
    if wanted != exhibit.identifier and claim in exhibit.claims:
        return (claim,)
    return exhibit.claims


def _means(exhibit: Exhibit, wanted: str) -> bool:
    named = wanted in ("all", exhibit.identifier, exhibit.document)
    return named or _claim(wanted) in exhibit.claims


def _claim(wanted: str) -> str:
    return wanted.removeprefix(CLAIM_ALONE)


@cache
def lessons() -> dict[str, str]:
    """What each figure shows and why, by its id."""
    found = tomllib.loads((DATA / "lessons.toml").read_text(encoding="utf-8"))
    told = {f"{doc}/{figure}": text for doc, its in found.items() for figure, text in its.items()}
    return told | {
        name: text for doc in DOCUMENTS for name, text in study_files.lessons(doc).items()
    }


def listing() -> Iterator[tuple[str, str]]:
    """The names and titles of all figures."""
    for exhibit in exhibits().values():
        yield exhibit.identifier, f"{exhibit.title}: {exhibit.source}"
