"""The places that a study sets by its axes, its small grid, its testbeds and its controls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from narrows.reproduce.library import Table
from narrows.spec.suggest import one_of

TABLES = ("path", "flows", "host", "run")


def labels_of(study: Table) -> dict[str, list[Any]]:
    """Returns the labels of each axis."""
    return {name: list(labels) for name, labels in study["axes"].items() if _is_axis(labels)}


def _is_axis(labels: object) -> bool:
    return isinstance(labels, list | dict) and bool(labels)


def flow_names(study: Table) -> list[str]:
    """Returns the names of its flows."""
    flows = study["spec"].get("flows", ())
    named = flows if isinstance(flows, list) else ()
    return [one["name"] for one in named if isinstance(one, Mapping) and "name" in one]


def wrong_places(study: Table) -> Iterator[tuple[str, str, str]]:
    """Yields axes without labels, and places that don't exist."""
    for name, labels in study["axes"].items():
        if not _is_axis(labels):
            yield f"axes.{name}", repr(labels), "labels with what each sets, or a list of values"
    for at, where in _set(study):
        if not isinstance(where, Mapping):
            yield at, repr(where), "values by their place"
            continue
        for place in where:
            yield from _wrong(at, place, flow_names(study))


def _set(study: Table) -> Iterator[tuple[str, Any]]:
    """Yields every table of values by place, and where it is."""
    for name, labels in study["axes"].items():
        if isinstance(labels, list):
            yield f"axes.{name}", {name: labels}
        elif isinstance(labels, Mapping):
            yield from ((f"axes.{name}.{label}", values) for label, values in labels.items())
    yield "quick.set", study.get("quick", {}).get("set", {})
    for name, level in study.get("testbeds", {}).items():
        yield f"testbeds.{name}.set", level["set"]
    for number, claim in enumerate(study.get("claim", ())):
        for step, control in enumerate(claim.get("control", ())):
            yield f"claim[{number}].control[{step}].set", control.get("set", {})


def _wrong(at: str, place: str, flows: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yields the problem of a place such as path.buffer or flows.large.cca, if it has one."""
    table, *path = place.split(".")
    if table not in TABLES:
        yield at, f'the place "{place}"', f"a place in {', '.join(TABLES)}, such as path.buffer,"
    elif table == "flows" and path and path[0] not in ("*", *flows):
        yield at, f'no flow "{path[0]}"', f"a flow's name: {one_of(path[0], ['*', *flows])}"
    elif table == "flows" and len(path) == 1:
        yield at, f'the place "{place}"', f"a key of the flow, such as {place}.cca,"
