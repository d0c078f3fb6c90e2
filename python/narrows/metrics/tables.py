"""Turns a run's summary into tables: `summary` with one row, and `flows` with one for every flow.

Both are made from the result of `narrows.metrics.summarise` according to the declarations in
`narrows.metrics.catalogue`. In `summary` the flows of a class (an entry's name, or else its
control) are combined. The successive flows of a chain count as one flow with their mean goodput.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

from narrows import _native
from narrows.metrics.catalogue import (
    APPLICATION,
    CLASS,
    COMPLETION,
    FLOW,
    HALVES,
    PACKETS,
    RUN,
    WORKLOAD,
    find,
)
from narrows.metrics.completions import completing
from narrows.metrics.metric import Entry, FlowFacts, Metric, RunFacts, by_their_names
from narrows.plan import Plan
from narrows.store.parquet import NativeTables

_TEXTS = ("name", "class", "cca", "invalid", "workload")


def summary_columns(
    groups: Sequence[str],
    completing: Collection[str] = (),
    workloads: Sequence[str | None] = (),
) -> list[str]:
    """Returns the numbers in `summary` for a run with these classes of flows.

    `completing` are the classes with transfers that end (`narrows.metrics.completions`);
    `workloads` are the kinds of the workloads of all flows.
    """
    kinds = set(zip(groups, workloads, strict=False))
    classes = [
        f"{name}.{metric.name}"
        for name in dict.fromkeys(groups)
        for metric in (
            *CLASS,
            *HALVES,
            *_application([kind for group, kind in kinds if group == name]),
            *(COMPLETION if name in completing else ()),
        )
    ]
    return [*(metric.name for metric in RUN), *classes, PACKETS.name]


def columns_of(plan: Plan) -> list[str]:
    """Returns the numbers in `summary` for the runs of a plan."""
    scenario = plan.trials[0].scenario
    workloads = [(flow["workload"] or {}).get("kind") for flow in scenario["flows"]]
    return summary_columns(plan.groups, completing(scenario, plan.groups), workloads)


def _application(kinds: Collection[str | None]) -> list[Metric]:
    """Returns the metrics of the applications of a class."""
    known = [metric for kind, its in APPLICATION.items() if kind in kinds for metric in its]
    return list({metric.name: metric for metric in known}.values())


def summary_tables(entry: Entry, groups: Sequence[str]) -> NativeTables:
    """Returns the tables `summary` and `flows` of a run.

    `groups` has the class of each flow by id.
    """
    classes = _classes(entry, groups)
    rows = _flows(entry, classes)
    return NativeTables(
        {"summary": _table([_summary(entry, classes, rows)]), "flows": _table(rows)}
    )


def summary_row(entry: Entry, groups: Sequence[str]) -> dict[str, Any]:
    """Returns the row of `summary`."""
    classes = _classes(entry, groups)
    return _summary(entry, classes, _flows(entry, classes))


def _classes(entry: Entry, groups: Sequence[str]) -> dict[str, str]:
    names = [flow["name"] for flow in entry["scenario"]["flows"]]
    return dict(zip(names, groups, strict=True))


def _flows(entry: Entry, classes: Mapping[str, str]) -> list[dict[str, Any]]:
    """Returns the rows of `flows`."""
    described, path = by_their_names(entry["scenario"]), entry["scenario"]["path"]
    facts = [FlowFacts(flow, described[flow["name"]], path) for flow in entry["flows"]]
    return [_flow(flow, classes) for flow in facts]


def _summary(
    entry: Entry, classes: Mapping[str, str], rows: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Returns the run's numbers, then those of each class in the order of the flows."""
    facts = RunFacts(entry, rows)
    completions = {found["class"]: found for found in entry.get("completions", ())}
    halves = entry.get("halves", {})
    by_halves, times = (halves.get(name, {}) for name in ("goodput_mbps", "completion_s"))
    row = {metric.name: metric.read(facts) for metric in RUN}
    for name in dict.fromkeys(classes.values()):
        members = [flow for flow in rows if flow["class"] == name]
        row |= {f"{name}.{metric.name}": metric.read(members) for metric in CLASS}
        row |= {f"{name}.{metric.name}": metric.read(by_halves.get(name)) for metric in HALVES}
        kinds = {flow.get("workload") for flow in members}
        row |= {f"{name}.{metric.name}": metric.read(members) for metric in _application(kinds)}
        row |= _completions(name, completions.get(name), times.get(name))
    return {**row, PACKETS.name: PACKETS.read(facts), "invalid": entry.get("invalid")}


def _completions(name: str, found: Entry | None, halves: Sequence[float] | None) -> dict[str, Any]:
    """Returns statistics of all transfers of a class; empty if its transfers never end."""
    if found is None:
        return {}
    row = {
        f"{name}.{metric.name}": metric.read({**found, "halves": halves}) for metric in COMPLETION
    }
    means = {"fct_s": found["completion_s"]["mean"], "slowdown": found["slowdown"]["mean"]}
    return {f"{name}.{metric}": value for metric, value in means.items()} | row


def _flow(facts: FlowFacts, classes: Mapping[str, str]) -> dict[str, Any]:
    """Returns a row of `flows`."""
    flow = facts.entry
    place = {"name": flow["name"], "class": classes[flow["name"]]}
    row = {**place, "instance": flow.get("instance", 0), "cca": flow["cca"]}
    row |= {metric.name: metric.read(facts) for metric in FLOW}
    return row | _workload(flow)


def _workload(flow: Entry) -> dict[str, Any]:
    """Returns the application's metrics, if the flow has a workload."""
    if "workload" not in flow:
        return {}
    seen = flow["workload"]
    known = [m for m in WORKLOAD if m.name in seen or m.name.startswith("completion_")]
    return {"workload": seen["kind"], **{metric.name: metric.read(seen) for metric in known}}


def _table(rows: Sequence[Mapping[str, Any]]) -> _native.ArrowTable:
    """Returns a table whose types depend on the columns alone, never on the values."""
    names = dict.fromkeys(name for row in rows for name in row)
    return _native.table([(name, _type(name), _column(name, rows)) for name in names])


def _column(name: str, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    values = [row.get(name) for row in rows]
    if _type(name) != "int64":
        return values
    return [None if value is None else int(value) for value in values]  # counted as 2.0, too


@cache
def _type(name: str) -> str:
    metric = find(name)
    whole = name == "instance" or (metric is not None and metric.whole)
    return "text" if name in _TEXTS else "int64" if whole else "float64"
