"""Turns the traffic tool's output into tables, for a path of Linux's own queue disciplines.

Values that such a path doesn't show are null, including each flow's own drops.
"""

from __future__ import annotations

from pathlib import Path

from narrows.backends.linux.internals import internals
from narrows.backends.linux.qdiscs import ETHERNET
from narrows.backends.linux.tables import (
    Tables,
    completion_rows,
    flow_samples,
    packets,
    queue_depths,
    read_applications,
    read_csv,
    read_flows,
    round_trips,
    seconds,
    wanted_rows,
)
from narrows.columns import compute_table
from narrows.late import pl
from narrows.packets import PACKET_BYTES
from narrows.spec.scenario import Scenario


def read_tables(directory: Path, scenario: Scenario) -> Tables:
    """Returns the tables of a run from the files in `directory`.

    Raises OSError if there are none.
    """
    flows = read_flows(directory)
    queue = read_csv(directory / "queue.csv")
    shown, queue_shown = wanted_rows(flows, scenario), wanted_rows(queue, scenario)
    tables = {
        "flow_samples": flow_samples(
            shown, scenario, wire_bytes=_wire_bytes(scenario), dropped=pl.lit(None)
        ),
        "internals": internals(shown, read_applications(directory), scenario, seconds()),
        "queue_samples": _queue_samples(queue_shown),
        "completions": completion_rows(read_csv(directory / "completions.csv")),
        "distributions": _distributions(flows, queue, scenario),
    }
    if scenario["run"]["record"] == "packets":
        tables["packets"] = packets(read_csv(directory / "packets.csv"))
    return tables


def _wire_bytes(scenario: Scenario) -> pl.Expr:
    """Counts every data packet as a full one; null where the path loses some, uncounted."""
    if scenario["path"]["loss"]:
        return pl.lit(None)
    return pl.col("arrived_segments") * PACKET_BYTES


def _queue_samples(queue: pl.DataFrame) -> pl.DataFrame:
    count = pl.col("packets") + pl.col("drops") + pl.col("queued_packets")
    known = {
        "time_s": seconds(),
        "link": pl.lit(0),
        "backlog_bytes": _ip_bytes("queued_bytes", "queued_packets"),
        "backlog_packets": pl.col("queued_packets"),
        "arrived_packets": count,
        "dropped_packets": pl.col("drops"),
        "marked_packets": pl.col("marks"),
        "forwarded_packets": pl.col("packets"),
        "forwarded_bytes": _ip_bytes("bytes", "packets"),
    }
    return compute_table("queue_samples", queue, known)


def _ip_bytes(size: str, packets: str) -> pl.Expr:
    """Converts to the bytes that tc counts, without Ethernet headers."""
    return pl.col(size) - ETHERNET * pl.col(packets)


def _distributions(flows: pl.DataFrame, queue: pl.DataFrame, scenario: Scenario) -> pl.DataFrame:
    """Returns the distributions from the warm-up on.

    The smoothed RTT is weighted by packets delivered, the queue by time.
    """
    since: int = scenario["run"]["warmup_ns"]
    backlog = _ip_bytes("queued_bytes", "queued_packets")
    queue = queue.with_columns(link=pl.lit(0))
    return pl.concat([round_trips(flows, since), queue_depths(queue, backlog, since)])
