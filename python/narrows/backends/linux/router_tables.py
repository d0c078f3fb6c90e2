"""Turns the output of the router and the traffic tools into tables.

Values that neither Linux's TCP nor the router shows are null: the latest RTT sample and the packets
marked lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from narrows.backends.linux.commands import flows_of_programs
from narrows.backends.linux.groups import Group, applications, completions, flow_rows, packet_rows
from narrows.backends.linux.internals import internals
from narrows.backends.linux.programs import lifetimes
from narrows.backends.linux.tables import (
    Tables,
    flow_samples,
    queue_depths,
    read_csv,
    round_trips,
    seconds,
    wanted_rows,
)
from narrows.columns import compute_table, schema
from narrows.late import pl
from narrows.spec.scenario import Scenario


def router_tables(
    directory: Path, scenario: Scenario, hosts: Sequence[Path], members: Sequence[Group]
) -> Tables:
    """Returns the tables of a run whose router wrote into `directory`.

    The traffic tool of each group of flows wrote into one of `hosts`. Raises OSError if there are
    no such files.
    """
    flows = flow_rows(hosts, members)
    queue = read_csv(directory / "router_queue.csv")
    shown = wanted_rows(flows, scenario)
    since: int = scenario["run"]["warmup_ns"]
    of_programs = [number for number, _ in flows_of_programs(scenario)]
    tables = {
        "flow_samples": flow_samples(
            _with_path(shown, directory, of_programs),
            scenario,
            wire_bytes=pl.col("wire_bytes").fill_null(0),
            dropped=pl.col("dropped").fill_null(0),
        ),
        "internals": internals(shown, applications(hosts, members), scenario, seconds()),
        "queue_samples": _queue_samples(shown, queue),
        "completions": pl.concat(
            [completions(hosts, members), _ended_programs(directory, hosts, members)]
        ).sort("end_s", maintain_order=True),
        "distributions": pl.concat(
            [
                round_trips(flows, since),
                _one_way_delays(directory),
                queue_depths(queue, pl.col("backlog_bytes"), since),
            ]
        ),
    }
    if scenario["run"]["record"] == "packets":
        tables["packets"] = packet_rows(hosts, members)
    return tables


def _with_path(rows: pl.DataFrame, directory: Path, of_programs: Sequence[int]) -> pl.DataFrame:
    """Adds the router's counters of each flow at the same instants to the rows.

    All counters of flows `of_programs` come from the router.
    """
    counted = read_csv(directory / "router_flows.csv").sort("time_ns")
    keys = rows.select("time_ns", "flow").with_row_index("row").sort("time_ns")
    known = keys.join_asof(counted, on="time_ns", by="flow", check_sortedness=False).sort("row")
    found = rows.with_columns(known["wire_bytes"], known["dropped"])
    # Only the router sees what programs send.
    taken = {"sent": "sent", "delivered": "delivered", "arrived_bytes": "payload_bytes"}
    is_of_programs = pl.col("flow").is_in(of_programs)
    return found.with_columns(
        pl.when(is_of_programs)
        .then(pl.lit(known[f"{name}_right" if f"{name}_right" in known.columns else name]))
        .otherwise(pl.col(own))
        .alias(own)
        for own, name in taken.items()
    )


def _ended_programs(
    directory: Path, hosts: Sequence[Path], members: Sequence[Group]
) -> pl.DataFrame:
    """Returns a completion for each client that ended by itself.

    Its size is all payload that reached the client's host.
    """
    ended = [
        {"flow": flow, "start_ns": times["start_ns"], "end_ns": times["end_ns"]}
        for flow, times in lifetimes(hosts, members).items()
        if times["end_ns"] is not None
    ]
    kinds = {"flow": pl.Int64, "start_ns": pl.Int64, "end_ns": pl.Int64}
    last = (
        read_csv(directory / "router_flows.csv")
        .group_by("flow")
        .agg(pl.col("payload_bytes").last())
    )
    rows = pl.DataFrame(ended, schema=kinds).join(
        last, on="flow", how="left", maintain_order="left"
    )
    known = {
        "flow": pl.col("flow"),
        "instance": pl.lit(0),
        "start_s": seconds("start_ns"),
        "end_s": seconds("end_ns"),
        "size_bytes": pl.col("payload_bytes"),
        "retransmitted": pl.lit(0),
    }
    return compute_table("completions", rows, known)


def _one_way_delays(directory: Path) -> pl.DataFrame:
    """Returns the one-way delays of each flow's data from the warm-up on, to a microsecond."""
    kinds = {"flow": pl.Int64, "delay_us": pl.Int64, "packets": pl.Int64}
    counted = pl.read_csv(directory / "router_delays.csv", glob=False, schema=kinds)
    known = {
        "kind": pl.lit("one_way_ms"),
        "id": pl.col("flow"),
        "value": pl.col("delay_us") / 1e3,
        "weight": pl.col("packets").cast(pl.Float64),
    }
    return compute_table("distributions", counted, known)


def _queue_samples(rows: pl.DataFrame, queue: pl.DataFrame) -> pl.DataFrame:
    """Returns the row of each link at the flows' instants, in this order."""
    instants = rows.select("time_ns").unique()
    wanted = instants.join(queue.select("link").unique(), how="cross").sort("time_ns", "link")
    rows = wanted.join_asof(queue.sort("time_ns"), on="time_ns", by="link", check_sortedness=False)
    counted = {name: pl.col(name) for name in schema("queue_samples") if name in rows.columns}
    return compute_table("queue_samples", rows, {"time_s": seconds()} | counted)
