"""Statements that hold for every run of the simulator, whatever its specification."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import polars as pl

from narrows.store import RunRecord

Scenario = Mapping[str, Any]

TIMESTAMP_MS = 1.0
"""Linux measures round trips after losses by timestamps in ms, which may be one too low."""
FULL, SUPER = 1500, 65_536
"""IP bytes of a full packet, and of the longest burst that passes as one (GSO)."""
FAST_PATH = 8
"""Packets that `fq` takes beyond its limit, as Linux does (`fq_enqueue`)."""
BEYOND_ONE = (".losses.loss_rate",)
"""Lost SYNs count among the packets dropped, but not among the data packets sent."""
SIGNED = ("rtt_bias",)
"""Metrics that may be negative."""
COUNTED = ("flow_samples", "queue_samples")
"""Tables with counters: their whole numbers of 64 bits, but for what waits at the moment."""


def broken(scenario: Scenario, result: RunRecord, summary: Mapping[str, Any]) -> list[str]:
    """The statements that a run breaks, each with its numbers."""
    tables = result.tables
    return [
        *_wrong_numbers(tables),
        *_falling_counters(tables),
        *_lost_count(scenario, tables),
        *_overfull_queues(scenario, tables),
        *_too_fast_links(scenario, tables),
        *_too_short_round_trips(scenario, tables),
        *_impossible_transfers(scenario, tables),
        *_wrong_summaries(summary),
    ]


def links_of(scenario: Scenario) -> list[Mapping[str, Any]]:
    """The links in the order of their numbers; the first is the path itself."""
    path = scenario["path"]
    return [path, *path["links"], *([path["reverse"]] if path["reverse"] else [])]


def _wrong_numbers(tables: Mapping[str, Any]) -> Iterator[str]:
    for name, table in tables.items():
        for column, kind in table.schema.items():
            if not kind.is_numeric() or column == "value":
                continue
            values = table[column].drop_nulls()
            if len(values) and not (values.min() >= 0 and values.max() < math.inf):
                yield f"{name}.{column} is {values.min()} to {values.max()}"


def _falling_counters(tables: Mapping[str, Any]) -> Iterator[str]:
    for name in COUNTED:
        table = tables[name]
        key = table.columns[1]
        counters = [
            column
            for column, kind in table.schema.items()
            if kind == pl.UInt64 and not column.startswith("backlog")
        ]
        rows = table.sort(key, "time_s", maintain_order=True)
        for column in (*counters, "time_s"):
            falls = rows.filter(pl.col(column).cast(pl.Float64).diff().over(key) < 0)
            if len(falls):
                yield f"{name}.{column} falls at {falls.select('time_s', key).row(0)}"


def _lost_count(scenario: Scenario, tables: Mapping[str, Any]) -> Iterator[str]:
    inside = pl.col("arrived_packets").cast(pl.Int64) - (
        pl.col("dropped_packets") + pl.col("forwarded_packets") + pl.col("backlog_packets")
    )
    rows = tables["queue_samples"].with_columns(inside=inside)
    for number, link in enumerate(links_of(scenario)):
        most = 1 if link["service"]["kind"] in ("constant", "steps") else math.inf
        wrong = rows.filter((pl.col("link") == number) & ~pl.col("inside").is_between(0, most))
        if len(wrong):
            yield f"link {number} has {wrong['inside'][0]} packets inside at {wrong['time_s'][0]}"


def _overfull_queues(scenario: Scenario, tables: Mapping[str, Any]) -> Iterator[str]:
    rows = tables["queue_samples"]
    for number, link in enumerate(links_of(scenario)):
        own = rows.filter(pl.col("link") == number)
        for unit, room in (link["buffer"] or {}).items():
            most = own[f"backlog_{unit}"].max()
            kind = link["queue"]["kind"]
            extra = FAST_PATH if kind == "fq" else 0
            if most is not None and kind != "htb" and most > room + extra:
                yield f"link {number} ({kind}) holds {most} {unit} of {room}"


def rates_of(scenario: Scenario, number: int) -> list[tuple[float, float]] | None:
    """The rates of a link in bit/s with the times from which they hold; None if they vary."""
    link = links_of(scenario)[number]
    if link["service"]["kind"] != "constant":
        return None
    name = link.get("name", "bottleneck") if number else "bottleneck"
    changes = [
        (change["at_ns"] / 1e9, float(change["rate_bps"]))
        for change in scenario.get("changes", ())
        if change.get("rate_bps") is not None and (change.get("link") or "bottleneck") == name
    ]
    return [(0.0, float(link["rate_bps"])), *changes]


def integral(steps: list[tuple[float, float]], begin: float, end: float) -> float:
    """The value times seconds in a span."""
    total = 0.0
    for (since, value), (until, _) in pairwise([*steps, (math.inf, 0.0)]):
        total += value * max(min(until, end) - max(since, begin), 0.0)
    return total


def _too_fast_links(scenario: Scenario, tables: Mapping[str, Any]) -> Iterator[str]:
    rows = tables["queue_samples"]
    packet = SUPER if scenario["host"]["gso"] else FULL
    for number in range(len(links_of(scenario))):
        steps = rates_of(scenario, number)
        if steps is None:
            continue
        own = rows.filter(pl.col("link") == number).select("time_s", "forwarded_bytes").rows()
        for (begin, before), (end, after) in pairwise([(0.0, 0), *own]):
            offered = integral(steps, begin, end) / 8
            if after - before > offered + packet + 1:
                yield f"link {number} sends {after - before} of {offered} bytes until {end}"
                break


def least_rtt_ms(scenario: Scenario, flow: Mapping[str, Any]) -> float:
    """The lowest two-way delay that the path gives a flow."""
    changes = [change.get("rtt_ns") for change in scenario.get("changes", ())]
    least = min([scenario["path"]["rtt_ns"], *(rtt for rtt in changes if rtt is not None)])
    return float(least if flow["rtt_ns"] is None else flow["rtt_ns"]) / 1e6


def _too_short_round_trips(scenario: Scenario, tables: Mapping[str, Any]) -> Iterator[str]:
    rows = tables["flow_samples"]
    for number, flow in enumerate(scenario["flows"]):
        own, least = rows.filter(pl.col("flow") == number), least_rtt_ms(scenario, flow)
        for column in ("rtt_ms", "srtt_ms", "min_rtt_ms"):
            shortest = own[column].min()
            if shortest is not None and shortest < least - TIMESTAMP_MS:
                yield f"flow {number} has {column} {shortest} where the path takes {least}"


def _impossible_transfers(scenario: Scenario, tables: Mapping[str, Any]) -> Iterator[str]:
    for number, flow in enumerate(scenario["flows"]):
        rows = tables["flow_samples"].filter(pl.col("flow") == number)
        size, repeats = flow["size_bytes"], flow["repeat_gap_ns"] is not None
        got = rows["received_bytes"].max() or 0
        if size is not None and not repeats and got > size:
            yield f"flow {number} gets {got} of {size} bytes"
        if (rows["retransmitted"] > rows["sent"]).any():
            yield f"flow {number} repeats more than it sends"
    done = tables["completions"].with_columns(took=pl.col("end_s") - pl.col("start_s"))
    for (number,), rows in done.group_by("flow"):
        flow = scenario["flows"][number]
        one_way = (flow["workload"] or {}).get("kind") == "media"  # a frame, until it is shown
        least = least_rtt_ms(scenario, flow) / 1e3 / (2 if one_way else 1)
        if rows["took"].min() < least:
            yield f"flow {number} is done in {rows['took'].min()} s, the path takes {least}"


def _wrong_summaries(summary: Mapping[str, Any]) -> Iterator[str]:
    for name, value in leaves({key: summary[key] for key in summary if key != "scenario"}):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        signed = name.rpartition(".")[2] in SIGNED
        if number and not (math.isfinite(value) and (signed or value >= 0)):
            yield f"{name} is {value}"
        part = name.rpartition(".")[2] in ("utilization", "share", "loss_rate", "late", "jain")
        if number and part and value > 1 and name not in BEYOND_ONE:
            yield f"{name} is {value}"
        if name.endswith("slowdown.p50") and number and value < 1 - 1e-9:
            yield f"{name} is {value}"
    for name, found in tables_of(summary):
        order = [found[key] for key in ORDER if found.get(key) is not None]
        if sorted(order) != order:
            yield f"{name} isn't in order: {found}"
        ends = [found[key] for key in ("min", "max") if found.get(key) is not None]
        mean = found.get("mean")
        if mean is not None and len(ends) == 2 and not ends[0] <= mean <= ends[1]:
            yield f"{name} has its mean outside: {found}"
    shares = [flow["share"] for flow in summary["flows"]]
    if None not in shares and not math.isclose(sum(shares), 1, abs_tol=1e-9):
        yield f"shares add up to {sum(shares)}"


ORDER = ("min", "p5", "p50", "p95", "p99", "max")


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every value in tables and lists with its place."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, f"{name}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{name}[{number}]")
    else:
        yield name, value


def tables_of(value: Any, name: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every table with statistics."""
    if isinstance(value, Mapping):
        if "p50" in value:
            yield name, value
        for key, inner in value.items():
            if key != "scenario":
                yield from tables_of(inner, f"{name}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from tables_of(inner, f"{name}[{number}]")
