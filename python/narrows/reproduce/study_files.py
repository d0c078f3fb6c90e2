"""The files of studies, as tables.

title, source      the title, and the place in the document
lesson             what the figure shows and why
choices            what the document leaves open, and what was chosen
also               profiles under which it is made beside the document's
[spec]             path, flows, host, run: what all conditions have in common
[own_host]         keys of `host` under the document's profile alone
[axes.NAME]        labels, each with the values that it sets by place; or a list of values, if
                   NAME is a place
[quick]            the labels of an axis on the small grid; `set` changes values there
[measures.NAME]    what [[expect]] takes (`metric`, or `series` with `take` and others), or a
                   function of `study.measures` as `python`; `times` multiplies it; `label`, `unit`
[[figure]]         a panel: measure `y` over the axis `x`, a bar for each label of the axis `by`
[[claim]]          as in claims.toml, with an id inside the document, and below it
[[claim.check]]    a rule as in data/rules, and the `statement`, `measure` and `where` (labels
                   by axis); with `ratio` or `difference`, an axis and two of its labels; with
                       `best` ("highest" or "lowest"), that of the conditions in each trial
[[claim.note]]     a measurement that decides nothing: `statement`, `measure`, `where`
[testbeds.NAME]    what the document leaves open: `why`, and the values to `set`
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

STUDIES = Path(__file__).parent / "data" / "studies"
RULE = ("low", "high", "unit", "says", "stated", "basis", "history")
"""The keys of a check that are its rule."""

Table = Mapping[str, Any]


@cache
def studies(document: str) -> dict[str, Table]:
    """The studies of a document by id, in the order of their names."""
    paths = sorted((STUDIES / document).glob("*.toml"))
    return {f"{document}/{path.stem}": _table(path) for path in paths}


def _table(path: Path) -> Table:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path.name}: {error}") from error


def claim_tables(document: str) -> Iterator[Table]:
    """The claims of a document's studies, as in claims.toml, with whole ids."""
    for study in studies(document).values():
        for claim in study["claim"]:
            entry = {key: value for key, value in claim.items() if key not in ("check", "note")}
            yield {**entry, "id": f"{document}/{claim['id']}"}


def rule_tables(document: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The rules of a document's studies: the claim, the check, and the rule as in data/rules."""
    for study in studies(document).values():
        for claim in study["claim"]:
            for check in claim.get("check", ()):
                entry = {key: check[key] for key in RULE if key in check}
                yield f"{document}/{claim['id']}", check["name"], entry


def lessons(document: str) -> dict[str, str]:
    """The lesson of each study's figure, by its id."""
    return {name: study["lesson"] for name, study in studies(document).items()}
