"""Merges the files of all hosts, and turns them into the tables of every back end.

All hosts sample at the same instants of the run. A flow's row comes from its sender; the amount
received comes from the receiver's row of the same instant, accurate to the clocks' uncertainty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from narrows.backends.linux.groups import Group
from narrows.backends.linux.qdisc_tables import read_tables
from narrows.backends.linux.router_tables import router_tables
from narrows.backends.linux.tables import Tables, read_csv
from narrows.backends.linux.traffic import FIRST_PORT
from narrows.late import pl
from narrows.spec.scenario import Scenario

_ARRIVED = ("arrived_segments", "open_segments", "arrived_bytes", "open_bytes")
_OF_BOTTLENECK = ("queue.csv", "router_queue.csv", "router_flows.csv")
_PACKETS = "packets.csv"
_DELAYS = "router_delays.csv"


@dataclass(frozen=True)
class HostResults:
    """A host's results in a directory, with the flows that it sent and received."""

    directory: Path
    sends: tuple[int, ...]
    receives: tuple[int, ...]


def hosts_tables(
    merged: Path, scenario: Scenario, parts: Sequence[HostResults], shaper: Path, end_ns: int
) -> Tables:
    """Returns the tables of a run that ended at `end_ns`.

    `merged` is an empty directory for the merged files. The host with the bottleneck wrote into
    `shaper`. Raises OSError if files are missing.
    """
    merge(merged, parts, end_ns)
    if scenario["run"]["record"] == "packets":
        merge_packets(merged, parts, end_ns)
    for name in _OF_BOTTLENECK:
        # Its host continues until all hosts have ended.
        if (shaper / name).exists():
            rows = read_csv(shaper / name)
            rows.filter(pl.col("time_ns") <= end_ns).write_csv(merged / name)
    if not (shaper / "router_queue.csv").exists():
        return read_tables(merged, scenario)
    _copy_delays(shaper, merged, whole=end_ns == scenario["run"]["duration_ns"])
    everything = Group(tuple(range(len(scenario["flows"]))), {})
    return router_tables(merged, scenario, [merged], [everything])


def _copy_delays(shaper: Path, merged: Path, *, whole: bool) -> None:
    """Copies the counts of one-way delays, unless the run ended early: they cover a whole run."""
    lines = (shaper / _DELAYS).read_text(encoding="ascii").splitlines(keepends=True)
    (merged / _DELAYS).write_text("".join(lines if whole else lines[:1]), encoding="ascii")


def merge(merged: Path, parts: Sequence[HostResults], end_ns: int) -> None:
    """Merges the files of all hosts until `end_ns` into those of one traffic program."""
    sending = [part for part in parts if part.sends]
    receiving = [part for part in parts if part.receives]
    sent = pl.concat([_rows(part.directory / "flows.csv", part.sends) for part in sending])
    arrived = pl.concat([_rows(part.directory / "flows.csv", part.receives) for part in receiving])
    arrived = arrived.select("time_ns", "flow", *_ARRIVED)
    rows = sent.drop(_ARRIVED).join(arrived, on=["time_ns", "flow"], how="left")
    rows = (
        rows.filter(pl.col("time_ns") <= end_ns)
        .sort("time_ns", "flow")
        .with_columns(
            # A receiver that was late for an instant knows nothing newer than before.
            pl.col(_ARRIVED).cast(pl.Int64).fill_null(strategy="forward").over("flow").fill_null(0)
        )
    )
    columns = _header(sending[0].directory / "flows.csv")
    rows.select(columns).write_csv(merged / "flows.csv")
    for name, order in (("applications.csv", "time_ns"), ("completions.csv", "end_ns")):
        tables = [_rows(part.directory / name, part.sends) for part in sending]
        time = pl.col(order).cast(pl.Int64)
        rows = pl.concat(tables).filter(time <= end_ns)
        rows.sort(time, maintain_order=True).write_csv(merged / name)


def merge_packets(merged: Path, parts: Sequence[HostResults], end_ns: int) -> None:
    """Merges the packets at all senders until `end_ns`, without those of other programs."""
    found = []
    for part in parts:
        if part.sends:
            rows = read_csv(part.directory / _PACKETS)
            receiver = pl.when(pl.col("direction") == "out").then("destination").otherwise("source")
            ports = [FIRST_PORT + flow for flow in part.sends]
            found.append(rows.filter(receiver.is_in(ports) & (pl.col("time_ns") <= end_ns)))
    # A column without values has no type, such as that of SACK blocks on a host without losses.
    rows = pl.concat(found, how="vertical_relaxed")
    rows.sort("time_ns", maintain_order=True).write_csv(merged / _PACKETS)


def _header(path: Path) -> list[str]:
    with path.open(encoding="utf-8") as file:
        return file.readline().strip().split(",")


def _rows(path: Path, flows: Sequence[int]) -> pl.DataFrame:
    """Reads the rows of some flows, with numbers for time and flow and unparsed texts."""
    kinds = {"time_ns": pl.Int64, "flow": pl.Int64}
    table = pl.read_csv(path, glob=False, infer_schema=False)
    known = [name for name in kinds if name in table.columns]
    table = table.with_columns(pl.col(name).cast(kinds[name]) for name in known)
    return table.filter(pl.col("flow").is_in(list(flows)))
