"""Turns the traffic tool's output into parts of the tables that every back end writes.

Values that Linux's TCP doesn't show are null: the latest RTT sample and the packets marked lost.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from narrows.backends.linux.internals import cca_states
from narrows.backends.linux.traffic import FIRST_PORT
from narrows.columns import compute_table
from narrows.late import pl
from narrows.packets import PACKET_BYTES
from narrows.spec.registry import paces
from narrows.spec.scenario import Scenario

Tables = dict[str, pl.DataFrame]

_STATES = ("open", "disorder", "cwr", "recovery", "loss")
_INFINITE = 0x7FFF_FFFF
_UNPACED = str(2**64 - 1)
"""Linux's pacing rate while none is set."""
_FIN, _SYN = 1, 2


def read_json(path: Path) -> dict[str, Any]:
    """Reads a JSON file that one of our programs wrote."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def read_csv(path: Path) -> pl.DataFrame:
    """Reads the table in a file of exactly this name; raises OSError if there is none."""
    return pl.read_csv(path, infer_schema_length=None, glob=False)


def read_applications(directory: Path) -> pl.DataFrame:
    """Reads the internals of flows' applications; raises OSError if there is no file."""
    kinds = {"time_ns": pl.Int64, "flow": pl.Int64, "name": pl.String, "value": pl.Float64}
    return pl.read_csv(directory / "applications.csv", glob=False, schema=kinds)


def read_flows(directory: Path) -> pl.DataFrame:
    """Reads the traffic tool's samples of the flows; raises OSError if there are none."""
    return pl.read_csv(
        directory / "flows.csv",
        glob=False,
        schema_overrides=dict.fromkeys(_OPTIONAL, pl.Int64),
        null_values={"pacing_rate": _UNPACED},
    )


_OPTIONAL = (
    *("ca_state", "cwnd", "ssthresh", "unacked", "sacked", "lost", "retrans"),
    *("srtt_us", "rttvar_us", "min_rtt_us", "pacing_rate", "delivery_rate", "mss", "dsack_dups"),
    *("app_limited", "reordering", "snd_wnd", "rwnd_limited_us", "sndbuf_limited_us"),
    *("cc0", "cc1", "cc2", "cc3", "cc4"),
)
"""Columns without values while there is no connection."""


def wanted_rows(frame: pl.DataFrame, scenario: Scenario) -> pl.DataFrame:
    """Keeps only the multiples of the scenario's interval, the warm-up and the end."""
    run = scenario["run"]
    time, end = pl.col("time_ns"), pl.col("time_ns").max()
    wanted = (time == run["warmup_ns"]) | (time == end)
    if run["record"] != "summary":
        wanted |= time % run["sample_interval_ns"] == 0
    return frame.filter(wanted)


def seconds(column: str = "time_ns") -> pl.Expr:
    """Converts ns to the nearest float of seconds; polars itself multiplies by 1e-9."""
    return pl.col(column).map_batches(lambda ns: ns.to_numpy() / 1e9, return_dtype=pl.Float64)


def flow_samples(
    flows: pl.DataFrame, scenario: Scenario, *, wire_bytes: pl.Expr, dropped: pl.Expr
) -> pl.DataFrame:
    """Returns the table `flow_samples` from rows of `read_flows` with the path's counters."""
    open_ = pl.col("cwnd").is_not_null()
    in_flight = pl.col("unacked") + pl.col("retrans") - pl.col("sacked") - pl.col("lost")
    rated = flows.with_columns(_is_paced(scenario).alias("paced"))
    known = {
        "time_s": seconds(),
        "flow": pl.col("flow"),
        "cwnd": pl.col("cwnd").fill_null(0),
        "ssthresh": pl.col("ssthresh").replace(_INFINITE, None),
        "in_flight": in_flight.fill_null(0),
        "srtt_ms": pl.col("srtt_us").replace(0, None) / 1e3,
        "min_rtt_ms": pl.col("min_rtt_us").replace(0xFFFF_FFFF, None) / 1e3,
        "pacing_mbps": pl.when("paced").then(pl.col("pacing_rate") * 8 / 1e6),
        "delivery_mbps": pl.col("delivery_rate").replace(0, None) * 8 / 1e6,
        "sent": pl.col("sent"),
        "delivered": pl.col("delivered"),
        "retransmitted": pl.col("retransmitted"),
        "received_bytes": received_bytes(),
        "wire_bytes": wire_bytes,
        "dropped": dropped,
        "state": pl.when(open_)
        .then(pl.col("ca_state").replace_strict(dict(enumerate(_STATES)), return_dtype=pl.String))
        .otherwise(pl.lit("closed")),
        "cca_state": cca_states(scenario),
    }
    return compute_table("flow_samples", rated, known)


def _is_paced(scenario: Scenario) -> pl.Expr:
    """Returns a column that is true if `fq` or the flow's control enforces its pacing rate."""
    paced = [i for i, flow in enumerate(scenario["flows"]) if paces(flow["cca"])]
    return pl.lit(scenario["host"]["fq"]) | pl.col("flow").is_in(paced)


def received_bytes() -> pl.Expr:
    """Returns the payload at the receiver, each byte once, including data beyond holes.

    TCP_INFO stops at the first hole. For the open connection, full packets minus duplicates are
    counted. The sender learns of duplicates half a round trip later, hence the running maximum.
    """
    full = (pl.col("open_segments") - pl.col("dsack_dups").fill_null(0)) * pl.col("mss")
    known = pl.max_horizontal(full.fill_null(0), pl.col("open_bytes"))
    whole = pl.col("arrived_bytes") - pl.col("open_bytes") + known
    return whole.cum_max().over("flow")


def completion_rows(completions: pl.DataFrame) -> pl.DataFrame:
    """Returns the table `completions` from the traffic tool's file."""
    same = ("flow", "instance", "size_bytes", "retransmitted")
    times = {"start_s": seconds("start_ns"), "end_s": seconds("end_ns")}
    return compute_table("completions", completions, {name: pl.col(name) for name in same} | times)


def round_trips(flows: pl.DataFrame, since_ns: int) -> pl.DataFrame:
    """Returns the distribution of each flow's smoothed RTT, weighted by packets delivered."""
    delivered = (pl.col("delivered") - pl.col("delivered").shift().over("flow")).cast(pl.Float64)
    since = pl.col("time_ns") >= since_ns
    rtts = flows.with_columns(weight=delivered).filter(since & (pl.col("srtt_us") > 0))
    rtts = rtts.select(id="flow", value=pl.col("srtt_us") / 1e3, weight="weight")
    return _buckets("rtt_ms", rtts)


def queue_depths(queue: pl.DataFrame, backlog: pl.Expr, since_ns: int) -> pl.DataFrame:
    """Returns the seconds that each link's queue spent at each depth.

    `backlog` holds the bytes of the queue in a row.
    """
    span = (pl.col("time_ns").shift(-1) - pl.col("time_ns")).over("link") / 1e9
    depths = queue.with_columns(weight=span).filter(pl.col("time_ns") >= since_ns)
    depths = depths.select(
        id=pl.col("link").cast(pl.Int64), value=backlog.cast(pl.Float64), weight="weight"
    )
    return _buckets("queue_bytes", depths)


def _buckets(kind: str, samples: pl.DataFrame) -> pl.DataFrame:
    summed = samples.group_by("id", "value").agg(pl.col("weight").sum())
    kept = summed.filter(pl.col("weight") > 0).sort("id", "value")
    columns = {name: pl.col(name) for name in ("id", "value", "weight")}
    return compute_table("distributions", kept, {"kind": pl.lit(kind)} | columns)


def packets(captured: pl.DataFrame) -> pl.DataFrame:
    """Returns data and acknowledgements at the sending host.

    Sequence numbers become packet numbers.
    """
    out = pl.col("direction") == "out"
    frame = captured.with_columns(
        server=pl.when(out).then("destination").otherwise("source"),
        client=pl.when(out).then("source").otherwise("destination"),
        syn=pl.col("flags") // _SYN % 2 == 1,
    )
    first = frame.filter(out & pl.col("syn")).group_by("server", "client", maintain_order=True)
    starts = first.agg(pl.col("seq").first().alias("initial"))
    starts = starts.with_columns(instance=pl.int_range(pl.len()).over("server"))
    largest = captured["payload"].max()
    mss = largest if isinstance(largest, int) and largest > 0 else 1
    number = pl.when(out).then("seq").otherwise("ack") - pl.col("initial") - 1
    frame = frame.join(starts, on=["server", "client"], maintain_order="left")
    frame = frame.filter(~pl.col("syn") & (~out | (pl.col("payload") > 0)))
    offset = number % 2**32
    again = offset < offset.cum_max().shift().over("server", "client", "direction")
    options = (
        pl.when(pl.col("sack").fill_null("") == "")
        .then(0)
        .otherwise(4 + 8 * pl.col("sack").str.split(" ").list.len().cast(pl.Int64))
    )
    known = {
        "time_s": seconds(),
        "event": pl.when(out).then(pl.lit("sent")).otherwise(pl.lit("ack_received")),
        "flow": pl.col("server") - FIRST_PORT,
        "instance": pl.col("instance"),
        "seq": -(-offset // mss),
        "size": pl.col("payload") + 52 + options,
        "retransmission": (out & again).fill_null(value=False),
    }
    return compute_table("packets", frame, known)


def extent(tables: Mapping[str, pl.DataFrame]) -> tuple[float, int]:
    """Returns the end of the run and the packets out of the bottleneck.

    Only data packets count, if they are known.
    """
    queue = tables["queue_samples"].row(-1, named=True)
    flows = tables["flow_samples"]
    data = flows.filter(flows["time_s"] == queue["time_s"])["wire_bytes"]
    packets = queue["forwarded_packets"] if data.has_nulls() else int(data.sum()) // PACKET_BYTES
    return queue["time_s"], packets
