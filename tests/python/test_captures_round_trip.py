"""The golden table's runs, written as captures and analysed again.

Packets, bytes on the wire, retransmissions, losses and received data must be exact. Quantities
that the simulated Linux computes from more than packets show must be within bounds: it takes an
RTT sample from each ACK and, for retransmitted packets, from timestamps in whole milliseconds; it
declares packets lost by time, the analysis by the SACKs of later packets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from captured import capture_run

from narrows import _native

MSS = 1448
GOLDEN = """\
name = "golden"

[path]
rate = "20mbit"
rtt = "20ms"
buffer = "1bdp"

[[flows]]
cca = "cubic"
count = 2

[run]
duration = "8s"
warmup = "0s"
"""
PATHS = [(rtt, buffer) for rtt in ("20ms", "80ms") for buffer in ("0.5bdp", "1bdp", "4bdp")]
CONTROLS = [control["name"] for control in _native.ccas()]
MIDDLE = (0.42, 0.58)
"""The quantiles of the run's RTT between which the captures' median may lie. If the RTT swings
between an empty and a full buffer, few values are near the median, so two medians may differ."""

Flow = tuple[dict[str, Any], pl.DataFrame]


def analyse(file: Path) -> list[Flow]:
    """The findings about each flow, and its samples."""
    output = _native.analyze([str(file)])
    samples = pl.DataFrame(output.tables["flow_samples"])
    flows = json.loads(output.summary)["flows"]
    return [(flow, samples.filter(pl.col("flow") == flow["id"])) for flow in flows]


def round_trips(directory: Path, control: str) -> Iterator[tuple[Flow, Flow, Flow]]:
    """Yields each flow as the simulator recorded it, and as its two captures show it."""
    for number, (rtt, buffer) in enumerate(PATHS):
        changes = (f"path.rtt={rtt}", f"path.buffer={buffer}", f"flows.0.cca={control}")
        run = capture_run(directory / str(number), GOLDEN, changes)
        recorded = pl.DataFrame(run.output.tables["flow_samples"])
        spread = pl.DataFrame(run.output.tables["distributions"])
        seen = zip(analyse(run.file("sender")), analyse(run.file("receiver")), strict=True)
        for flow, (at_sender, at_receiver) in enumerate(seen):
            samples = recorded.filter(pl.col("flow") == flow)
            rtts = spread.filter(pl.col("kind") == "rtt_ms", pl.col("id") == flow)
            share = rtts["weight"] / rtts["weight"].sum()
            below = share.cum_sum()
            low, middle, high = (
                rtts["value"][int((below < part).sum())] for part in (MIDDLE[0], 0.5, MIDDLE[1])
            )
            means = {
                "rtt_mean": (rtts["value"] * share).sum(),
                "rtt_p50": middle,
                "rtt_middle": (low, high),
            }
            yield (
                ({**samples.row(-1, named=True), **means}, samples),
                at_sender,
                at_receiver,
            )


@pytest.mark.parametrize("control", CONTROLS)
def test_captures_reproduce_a_run(tmp_path: Path, control: str) -> None:
    retransmitted = 0
    for (run, samples), (flow, seen), (arrived, _) in round_trips(tmp_path, control):
        loss = flow["loss"]
        assert flow["packets"] == run["sent"]
        assert flow["payload_bytes"] == run["sent"] * MSS
        assert flow["wire_bytes"] == run["sent"] * (MSS + 52)
        assert loss["retransmitted"] == run["retransmitted"]
        # Losses that wait at the end for the pace or the window show in no capture.
        waiting = max(0, run["lost"] - run["retransmitted"])
        assert run["lost"] - waiting <= loss["lost"] <= run["lost"]
        assert (flow["sack"], flow["handshake"], flow["vantage"]) == (True, True, "sender")
        # At the end of the run packets have arrived that no ACK covers yet.
        assert 0 <= run["received_bytes"] - arrived["received_bytes"] <= 2 * MSS
        assert arrived["vantage"] == "receiver"
        assert flow["rtt_ms"]["mean"] == pytest.approx(run["rtt_mean"], rel=0.1)
        median, (low, high) = flow["rtt_ms"]["p50"], run["rtt_middle"]
        assert median == pytest.approx(run["rtt_p50"], rel=0.05) or low <= median <= high
        assert flow["rtt_ms"]["min"] == pytest.approx(run["min_rtt_ms"], abs=0.05)
        check_samples(samples, seen)
        retransmitted += run["retransmitted"]
    gentle = ("ledbat", "ledbat_pp", "vegas")
    assert retransmitted > 0 or control in gentle, "some runs lose packets"


def check_samples(run: pl.DataFrame, seen: pl.DataFrame) -> None:
    """Compares the samples at the same instants: most must be equal, and so must the means.

    If nothing happened, an analysis has no row, and the row before still holds.
    """
    at = (pl.col("time_s") * 1e3).round().cast(pl.Int64).alias("ms")
    run, seen = run.with_columns(at).filter(pl.col("sent") > 0), seen.with_columns(at)
    both = run.join_asof(seen, on="ms", suffix="_seen")
    assert len(both) > 75
    for column in ("sent", "delivered", "retransmitted", "in_flight"):
        difference = both[column].cast(pl.Int64) - both[f"{column}_seen"].cast(pl.Int64)
        assert (difference == 0).mean() > 0.6, column
    means = both["in_flight_seen"].mean(), both["in_flight"].mean()
    assert means[0] == pytest.approx(means[1], rel=0.03, abs=1)
