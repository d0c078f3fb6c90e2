"""The figures that can be reproduced, and the claims that each decides."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module

from narrows.errors import InputError
from narrows.reproduce.claims import DATA, DOCUMENTS
from narrows.reproduce.exhibit import Exhibit
from narrows.spec.suggest import one_of


def exhibits() -> dict[str, Exhibit]:
    """All figures by id, document by document."""
    found: dict[str, Exhibit] = {}
    for document in DOCUMENTS:
        listed: tuple[Exhibit, ...] = import_module(f"narrows.reproduce.{document}").EXHIBITS
        found.update({exhibit.identifier: exhibit for exhibit in listed})
    return found


def select(wanted: str) -> list[Exhibit]:
    """The figures that a name means: a figure, a claim, a document, or "all".

    Raises InputError for a name that means none.
    """
    known = exhibits()
    chosen = [
        exhibit
        for exhibit in known.values()
        if wanted in ("all", exhibit.identifier, exhibit.document) or wanted in exhibit.claims
    ]
    if not chosen:
        names = [*known, *(c for e in known.values() for c in e.claims), *DOCUMENTS, "all"]
        remedy = one_of(wanted, list(dict.fromkeys(names)))
        raise InputError.at("reproduce", f'"{wanted}"', remedy)
    return chosen


@cache
def lessons() -> dict[str, str]:
    """What each figure shows and why, by its id."""
    found = tomllib.loads((DATA / "lessons.toml").read_text(encoding="utf-8"))
    return {f"{doc}/{figure}": text for doc, told in found.items() for figure, text in told.items()}


def listing() -> Iterator[tuple[str, str]]:
    """The names and titles of all figures."""
    for exhibit in exhibits().values():
        yield exhibit.identifier, f"{exhibit.title}: {exhibit.source}"
