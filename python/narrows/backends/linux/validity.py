"""Checks whether a run shows the kernel's TCP, or a machine that was too busy to run it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from narrows.spec.scenario import Scenario

MOST_WAITING = 0.25
"""The largest valid share of their runnable time that hosts' programs waited for a processor.

On two otherwise idle cores they waited for 3 to 15 % of it at up to 500 Mbit/s, and beside a busy
loop on each core for 34 to 76 % (`tools/measure_validity.py`).
"""
MOST_DRY = 0.02
"""The largest valid share of samples in which an endless flow had nothing to send."""
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


def reasons(hosts: Mapping[str, Any]) -> Iterator[str]:
    """Yields the reasons why a run with such hosts can't be trusted."""
    waited, ran = hosts["waited_ns"], hosts["ran_ns"]
    if waited > MOST_WAITING * (waited + ran):
        yield (
            f"senders and receivers waited {waited / 1e6:.0f} ms for a processor and ran "
            f"{ran / 1e6:.0f} ms; they may wait for {MOST_WAITING:.0%} of both"
        )
    for name, part in hosts["dry"].items():
        if part > MOST_DRY:
            yield (
                f'the socket of flow "{name}" had run dry in {part:.1%} of its samples; '
                f"the limit is {MOST_DRY:.0%}"
            )
