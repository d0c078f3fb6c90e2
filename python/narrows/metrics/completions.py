"""The completion times of a run, for the transfers of each class of flows together.

A transfer is a flow with a size, a flow of a chain, or a unit of a workload: a flow that arrives,
an answer, a chunk of video. For a workload only transfers that began after the warm-up count; for
flows with a size all do.

Slowdown is the completion time as a multiple of the minimum: the payload in full packets at the
rate of the slowest link on the way, plus two round trips, or one on an existing connection. It is
given by size, since many short transfers dominate the mean over all transfers, and a few long ones
the mean over bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narrows.columns import Columns, Table, Tables, columns
from narrows.columns import mean as mean_of
from narrows.metrics.metric import FlowFacts
from narrows.metrics.offered import LeastTimes, wire_ratio
from narrows.spec.datagrams import kind_of
from narrows.spec.scenario import Flow, Scenario

STATISTICS = ("mean", "p50", "p95", "p99", "max")
SLOWDOWNS = ("mean", "p50", "p95", "p99")
CONNECTED = ("requests", "video", "adaptive_video")
"""Workloads whose transfers follow one another on one connection."""
ENDLESS = ("on_off", "udp", "ping")
"""Workloads whose transfers never end."""


@dataclass(frozen=True, slots=True)
class SizeRange:
    """Transfers of more than `above` and at most `most` bytes of payload.

    None stands for no upper limit.
    """

    name: str
    title: str
    above: float
    most: float | None


SIZES = (
    SizeRange("to_10kb", "up to 10 kB", 0, 1e4),
    SizeRange("to_100kb", "10 to 100 kB", 1e4, 1e5),
    SizeRange("to_1mb", "100 kB to 1 MB", 1e5, 1e6),
    SizeRange("above_1mb", "above 1 MB", 1e6, None),
)


def can_complete(flow: Flow) -> bool:
    """Returns True if a described flow has transfers that end."""
    work = flow.get("workload")
    return flow["size_bytes"] is not None if work is None else work["kind"] not in ENDLESS


def completing(scenario: Scenario, groups: Sequence[str]) -> list[str]:
    """Returns the classes with transfers that end, in the order of the flows."""
    flows = zip(scenario["flows"], groups, strict=True)
    return list(dict.fromkeys(group for flow, group in flows if can_complete(flow)))


def transfers(
    scenario: Scenario, completions: Table, groups: Sequence[str] | None = None
) -> Columns:
    """Returns every transfer that counts, by flow and start.

    The columns are `flow`, `class`, `name`, `start_s`, `size_bytes`, `fct_s`, `slowdown`, and
    `late`, which is 1 for transfers that missed their deadline, and NaN without a deadline.
    `completions` is the table of a run; `groups` names the class of every flow by id, by default
    its control.
    """
    flows = scenario["flows"]
    named = list(groups) if groups is not None else [str(flow["cca"]) for flow in flows]
    warmup_s = scenario["run"]["warmup_ns"] / 1e9
    rows = columns(completions).sort_by("flow", "start_s")
    since = [warmup_s if one.get("workload") is not None else -np.inf for one in flows]
    least = np.array([_least(FlowFacts({}, one, scenario["path"])) for one in flows])
    rows = rows.where(rows["start_s"] >= np.array(since, dtype=float)[rows["flow"]])
    flow = rows["flow"]
    fixed_s, byte_s = least.reshape(-1, 2)[flow].T
    fct_s = rows["end_s"] - rows["start_s"]
    size = rows.floats("size_bytes")
    deadline_s = np.array([one.get("deadline_ns", np.nan) for one in flows], dtype=float) / 1e9
    allowed_s = deadline_s[flow]
    names = [str(one["name"]) for one in flows]
    return Columns.of(
        {
            "flow": flow,
            "class": np.array(named, dtype=object)[flow],
            "name": np.array(names, dtype=object)[flow],
            "start_s": rows["start_s"],
            "size_bytes": rows["size_bytes"],
            "fct_s": fct_s,
            "slowdown": fct_s / _least_times(scenario, rows, fixed_s + size * byte_s),
            "late": np.where(np.isnan(allowed_s), np.nan, fct_s > allowed_s),
        }
    )


def _least_times(scenario: Scenario, rows: Columns, constant_s: np.ndarray) -> np.ndarray:
    """Returns the minimum time of each transfer in s.

    It is `constant_s` unless rates or delays change.
    """
    if not len(rows) or not (least := LeastTimes(scenario)).varies:
        return constant_s
    trips = [_trips(flow) for flow in scenario["flows"]]
    found = [
        least.of(int(flow), start_s, size, trips[int(flow)])
        for flow, start_s, size in zip(
            rows["flow"], rows["start_s"], rows.floats("size_bytes"), strict=True
        )
    ]
    pairs = zip(found, constant_s, strict=True)
    return np.array([constant if one is None else one for one, constant in pairs])


def _trips(flow: Mapping[str, Any]) -> float:
    """Returns the fewest round trips of a flow's transfer."""
    kind = kind_of(flow)
    return 0.5 if kind == "media" else 1 if kind in CONNECTED else 2


def _least(facts: FlowFacts) -> tuple[float, float]:
    """Returns the minimum time of a transfer in s: a fixed part, and a part per payload byte."""
    byte_s = wire_ratio(facts.described) * 8 / facts.rate_bps
    return _trips(facts.described) * facts.two_way_ms / 1e3, byte_s


def completion_summaries(
    scenario: Scenario,
    tables: Tables,
    groups: Sequence[str] | None = None,
) -> list[dict[str, Any]]:
    """Returns an entry for every class with transfers that end; times are in seconds.

    `unfinished` counts the transfers that weren't done at the end of the run, or is None if that
    isn't known. Percentiles don't include them, and so look better than they are.
    """
    named = list(groups) if groups is not None else [str(f["cca"]) for f in scenario["flows"]]
    classes = completing(scenario, named)
    if not classes:
        return []
    done = transfers(scenario, tables["completions"], named)
    parts = {name: done.where(done["class"] == name) for name in classes}
    return [
        {
            "class": name,
            "unfinished": _open_transfers(scenario, tables, named, name),
            "late": _late_share(scenario, tables, named, name, parts[name]),
            **_statistics(*_arrays(parts[name])),
            "by_size": list(_by_size(parts[name])),
        }
        for name in classes
    ]


def _late_share(
    scenario: Scenario, tables: Tables, groups: Sequence[str], name: str, rows: Columns
) -> float | None:
    """Returns the share of a class's transfers that missed their deadline; None without deadlines.

    Unfinished transfers count once they have missed theirs. None, too, if the tables don't list
    them.
    """
    known = rows["late"][~np.isnan(rows["late"])]
    beyond = 0
    for ident, flow in enumerate(scenario["flows"]):
        if groups[ident] == name and flow.get("deadline_ns") is not None:
            late = _open_and_late(tables, ident, flow)
            if late is None:
                return None
            beyond += late
    return mean_of(np.append(known, np.ones(beyond)))


def _open_and_late(tables: Tables, ident: int, flow: Flow) -> int | None:
    """Returns the open transfers of a flow that are past its deadline; None if no table has them.

    A frame of a call that isn't shown is lost, never late.
    """
    if kind_of(flow) == "media":
        return 0
    if flow.get("workload") is not None:
        return _last_internal(tables, ident, "late_transfers")
    ages = _ages_s(tables, ident, flow) or []
    return sum(age > flow["deadline_ns"] / 1e9 for age in ages)


def _arrays(rows: Columns) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return rows["size_bytes"], rows["fct_s"], rows["slowdown"]


def _statistics(size: np.ndarray, fct_s: np.ndarray, slowdown: np.ndarray) -> dict[str, Any]:
    return {
        "completed": len(size),
        "mean_bytes": float(size.mean()) if len(size) else None,
        "completion_s": statistics(fct_s, STATISTICS),
        "slowdown": statistics(slowdown, SLOWDOWNS),
    }


def _by_size(rows: Columns) -> Iterator[dict[str, Any]]:
    size, fct_s, slowdown = _arrays(rows)
    for span in SIZES:
        within = (size > span.above) & (size <= (np.inf if span.most is None else span.most))
        if within.any():
            found = _statistics(size[within], fct_s[within], slowdown[within])
            yield {"size": span.name, **found}


def statistics(values: NDArray[Any], names: Sequence[str]) -> dict[str, float | None]:
    """Returns named statistics of values in any order: "mean", "min", "max", "p95".

    All are None without values. A percentile is the smallest value that this share of the values
    doesn't exceed.
    """
    ordered, mean = np.sort(values), mean_of(values)
    return {name: mean if name == "mean" else _nearest_rank(ordered, name) for name in names}


def _nearest_rank(ordered: np.ndarray, name: str) -> float | None:
    count = len(ordered)
    if not count:
        return None
    share = {"min": 0, "max": 100}[name] if name in ("min", "max") else int(name[1:])
    rank = max(-(-share * count // 100), 1)
    return float(ordered[rank - 1])


def _open_transfers(
    scenario: Scenario,
    tables: Tables,
    groups: Sequence[str],
    name: str,
) -> int | None:
    """Counts flows with a size and no row, and the open transfers of workloads."""
    total = 0
    for ident, flow in enumerate(scenario["flows"]):
        if groups[ident] != name or not can_complete(flow):
            continue
        known = _open_of_flow(tables, ident, flow)
        if known is None:
            return None
        total += known
    return total


def _open_of_flow(tables: Tables, ident: int, flow: Flow) -> int | None:
    """Counts the transfers of a flow that weren't done at the end; None if no table has them."""
    if flow.get("workload") is not None:
        return _last_internal(tables, ident, "open_transfers")
    ages = _ages_s(tables, ident, flow)
    return None if ages is None else len(ages)


def _ages_s(tables: Tables, ident: int, flow: Flow) -> list[float] | None:
    """Returns the age of the open transfer of a flow without a workload at the end, in a list.

    The list is empty in a gap of a chain, and after a stop in one. None if no table has the age.
    """
    samples, done = tables.get("flow_samples"), columns(tables["completions"])
    rows = None if samples is None else columns(samples).having("flow", [ident])
    ends_s = done.where(done["flow"] == ident)["end_s"]
    gap_ns = flow["repeat_gap_ns"]
    if len(ends_s) and gap_ns is None:
        return []
    if rows is None or not len(rows):
        return None if gap_ns is not None else [0.0]
    end_s, start_s = float(rows.floats("time_s").max()), flow["start_ns"] / 1e9
    if gap_ns is not None and len(ends_s):
        start_s = float(ends_s.max()) + gap_ns / 1e9
    if gap_ns is not None and flow.get("while") is not None:
        return [end_s - start_s] if _has_begun(tables, ident) else []
    stop_s = np.inf if flow["stop_ns"] is None else flow["stop_ns"] / 1e9
    begun = start_s < min(end_s, stop_s) or gap_ns is None
    return [end_s - start_s] if begun else []


def _has_begun(tables: Tables, ident: int) -> bool:
    """Returns True if a chain that may have ended received data beyond its finished flows."""
    done = columns(tables["completions"])
    finished = float(done.where(done["flow"] == ident).floats("size_bytes").sum())
    received = columns(tables["flow_samples"]).having("flow", [ident]).floats("received_bytes")
    return bool(received[-1] > finished)


def _last_internal(tables: Tables, ident: int, name: str) -> int | None:
    """Returns the last value of a flow's internal that is a counter; None without values."""
    internals = tables.get("internals")
    if internals is None:
        return None
    rows = columns(internals).having("flow", [ident]).having("name", [name])
    rows = rows.sort_by("time_s")
    return int(rows["value"][-1]) if len(rows) else None
