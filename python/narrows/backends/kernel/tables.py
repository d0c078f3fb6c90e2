"""What the router and the traffic tool wrote, as the tables that every back end writes.

Values that this kernel's TCP doesn't show are null: the latest RTT sample and the packets marked
lost. The router knows the rest.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from narrows.backends.linux.internals import internals
from narrows.backends.linux.tables import (
    Tables,
    completion_rows,
    flow_samples,
    packets,
    queue_depths,
    read_csv,
    read_flows,
    round_trips,
    seconds,
    wanted_rows,
)
from narrows.columns import schema, shaped
from narrows.spec.scenario import Scenario


def read_tables(directory: Path, scenario: Scenario) -> Tables:
    """The tables of a run from the files in `directory`; raises OSError if there are none."""
    flows = read_flows(directory)
    queue = read_csv(directory / "router_queue.csv")
    shown = wanted_rows(flows, scenario)
    since: int = scenario["run"]["warmup_ns"]
    tables = {
        "flow_samples": flow_samples(
            _with_path(shown, directory),
            scenario,
            wire_bytes=pl.col("wire_bytes").fill_null(0),
            dropped=pl.col("dropped").fill_null(0),
        ),
        "internals": internals(shown, scenario, seconds()),
        "queue_samples": _queue_samples(shown, queue),
        "completions": completion_rows(read_csv(directory / "completions.csv")),
        "distributions": pl.concat(
            [round_trips(flows, since), queue_depths(queue, pl.col("backlog_bytes"), since)]
        ),
    }
    if scenario["run"]["record"] == "packets":
        tables["packets"] = packets(read_csv(directory / "packets.csv"))
    return tables


def _with_path(rows: pl.DataFrame, directory: Path) -> pl.DataFrame:
    """The rows with the router's counters of each flow at the same instants."""
    counted = read_csv(directory / "router_flows.csv").sort("time_ns")
    keys = rows.select("time_ns", "flow").with_row_index("row").sort("time_ns")
    known = keys.join_asof(counted, on="time_ns", by="flow", check_sortedness=False).sort("row")
    return rows.with_columns(known["wire_bytes"], known["dropped"])


def _queue_samples(rows: pl.DataFrame, queue: pl.DataFrame) -> pl.DataFrame:
    """The row of each link at the flows' instants, in this order."""
    instants = rows.select("time_ns").unique()
    wanted = instants.join(queue.select("link").unique(), how="cross").sort("time_ns", "link")
    rows = wanted.join_asof(queue.sort("time_ns"), on="time_ns", by="link", check_sortedness=False)
    counted = {name: pl.col(name) for name in schema("queue_samples") if name in rows.columns}
    return shaped("queue_samples", rows, {"time_s": seconds()} | counted)
