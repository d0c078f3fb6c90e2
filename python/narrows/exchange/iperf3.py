"""iperf3's JSON (`iperf3 --json`): one file for each client, with one or more streams.

Windows and round-trip times are those of the sender (`snd_cwnd` in bytes, `rtt` in
microseconds). A sender counts what it wrote to its socket. What never arrived was still in the
send buffer or in flight at the end; as both fill up first, the first intervals are reduced by it.
The receiver's bytes took the time until the receiver's `end`, which is later: a goodput here is
that of `sum_received`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from narrows.exchange.measured import FileMeasurements, MeasuredFlow, from_payload
from narrows.late import pl
from narrows.packets import PAYLOAD_BYTES
from narrows.spec.scenario import Scenario
from narrows.store.slug import slugs


def matches(document: object) -> bool:
    """Returns True if a JSON document is one of iperf3."""
    return isinstance(document, Mapping) and "intervals" in document and "start" in document


def read(document: Mapping[str, Any], name: str) -> FileMeasurements:
    """The streams of a file; raises KeyError, TypeError or ValueError if it isn't iperf3's."""
    streams: dict[int, list[Mapping[str, Any]]] = {}
    for interval in document["intervals"]:
        for stream in interval["streams"]:
            if not stream.get("omitted", False):
                streams.setdefault(int(stream["socket"]), []).append(stream)
    if not streams:
        raise ValueError(str(document.get("error", "no intervals")))
    mss = int(document["start"].get("tcp_mss_default", PAYLOAD_BYTES))
    if mss < 1:
        raise ValueError(f"a segment size of {mss} bytes")
    told = document.get("end", {}).get("sender_tcp_congestion")
    cca = told if isinstance(told, str) else None
    lag, seconds = _count_undelivered(document), _receiver_seconds(document)
    flows = [
        MeasuredFlow(
            name if len(streams) == 1 else f"{name}-{number}",
            _samples(rows, mss, lag.get(socket, 0), seconds.get(socket, 0.0)),
            cca,
        )
        for number, (socket, rows) in enumerate(streams.items(), start=1)
    ]
    first = next(iter(streams.values()))[0]
    interval_s, system = float(first["end"]) - float(first["start"]), _system(document["start"])
    return FileMeasurements(flows, interval_s, system=system)


def _system(start: Mapping[str, Any]) -> str | None:
    """Name and release from the output of `uname -a`, whose second word is the host's name."""
    words = str(start.get("system_info", "")).split()
    return f"{words[0]} {words[2]}" if len(words) > 2 else None


def _count_undelivered(document: Mapping[str, Any]) -> dict[int, int]:
    """The bytes that the sender of each TCP stream wrote and the receiver didn't get, by socket."""
    found: dict[int, int] = {}
    for stream in document.get("end", {}).get("streams", ()):
        sender, receiver = stream.get("sender", {}), stream.get("receiver", {})
        if "socket" in sender and "bytes" in sender and "bytes" in receiver:
            found[int(sender["socket"])] = max(0, int(sender["bytes"]) - int(receiver["bytes"]))
    return found


def _receiver_seconds(document: Mapping[str, Any]) -> dict[int, float]:
    """How long the receiver of each stream measured, until the last byte arrived, by socket.

    iperf3 divides by the receiver's `end`; in a receiver's `seconds` it repeats the sender's.
    """
    return {
        int(stream["sender"]["socket"]): _span(stream["receiver"])
        for stream in document.get("end", {}).get("streams", ())
        if "socket" in stream.get("sender", {}) and "seconds" in stream.get("receiver", {})
    }


def _span(receiver: Mapping[str, Any]) -> float:
    """The seconds between a receiver's start and end."""
    if "start" in receiver and "end" in receiver:
        return float(receiver["end"]) - float(receiver["start"])
    return float(receiver["seconds"])


def _delivered(rows: list[Mapping[str, Any]], undelivered: int) -> list[int]:
    """The payload that arrived of what each interval counts; a receiver counts just that."""
    found = []
    for row in rows:
        written = int(row["bytes"])
        waiting = min(written, undelivered) if row.get("sender", True) else 0
        undelivered -= waiting
        found.append(written - waiting)
    return found


def _samples(
    rows: list[Mapping[str, Any]], mss: int, undelivered: int, receiver_s: float
) -> pl.DataFrame:
    begin = float(rows[0]["start"])
    times = [round(float(row["end"]) - begin, 6) for row in rows]
    spans = [float(row["end"]) - float(row["start"]) for row in rows]
    if receiver_s > times[-1]:
        spans[-1] += receiver_s - times[-1]
        times[-1] = round(receiver_s, 6)
    again, retransmitted = 0, []
    for row in rows:
        again += int(row.get("retransmits", 0))
        retransmitted.append(again if "retransmits" in row else None)
    payload = _delivered(rows, undelivered)
    rtts = [row["rtt"] / 1e3 if "rtt" in row else None for row in rows]
    more: dict[str, list[Any]] = {
        "cwnd": [row["snd_cwnd"] // mss if "snd_cwnd" in row else None for row in rows],
        "rtt_ms": rtts,
        "srtt_ms": rtts,
        "retransmitted": retransmitted,
        "delivery_mbps": [
            size * 8 / span / 1e6 if span > 0 else None
            for size, span in zip(payload, spans, strict=True)
        ],
    }
    return from_payload(times, payload, more)


def write(scenario: Scenario, tables: Mapping[str, pl.DataFrame], stem: Path) -> list[Path]:
    """A file for each flow: `STEM-FLOW.json`; raises OSError if one can't be written."""
    paths = []
    names = slugs([flow["name"] for flow in scenario["flows"]], "flow")
    for ident, flow in enumerate(scenario["flows"]):
        rows = tables["flow_samples"].filter(pl.col("flow") == ident).sort("time_s")
        path = stem.with_name(f"{stem.name}-{names[ident]}.json")
        path.write_text(json.dumps(_document(flow, rows), indent=1) + "\n", encoding="utf-8")
        paths.append(path)
    return paths


def _document(flow: Mapping[str, Any], rows: pl.DataFrame) -> dict[str, Any]:
    entries = rows.select(
        "time_s", "received_bytes", "retransmitted", "cwnd", "srtt_ms", "rtt_ms"
    ).to_dicts()
    intervals = [
        _interval(before, after)
        for before, after in itertools.pairwise(entries)
        if after["time_s"] > before["time_s"]
    ]
    whole = _interval(entries[0], entries[-1]) if len(entries) > 1 else {}
    return {
        "start": {
            "version": "narrows",
            "tcp_mss_default": PAYLOAD_BYTES,
            "test_start": {"protocol": "TCP", "num_streams": 1, "reverse": 0},
        },
        "intervals": [{"streams": [entry], "sum": entry} for entry in intervals],
        "end": {
            "streams": [{"sender": whole, "receiver": whole}],
            "sum_sent": whole,
            "sum_received": whole,
            "sender_tcp_congestion": flow["cca"],
            "receiver_tcp_congestion": flow["cca"],
        },
    }


def _interval(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    span = after["time_s"] - before["time_s"]
    size = (after["received_bytes"] or 0) - (before["received_bytes"] or 0)
    made: dict[str, Any] = {
        "socket": 5,
        "start": before["time_s"],
        "end": after["time_s"],
        "seconds": span,
        "bytes": size,
        "bits_per_second": size * 8 / span if span else 0.0,
        "omitted": False,
        "sender": True,
    }
    rtt = after["srtt_ms"] if after["srtt_ms"] is not None else after["rtt_ms"]
    if after["retransmitted"] is not None:
        made["retransmits"] = after["retransmitted"] - (before["retransmitted"] or 0)
    if after["cwnd"] is not None:
        made["snd_cwnd"] = after["cwnd"] * PAYLOAD_BYTES
    if rtt is not None:
        made["rtt"] = round(rtt * 1e3)
    return made
