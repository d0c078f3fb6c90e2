"""Goodput, throughput, share, round-trip times and completion times of each flow.

Goodput is payload that reached the receiver, each byte once; throughput is IP bytes that left the
bottleneck; both are in 10^6 bit/s. They are measured over the flow's own span:

- an endless flow: from the warm-up, or its start if that is later, to the end
  of the run, or its stop if that is earlier (what was in flight then and still
  arrives counts);
- a finished flow, alone or in a chain: its whole life, from connecting to the
  arrival of the last byte's acknowledgement.

A share is always of the payload that arrived between the warm-up and the end.
"""

from __future__ import annotations

from typing import Any

from narrows.columns import Tables
from narrows.late import pl
from narrows.metrics.run import run_metrics
from narrows.packets import WIRE
from narrows.spec.scenario import Scenario


def completion_times(completions: pl.DataFrame) -> pl.DataFrame:
    """Returns the table `completions` with `fct_s` (seconds), by flow and start."""
    fct = (pl.col("end_s") - pl.col("start_s")).alias("fct_s")
    return completions.with_columns(fct).sort("flow", "start_s")


def slowdown(fct_s: float | None, size_bytes: float, rate_bps: float, rtt_s: float) -> float | None:
    """Returns a completion time as a multiple of the minimum; None for an unfinished flow.

    The minimum is a round trip to connect, the payload in full packets at the bottleneck's rate,
    and a round trip until the last acknowledgement.
    """
    if fct_s is None:
        return None
    return fct_s / (2 * rtt_s + size_bytes * WIRE * 8 / rate_bps)


def mbps(amount_bytes: float | None, span_s: float) -> float | None:
    """Converts bytes in a span of seconds to 10^6 bit/s; None if either is meaningless."""
    return None if amount_bytes is None or span_s <= 0 else amount_bytes * 8 / span_s / 1e6


def flow_summaries(scenario: Scenario, tables: Tables, end_s: float) -> list[dict[str, Any]]:
    """Summarises every flow, and every flow of a chain, in the order of ids and starts.

    `end_s` is the end of the run in seconds. The flows of a chain carry the chain's name and their
    number in it (`instance`); their own `throughput_mbps` isn't known, and their `rtt_ms` is that
    of the whole chain. `one_way_ms` exists where a router saw the flow's data. `fct_s` is None for
    an unfinished flow. A flow with a workload has one entry, with the metrics of its application as
    `workload`.
    """
    return run_metrics(scenario, tables, end_s).flows()
