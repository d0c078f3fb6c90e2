"""The labels of a study's axes as people read them, and the controls that they represent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from narrows.figures.axes import ChartAxis
from narrows.figures.axes import axis as axis_of
from narrows.figures.names import quantity, setting, title_of
from narrows.metrics.headings import control_of
from narrows.reproduce.library import Table
from narrows.spec import registry

BARE = ("control", "protocol", "version")
"""Axes whose controls' names need no word beside them."""
NUMBER = re.compile(r"\d+(\.\d+)?")


def axes(study: Table) -> dict[str, dict[Any, Table]]:
    """Returns the labels of each axis with the values that they set by place."""
    return {
        name: dict(labels if isinstance(labels, Mapping) else {one: {name: one} for one in labels})
        for name, labels in study["axes"].items()
    }


def set_by(study: Table, name: str, label: object) -> Table:
    """Returns the values that a label sets by place."""
    return next(each for one, each in axes(study)[name].items() if str(one) == str(label))


def number(label: object) -> float | None:
    """Returns the number with which a label begins: 0.5 of "0.5bdp"; None if it has none."""
    found = NUMBER.match(str(label))
    return float(found[0]) if found else None


def scale(study: Table, name: str) -> ChartAxis | None:
    """Returns the values of an axis that sets one quantity; None if it sets anything else."""
    labels = axes(study)[name]
    places = {place for values in labels.values() for place in values}
    if len(places) != 1 or not all(labels.values()):
        return None
    (place,) = places
    written = [values[place] for values in labels.values()]
    if any(isinstance(value, dict | list) for value in written):
        return None
    found = axis_of(place, written, "linear")
    return found if found.measured else None


def title(study: Table, name: str) -> str:
    """Returns the title of an axis: that of the place it sets, or its name."""
    places = {place for values in axes(study)[name].values() for place in values}
    return title_of(places.pop() if len(places) == 1 else name)


def head(study: Table, name: str) -> str:
    """Returns the head of a column of labels: the axis' name, or what its bare numbers mean."""
    found = scale(study, name)
    bare = all(NUMBER.fullmatch(str(label)) for label in axes(study)[name])
    return found.label if found is not None and bare else name


def names_place(study: Table, name: str) -> bool:
    """Returns True if all labels of an axis set the same place, which isn't a control."""
    places = {place for values in axes(study)[name].values() for place in values}
    return len(places) == 1 and not _sets_control(*places) and all(axes(study)[name].values())


def say_in_legend(study: Table, name: str, label: object) -> str:
    """Returns a label for a legend; a control's name with its owner, if the axis names one."""
    said = say(study, name, label)
    bare = str(label).lower() in registry.ccas() and name not in BARE
    return f"{title_of(name)}: {said}" if bare else said


def say(study: Table, name: str, label: object) -> str:
    """Returns a label for a legend: a control's usual name, and a bare number with its meaning."""
    text = str(label)
    if text.lower() in registry.ccas():
        return registry.title(text.lower())
    if NUMBER.fullmatch(text) is None:
        return text
    values = set_by(study, name, label)
    if len(values) == 1 and quantity(next(iter(values.values()))) is not None:
        return setting(*next(iter(values.items())))
    return f"{title_of(name)} {text}"


def control(study: Table, name: str, label: object) -> str | None:
    """Returns the control that a label names, or else the only one that it sets."""
    if str(label).lower() in registry.ccas():
        return str(label).lower()
    values = set_by(study, name, label)
    ccas = {str(value) for place, value in values.items() if _sets_control(place)}
    return ccas.pop() if len(ccas) == 1 else None


def control_of_measure(study: Table, name: str) -> str | None:
    """Returns the control of a measure's flows, if they all have the same in all conditions.

    A measure of the bottleneck is about all flows.
    """
    measure = study["measures"][name]
    owner = str(measure.get("metric", measure.get("series", ""))).rpartition(".")[0]
    places = {
        place for each in axes(study).values() for values in each.values() for place in values
    }
    if f"flows.{owner}.cca" in places:
        return None
    if "flows" in places or any(map(_sets_control, places)):
        return control_of(owner)
    flows = study["spec"]["flows"]
    own = [one for one in flows if owner in ("", "bottleneck", one.get("name", one.get("cca")))]
    ccas = {one.get("cca") for one in own}
    return ccas.pop() if len(ccas) == 1 else None


def _sets_control(place: str) -> bool:
    return place.rpartition(".")[2] == "cca"
