"""Copies our exhibits as studies to start from: `narrows init panaderia/fig10` writes one.

A study that is a file is copied. For an exhibit that is a module, the conditions become axes, and
metrics replace its own measurements. Its claims are left out, since code judges them.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from narrows.errors import InputError, Problem, SpecError
from narrows.metrics.headings import words
from narrows.reproduce.catalogue import exhibits
from narrows.reproduce.conditions_as_axes import axes_of, varied_places
from narrows.reproduce.exhibit import Case, Exhibit, Scope
from narrows.reproduce.library import DOCUMENTS, STUDY, Table, library
from narrows.reproduce.study.labels import number
from narrows.reproduce.study.method import StudyMethod
from narrows.reproduce.study_files import studies, takes_functions
from narrows.reproduce.toml_text import study_text
from narrows.reproduce.values_set import REMEDY, VARIED, assignment, put_value, refuse_varied
from narrows.spec import SpecificationText
from narrows.spec.reading import read_written
from narrows.spec.suggest import one_of, quote
from narrows.store.atomic import writing
from narrows.words import join_words

MOST_CLASSES = 4
"""With more classes of flows, their shares aren't measured."""
SHARE = "share of "
"""The prefix of the measure of a class's share."""
METRICS = {
    "utilization": ("Utilisation (%)", 100, " %"),
    "queue_mean_bdp": ("Mean queue (BDP)", 1, " BDP"),
    "loss_rate": ("Loss (%)", 100, " %"),
}


def write(identifier: str, sets: Sequence[str], out: Path, *, force: bool = False) -> Path:
    """Writes an exhibit as a folder with a study, with values set by place; returns the file.

    A study that uses the document's own measures is accompanied by them.

    Raises InputError for an unknown exhibit, one that can't be written as a study, a place that it
    varies, or a file that exists unless `force` is set.
    """
    known = exhibits()
    if identifier not in known:
        raise InputError.at("KIND", quote(identifier), one_of(identifier, known))
    exhibit = known[identifier]
    study = study_of(exhibit, dict(map(assignment, sets)))
    if sets:
        _check_values(exhibit, study)
        plain = study.get("conditions", study["source"])
        # The figure shows it.
        study = {**study, "conditions": f"{plain}, with {join_words(sets)}"}
    own = library().measures(exhibit.document)
    file = out / exhibit.identifier.partition("/")[2] / STUDY
    if file.exists() and not force:
        raise InputError.at(str(file), "a file of that name", "another --out, or --force")
    with writing(file, "a directory that can be written"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{_comment(exhibit)}\n\n{study_text(study)}", "utf-8")
        if own is not None and takes_functions(study):
            shutil.copy(own, file.parent)
    return file


def left_behind(identifier: str) -> str:
    """Returns a sentence on the claims that a copy lacks; empty if it has all."""
    exhibit = exhibits()[identifier]
    if not exhibit.code or not exhibit.claims:
        return ""
    return (
        f"code judges the claims of {identifier}, so the study has none of them; "
        f"`narrows reproduce {identifier}` judges them"
    )


def _check_values(exhibit: Exhibit, study: Table) -> None:
    """Raises InputError if the values that were set make a condition that can't run."""
    method = StudyMethod(exhibit.identifier, study, exhibit.profile)
    for case in method.cases(Scope(exhibit.profile)):
        try:
            read_written(SpecificationText.document(case.spec), (), None).spec()
        except SpecError as error:
            raise InputError(
                Problem(f"--set {one.place}", one.found, one.remedy) for one in error.problems
            ) from None


def _comment(exhibit: Exhibit) -> str:
    said = f"# {exhibit.identifier} of narrows, as a study to change."
    if not exhibit.code or not exhibit.claims:
        return said
    return f"{said} Code judges its claims, which aren't here:\n# {', '.join(exhibit.claims)}."


def study_of(exhibit: Exhibit, values: Table) -> Table:
    """Returns an exhibit as a study of its own paper."""
    document, _, figure = exhibit.identifier.partition("/")
    head = {"name": figure, "paper": DOCUMENTS[document], "profile": exhibit.profile}
    if not exhibit.code:
        table = copy.deepcopy(dict(studies(document)[exhibit.identifier]))
        _set_in_study(table, values)
        return {**head, **table, "choices": exhibit.choices}
    return {**head, **_from_cases(exhibit, values)}


def _set_in_study(study: dict[str, Any], values: Table) -> None:
    varied = {place for labels in study["axes"].values() if isinstance(labels, dict)
              for each in labels.values() for place in each}  # fmt: skip
    for place, value in values.items():
        if place in varied or place in study["axes"]:
            raise InputError.at(f"--set {place}", VARIED, REMEDY)
        put_value(study["spec"], place, value)


def _from_cases(exhibit: Exhibit, values: Table) -> dict[str, Any]:
    cases = _cases(exhibit)
    for place, value in values.items():
        refuse_varied(place, cases)
        for case in cases:
            put_value(dict(case.spec), place, value)
    spec, axes = axes_of(cases)
    measures = _measures(cases)
    names = sorted(axes, key=lambda name: -len(axes[name]))
    return {
        "title": exhibit.title,
        "source": exhibit.source.partition(" of ")[0],
        "choices": exhibit.choices,
        "spec": spec,
        "axes": axes,
        "measures": measures,
        "figure": [_figure(name, names, axes) | _ends(name, cases) for name in measures],
    }


def _cases(exhibit: Exhibit) -> list[Case]:
    """Returns the conditions of an exhibit; raises InputError if they can't be those of a study."""
    made = exhibit.method().cases(Scope(exhibit.profile))
    cases = [replace(case, spec=copy.deepcopy(dict(case.spec))) for case in made if not case.aside]
    others = {key for case in cases for key in case.spec} - {"name", "path", "flows", "host", "run"}
    profiles = {case.spec.get("host", {}).get("profile") for case in cases}
    if any(case.backend for case in cases):
        _refuse(exhibit, "a figure that compares back ends")
    if others:
        _refuse(exhibit, f"conditions with {', '.join(sorted(others))}")
    whole = "host" in varied_places([case.spec for case in cases])
    if profiles == {exhibit.profile} and not whole:
        for case in cases:
            case.spec["host"].pop("profile")
    return cases


def _refuse(exhibit: Exhibit, found: str) -> NoReturn:
    known = [name for name, one in exhibits().items() if not one.code]
    remedy = f"an exhibit that is a study, such as {', '.join(known[:3])},"
    raise InputError.at(exhibit.identifier, found, remedy)


def _measures(cases: Sequence[Case]) -> dict[str, dict[str, Any]]:
    """Returns metrics of the bottleneck, and the share of each class but the last one."""
    found: dict[str, dict[str, Any]] = {}
    flows = [flow for case in cases for flow in case.spec["flows"]]
    classes = list(dict.fromkeys(str(flow.get("name", flow["cca"])) for flow in flows))
    if len(classes) <= MOST_CLASSES:
        for name in classes[:-1]:
            label = f"Share of {words(name)} (%)"
            found[f"{SHARE}{name}"] = {
                "metric": f"{name}.share", "times": 100, "label": label, "unit": " %",
            }  # fmt: skip
    return found | {
        name: {"metric": name, "times": times, "label": label, "unit": unit}
        for name, (label, times, unit) in METRICS.items()
    }


def _ends(measure: str, cases: Sequence[Case]) -> dict[str, Any]:
    """Returns the end of the axis of a share or utilization.

    The fair share is included if it is constant.
    """
    if measure == "utilization":
        return {"y_to": 100}
    if not measure.startswith(SHARE):
        return {}
    name = measure.removeprefix(SHARE)
    fair = {_fair(case.spec["flows"], name) for case in cases}
    return {"y_to": 100} | ({"guides": {"fair": fair.pop()}} if len(fair) == 1 else {})


def _fair(flows: Sequence[Table], name: str) -> float:
    """Returns the share of a class in per cent if all flows get the same."""
    counts = [(str(flow.get("name", flow["cca"])), int(flow.get("count", 1))) for flow in flows]
    own = sum(count for group, count in counts if group == name)
    return round(100 * own / sum(count for _, count in counts), 1)


def _figure(measure: str, names: Sequence[str], axes: Table) -> dict[str, Any]:
    x, *others = names
    numbers = len(axes[x]) > 2 and all(number(label) is not None for label in axes[x])
    made = {"kind": "lines" if numbers else "bars", "x": x, "y": measure}
    return made | ({"by": others[0]} if others else {})
