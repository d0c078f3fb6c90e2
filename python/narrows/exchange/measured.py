"""Measurements of other programs, in the columns of `flow_samples`.

Values that a program doesn't report are null. If it counts payload, the IP bytes on the wire are
computed for full packets.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars.selectors as cs

from narrows._native import MAX_FLOWS
from narrows.columns import compute_table, schema
from narrows.late import pl
from narrows.packets import WIRE

MAX_NUMBER = 10**15
"""No plausible measurement has more bytes or more ms."""


@dataclass(frozen=True)
class MeasuredFlow:
    """A flow: its samples without the column `flow`, and its control if known."""

    name: str
    samples: pl.DataFrame
    cca: str | None = None

    @property
    def end_s(self) -> float:
        """The time of the last sample."""
        return float(self.samples["time_s"][-1])


@dataclass(frozen=True)
class FileMeasurements:
    """The contents of a file; `queue` and `rate_bps` if it shows the bottleneck.

    `system` names the operating system of the machine that wrote it.
    """

    flows: Sequence[MeasuredFlow]
    interval_s: float
    queue: pl.DataFrame | None = None
    rate_bps: int | None = None
    system: str | None = None


def check(measured: FileMeasurements) -> FileMeasurements:
    """Returns the measurements; raises ValueError if no run can have such values."""
    if len(measured.flows) > MAX_FLOWS:
        raise ValueError(f"{len(measured.flows)} flows, more than {MAX_FLOWS}")
    if not measured.flows or not (math.isfinite(measured.interval_s) and measured.interval_s > 0):
        raise ValueError("intervals without a length")
    for flow in measured.flows:
        times = flow.samples["time_s"]
        if times.is_empty() or times.null_count() or not times.is_finite().all():
            raise ValueError(f"times of {flow.name!r} that aren't numbers")
        for column in flow.samples.select(cs.numeric()):
            numbers = column.drop_nulls().cast(pl.Float64)
            plausible = numbers.is_between(0, MAX_NUMBER) & numbers.is_finite()
            if not plausible.all():
                raise ValueError(
                    f"{column.name} of {flow.name!r} that is {numbers.filter(~plausible)[0]}"
                )
    return measured


def samples_of(columns: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """Samples from some columns; the others are null. Rows are in the order of time."""
    known = pl.DataFrame({name: list(values) for name, values in columns.items()}, strict=False)
    for column in known:
        if column.dtype.is_nested() or column.dtype.is_object():
            raise ValueError(f"{column.name} that is not a number")
    rows = compute_table("flow_samples", known, {name: pl.col(name) for name in columns})
    return rows.drop("flow").sort("time_s")


def from_payload(
    times_s: Sequence[float], payload: Sequence[int], more: Mapping[str, Sequence[Any]]
) -> pl.DataFrame:
    """Samples of a flow from the payload of each interval, with a zero at the beginning."""
    total, sums = 0, [0]
    for size in payload:
        total += size
        sums.append(total)
    columns: dict[str, Sequence[Any]] = {
        "time_s": [0.0, *times_s],
        "received_bytes": sums,
        "wire_bytes": [round(size * WIRE) for size in sums],
        **{name: [_first(name, values), *values] for name, values in more.items()},
    }
    return samples_of(columns)


def _first(name: str, values: Sequence[Any]) -> int | None:
    """The value at time zero: 0 for a known counter, null otherwise."""
    counted = name == "retransmitted" and bool(values) and values[0] is not None
    return 0 if counted else None


def join(flows: Sequence[MeasuredFlow]) -> pl.DataFrame:
    """The table `flow_samples` of all flows."""
    return pl.concat(
        flow.samples.with_columns(pl.lit(ident, dtype=pl.UInt32()).alias("flow")).select(
            *schema("flow_samples")
        )
        for ident, flow in enumerate(flows)
    ).sort("time_s", "flow")


def distributions(flows: Sequence[MeasuredFlow]) -> pl.DataFrame:
    """The round-trip times of the samples, as rows of `distributions`."""
    parts = [
        compute_table(
            "distributions",
            flow.samples.drop_nulls("rtt_ms").group_by("rtt_ms").agg(pl.len().alias("weight")),
            {
                "kind": pl.lit("rtt_ms"),
                "id": pl.lit(ident),
                "value": pl.col("rtt_ms"),
                "weight": pl.col("weight"),
            },
        )
        for ident, flow in enumerate(flows)
    ]
    return pl.concat(parts).sort("id", "value")
