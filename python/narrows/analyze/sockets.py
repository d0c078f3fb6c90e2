"""Logs of `ss -tin` beside a capture of the sender, joined on time.

A capture shows packets; the sender's kernel knows its window, its threshold, its control's name and
what it waited for (`busy`, `rwnd_limited`, `sndbuf_limited`; Linux 4.9). The clocks of log and
capture are compared by the bytes that both say were acknowledged.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np

from narrows.analyze.ss_log import SsConnection, connections
from narrows.late import pl
from narrows.spec.measured import measured_control
from narrows.spec.registry import ccas

_DAY_S, _ZONE_S = 86_400.0, 900.0
"""Times of day have no date, and are behind UTC by some quarters of an hour."""
_FEWEST = 5
"""Fewer samples with data under way can't compare the clocks."""
STALE = 3.0
"""A sample holds for at most this many intervals of the log."""
_COLUMNS = {"cwnd": "cwnd", "ssthresh": "ssthresh", "srtt_ms": "rtt", "pacing_mbps": "pacing_rate"}
"""Columns of `flow_samples` that a capture leaves empty, or `ss` knows better."""
_LIMITS = {"receiver_window": "rwnd_limited", "send_buffer": "sndbuf_limited"}
"""Causes of which the kernel itself keeps the time, since the connection began."""


def join_logs(
    logs: Sequence[str], findings: dict[str, Any], samples: pl.DataFrame
) -> tuple[pl.DataFrame, list[str]]:
    """Adds to flows what `ss` says of their connections; returns the samples, and notes.

    Each flow that a log knows gets `ss` in `findings`; its control is the one that `ss` names.
    """
    known = {_ends(key): one for log in logs for key, one in connections(log).items()}
    notes = []
    for flow in findings["flows"]:
        one = known.get((_end(flow["source"]), _end(flow["destination"])))
        if one is None or len(one.times) < 2:
            notes.append(f"{flow['name']}: no log of `ss` has it")
            continue
        mine = samples.filter(flow=flow["id"])
        times, ahead_s = _on_capture(one, mine, findings["origin_unix_s"] or 0.0)
        flow["ss"] = _account(one, times, ahead_s, flow)
        if one.control in ccas():
            flow["control"] = {
                "control": one.control,
                "evidence": [f"`ss` names it; from the packets: {measured_control(flow)}"],
            }
        samples = _fill(samples, flow["id"], one, times)
    return samples, notes


def _ends(key: str) -> tuple[str, str]:
    local, _, peer = key.partition(" > ")
    return _end(local), _end(peer)


def _end(text: str) -> str:
    """An address and a port in one form: `ss` adds the device, and maps IPv4 into IPv6."""
    host, _, port = text.rpartition(":")
    host = host.strip("[]").partition("%")[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return text
    mapped = getattr(address, "ipv4_mapped", None)
    return f"{mapped or address}:{port}"


def _on_capture(
    one: SsConnection, mine: pl.DataFrame, origin_unix_s: float
) -> tuple[np.ndarray[Any, np.dtype[np.float64]], float]:
    """The times of a log's samples on the capture's clock, and how far the log's was ahead."""
    times = np.array(one.times) - origin_unix_s
    if one.times[0] < _DAY_S * 3650:  # a time of day, perhaps of several days
        begin = float(mine["time_s"][0] or 0.0)
        away = (one.times[0] - origin_unix_s % _DAY_S - begin) % _DAY_S
        zones = round(away / _ZONE_S) * _ZONE_S
        times = np.array(one.times) - origin_unix_s % _DAY_S - zones
        times -= round(float(times[0] - begin) / _DAY_S) * _DAY_S
    ahead_s = _lead(one, times, mine)
    return times - ahead_s, ahead_s


def _lead(
    one: SsConnection, times: np.ndarray[Any, np.dtype[np.float64]], mine: pl.DataFrame
) -> float:
    """How far a log is ahead: when it says that bytes were acknowledged, and when they were.

    Zero if the two are apart by less than the log's or the capture's interval.
    """
    seen, at = mine["received_bytes"].to_numpy(), mine["time_s"].to_numpy()
    acked = np.array([said.get("bytes_acked", 0.0) for said in one.values])
    moving = np.diff(acked, prepend=acked[0]) > 0
    inside = moving & (acked < seen[-1]) & (acked > seen[0])
    if inside.sum() < _FEWEST:
        return 0.0
    rising = np.concatenate([[True], np.diff(seen) > 0])
    lead = float(np.median(times[inside] - np.interp(acked[inside], seen[rising], at[rising])))
    step = max(_interval(times), _interval(at))
    return lead if abs(lead) > step else 0.0


def _interval(times: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    gaps = np.diff(times)
    return float(np.median(gaps)) if len(gaps) else 0.0


def _account(
    one: SsConnection,
    times: np.ndarray[Any, np.dtype[np.float64]],
    ahead_s: float,
    flow: Mapping[str, Any],
) -> dict[str, Any]:
    """The log's account of a connection, beside the one by packets."""
    last = one.values[-1]
    windows = [said["cwnd"] for said in one.values if "cwnd" in said]
    life_s = flow["end_s"] - flow["start_s"]
    shares = {share["cause"]: share["share"] for share in flow["causes"]["shares"]}
    said = {cause: last.get(key, 0.0) / 1e3 / life_s for cause, key in _LIMITS.items() if life_s}
    return {
        "samples": len(times),
        "begins_s": float(times[0]),
        "ends_s": float(times[-1]),
        "interval_s": median([b - a for a, b in pairwise(one.times)]),
        "ahead_s": ahead_s,
        "control": one.control,
        "cwnd_packets": {"min": min(windows), "max": max(windows)} if windows else None,
        "busy": last["busy"] / 1e3 / life_s if "busy" in last and life_s else None,
        "limited": said if "busy" in last else None,
        "by_packets": {cause: shares.get(cause, 0.0) for cause in _LIMITS},
    }


def _fill(
    samples: pl.DataFrame,
    flow: int,
    one: SsConnection,
    times: np.ndarray[Any, np.dtype[np.float64]],
) -> pl.DataFrame:
    """The samples with the last value of the log before each, while that isn't stale."""
    names = {f"{name}_ss": key for name, key in _COLUMNS.items()}
    columns = {name: [said.get(key) for said in one.values] for name, key in names.items()}
    floats = dict.fromkeys(names, pl.Float64)
    log = pl.DataFrame({"time_s": times, **columns}, schema_overrides=floats).sort("time_s")
    joined = (
        samples.with_row_index("row")
        .sort("time_s")
        .join_asof(log, on="time_s", tolerance=STALE * _interval(times))
    )
    mine = pl.col("flow") == flow
    filled = [
        pl.when(mine & pl.col(f"{name}_ss").is_not_null())
        .then(pl.col(f"{name}_ss").cast(samples.schema[name]))
        .otherwise(pl.col(name))
        .alias(name)
        for name in _COLUMNS
    ]
    return joined.sort("row").with_columns(filled).select(samples.columns)
