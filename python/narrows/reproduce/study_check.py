"""Checks the studies of a library: every key, and that they refer to their own parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from narrows.errors import InputError, Problem
from narrows.reproduce import study_code
from narrows.reproduce.changes import shared_changes
from narrows.reproduce.claims import KINDS
from narrows.reproduce.library import Table, documents, library
from narrows.reproduce.rules import SEEN
from narrows.reproduce.study import own_measures
from narrows.reproduce.study_files import read_study, studies
from narrows.reproduce.study_places import labels_of, wrong_places
from narrows.spec.suggest import one_of, quote

TEXT, NUMBER, FLAG, LIST, TABLE, TABLES = (
    "text", "a number", "true or false", "a list", "a table", "a list of tables",
)  # fmt: skip
TYPES: Mapping[str, tuple[type, ...]] = {
    TEXT: (str,), NUMBER: (int, float), FLAG: (bool,), LIST: (list,), TABLE: (dict,),
    TABLES: (list,),
}  # fmt: skip
ASKED = {"statement": TEXT, "measure": TEXT, "where": TABLE, "ratio": TABLE, "difference": TABLE,
         "best": TEXT, "how": TEXT}  # fmt: skip
RULE = {"name": TEXT, "says": TEXT, "stated": NUMBER, "at_least": NUMBER,
        "at_most": NUMBER, "unit": TEXT, "basis": TEXT, "history": TABLES}  # fmt: skip
KEYS: Mapping[str, Mapping[str, str]] = {
    "study": {
        "name": TEXT, "paper": TEXT, "profile": TEXT, "title": TEXT, "source": TEXT,
        "conditions": TEXT, "lesson": TEXT, "choices": TEXT, "also": LIST, "spec": TABLE,
        "own_host": TABLE, "axes": TABLE, "quick": TABLE, "measures": TABLE, "figure": TABLES,
        "claim": TABLES, "testbeds": TABLE,
    },
    "study with code": {
        "name": TEXT, "paper": TEXT, "called": TEXT, "title": TEXT, "source": TEXT, "code": TEXT,
        "profile": TEXT, "also": LIST, "choices": TEXT, "choices_instead": TEXT, "lesson": TEXT,
        "claim": TABLES,
    },
    "figure": {
        "title": TEXT, "kind": TEXT, "x": TEXT, "y": TEXT, "by": TEXT, "where": TABLE,
        "y_to": NUMBER, "guides": TABLE, "x_scale": TEXT, "y_scale": TEXT, "x_label": TEXT,
    },
    "claim": {
        "id": TEXT, "kind": TEXT, "about": TEXT, "fails_under": LIST, "where": TEXT,
        "setup": TEXT, "expect": TEXT, "quote": TEXT, "check": TABLES, "note": TABLES,
        "control": TABLES,
    },
    "check": {
        **ASKED, **RULE,
    },
    "rule": RULE,
    "note": ASKED,
    "control": {
        "name": TEXT, "words": TEXT, "replace": TABLE, "set": TABLE, "options": FLAG,
        "where": TABLE,
    },
    "history": {"since": TEXT, "was": TEXT, "why": TEXT, "results": TEXT},
    "testbed": {"why": TEXT, "set": TABLE},
}  # fmt: skip
NEEDED: Mapping[str, Sequence[str]] = {
    "study": ("title", "source", "spec", "axes", "measures", "figure"),
    "study with code": ("title", "source"),
    "figure": ("x", "y"),
    "claim": ("id", "kind"),
    "check": ("statement", "measure", "basis"),
    "rule": ("name", "basis"),
    "note": ("statement", "measure"),
    "control": ("words",),
    "history": ("since", "why", "results"),
    "testbed": ("why", "set"),
}
CODED: Mapping[str, str] = {"study": "study with code", "check": "rule"}
"""The kinds of tables in a study whose conditions, measurements and checks are code."""
Problems = Iterator[tuple[str, str, str]]
"""Problems, each with its place, the value found, and the right one."""


def check(*, run_code: bool = True) -> None:
    """Raises InputError with every problem of the library's studies.

    Own measures are imported unless `run_code` is false.
    """
    problems = [
        Problem(place, found, remedy, str(path))
        for document in documents()
        for path in library().files(document).values()
        for place, found, remedy in wrong(read_study(path))
    ]
    if problems:
        raise InputError(problems)
    if run_code:
        for document in documents():
            for study in studies(document).values():
                _check_code(document, study)


def _check_code(document: str, study: Table) -> None:
    """Raises InputError for a function that isn't there, or that nobody allowed to run."""
    if "code" in study:
        made = study_code.method(document, study["code"])
        for name in study_code.METHOD:
            getattr(made, name)
    for measure in study.get("measures", {}).values():
        if "python" in measure:
            own_measures.check(document, measure["python"])


def wrong(study: Table) -> Problems:
    """Yields the problems of a study: first those of its form, and only without them the others.

    The content of a study with `code` is its author's affair.
    """
    problems = list(_form(study))
    yield from problems or (_content(study) if "code" not in study else _code(study["code"]))


def _code(name: str) -> Problems:
    if Path(name).name != name or not name.endswith(".py"):
        yield "code", quote(name), "the name of a Python file beside the study"


def _form(study: Table) -> Problems:
    own_kinds = CODED if "code" in study else {}
    yield from _keys(own_kinds.get("study", "study"), study, "")
    for place, kind, table in _tables(study):
        if isinstance(table, Mapping):
            yield from _keys(own_kinds.get(kind, kind), table, f"{place}.")
        else:
            yield place, _describe(table), TABLE


def _tables(study: Table) -> Iterator[tuple[str, str, Any]]:
    """Yields every table of a study with its place and its kind."""
    for place, one in _each(study, "figure", ""):
        yield place, "figure", one
    for name, one in _mapping(study.get("testbeds")).items():
        yield f"testbeds.{name}", "testbed", one
    for place, claim in _each(study, "claim", ""):
        yield place, "claim", claim
        for kind in ("check", "note", "control"):
            for below, one in _each(claim, kind, f"{place}."):
                yield below, kind, one
                for step, change in _each(one, "history", f"{below}."):
                    yield step, "history", change


def _each(table: Any, key: str, before: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yields the entries of a list of tables with their places; none if it isn't one."""
    listed = _mapping(table).get(key, ())
    for number, one in enumerate(listed if isinstance(listed, list) else ()):
        yield f"{before}{key}[{number}]", one


def _mapping(found: Any) -> Mapping[str, Any]:  # noqa: ANN401 (any value of TOML)
    return found if isinstance(found, Mapping) else {}


def _keys(kind: str, table: Table, before: str) -> Problems:
    """Yields unknown keys, values of another type, and missing keys."""
    known = KEYS[kind]
    for key, value in table.items():
        if key not in known:
            yield f"{before}{key}", "an unknown key", one_of(key, known)
        elif not _is(value, known[key]):
            yield f"{before}{key}", _describe(value), known[key]
    for key in NEEDED[kind]:
        if key not in table:
            yield f"{before}{key}", "nothing", known[key]


def _is(value: object, kind: str) -> bool:
    flag = isinstance(value, bool)
    return isinstance(value, TYPES[kind]) and flag == (kind == FLAG)


def _describe(value: object) -> str:
    if value is None:
        return "nothing"
    return quote(value) if isinstance(value, str) else f"{value!r}"[:80]


def _content(study: Table) -> Problems:
    axes, measures = labels_of(study), study["measures"]
    if not axes:
        yield "axes", "no axis", "a table [axes.NAME], or axes.PLACE with a list of values"
        return
    for name in set(axes) & set(measures):
        yield f"measures.{name}", "the name of an axis", "another name"
    for name, measure in measures.items():
        yield from _measure(f"measures.{name}", measure)
    yield from _quick(study, axes)
    yield from wrong_places(study)
    for place, figure in _each(study, "figure", ""):
        for key in ("x", "by"):
            if key in figure and figure[key] not in axes:
                yield f"{place}.{key}", quote(figure[key]), one_of(figure[key], axes)
        yield from _question(place, {**figure, "measure": figure["y"]}, axes, measures, "y")
        yield from _kind_and_scales(place, figure, axes)
    for place, claim in _each(study, "claim", ""):
        yield from _claim(place, claim, axes, measures)
    yield from _twice(study)


def _kind_and_scales(place: str, figure: Table, axes: Table) -> Problems:
    kinds, scales = ("bars", "lines"), ("linear", "log")
    for key, known in (("kind", kinds), ("x_scale", scales), ("y_scale", scales)):
        if figure.get(key, known[0]) not in known:
            yield f"{place}.{key}", quote(figure[key]), one_of(figure[key], known)
    if figure.get("kind") == "lines" and figure["x"] in axes:
        from narrows.reproduce.study.labels import number

        for label in axes[figure["x"]]:
            if number(label) is None:
                yield f"{place}.x", f'the label "{label}"', "labels that begin with a number"


def _measure(place: str, measure: object) -> Problems:
    if not isinstance(measure, Mapping):
        yield place, _describe(measure), TABLE
    elif not isinstance(measure.get("label"), str):
        yield f"{place}.label", _describe(measure.get("label")), TEXT
    elif "python" in measure:
        if not isinstance(measure["python"], str):
            yield f"{place}.python", _describe(measure["python"]), TEXT
    else:
        from narrows.reproduce.study.measures import as_check

        try:
            as_check(measure)
        except InputError as error:
            for one in error.problems:
                key = one.place.rpartition("].")[2]
                yield f"{place}.{key}", one.found, one.remedy


def _quick(study: Table, axes: Table) -> Problems:
    for name, labels in study.get("quick", {}).items():
        if name == "set":
            continue
        if name not in axes:
            yield f"quick.{name}", "no such axis", one_of(name, [*axes, "set"])
        elif not isinstance(labels, list) or not set(map(str, labels)) <= set(map(str, axes[name])):
            yield f"quick.{name}", _describe(labels), f"labels of the axis: {_join(axes[name])}"


def _join(labels: Sequence[object]) -> str:
    return ", ".join(map(str, labels))


def _claim(place: str, claim: Table, axes: Table, measures: Table) -> Problems:
    if claim["kind"] not in KINDS:
        yield f"{place}.kind", quote(claim["kind"]), one_of(claim["kind"], KINDS)
    if not claim["id"] or "/" in claim["id"]:
        yield f"{place}.id", quote(claim["id"]), "a name without a slash, unique in the study"
    own = [control.get("name") for control in claim.get("control", ())]
    for name in claim.get("fails_under", ()):
        if name not in shared_changes() and name not in own:
            yield f"{place}.fails_under", quote(str(name)), one_of(str(name), shared_changes())
    for kind in ("check", "note"):
        for below, one in _each(claim, kind, f"{place}."):
            yield from _question(below, one, axes, measures, "measure")
            if kind == "check":
                yield from _bounds(below, one)


def _bounds(place: str, check: Table) -> Problems:
    bounds = [check[key] for key in ("at_least", "at_most") if key in check]
    if not bounds or bounds != sorted(bounds):
        remedy = "`at_least`, `at_most` or both, the lower one first"
        yield f"{place}.at_least", f"{bounds or 'no bounds'}", remedy
    for below, change in _each(check, "history", f"{place}."):
        if change["results"] not in SEEN:
            yield f"{below}.results", quote(change["results"]), one_of(change["results"], SEEN)


def _question(place: str, one: Table, axes: Table, measures: Table, key: str) -> Problems:
    """Yields problems of the measure and the conditions that a check, a note or a figure names."""
    if one["measure"] not in measures:
        yield f"{place}.{key}", quote(one["measure"]), one_of(one["measure"], measures)
    for table in ("where", "ratio", "difference"):
        for axis, labels in one.get(table, {}).items():
            at = f"{place}.{table}.{axis}"
            several = labels if isinstance(labels, list) else [labels]
            if axis not in axes:
                yield at, "no such axis", one_of(axis, axes)
            elif not all(label in axes[axis] for label in several):
                yield at, _describe(labels), f"labels of the axis: {_join(axes[axis])}"
            elif table != "where" and len(several) != 2:
                yield at, _describe(labels), "two labels of the axis"
        if table != "where" and len(one.get(table, {None: None})) != 1:
            yield f"{place}.{table}", _describe(dict(one[table])), "one axis with two labels"
    if one.get("best", "highest") not in ("highest", "lowest"):
        yield f"{place}.best", quote(one["best"]), '"highest" or "lowest"'


def _twice(study: Table) -> Problems:
    """Yields names that a study gives twice."""
    claims = [(f"{place}.id", claim["id"]) for place, claim in _each(study, "claim", "")]
    yield from _duplicates(claims)
    controls = [
        (f"{place}.name", control["name"])
        for above, claim in _each(study, "claim", "")
        for place, control in _each(claim, "control", f"{above}.")
        if "name" in control
    ]
    yield from _duplicates([*(("", name) for name in shared_changes()), *controls])
    for above, claim in _each(study, "claim", ""):
        checks = _each(claim, "check", f"{above}.")
        yield from _duplicates([(f"{at}.name", one["name"]) for at, one in checks if "name" in one])


def _duplicates(named: Sequence[tuple[str, str]]) -> Problems:
    seen: set[str] = set()
    for place, name in named:
        if name in seen:
            yield place, f"{quote(name)} a second time", "another name"
        seen.add(name)
