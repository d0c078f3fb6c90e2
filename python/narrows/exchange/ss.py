"""Logs of `ss -tin` in a loop, with the time before each output or each line.

    while sleep 0.1; do date +%s.%N; ss -tin dst 10.0.0.2; done > ss.log

A time is seconds since the epoch, or has the form HH:MM:SS, as `date`, `date -Ins` and `ts` write
it. Connections are distinguished by their addresses; those that sent less than 1 % of the largest
one's bytes, such as the control connection of iperf3, are left out. Round-trip times are the
kernel's smoothed ones. Counters start at zero where the log starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from narrows.analyze.ss_log import SsConnection, connections, growth
from narrows.exchange.measured import FileMeasurements, MeasuredFlow, samples_of
from narrows.late import pl
from narrows.packets import WIRE

SMALL = 0.01
"""Connections with a smaller fraction of the largest one's bytes are left out."""


def read(text: str, name: str) -> FileMeasurements:
    """The connections that sent data; raises ValueError without times or connections."""
    known = connections(text)
    if not known:
        raise ValueError("no connection with cwnd, as `ss -tin` shows it")
    sent = {key: growth(one)[-1] for key, one in known.items()}
    least = SMALL * max(sent.values())
    flows = [
        MeasuredFlow(key or name, _samples(one), one.control)
        for key, one in known.items()
        if sent[key] > 0 and sent[key] >= least
    ]
    if not flows:
        raise ValueError("no connection whose bytes_acked grow")
    start_s = min(flow.samples["time_s"][0] for flow in flows)
    shifted = [
        MeasuredFlow(f.name, f.samples.with_columns(pl.col("time_s") - start_s), f.cca)
        for f in flows
    ]
    spans = [b - a for one in known.values() for a, b in pairwise(one.times) if b > a]
    return FileMeasurements(shifted, median(spans) if spans else 0.0)


def _samples(one: SsConnection) -> pl.DataFrame:
    def column(key: str) -> list[float | None]:
        return [values.get(key) for values in one.values]

    def whole(numbers: Sequence[float | None]) -> list[int | None]:
        return [None if number is None else round(number) for number in numbers]

    received = whole(growth(one))
    columns: dict[str, list[Any]] = {
        "time_s": list(one.times),
        "received_bytes": received,
        "wire_bytes": [round((size or 0) * WIRE) for size in received],
        "sent": whole(growth(one, "data_segs_out")) if _counts(one, "data_segs_out") else [],
        "delivered": whole(growth(one, "delivered")) if _counts(one, "delivered") else [],
        "retransmitted": whole(growth(one, "retrans/")),
        "cwnd": whole(column("cwnd")),
        "ssthresh": whole(column("ssthresh")),
        "in_flight": whole([values.get("unacked", 0.0) for values in one.values]),
        "rtt_ms": column("rtt"),
        "srtt_ms": column("rtt"),
        "min_rtt_ms": column("minrtt"),
        "pacing_mbps": column("pacing_rate"),
        "delivery_mbps": column("delivery_rate"),
    }
    known = {key: values for key, values in columns.items() if values}
    if one.born_s is not None:
        known = {key: [_at_birth(one, key), *values] for key, values in known.items()}
    return samples_of(known)


_COUNTED = ("received_bytes", "wire_bytes", "sent", "delivered", "retransmitted")


def _at_birth(one: SsConnection, key: str) -> float | None:
    """The value at the last output without the connection."""
    return one.born_s if key == "time_s" else 0 if key in _COUNTED else None


def _counts(one: SsConnection, key: str) -> bool:
    """Returns True if a counter is shown at all; older kernels lack some."""
    return any(key in values for values in one.values)
