"""The figures that can be reproduced, and the claims that each decides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from narrows.errors import InputError
from narrows.reproduce import study_files
from narrows.reproduce.claims import claims
from narrows.reproduce.exhibit import Document, Exhibit
from narrows.reproduce.library import STUDY, documents, library, per_library
from narrows.spec.suggest import nearest

CLAIM_ALONE = "claim:"
"""The prefix for a claim whose name a figure has, too: "claim:mixed/fig4" is one of two claims."""
ALL = "all"
"""The name of all figures and claims together."""
REMEDY = (
    "a figure (`narrows list figures`), a claim (`narrows reproduce --list`), a document ({}) "
    'or "all"'
)


def exhibits() -> dict[str, Exhibit]:
    """Returns all figures by id, document by document."""
    listed = [exhibit for document in documents() for exhibit in _of_document(document)]
    return {exhibit.identifier: exhibit for exhibit in listed}


def _of_document(document: str) -> list[Exhibit]:
    return Document.from_table(document, library().description(document)).studies()


def select(wanted: str) -> list[Exhibit]:
    """Returns the figures that a name means: a figure, a claim, a document, or "all".

    Raises InputError for a name that means none.
    """
    known = exhibits()
    chosen = [exhibit for exhibit in known.values() if _means(exhibit, wanted)]
    if not chosen:
        stated = [claim for exhibit in known.values() for claim in exhibit.claims]
        names = [*known, *stated, *documents(), ALL]
        if wanted.startswith(CLAIM_ALONE):
            names = [f"{CLAIM_ALONE}{claim}" for claim in stated]
        close = nearest(wanted, dict.fromkeys(names))
        remedy = REMEDY.format(", ".join(documents())) if close is None else f'"{close}"'
        if (Path(wanted) / STUDY).is_file():
            remedy = f'"./{wanted}"'
        raise InputError.at("reproduce", f'"{wanted}"', remedy)
    return chosen


def claims_of(wanted: str) -> set[str]:
    """Returns the claims that a name means; "all" includes those that no figure decides."""
    if wanted == ALL:
        return set(claims())
    if wanted in documents():
        return {claim for claim, stated in claims().items() if stated.document == wanted}
    if wanted not in exhibits() and _claim(wanted) in claims():
        return {_claim(wanted)}
    return {claim for exhibit in select(wanted) for claim in claims_asked_for(exhibit, wanted)}


def claims_asked_for(exhibit: Exhibit, wanted: str) -> tuple[str, ...]:
    """Returns the claims of a figure that a name means: one if it names a claim, else all.

    The name of both a figure and one of its claims means the figure with all its claims.
    """
    claim = _claim(wanted)
    if wanted != exhibit.identifier and claim in exhibit.claims:
        return (claim,)
    return exhibit.claims


def _means(exhibit: Exhibit, wanted: str) -> bool:
    named = wanted in (ALL, exhibit.identifier, exhibit.document)
    return named or _claim(wanted) in exhibit.claims


def _claim(wanted: str) -> str:
    return wanted.removeprefix(CLAIM_ALONE)


@per_library
def lessons() -> dict[str, str]:
    """Returns the lesson of each figure, by its id."""
    return {name: text for doc in documents() for name, text in study_files.lessons(doc).items()}


def listing() -> Iterator[tuple[str, str]]:
    """Yields the names and titles of all figures."""
    for exhibit in exhibits().values():
        yield exhibit.identifier, f"{exhibit.title}: {exhibit.source}"
