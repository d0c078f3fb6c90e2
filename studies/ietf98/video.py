"""Slide 'An opportunity': the bandwidth that BBR exports, for choosing a video's format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Bar, Figure, Panel
from narrows.metrics.flows import flow_summaries
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, make_note, ratios

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

EXPORTED, FORMAT = "ietf98/exported-bandwidth", "ietf98/video-format"
FORMATS = (1.0, 1.5, 2.3, 3.5, 4.5, 6.0, 8.0, 12.0)
"""The formats that a player may choose from, in Mbit/s, 1.3 to 1.5 times apart."""
BULK = {"alone": (), "beside BBR": ("bbr",), "beside CUBIC": ("cubic",)}
"""The other flows on the path."""
AHEAD_S = 5.0
"""An estimate is compared with the flow's throughput in this many seconds after it."""
END_S, FROM_S = 90, 20
TRIALS = 5
MSS_BITS = 8 * 1448
PLAYER = "player"


def cases(scope: Scope) -> Iterator[Case]:
    """An endless flow for the estimates; a video in each format; each alone and beside others."""
    for beside, ccas in BULK.items():
        yield Case(_key("endless", beside, 0.0, "bbr"), _spec(scope, ccas, {"cca": "bbr"}))
        for cca in ("bbr", "cubic"):
            for rate in FORMATS:
                video = {"kind": "video", "bitrate": f"{rate:g}mbit", "chunk": "4s"}
                flow = {"cca": cca, "workload": video}
                yield Case(_key("video", beside, rate, cca), _spec(scope, ccas, flow))


def _key(what: str, beside: str, rate: float, cca: str) -> dict[str, str | float]:
    return {"what": what, "beside": beside, "format_mbps": rate, "cca": cca}


def _spec(scope: Scope, ccas: Sequence[str], flow: Mapping[str, Any]) -> dict[str, Any]:
    others = [{"name": "bulk", "cca": cca} for cca in ccas]
    return testbed.spec(
        scope,
        {**testbed.SLOW, "buffer": "2bdp"},
        [{"name": PLAYER, **flow}, *others],
        duration=f"{END_S}s",
        warmup=f"{FROM_S}s",
        trials=testbed.trials(scope, TRIALS),
        sample_interval="100ms",
    )


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The errors of both estimates, the estimates at `FROM_S`, the interruptions of a video."""
    estimates = _estimates(trial)
    first = estimates.filter(pl.col("time_s") >= FROM_S - 1e-9).head(1)
    flow = flow_summaries(trial.scenario, trial.tables, trial.info.end_s)[0]
    stalled = {name: (flow.get("workload") or {}).get(name) for name in ("stalls", "stalled_s")}
    return {
        "errors": estimates.select(
            *((pl.col(name) / pl.col("got") - 1).abs().median().alias(name) for name in HOW)
        ),
        "outcome": first.select(*HOW).with_columns(
            *(pl.lit(value, dtype=pl.Float64).alias(name) for name, value in stalled.items())
        ),
    }


HOW = ("exported", "cwnd_rtt")
"""BBR's bandwidth, and the window over the smoothed RTT."""


def _estimates(trial: StoredTrial) -> pl.DataFrame:
    """Both estimates in Mbit/s of payload at every sample, and the rate that the flow `got`."""
    rows = run_frames.samples(trial, ["cwnd", "srtt_ms", "received_bytes"]).filter(
        pl.col("name") == PLAYER
    )
    model = run_frames.internal(trial, "bw_mbps").filter(pl.col("flow") == 0)
    times = frames.column(rows, "time_s")
    received = frames.column(rows, "received_bytes")
    later = np.interp(times + AHEAD_S, times, received)
    got = (later - received) * 8e-6 / AHEAD_S
    known = rows.select(
        "time_s", cwnd_rtt=pl.col("cwnd") * MSS_BITS / pl.col("srtt_ms") / 1e3
    ).with_columns(pl.Series("got", got))
    known = known.filter(pl.col("time_s") <= times[-1] - AHEAD_S)
    return known.join(
        model.select("time_s", exported="value"), on="time_s", how="left", maintain_order="left"
    )


def draw(data: Data) -> list[Picture]:
    """The errors of both estimates; how long videos were interrupted."""
    figure = Figure(
        "The bandwidth that BBR exports",
        f"10 Mbit/s, 40 ms, 2 BDP, mean of the trials; {data.scope.profile}",
        (_errors(data), *(_stall_panel(data, beside) for beside in BULK)),
        "Errors of two estimates of the bandwidth, and interruptions of a video by its format.",
        columns=2,
        height=2.6,
    )
    return [Picture("", "Errors of the estimates; a video's interruptions by format", figure)]


def _errors(data: Data) -> Panel:
    bars = []
    words = {"exported": ("BBR's bandwidth", "bbr"), "cwnd_rtt": ("cwnd / RTT", "neutral")}
    for step, (name, (label, colour)) in enumerate(words.items()):
        for place, beside in enumerate(BULK):
            found = [100 * v for v in _error(data, beside, name)]
            at = place + 0.36 * (step - 0.5)
            bars.append(
                Bar(label, at, sum(found) / len(found), colour, (min(found), max(found)))
            )  # fmt: skip
    ticks = tuple((float(place), beside) for place, beside in enumerate(BULK))
    return Panel("", "Error (%)", tuple(bars), ticks=ticks, title="Estimates",
                 y_range=(0, None))  # fmt: skip


def _stall_panel(data: Data, beside: str) -> Panel:
    bars = []
    for step, cca in enumerate(("bbr", "cubic")):
        for place, rate in enumerate(FORMATS):
            found = _video(data, beside, rate, cca)["stalled_s"].to_list()
            at = place + 0.36 * (step - 0.5)
            bars.append(Bar(f"video over {cca.upper()}", at, sum(found) / len(found), cca,
                            (min(found), max(found))))  # fmt: skip
    ticks = tuple((float(place), f"{rate:g}") for place, rate in enumerate(FORMATS))
    return Panel("Format (Mbit/s)", "Interrupted (s)", tuple(bars), ticks=ticks,
                 title=f"A video {beside}", y_range=(0, None))  # fmt: skip


def judge(data: Data) -> list[Finding]:
    """The estimate is better than window over RTT; it picks the best format."""
    return [
        Finding(EXPORTED, [better(data)]),
        Finding(FORMAT, [best(data)], notes=[_picks_note(data), rebuffers(data)]),
    ]


def _error(data: Data, beside: str, how: str) -> list[float]:
    rows = data["errors"].filter((pl.col("what") == "endless") & (pl.col("beside") == beside))
    return rows[how].to_list()


def better(data: Data) -> Check:
    """The errors of both estimates."""
    told = "; ".join(
        f"{interval(data, [100 * v for v in _error(data, beside, 'exported')])} % instead of "
        f"{interval(data, [100 * v for v in _error(data, beside, 'cwnd_rtt')])} %, {beside}"
        for beside in BULK
    )
    return judge_bounds(
        data,
        EXPORTED,
        "better",
        "The bandwidth that BBR exports is better than cwnd / RTT.",
        f"Median error of BBR's bandwidth, held against what the flow gets in the {AHEAD_S:g} s "
        "after it, over that of the window divided by the smoothed RTT.",
        {b: ratios(*(_error(data, b, how) for how in HOW)) for b in BULK},
        f" ({told})",
    )


def _video(data: Data, beside: str, rate: float, cca: str = "bbr") -> pl.DataFrame:
    return data["outcome"].filter(
        (pl.col("what") == "video")
        & (pl.col("beside") == beside)
        & (pl.col("format_mbps") == rate)
        & (pl.col("cca") == cca)
    )


def picks(data: Data, beside: str, how: str) -> list[float]:
    """By trial 100 if an estimate, seen while the lowest format plays, picks the best one, or 0.

    The best is the highest that plays to the end without an interruption.
    """
    found = []
    seen = _video(data, beside, FORMATS[0])
    for trial, estimate in seen.select("trial", how).rows():
        whole = [FORMATS[0]]
        for rate in FORMATS:
            row = _video(data, beside, rate).filter(pl.col("trial") == trial)
            if row["stalled_s"].to_list() == [0.0]:
                whole.append(rate)
        picked = max((rate for rate in FORMATS if rate <= estimate), default=FORMATS[0])
        found.append(100.0 if picked == max(whole) else 0.0)
    return found


def best(data: Data) -> Check:
    """The estimate picks the best format."""
    return judge_bounds(
        data,
        FORMAT,
        "best",
        "The bandwidth that BBR exports picks the best format of a video.",
        f"Trials in which the highest of {', '.join(f'{f:g}' for f in FORMATS)} Mbit/s up to the "
        f"bandwidth after {FROM_S} s of the lowest one is the highest that plays {END_S} s without "
        "an interruption.",
        {beside: picks(data, beside, "exported") for beside in BULK},
    )


def _picks_note(data: Data) -> Check:
    told = (f"{interval(data, picks(data, b, 'cwnd_rtt'), 3, ' %')} {b}" for b in BULK)
    return make_note("What cwnd / RTT picks.", "The same of that estimate.", "; ".join(told))


def rebuffers(data: Data) -> Check:
    """Interruptions of the highest formats, over BBR and over CUBIC."""
    told = []
    for beside in BULK:
        counts = []
        for cca in ("bbr", "cubic"):
            rows = pl.concat(_video(data, beside, rate, cca) for rate in FORMATS)
            stalls = float(rows["stalls"].sum())
            played = len(rows) * (END_S - FROM_S) / 60
            between = f"{60 * played / stalls:.3g} s" if stalls else "none"
            counts.append(f"{between} over {cca.upper()}")
        told.append(f"{beside}: {', '.join(counts)}")
    return make_note(
        "The time between rebuffers.",
        "Time of all videos, in all formats, over how often they were interrupted.",
        "; ".join(told),
    )
