"""The method: every experiment in two independent environments, from one description.

Ours are the simulator and a Linux kernel in virtual time (`narrows kernel build`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Line, Panel
from narrows.report import Check
from narrows.reproduce import run_frames
from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.cs244 import testbed
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope

if TYPE_CHECKING:
    from narrows.figures.model import Floats
    from narrows.store import StoredTrial

PLACES = {"sim": "the simulator", "uml": "Linux in virtual time"}
EXPERIMENTS = {
    "CUBIC alone": ({"buffer": "262500b"}, [{"cca": "cubic"}], 8),
    "BBR alone": ({"buffer": "262500b"}, [{"cca": "bbr"}], 8),
    "CUBIC and BBR, 6 BDP": ({"buffer": "200pkt"}, [{"cca": "cubic"}, {"cca": "bbr"}], 100),
}
"""Buffer, flows and seconds: the two flows of Figure 5, and the extension."""
ALONE = ("CUBIC alone", "BBR alone")
SHARED = "CUBIC and BBR, 6 BDP"
STEP_S = 0.1
NEAR_MS = 10.0
NEAR_PART = 90.0
SHARE_POINTS = 10.0


def cases(scope: Scope) -> Iterator[Case]:
    """Every experiment in both places; fq paces."""
    for place in PLACES:
        for label, (path, flows, length) in EXPERIMENTS.items():
            spec = dumbbell(
                "cs244",
                {**testbed.SLOW, **path},
                flows,
                profile=scope.profile,
                host={"fq": True, "jitter": testbed.JITTER},
                duration=f"{length}s",
                sample_interval="20ms" if label in ALONE else "500ms",
            )
            yield Case({"place": place, "experiment": label}, spec, backend=place)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Smoothed RTTs every 20 ms (the kernel reports no others); throughput in windows of 1 s."""
    rtt = run_frames.samples(trial, ["srtt_ms"], whole=True).drop_nulls("srtt_ms")
    return {
        "rtt": rtt.select("time_s", "cca", "srtt_ms"),
        "throughput": run_frames.throughput(trial, 1.0, whole=True),
    }


def draw(data: Data) -> list[Picture]:
    """RTT of each alone, and BBR's throughput beside CUBIC, from both."""
    panels = [*(_rtts(data, label) for label in ALONE), _shares(data)]
    figure = Figure(
        "One description, two environments",
        f"10 Mbit/s, 40 ms; {', '.join(PLACES.values())}; {data.scope.profile}",
        tuple(panels),
        "RTT of CUBIC and of BBR alone, and the throughput of both together, in two environments.",
        height=2.3,
    )
    return [Picture("", "RTT of each flow alone, and BBR's throughput beside CUBIC", figure)]


def _rtts(data: Data, label: str) -> Panel:
    kind = label.partition(" ")[0].lower()
    lines = []
    for place, words in PLACES.items():
        x, y = _rtt(data, place, label)
        if len(x):
            lines.append(_line(words, x, y, kind, place))
    return Panel("Time (s)", "Smoothed RTT (ms)", tuple(lines), title=label, x_range=(0, 8))


def _line(words: str, x: Floats, y: Floats, kind: str, place: str) -> Line:
    """The simulator broad and in colour, the kernel as dashes upon it."""
    if place == "sim":
        return Line(words, x, y, kind, width=2.4)
    return Line(words, x, y, "loss", dash="dash", width=1.1)


def _rtt(data: Data, place: str, label: str) -> tuple[Floats, Floats]:
    rows = data["rtt"].filter((pl.col("place") == place) & (pl.col("experiment") == label))
    return frames.column(rows, "time_s"), frames.column(rows, "srtt_ms")


def _shares(data: Data) -> Panel:
    lines = []
    for place, words in PLACES.items():
        rows = _throughput(data, place).filter(pl.col("class") == "bbr")
        if rows.height:
            x, y = frames.column(rows, "start_s"), frames.column(rows, "throughput_mbps")
            lines.append(_line(words, x, y, "bbr", place))
    return Panel("Time (s)", "BBR's throughput (Mbit/s)", tuple(lines), title=SHARED,
                 x_range=(0, 100), y_range=(0, 10))  # fmt: skip


def _throughput(data: Data, place: str) -> pl.DataFrame:
    return data["throughput"].filter((pl.col("place") == place) & (pl.col("experiment") == SHARED))


def judge(data: Data) -> list[Finding]:
    """The same RTTs, the same shares; undecided where no kernel is built."""
    checks = [*(same_rtt(data, label) for label in ALONE), same_share(data)]
    return [Finding("cs244/two-environments", checks)]


def same_rtt(data: Data, label: str) -> Check:
    """How much of the time the RTTs agree."""
    (x, y), (other_x, other_y) = (_rtt(data, place, label) for place in PLACES)
    there = bool(len(x) and len(other_x))
    part = 0.0
    if there:
        times = np.arange(0.2, 8.0, STEP_S)
        off = np.abs(np.interp(times, x, y) - np.interp(times, other_x, other_y))
        part = 100 * float((off <= NEAR_MS).mean())
    return Check(
        f"{label}: the same RTT over time from both.",
        f"Instants every {STEP_S:g} s from 0.2 to 8 s at which the two smoothed RTTs are within "
        f"{NEAR_MS:g} ms. Passes from {NEAR_PART:g} % on; not decided where no kernel is built.",
        "the same figure",
        f"{part:.0f} %" if there else "no kernel here",
        part >= NEAR_PART if there else None,
    )


def same_share(data: Data) -> Check:
    """BBR's share in both."""
    found = []
    for place in PLACES:
        rows = _throughput(data, place)
        mine = testbed.number(rows.filter(pl.col("class") == "bbr")["throughput_mbps"].sum())
        total = testbed.number(rows["throughput_mbps"].sum())
        found.append(100 * mine / total if total else float("nan"))
    there = bool(np.isfinite(found).all())
    return Check(
        f"{SHARED}: the same shares from both.",
        f"BBR's share of the throughput over 100 s. Passes if they are within {SHARE_POINTS:g} "
        "points; not decided where no kernel is built.",
        "the same figure",
        f"{found[0]:.1f} % and {found[1]:.1f} %" if there else "no kernel here",
        abs(found[0] - found[1]) <= SHARE_POINTS if there else None,
    )
