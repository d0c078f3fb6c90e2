"""Checks whether a run shows the kernel's TCP, or a machine that was too busy to run it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from narrows.late import pl
from narrows.spec.scenario import Scenario

MOST_WAITING = 0.01
"""The largest valid wait for a processor, as a share of the shortest round trip.

Each time one of the hosts' programs becomes runnable, its actions are late by its wait. The mean
counts.
"""
WAKING_NS = 20_000
"""A wait of this length is always valid: waking a program takes 5 us on an idle virtual machine."""
MOST_DRY = 0.02
"""The largest valid share of samples in which an endless flow had nothing to send."""
LATENESS_LIMITS_NS = {"p99": 1_000_000, "p999": 5_000_000}
"""The router's lateness: runs below these limits were reproducible; runs beyond them weren't."""
_WAITS = ("ran_ns", "waited_ns", "turns")


def read_hosts(places: Sequence[Path], flows: pl.DataFrame, scenario: Scenario) -> dict[str, Any]:
    """Returns how long the hosts ran and waited, in ns, and how often sockets ran dry.

    The traffic tool of each pair of hosts wrote into one of `places`. `flows` are its samples. Only
    the time from the warm-up on counts.
    """
    waits = read_waits(places)
    return {
        **sum_waits(waits),
        "pressure_ns": waits[0]["pressure_ns"],
        "dry": dry_parts(flows, scenario),
    }


def read_waits(places: Iterable[Path]) -> list[dict[str, Any]]:
    """Reads the time that programs ran and waited, from the file of each traffic tool."""
    return [json.loads((place / "waits.json").read_text(encoding="utf-8")) for place in places]


def sum_waits(waits: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Sums how long all programs ran and waited, in ns, and how often they got a processor."""
    return {key: sum(each["hosts"][key] for each in waits) for key in _WAITS}


def dry_parts(flows: pl.DataFrame, scenario: Scenario) -> dict[str, float]:
    """Returns the share of samples in which the socket of each endless flow had run dry.

    A socket has run dry if the application limited the flow (`app_limited` of TCP_INFO, which Linux
    also sets for a full send buffer) and neither the receiver's window nor the send buffer did.
    """
    endless = {
        i: f["name"]
        for i, f in enumerate(scenario["flows"])
        if f["size_bytes"] is None and f["workload"] is None and "server" not in f
    }
    held_up = pl.col("rwnd_limited_us") + pl.col("sndbuf_limited_us")
    ran_dry = (pl.col("app_limited") == 1) & (held_up.diff().over("flow") == 0)
    known = flows.with_columns(dry=ran_dry).filter(
        pl.col("flow").is_in(list(endless))
        & (pl.col("time_ns") >= scenario["run"]["warmup_ns"])
        & pl.col("cwnd").is_not_null()
    )
    parts = known.group_by("flow", maintain_order=True).agg(pl.col("dry").mean())
    return {endless[flow]: part for flow, part in parts.iter_rows() if part is not None}


def most_waiting_ns(scenario: Scenario) -> float:
    """Returns the largest valid mean wait for a processor, in ns."""
    own = [flow["rtt_ns"] for flow in scenario["flows"]]
    rtts = [scenario["path"]["rtt_ns"] if rtt is None else rtt for rtt in own]
    return max(MOST_WAITING * min(rtts), WAKING_NS)


def reasons(hosts: Mapping[str, Any], scenario: Scenario) -> Iterator[str]:
    """Yields the reasons why a run with such hosts can't be trusted."""
    wait_ns, most_ns = hosts["waited_ns"] / max(hosts["turns"], 1), most_waiting_ns(scenario)
    if wait_ns > most_ns:
        yield (
            f"senders and receivers waited {wait_ns / 1e3:.0f} us for a processor each time; "
            f"{most_ns / 1e3:.0f} us is the most, {MOST_WAITING:.0%} of the shortest round trip"
        )
    for name, part in hosts["dry"].items():
        if part > MOST_DRY:
            yield (
                f'the socket of flow "{name}" had run dry in {part:.2%} of its samples; '
                f"the limit is {MOST_DRY:.0%}"
            )
