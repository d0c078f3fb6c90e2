"""CSV files with a row for each flow and instant.

A file must have `time_s`, and either `received_bytes` (counted from the start) or `goodput_mbps`
(over the time since the row before). `flow` or `name` distinguishes flows; `cca` and every column
of `flow_samples` are taken unchanged. `narrows export DIR flow_samples` writes such files.
"""

from __future__ import annotations

from io import BytesIO

from narrows.columns import schema
from narrows.exchange.measured import FileMeasurements, MeasuredFlow, samples_of
from narrows.late import pl
from narrows.packets import WIRE
from narrows.store.cells import as_written


def read(content: bytes, name: str) -> FileMeasurements:
    """The flows of a file; raises ValueError if columns are missing."""
    try:
        frame = as_written(pl.read_csv(BytesIO(content), infer_schema_length=None))
    except pl.exceptions.PolarsError:
        raise ValueError("its lines are no table") from None
    columns = set(frame.columns)
    if "time_s" not in columns or not columns & {"received_bytes", "goodput_mbps"}:
        raise ValueError("no columns time_s and received_bytes or goodput_mbps")
    if "trial" in columns and frame["trial"].n_unique() > 1:
        raise ValueError("several trials; one is imported at a time")
    by = next((key for key in ("name", "flow") if key in columns), None)
    groups = frame.sort("time_s").group_by([by], maintain_order=True) if by else [((name,), frame)]
    flows = [_flow(str(key[0]) if by != "flow" else f"{name}-{key[0]}", rows)
             for key, rows in sorted(groups, key=lambda item: str(item[0]))]  # fmt: skip
    spans = frame["time_s"].unique().sort().diff().drop_nulls()
    middle = spans.median() if len(spans) else None
    return FileMeasurements(flows, float(str(middle)) if middle else 1.0)


def _flow(name: str, rows: pl.DataFrame) -> MeasuredFlow:
    if "received_bytes" not in rows.columns:
        span = pl.col("time_s").diff().fill_null(pl.col("time_s"))
        grown = (pl.col("goodput_mbps") * 1e6 / 8 * span).fill_null(0.0).cum_sum()
        rows = rows.with_columns(grown.round().alias("received_bytes"))
    if "wire_bytes" not in rows.columns:
        wire = (pl.col("received_bytes") * WIRE).round()
        rows = rows.with_columns(wire.alias("wire_bytes"))
    known = {
        column: rows[column].to_list()
        for column in schema("flow_samples")
        if column in rows.columns
    }
    known.pop("flow", None)
    cca = str(rows["cca"][0]) if "cca" in rows.columns and rows["cca"][0] else None
    return MeasuredFlow(name, samples_of(known), cca)
