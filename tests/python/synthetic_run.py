"""A made-up run with the shape of Figure 9: no simulator needed, and every answer known.

BBR and CUBIC take turns with a period of PERIOD_S; BBR is in PROBE_RTT for 0.2 s
every 10 s; every other probe finds RTprop inflated, and a burst of loss follows it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from narrows.columns import empty

PERIOD_S = 20.0
PROBE_EVERY_S = 10.0
FIRST_INFLATED_S = 8.0
STEP_S = 0.1
RATE_BPS = 80_000_000
RTT_MS = 25.0
BDP = RATE_BPS * RTT_MS / 8e3
ROOM_BDP = 1.75
INFLATED_MS = 60.0


def scenario(
    duration_s: float = 60.0, ccas: tuple[str, ...] = ("bbr", "bbr", "cubic", "cubic")
) -> dict[str, Any]:
    """The scenario that the made-up tables belong to."""
    return {
        "name": "bbr-and-cubic-take-turns",
        "seed": 1,
        "path": {
            "rate_bps": RATE_BPS,
            "rtt_ns": int(RTT_MS * 1e6),
            "buffer": {"bytes": int(ROOM_BDP * BDP)},
            "queue": {"kind": "droptail"},
            "service": {"kind": "constant"},
            "loss": 0.0,
            "impairments": [],
            "links": [],
            "reverse": None,
        },
        "flows": [
            {
                "name": f"{cca}-{index}",
                "cca": cca,
                "options": {},
                "ecn": "off",
                "start_ns": 0,
                "stop_ns": None,
                "size_bytes": None,
                "workload": None,
                "receive_window_bytes": None,
                "rtt_ns": None,
                "reverse": False,
                "links": None,
                "repeat_gap_ns": None,
                "while": None,
            }
            for index, cca in enumerate(ccas)
        ],
        "host": {
            "profile": "linux-6.12",
            "fq": False,
            "jitter_ns": 0,
            "timer_lateness_ns": 0,
            "gso": False,
            "metrics_save": False,
            "gro_ns": 0,
            "socket_buffers": "raised",
        },
        "run": {
            "duration_ns": int(duration_s * 1e9),
            "warmup_ns": 10_000_000_000,
            "stop_when": None,
            "sample_interval_ns": int(STEP_S * 1e9),
            "record": "samples",
        },
    }


def tables(
    duration_s: float = 60.0,
    ccas: tuple[str, ...] = ("bbr", "bbr", "cubic", "cubic"),
    period_s: float = PERIOD_S,
    bursts: bool = True,
) -> dict[str, pl.DataFrame]:
    """The tables of a run of `duration_s` seconds; without `bursts` nothing is ever lost."""
    t = np.round(np.arange(round(duration_s / STEP_S) + 1) * STEP_S, 6)
    since = (t - FIRST_INFLATED_S) % period_s
    probing = ((t - FIRST_INFLATED_S) % PROBE_EVERY_S < 0.25) & (t >= FIRST_INFLATED_S)
    inflated = (since < period_s / 2) & (t >= FIRST_INFLATED_S)
    bbr = 0.5 + 0.24 * np.tanh(4 * np.sin(2 * np.pi * since / period_s)) * np.where(t < 4, t / 4, 1)
    bbr = np.where(probing, 0.03, bbr)
    noise = np.random.default_rng(7).normal(0, 0.015, len(t))
    queue = np.clip(
        np.where(inflated, 1.7, 1.35) + 3 * noise - np.where(probing & ~inflated, 1.3, 0),
        0,
        ROOM_BDP,
    )
    burst = inflated & (since >= 0.3) & (since < 2.1) if bursts else np.zeros(len(t), dtype=bool)
    share = {"bbr": np.clip(bbr + noise, 0.02, 0.98)}
    rows = [
        _flow(
            t,
            i,
            cca,
            share["bbr"] if cca == "bbr" else 1 - share["bbr"],
            ccas.count(cca),
            queue,
            probing,
            burst,
        )
        for i, cca in enumerate(ccas)
    ]
    flows = pl.concat(rows)
    return {
        "distributions": _distributions(flows, queue),
        "flow_samples": flows.sort("time_s", "flow"),
        "queue_samples": _queue(t, queue, burst),
        "internals": _internals(t, ccas, bbr, inflated),
        "sequence": _sequence(flows),
        "completions": empty("completions"),
    }


def _sequence(flows):
    """The sequence numbers that a capture of the flows would have, for some of their packets."""
    sent = flows.select("time_s", "flow", end=pl.col("wire_bytes") + 1448, begin="wire_bytes")
    kinds = ("data", "retransmission", "out_of_order", "ack", "window", "sack")
    rows = [
        sent.gather_every(3 + i).with_columns(kind=pl.lit(kind)) for i, kind in enumerate(kinds)
    ]
    return pl.concat(rows).select("time_s", "flow", "kind", "begin", "end")


def _flow(t, flow, cca, share, flows_of_cca, queue, probing, burst):
    rate = RATE_BPS * share / flows_of_cca
    wire = np.concatenate([[0.0], np.cumsum(rate[1:] * STEP_S / 8)])
    rtt = RTT_MS * (1 + queue) + flow * 0.4
    window = rate * rtt / 1e3 / 8 / 1500
    state = np.where(
        probing, "probe_rtt", np.where(t < 0.4, "startup", np.where(t < 0.8, "drain", "probe_bw"))
    )
    lost = np.cumsum(burst * 4)
    packets = (wire / 1500).astype(np.uint64)
    null = [None] * len(t)
    return pl.DataFrame(
        {
            "time_s": t,
            "flow": pl.Series([flow] * len(t), dtype=pl.UInt32),
            "cwnd": (window * (2 if cca == "bbr" else 1)).astype(np.uint32) + 4,
            "ssthresh": pl.Series(null, dtype=pl.UInt32),
            "in_flight": window.astype(np.uint32) + 2,
            "rtt_ms": rtt,
            "srtt_ms": rtt,
            "min_rtt_ms": np.full(len(t), RTT_MS),
            "pacing_mbps": rate / 1e6,
            "delivery_mbps": rate / 1e6,
            "sent": packets,
            "delivered": packets,
            "lost": lost.astype(np.uint64),
            "retransmitted": lost.astype(np.uint64),
            "received_bytes": (wire * 1448 / 1500).astype(np.uint64),
            "wire_bytes": wire.astype(np.uint64),
            "dropped": lost.astype(np.uint64),
            "state": np.where(burst, "recovery", "open"),
            "cca_state": state if cca == "bbr" else [""] * len(t),
        }
    )


def _queue(t, queue, burst):
    per_step = RATE_BPS * STEP_S / 8 / 1500
    dropped = np.cumsum(burst * 24)
    forwarded = np.arange(len(t)) * per_step
    backlog = (queue * BDP).astype(np.uint64)
    return pl.DataFrame(
        {
            "time_s": t,
            "link": pl.Series([0] * len(t), dtype=pl.UInt32),
            "backlog_bytes": backlog,
            "backlog_packets": backlog // 1500,
            "arrived_packets": (forwarded + dropped).astype(np.uint64),
            "dropped_packets": dropped.astype(np.uint64),
            "marked_packets": np.zeros(len(t), dtype=np.uint64),
            "forwarded_packets": forwarded.astype(np.uint64),
            "forwarded_bytes": (forwarded * 1500).astype(np.uint64),
        }
    )


def _distributions(flows, queue):
    values = [("rtt_ms", f, v) for f, v in flows.select("flow", "rtt_ms").iter_rows()]
    values += [("queue_bytes", 0, v) for v in np.round(queue * BDP)]
    frame = pl.DataFrame(
        values,
        schema={"kind": pl.String, "id": pl.UInt32, "value": pl.Float64},
        orient="row",
    )
    grouped = frame.group_by("kind", "id", "value").agg(pl.len().cast(pl.Float64).alias("weight"))
    return grouped.sort("kind", "id", "value")


def _internals(t, ccas, bbr, inflated):
    frames = []
    for flow, cca in enumerate(ccas):
        named = (
            {
                "bw_mbps": 80 * bbr / 2,
                "min_rtt_ms": np.where(inflated, INFLATED_MS, RTT_MS),
                "pacing_gain": np.ones(len(t)),
            }
            if cca == "bbr"
            else {"w_last_max": 100 + 10 * np.sin(t)}
        )
        frames += [
            pl.DataFrame(
                {
                    "time_s": t,
                    "flow": pl.Series([flow] * len(t), dtype=pl.UInt32),
                    "name": [n] * len(t),
                    "value": v,
                }
            )
            for n, v in named.items()
        ]
    return pl.concat(frames)


def one_transfer() -> pl.DataFrame:
    """A table `completions` in which the first flow has moved 20 kB in half a second."""
    known = {"start_s": 11.0, "end_s": 11.5, "size_bytes": 20_000}
    frame = empty("completions")
    return pl.DataFrame([dict.fromkeys(frame.columns, 0) | known], schema=frame.schema)
