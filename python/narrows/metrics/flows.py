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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from narrows.columns import Table, Tables, columns
from narrows.metrics.completions import statistics
from narrows.metrics.counters import Counters
from narrows.metrics.distributions import distributions, exact_statistics
from narrows.metrics.fairness import shares
from narrows.metrics.offered import LeastTimes, two_way_ns
from narrows.metrics.workloads import workload_summary
from narrows.packets import WIRE
from narrows.spec.scenario import Flow, Scenario

if TYPE_CHECKING:
    import polars as pl

RTT_STATISTICS = ("min", "mean", "p50", "p95", "p99")
TIME_MEAN = "time_mean"
_COUNTERS = ("received_bytes", "wire_bytes", "retransmitted")


def completion_times(completions: pl.DataFrame) -> pl.DataFrame:
    """Returns the table `completions` with `fct_s` (seconds), by flow and start."""
    import polars as pl

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
    an unfinished flow. A flow with a workload has one entry, with the summary of
    `narrows.metrics.workloads` as `workload`.
    """
    run = _Run(scenario, tables, end_s)
    summaries = []
    for ident, flow in enumerate(scenario["flows"]):
        if flow.get("workload") is not None:
            summaries.append(run.with_workload(ident))
            continue
        lives = run.lives(ident)
        chain = flow["repeat_gap_ns"] is not None
        entries = run.chain(ident, lives) if chain else [run.single(ident, lives)]
        summaries.extend(entries)
    return summaries


@dataclass
class _Run:
    """The tables of a run, prepared for all flows."""

    scenario: Scenario
    tables: Tables
    end_s: float

    def __post_init__(self) -> None:
        counters = Counters(self.tables["flow_samples"], "flow")
        self.warmup_s = self.scenario["run"]["warmup_ns"] / 1e9
        self.counted = counters.growth(_COUNTERS, self.warmup_s, self.end_s)
        self.whole = counters.growth(_COUNTERS, -1.0, self.end_s)
        flows = range(len(self.scenario["flows"]))
        received = [self.counted.get(flow, _NOTHING)["received_bytes"] for flow in flows]
        self.shares = shares(received)
        self.rtts = distributions(self.tables["distributions"])
        self.finished = _lives(self.tables["completions"])
        self.least = LeastTimes(self.scenario)
        self.total_bytes = sum(amount for amount in received if amount is not None)

    def lives(self, ident: int) -> list[dict[str, Any]]:
        """Returns the finished flows of an entry, by start."""
        return self.finished.get(ident, [])

    def rtt(self, ident: int) -> dict[str, Any]:
        """Returns the statistics of a flow's RTTs, each counting once, and the mean over time."""
        of_each = exact_statistics(self.rtts, ("rtt_ms", ident), RTT_STATISTICS)
        return {**of_each, TIME_MEAN: self._rtt_over_time(ident)}

    def _rtt_over_time(self, ident: int) -> float | None:
        """Returns the mean over time of the latest RTT.

        A flow that sends little has few RTTs, each of which holds for long.
        """
        if self.scenario["run"]["record"] == "summary":
            return None
        rows = columns(self.tables["flow_samples"]).having("flow", [ident])
        times, rtts, smoothed = (rows.floats(name) for name in ("time_s", "rtt_ms", "srtt_ms"))
        latest = np.where(np.isfinite(rtts), rtts, smoothed)
        known = (times >= self.warmup_s) & (times <= self.end_s) & np.isfinite(latest)
        return float(latest[known].mean()) if known.any() else None

    def delay(self, ident: int) -> dict[str, Any]:
        """Returns the queueing delays of a flow if its path's own delay changes; otherwise nothing.

        The path's delay is half of its value when the packet left plus half of its value when the
        acknowledgement left.
        """
        own = two_way_ns(self.scenario, self.scenario["flows"][ident])
        if not own.varies:
            return {}
        rows = columns(self.tables["flow_samples"]).having("flow", [ident])
        times, rtts = rows.floats("time_s"), rows.floats("rtt_ms")
        known = (times >= self.warmup_s) & (times <= self.end_s) & np.isfinite(rtts)
        if self.scenario["run"]["record"] == "summary" or not known.any():
            return {"delay_ms": dict.fromkeys(RTT_STATISTICS)}
        now_ns, rtt_ns = times[known] * 1e9, rtts[known] * 1e6
        back_ns = own.at(now_ns) / 2
        base_ns = own.at(now_ns - rtt_ns) / 2 + own.at(now_ns - back_ns) / 2
        beyond = np.maximum(rtt_ns - base_ns, 0.0) / 1e6
        return {"delay_ms": statistics(beyond, RTT_STATISTICS)}

    def least_s(self, ident: int, start_s: float, size_bytes: float) -> dict[str, Any]:
        """Returns the minimum time of a transfer where the rates or the delay change.

        Otherwise nothing.
        """
        least = self.least.of(ident, start_s, size_bytes, 2.0)
        return {} if least is None else {"least_s": least}

    def one_way(self, ident: int) -> dict[str, Any]:
        """Returns the one-way delays of a flow's data, where the back end sees them."""
        of = ("one_way_ms", ident)
        if of not in self.rtts:
            return {}
        return {"one_way_ms": exact_statistics(self.rtts, of, RTT_STATISTICS)}

    def single(self, ident: int, lives: list[dict[str, Any]]) -> dict[str, Any]:
        """Summarises a flow that isn't a chain."""
        flow = self.scenario["flows"][ident]
        if lives:
            life, counters = lives[0], self.whole.get(ident, _NOTHING)
            fct_s, span_s, payload = life["fct_s"], life["fct_s"], life["size_bytes"]
        else:
            fct_s, counters = None, self.counted.get(ident, _NOTHING)
            span_s, payload = self._active_s(flow), counters["received_bytes"]
        return {
            "name": flow["name"],
            "cca": flow["cca"],
            "start_s": flow["start_ns"] / 1e9,
            "goodput_mbps": mbps(payload, span_s),
            "throughput_mbps": mbps(counters["wire_bytes"], span_s),
            "retransmits": counters["retransmitted"],
            "rtt_ms": self.rtt(ident),
            **self.delay(ident),
            **self.one_way(ident),
            "fct_s": fct_s,
            **(self.least_s(ident, lives[0]["start_s"], payload) if lives else {}),
            "share": self.shares[ident],
        }

    def with_workload(self, ident: int) -> dict[str, Any]:
        """Summarises a flow with a workload as an endless flow."""
        flow = self.scenario["flows"][ident]
        lives, internals = columns(self.tables["completions"]), columns(self.tables["internals"])
        rows = lives.where(lives["flow"] == ident).sort_by("start_s")
        own = internals.having("flow", [ident])
        summary = workload_summary(flow["workload"] or {}, rows, own, self.warmup_s)
        return {**self.single(ident, []), "workload": summary}

    def _active_s(self, flow: Flow) -> float:
        """Returns how long an endless flow was active in the counted part of the run."""
        stop_s = self.end_s if flow["stop_ns"] is None else flow["stop_ns"] / 1e9
        return float(min(self.end_s, stop_s) - max(self.warmup_s, flow["start_ns"] / 1e9))

    def chain(self, ident: int, lives: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Summarises the flows of a chain; the last may be unfinished."""
        flow, rtt = self.scenario["flows"][ident], self.rtt(ident)
        every = [*lives, *self._open_flow(ident, lives)]
        of_all = zip(every, self._shares(ident, every), strict=True)
        delay = self.delay(ident)
        return [
            {
                "name": flow["name"],
                "cca": flow["cca"],
                "instance": life["instance"],
                "start_s": life["start_s"],
                "goodput_mbps": mbps(life["size_bytes"], life["end_s"] - life["start_s"]),
                "throughput_mbps": None,
                "retransmits": life["retransmitted"],
                "rtt_ms": rtt,
                **delay,
                **self.one_way(ident),
                "fct_s": life["fct_s"],
                **self.least_s(ident, life["start_s"], life["size_bytes"]),
                "share": share,
            }
            for life, share in of_all
        ]

    def _open_flow(self, ident: int, lives: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Summarises the flow that received the data after the last finished flow of a chain."""
        flow, counters = self.scenario["flows"][ident], self.whole.get(ident, _NOTHING)
        if counters["received_bytes"] is None:
            return []
        received = counters["received_bytes"] - sum(life["size_bytes"] for life in lives)
        if lives and received <= 0:
            return []
        start_s = flow["start_ns"] / 1e9
        if lives:
            start_s = lives[-1]["end_s"] + (flow["repeat_gap_ns"] or 0) / 1e9
        again = sum(life["retransmitted"] for life in lives)
        known = counters["retransmitted"] is not None
        return [
            {
                "instance": lives[-1]["instance"] + 1 if lives else 0,
                "start_s": start_s,
                "end_s": self.end_s,
                "size_bytes": received,
                "retransmitted": counters["retransmitted"] - again if known else None,
                "fct_s": None,
            }
        ]

    def _shares(self, ident: int, lives: Sequence[Mapping[str, Any]]) -> list[float | None]:
        """Returns the shares of a chain's flows, which add up to the chain's.

        The flows follow one another, so only one can be partly in the warm-up. Its amount is what
        the chain received since the warm-up, minus the sizes of the later flows.
        """
        received = self.counted.get(ident, _NOTHING)["received_bytes"]
        if received is None or not self.total_bytes:
            return [None for _ in lives]
        left, found = float(received), list[float | None]()
        for life in reversed(lives):
            after = life["start_s"] >= self.warmup_s
            counted = life["size_bytes"] if after else left if life["end_s"] > self.warmup_s else 0
            found.append(float(counted) / self.total_bytes)
            left = max(left - counted, 0.0)
        return found[::-1]


_NOTHING: dict[str, Any] = dict.fromkeys(_COUNTERS, 0)
"""The values of a flow without rows, which never started."""


def _lives(completions: Table) -> dict[int, list[dict[str, Any]]]:
    """Returns the finished flows by id, each list ordered by start."""
    lists: dict[int, list[dict[str, Any]]] = {}
    for row in columns(completions).sort_by("flow", "start_s").rows():
        life = row | {"fct_s": row["end_s"] - row["start_s"]}
        lists.setdefault(row["flow"], []).append(life)
    return lists
