"""Figure 5: the RTT of CUBIC and of BBR, run apart."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.figures.palette import name
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, make_note, per_trial, rows_where

from . import testbed

if TYPE_CHECKING:
    from narrows.figures.model import Floats
    from narrows.report import Check
    from narrows.store import StoredTrial

KINDS = ("cubic", "bbr")
BUFFER = "262500b"
"""210 ms at 10 Mbit/s."""
SHOWN_S = 8.0
END_S = 30
TRIALS = 3
CLAIM = "cs244/fig5"
STARTED_S = 1.0
RTPROP_MS, FULL_MS = 40.0, 250.0
PROBE_MS = 1.25 * RTPROP_MS + 7.2
"""A quarter of a BDP more, plus the six packets that BBR adds for bursts of two."""
PROBING_MS = 5.0
"""Half of what a probe, a quarter of a BDP, adds to the RTT."""
TOOTH = 0.15
"""A decrease of the RTT by this part of its peak counts as a tooth."""


def cases(scope: Scope) -> Iterator[Case]:
    """Both controls in both environments."""
    for environment in testbed.ENVIRONMENTS:
        for kind in KINDS:
            spec = testbed.spec(
                scope,
                environment,
                {**testbed.SLOW, "buffer": BUFFER},
                [{"cca": kind}],
                duration=f"{END_S}s",
                trials=TRIALS,
                sample_interval="10ms",
            )
            yield Case({"environment": environment, "kind": kind}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The RTT at every sample, smoothed on back ends that have no other."""
    rows = run_frames.samples(trial, ["rtt_ms", "srtt_ms"], whole=True)
    rtt = rows.select("time_s", run_frames.LATEST_RTT)
    return {"rtt": rtt.drop_nulls("rtt_ms").with_columns(full_ms=pl.lit(_full_ms(trial)))}


def _full_ms(trial: StoredTrial) -> float:
    """The RTT through a full buffer of the trial."""
    waits_ms = frames.buffer_bytes(trial.scenario) * 8e-3 / frames.rate_mbps(trial.scenario)
    return trial.scenario["path"]["rtt_ns"] / 1e6 + waits_ms


def draw(data: Data) -> list[Picture]:
    """RTT over the first 8 s, a panel for each environment."""
    figure = Figure(
        "RTTs of a BBR and of a CUBIC flow",
        f"1 CUBIC and 1 BBR, run apart; 10 Mbit/s, 40 ms, 210 ms of buffer; {data.scope.profile}",
        tuple(_panel(data, environment) for environment in testbed.ENVIRONMENTS),
        "Lines of the RTT of BBR and of CUBIC over 8 s in two environments.",
    )
    return [Picture("", "RTT of each flow over the first 8 seconds", figure)]


def _panel(data: Data, environment: str) -> Panel:
    lines = []
    for kind in KINDS:
        times, rtt = _series(rows_where(data, "trial", 1), environment, kind)
        lines.append(Line(name(kind), times, rtt, kind, width=1.2))
    return Panel("Time (s)", "RTT (ms)", tuple(lines), title=environment, x_range=(0, SHOWN_S),
                 y_range=(0, 270),
                 guides=(Guide(FULL_MS, "full buffer"), Guide(RTPROP_MS, "RTprop", below=True)),
                 )  # fmt: skip


def _series(data: Data, environment: str, kind: str) -> tuple[Floats, Floats]:
    rows = data["rtt"].filter((pl.col("environment") == environment) & (pl.col("kind") == kind))
    return frames.column(rows, "time_s"), frames.column(rows, "rtt_ms")


def judge(data: Data) -> list[Finding]:
    """BBR's RTT is near the path's; CUBIC's rises to a full buffer's in saw-teeth."""
    checks = [near(data, environment) for environment in testbed.ENVIRONMENTS]
    checks += [probes(data), climbs(data), teeth(data)]
    return [Finding(CLAIM, checks, notes=[later(data)])]


def near(data: Data, environment: str) -> Check:
    """How much of the time BBR's RTT is near 40 ms."""
    return judge_bounds(
        data,
        CLAIM,
        "near",
        f"BBR's RTT stays near 40 ms but for probes ({environment}).",
        f"Samples from {STARTED_S:g} to {SHOWN_S:g} s, which the figure shows, with an RTT of "
        f"{PROBE_MS:g} ms or less (40 ms, a quarter of a BDP while probing, 7.2 for three bursts "
        "of two packets); an eighth of the time belongs to probes.",
        per_trial(data, partial(_near, environment=environment)),
    )


def _near(
    data: Data, environment: str, span_s: tuple[float, float] = (STARTED_S, SHOWN_S)
) -> float:
    times, rtt = _series(data, environment, "bbr")
    shown = (times >= span_s[0]) & (times < span_s[1])
    return 100 * float((rtt[shown] <= PROBE_MS).mean())


def later(data: Data) -> Check:
    """The RTT near its minimum, after the end of the figure."""
    told = (
        interval(
            data,
            per_trial(data, partial(_near, environment=e, span_s=(SHOWN_S, END_S))),
            3,
            f" % ({e})",
        )
        for e in testbed.ENVIRONMENTS
    )
    return make_note(
        "How near 40 ms it is after the figure's end.", "The same later.", "; ".join(told)
    )


def probes(data: Data) -> Check:
    """How often BBR's RTT rises and falls again, as it does while it probes for bandwidth."""

    def moving(one: Data, environment: str) -> float:
        times, rtt = _series(one, environment, "bbr")
        seconds = np.floor(times[times >= STARTED_S])
        rtts = rtt[times >= STARTED_S]
        whole = np.unique(seconds)[:-1]
        ranges = [float(np.ptp(rtts[seconds == second])) for second in whole]
        return 100 * float(np.mean(np.array(ranges) >= PROBING_MS))

    return judge_bounds(
        data,
        CLAIM,
        "probes",
        "Its probes for bandwidth can be seen.",
        f"Seconds, of the whole ones, in which BBR's RTT moves by {PROBING_MS:g} ms or more: a "
        "probe comes every eight round trips, three times a second.",
        {e: per_trial(data, partial(moving, environment=e)) for e in testbed.ENVIRONMENTS},
    )


def climbs(data: Data) -> Check:
    """The highest RTT of CUBIC."""

    def highest(one: Data, environment: str) -> float:
        rows = one.rows("rtt", environment=environment, kind="cubic")
        return FULL_MS * float(frames.column(rows, "rtt_ms").max() / rows["full_ms"][0])

    return judge_bounds(
        data,
        CLAIM,
        "climbs",
        "CUBIC's climbs towards 250 ms.",
        f"The highest RTT in each environment, as a part of that through the trial's full buffer, "
        f"times {FULL_MS:g} ms.",
        {e: per_trial(data, partial(highest, environment=e)) for e in testbed.ENVIRONMENTS},
    )


def teeth(data: Data) -> Check:
    """The saw-teeth of CUBIC."""

    def count(one: Data, environment: str) -> float:
        times, rtt = _series(one, environment, "cubic")
        return float(falls(rtt[times >= STARTED_S]))

    return judge_bounds(
        data,
        CLAIM,
        "teeth",
        "It does so in saw-teeth.",
        f"Falls by {100 * TOOTH:g} % or more from a peak, after which it rises again by as much, "
        f"from {STARTED_S:g} to {END_S} s, in each environment.",
        {e: per_trial(data, partial(count, environment=e)) for e in testbed.ENVIRONMENTS},
    )


def falls(values: Floats) -> int:
    """How often a series falls by `TOOTH` of its last peak after rising by as much."""
    count, peak, low, falling = 0, float(values[0]), float(values[0]), False
    for value in values.tolist():
        if falling:
            low = min(low, value)
            if value >= low * (1 + TOOTH):
                peak, falling = value, False
        else:
            peak = max(peak, value)
            if value <= peak * (1 - TOOTH):
                low, falling, count = value, True, count + 1
    return count
