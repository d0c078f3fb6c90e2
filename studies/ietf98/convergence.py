"""Backup slide 'BBR multi-flow convergence dynamics'."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.report import Check
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds

from . import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

RATE = 100
COUNTS = (2, 5)
GAP_S = 2
END_S = 60
SETTLED_S = 40.0
TRIALS = 5
CLAIM = "ietf98/convergence"
ALL_PROBED_S = 15.0
"""By then two flows have probed separately; five are still synchronising."""
TOGETHER_S = 2.0
TEN_S = (9.5, 11.0)
"""From a probe to that of the flows that noticed it: 10 s, the probe and a few round trips."""


def cases(scope: Scope) -> Iterator[Case]:
    """Two flows, as in the slide's text, and five, as in its picture; one starts every 2 s."""
    for count in COUNTS:
        flows = [
            {"cca": "bbr", "name": f"flow {i + 1}", "start": f"{GAP_S * i}s"} for i in range(count)
        ]
        spec = testbed.spec(
            scope,
            {"rate": f"{RATE}mbit", "rtt": "10ms", "buffer": "8bdp"},
            flows,
            duration=f"{END_S}s",
            trials=TRIALS,
            sample_interval="50ms",
        )
        yield Case({"flows": count}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Throughput of each flow; all probes, and the RTTs of the other flows meanwhile."""
    return {"throughput": run_frames.by_flow(trial, 0.2), **probes(trial)}


def probes(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """When flows entered PROBE_RTT, and whether the others noticed.

    `probes` has `flow` and `start_s`. `notices` has, for the first probe of the first flow and
    every flow that had started, `before_ms` (its median RTT in the quarter of a second before) and
    `during_ms` (its lowest RTT within half a second).
    """
    rows = trial.tables["flow_samples"].sort("time_s").with_columns(run_frames.LATEST_RTT)
    found = []
    for flow in range(len(trial.scenario["flows"])):
        mine = rows.filter(pl.col("flow") == flow)
        stays = frames.stays(mine, "cca_state", "probe_rtt")
        found += [{"flow": flow, "start_s": start} for start, _, _ in stays]
    first = next((entry["start_s"] for entry in found if entry["flow"] == 0), None)
    notices = _notices(rows.filter(pl.col("flow") > 0), first)
    probed = pl.DataFrame(found, schema={"flow": pl.Int64, "start_s": pl.Float64})
    return {"probes": probed, "notices": notices}


def _notices(rows: pl.DataFrame, probe_s: float | None) -> pl.DataFrame:
    at = -10.0 if probe_s is None else probe_s
    rtt, time = pl.col("rtt_ms"), pl.col("time_s")
    return (
        rows.group_by("flow", maintain_order=True)
        .agg(
            before_ms=rtt.filter(time.is_between(at - 0.25, at)).median(),
            during_ms=rtt.filter(time.is_between(at, at + 0.5)).min(),
        )
        .drop_nulls()
    )


def draw(data: Data) -> list[Picture]:
    """Throughput of every flow, with two and with five."""
    figure = Figure(
        "Shares and probes of BBR flows over time",
        f"100 Mbit/s, 10 ms, 8 BDP; windows of 200 ms; {data.scope.profile}, first trial",
        tuple(_panel(data, count) for count in COUNTS),
        "Lines of the throughput of two and of five BBR flows over a minute.",
    )
    return [Picture("", "Throughput of each flow; dashed: its fair share", figure)]


def _panel(data: Data, count: int) -> Panel:
    rows = data["throughput"].filter((pl.col("flows") == count) & (pl.col("trial") == 1))
    lines = []
    for place, label in enumerate(rows["class"].unique(maintain_order=True).to_list()):
        mine = rows.filter(pl.col("class") == label)
        x, y = frames.column(mine, "start_s"), frames.column(mine, "throughput_mbps")
        lines.append(Line(label, x, y, f"flow:{place}", kind="step", width=1.2))
    return Panel("Time (s)", "Throughput (Mbit/s)", tuple(lines), title=f"{count} flows",
                 x_range=(0, END_S), guides=(Guide(RATE / count, "fair"),))  # fmt: skip


def judge(data: Data) -> list[Finding]:
    """Flows notice a probe, answer it 10 s later, and have equal shares in the end."""
    return [Finding(CLAIM, [lower_rtt_beside_probe(data), probe_interval(data), equal(data)])]


def lower_rtt_beside_probe(data: Data) -> Check:
    """How many flows saw a lower RTT while the first probed."""
    rows = data["notices"].filter(pl.col("flows") == COUNTS[0])
    return judge_bounds(
        data,
        CLAIM,
        "noticed",
        "A flow in PROBE_RTT is noticed by the other.",
        "Two flows: the median RTT of flow 2 in the quarter of a second before the first PROBE_RTT "
        "of flow 1, less its lowest in the half after, in each trial.",
        (rows["before_ms"] - rows["during_ms"]).to_list(),
    )


def probe_interval(data: Data) -> Check:
    """How long after a probe the next one comes, by any flow."""
    low, high = TEN_S
    inside = []
    keys = data["throughput"].select("flows", "trial").unique(maintain_order=True)
    for flows, trial in keys.rows():
        rows = data["probes"].filter((pl.col("flows") == flows) & (pl.col("trial") == trial))
        gaps = np.diff(together(rows["start_s"].to_list()))
        met = float(np.mean((gaps >= low) & (gaps <= high))) if len(gaps) else 0.0
        inside.append(100 * met)
    return judge_bounds(
        data,
        CLAIM,
        "answered",
        "They probe 10 s later.",
        f"Entries into PROBE_RTT less than {TOGETHER_S:g} s apart are one probe, whosever they "
        f"are. Part of the times from each probe after {ALL_PROBED_S:g} s to the next that are "
        f"from {low:g} to {high:g} s, which flows that don't heed each other can't keep.",
        inside,
    )


def together(starts: list[float]) -> list[float]:
    """The first entry of every group of entries, after `ALL_PROBED_S`."""
    found: list[float] = []
    last = -np.inf
    for start in sorted(starts):
        if start > ALL_PROBED_S and start > last + TOGETHER_S:
            found.append(start)
        last = max(last, start) if start > ALL_PROBED_S else last
    return found


def equal(data: Data) -> Check:
    """How much more than its fair share the largest flow has, second by second."""
    rows = data["throughput"].filter(pl.col("start_s") >= SETTLED_S)
    seconds = rows.with_columns(second=(pl.col("start_s") + 1e-6).floor())
    keys = ["flows", "trial"]
    means = seconds.group_by(*keys, "second", "class").agg(pl.col("throughput_mbps").mean())
    mbps = pl.col("throughput_mbps")
    largest = means.group_by(*keys, "second").agg(
        part=mbps.max() * pl.col("flows").first() / mbps.sum()
    )
    trials = largest.group_by(keys).agg(pl.col("part").mean()).sort(keys)
    return judge_bounds(
        data,
        CLAIM,
        "equal",
        "The shares converge.",
        "What the largest flow has of its fair share in a second, mean over the seconds from "
        f"{SETTLED_S:g} to {END_S} s.",
        {
            f"{count} flows": trials.filter(pl.col("flows") == count)["part"].to_list()
            for count in COUNTS
        },
    )
