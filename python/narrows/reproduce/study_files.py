"""The files of studies, as tables; `study_check` checks them.

name, paper        of an own paper: the first part of its ids, and its title; `profile`, its kernel
title, source      the title, and the place in the document
lesson             why the figure looks as it does; what it shows is told by the verdicts
choices            what the document leaves open, and what was chosen
also               profiles under which it is made beside the document's
from               "testbed.toml": the file beside it whose `path`, `flows`, `host`, `run` and
                   `own_host` are those of `spec` where the study doesn't say otherwise
[spec]             path, flows, host, run: what all conditions have in common
[own_host]         keys of `host` under the document's profile alone
[axes.NAME]        labels, each with the values that it sets by place; or a list of values, if
                   NAME is a place
[quick]            the labels of an axis on the small grid; `set` changes values there
[measures.NAME]    what [[check]] takes (`metric`, or `series` with `take` and others), or a
                   function of measures.py beside the study as `python`; `times` multiplies it;
                   `label`, `unit`
[[figure]]         a panel: measure `y` over the axis `x`, a bar for each label of the axis `by`;
                   with `kind = "lines"` a line for each, over the numbers that labels begin with
[[claim]]          an `id` inside the document; `kind`, one of `claims.KINDS`; `where` it stands,
                   the `setup`, what it lets one `expect` in our words, and the document's own
                   `quote`; `about`, "bbr" unless given: a control, the "path", the "laboratory"
                   or a "part" of BBR; `fails_under`, controls of data/changes.toml; and below it
[[claim.check]]    a check as `[[check]]` of a specification is, `at_least` and `at_most` with their
                   `unit`, and its source: what the document `says`, its number if it gives one
                   (`stated`), the `basis` of the bounds and their `history`;
                   and what they apply to: a `statement`, a `measure` and `where` (labels
                   by axis); with `ratio` or `difference`, an axis and two of its labels; with
                       `best` ("highest" or "lowest"), that of the conditions in each trial
[[claim.note]]     a measurement that decides nothing: `statement`, `measure`, `where`
[[claim.control]]  a change under which the claim must fail: `name`, `words` and, as in
                   data/changes.toml, `replace`, `set`, `options` and `where`
[testbeds.NAME]    what the document leaves open: `why`, and the values to `set`

A study that needs more than data names a Python file beside it as its `code`, with the functions of
`narrows.reproduce.exhibit`, in place of the tables from `spec` to `figure`. Its checks are rules
with a `name`. document.toml describes a document: `name`,
`paper`, `called`, `profile`, `choices`, the `figures` that come first, and claims that no study
decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from narrows.errors import InputError
from narrows.reproduce.library import (
    TESTBED,
    Table,
    documents,
    library,
    per_library,
    read_table,
)
from narrows.spec.suggest import quote

RULE = ("at_least", "at_most", "unit", "says", "stated", "basis", "history")
"""The keys of a check that are its rule."""
SHARED = ("path", "flows", "host", "run", "own_host")
"""The tables of a testbed."""
BELOW = ("check", "note", "control")
"""The tables below a claim."""


@per_library
def studies(document: str) -> dict[str, Table]:
    """Returns the studies of a document by id, in the order of their names."""
    return {name: fill_in(read_study(path)) for name, path in library().files(document).items()}


def read_study(path: Path) -> dict[str, Any]:
    """A file of a study, with what it takes from its testbed; raises InputError if it can't."""
    study = read_table(path)
    if "from" not in study:
        return study
    if study["from"] != TESTBED:
        raise InputError.at("from", quote(str(study["from"])), f'"{TESTBED}"', str(path))
    shared = read_table(path.parent / study.pop("from"))
    for key in set(shared) - set(SHARED):
        found = "a key that studies can't share"
        raise InputError.at(key, found, ", ".join(SHARED), str(path.parent / TESTBED))
    own_host = shared.pop("own_host", None)
    study["spec"] = _over(shared, study.get("spec"))
    return study if own_host is None else {"own_host": own_host, **study}


def _over(shared: Any, own: Any) -> Any:  # noqa: ANN401 (values of TOML)
    """Merges a study's own values over the shared ones, table by table."""
    if isinstance(shared, dict) and isinstance(own, dict):
        return {key: _over(shared.get(key), own.get(key)) for key in {**shared, **own}}
    return shared if own is None else own


def fill_in(study: dict[str, Any]) -> Table:
    """Fills in what a study's claims may leave out: names, the place, a check's quotation."""
    for claim in study.get("claim", ()):
        claim.setdefault("where", study.get("source", ""))
        claim.setdefault("expect", claim.get("quote", study["title"]))
        for number, check in enumerate(claim.get("check", ()), start=1):
            check.setdefault("name", f"check {number}")
            check.setdefault("says", claim.get("quote", claim["expect"]))
        for number, control in enumerate(claim.get("control", ()), start=1):
            control.setdefault("name", f"{claim['id']}, control {number}")
    return study


def takes_functions(study: Table) -> bool:
    """Returns True if some measure of a study is a function of measures.py."""
    return any("python" in measure for measure in study.get("measures", {}).values())


def claim_tables(document: str) -> Iterator[Table]:
    """Yields the claims of a document's studies with whole ids, then its other claims."""
    for table in (*studies(document).values(), library().description(document)):
        for claim in table.get("claim", ()):
            entry = {key: value for key, value in claim.items() if key not in BELOW}
            own = [control["name"] for control in claim.get("control", ())]
            names = [*claim.get("fails_under", ()), *own]
            yield {**entry, "id": f"{document}/{claim['id']}", "fails_under": names}


def rule_tables(document: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yields the rules of a document's studies: the claim, the check, and the rule."""
    for study in studies(document).values():
        for claim in study.get("claim", ()):
            for check in claim.get("check", ()):
                entry = {key: check[key] for key in RULE if key in check}
                yield f"{document}/{claim['id']}", check["name"], entry


def lessons(document: str) -> dict[str, str]:
    """Returns the lesson of each study's figure, by its id."""
    return {name: study.get("lesson", "") for name, study in studies(document).items()}


def control_tables() -> Iterator[dict[str, Any]]:
    """Yields the negative controls written below claims, as in data/changes.toml, with `name`."""
    for document in documents():
        for study in studies(document).values():
            for claim in study.get("claim", ()):
                yield from (dict(control) for control in claim.get("control", ()))
