"""flent's data files (`.flent.gz`, format version 3): series over common instants.

Rates are in 10^6 bit/s of payload, ping times in ms. Reading takes the series with TCP in their
names, without their sums; the first ping series is the round-trip time of all. Writing gives a file
that flent shows as its test `tcp_nup`.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

from narrows.exchange.measured import FileMeasurements, MeasuredFlow, from_payload
from narrows.late import pl
from narrows.spec.scenario import Scenario

VERSION = 3
PING = "Ping (ms) ICMP"
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
"""The date assigned to the beginning of a simulation."""
MAX_TEXT_BYTES = 1_000_000_000
_SUMS = re.compile(r"\b(avg|sum|totals?)\b", re.IGNORECASE)


def matches(document: object) -> bool:
    """Returns True if a JSON document is a flent data file."""
    return isinstance(document, Mapping) and "x_values" in document and "results" in document


def read(document: Mapping[str, Any], name: str) -> FileMeasurements:
    """The TCP series of a file; raises KeyError, TypeError or ValueError if it has none."""
    if int(document.get("version", 1)) > VERSION:
        raise ValueError(f"version {document['version']} of the format")
    times = [float(x) for x in document["x_values"]]
    results: Mapping[str, Sequence[float | None]] = document["results"]
    wanted = [
        series
        for series in results
        if "tcp" in series.lower() and not _SUMS.search(series) and "::" not in series[:2]
    ]
    if not wanted or not times:
        raise ValueError("no series of TCP")
    pings = next((v for k, v in results.items() if k.lower().startswith("ping")), None)
    step = (times[-1] - times[0]) / max(len(times) - 1, 1) or 1.0
    times = [x - times[0] + step for x in times]
    if step < 0:
        raise ValueError("times that descend")
    flows = [
        MeasuredFlow(series, _samples(times, results[series], pings, step)) for series in wanted
    ]
    del name
    return FileMeasurements(flows, step)


def _samples(
    times: Sequence[float],
    rates: Sequence[float | None],
    pings: Sequence[float | None] | None,
    step: float,
) -> pl.DataFrame:
    payload = [round((rate or 0.0) * 1e6 / 8 * step) for rate in rates]
    more: dict[str, Sequence[Any]] = {"delivery_mbps": [rate or 0.0 for rate in rates]}
    if pings is not None:
        more["rtt_ms"] = pings
    return from_payload(times, payload, more)


def load(path: Path) -> object:
    """The document in a file, gzipped or not; raises OSError or ValueError."""
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        with gzip.open(BytesIO(content)) as stream:
            content = stream.read(MAX_TEXT_BYTES + 1)
        if len(content) > MAX_TEXT_BYTES:
            raise ValueError(f"more than {MAX_TEXT_BYTES} bytes when it is unpacked")
    return json.loads(content)


def write(scenario: Scenario, tables: Mapping[str, pl.DataFrame], stem: Path) -> list[Path]:
    """One file, `STEM.flent.gz`; raises OSError if it can't be written."""
    path = stem.with_name(f"{stem.name}.flent.gz")
    text = json.dumps(_document(scenario, tables), indent=1, sort_keys=True)
    # Without a time in the header, the same results give the same bytes.
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return [path]


def _document(scenario: Scenario, tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    samples = tables["flow_samples"]
    times: list[float] = samples["time_s"].unique().sort().to_list()[1:]
    results: dict[str, list[float | None]] = {}
    for ident in range(len(scenario["flows"])):
        rows = samples.filter(pl.col("flow") == ident).sort("time_s")
        span = pl.col("time_s").diff()
        rate = pl.col("received_bytes").cast(pl.Int64).diff() * 8e-6 / span
        known = dict(rows.select("time_s", rate.alias("rate")).rows())
        results[f"TCP upload::{ident + 1}"] = [known.get(t) for t in times]
    pings = dict(samples.group_by("time_s").agg(pl.col("rtt_ms").mean()).rows())
    results[PING] = [pings.get(t) for t in times]
    begin = EPOCH.timestamp()
    raw = {
        name: [{"t": begin + t, "val": v} for t, v in zip(times, values, strict=True)
               if v is not None]
        for name, values in results.items()
    }  # fmt: skip
    length = times[-1] if times else 0.0
    step = times[1] - times[0] if len(times) > 1 else 1.0
    stamp = EPOCH.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    end = EPOCH + timedelta(seconds=length)
    return {
        "version": VERSION,
        "metadata": {
            "NAME": "tcp_nup",
            "TITLE": scenario["name"],
            "NOTE": "made by narrows; " + ", ".join(f["cca"] for f in scenario["flows"]),
            "TIME": stamp,
            "T0": stamp,
            "BATCH_TIME": None,
            "LENGTH": round((end - EPOCH).total_seconds()),
            "TOTAL_LENGTH": length,
            "STEP_SIZE": round(step, 6),
            "HOST": "narrows",
            "HOSTS": ["narrows"],
            "LOCAL_HOST": "narrows",
            "TEST_PARAMETERS": {"upload_streams": str(len(scenario["flows"]))},
            "FLENT_VERSION": "2.0.0",
            "IP_VERSION": 4,
            "DATA_FILENAME": "",
        },
        "x_values": times,
        "results": results,
        "raw_values": raw,
    }
