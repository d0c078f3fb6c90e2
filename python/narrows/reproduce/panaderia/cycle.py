"""What Figure 9 of "Sharing but not Caring" says, held against a run.

The document explains a cycle: CUBIC fills the queue; a PROBE_RTT of BBR finds it
full and takes an inflated RTprop; BBR's window grows with it and packets are
lost; CUBIC backs off and BBR has the rate; the next PROBE_RTT finds an empty
queue and the true RTprop, and CUBIC grows again. It saw a period of 20 s; later
kernels also need three probes for a turn, which makes 30 s.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Floats
from narrows.metrics import windows
from narrows.report import Check
from narrows.reproduce import measure
from narrows.reproduce.measure import Stretch
from narrows.store import StoredTrial

WINDOW_S = 0.5
SMOOTHING = 5
"""Windows averaged before the period is measured: PROBE_RTT itself is no turn."""

PERIOD_S = (19.0, 32.0)
SWING = 0.25
PROBE_GAP_S = (9.5, 11.0)
INFLATED = 1.2
"""An RTprop this many times the path's delay is inflated."""
INFLATED_PART = (0.25, 0.75)
BURST = 0.01
BURSTS_PART = 0.8
QUIET = 0.002


@dataclass(frozen=True)
class Evidence:
    """One run from the warm-up on, seen as the checks need it."""

    trial: StoredTrial

    @property
    def start_s(self) -> float:
        """The end of the warm-up in seconds."""
        return float(self.trial.scenario["run"]["warmup_ns"]) / 1e9

    @cached_property
    def bbr(self) -> list[int]:
        """The ids of the BBR flows."""
        flows = self.trial.scenario["flows"]
        return [index for index, flow in enumerate(flows) if flow["cca"] == "bbr"]

    @cached_property
    def bbr_share(self) -> Floats:
        """BBR's part of all throughput in each window."""
        classes = {
            flow: "bbr" if flow in self.bbr else "rest"
            for flow in range(len(self.trial.scenario["flows"]))
        }
        rates = windows.throughput(self.trial.tables["flow_samples"], classes, WINDOW_S)
        rates = rates.filter(pl.col("start_s") >= self.start_s)
        bbr, rest = (
            frames.column(rates.filter(pl.col("class") == name), "throughput_mbps")
            for name in ("bbr", "rest")
        )
        return bbr / np.maximum(bbr + rest, 1e-9)

    @cached_property
    def loss(self) -> pl.DataFrame:
        """Arrivals and drops at the bottleneck in each window."""
        loss = windows.queue_loss(self.trial.tables["queue_samples"], WINDOW_S)
        return loss.filter(pl.col("start_s") >= self.start_s)

    def samples(self, flow: int) -> pl.DataFrame:
        """The rows of a flow from the warm-up on, ascending in time."""
        table = self.trial.tables["flow_samples"]
        return table.filter((pl.col("flow") == flow) & (pl.col("time_s") >= self.start_s)).sort(
            "time_s"
        )

    def rtprop(self, flow: int) -> pl.DataFrame:
        """The least RTT in ms of a BBR flow's model, from the warm-up on."""
        table = frames.internal(self.trial.tables, "min_rtt_ms")
        return table.filter((pl.col("flow") == flow) & (pl.col("time_s") >= self.start_s))

    @cached_property
    def probes(self) -> dict[int, list[Stretch]]:
        """The stays in PROBE_RTT of each BBR flow."""
        return {
            flow: [(a, b) for a, b, _ in frames.stays(self.samples(flow), "cca_state", "probe_rtt")]
            for flow in self.bbr
        }

    @cached_property
    def inflated(self) -> list[Stretch]:
        """When any BBR flow took an inflated RTprop for the path's."""
        limit = INFLATED * float(self.trial.scenario["path"]["rtt_ns"]) / 1e6
        found: list[Stretch] = []
        for flow in self.bbr:
            rows = self.rtprop(flow)
            above = frames.column(rows, "value") > limit
            found += measure.stretches(frames.column(rows, "time_s"), above.tolist())
        return frames.union(found)

    def estimates(self) -> Floats:
        """The RTprop in ms that each PROBE_RTT left, half a second after its end."""
        found: list[float] = []
        for flow, stays in self.probes.items():
            rows = self.rtprop(flow)
            times, rtprop = frames.column(rows, "time_s"), frames.column(rows, "value")
            later = [int(np.searchsorted(times, end + WINDOW_S)) for _, end in stays]
            found += [float(rtprop[index]) for index in later if index < len(times)]
        return np.array(found)


def checks(trial: StoredTrial) -> list[Check]:
    """The verdicts on one run."""
    evidence = Evidence(trial)
    return [
        turns(evidence),
        swing(evidence),
        probing(evidence),
        inflation(evidence),
        bursts(evidence),
        quiet(evidence),
    ]


def turns(evidence: Evidence) -> Check:
    """The period of the alternation."""
    share = measure.smooth(evidence.bbr_share, SMOOTHING)
    found = measure.period(share, WINDOW_S, 5.0, 60.0)
    low, high = PERIOD_S
    return Check(
        "BBR and CUBIC take turns in a cycle of two or three PROBE_RTT intervals.",
        "First high peak, between 5 and 60 s, of the autocorrelation of BBR's share of the "
        f"throughput (500 ms windows, mean of {SMOOTHING}). Passes from {low:g} to {high:g} s with "
        "a correlation above 0.3: each interval is 10 s, the probe and the wait for it.",
        "a period of 20 s (the document) to 30 s (kernel 6.18)",
        f"{found.seconds:.1f} s, correlation {found.correlation:.2f}" if found else "no period",
        found is not None and low <= found.seconds <= high and found.correlation > 0.3,
    )


def swing(evidence: Evidence) -> Check:
    """How far the shares swing."""
    share = measure.smooth(evidence.bbr_share, SMOOTHING)
    low, high = (float(v) for v in np.quantile(share, [0.05, 0.95]))
    return Check(
        "First one kind dominates, then the other.",
        f"5th and 95th percentile of BBR's share, smoothed as above. Passes if they are "
        f"{100 * SWING:g} points or more apart, on either side of one half.",
        "BBR's sum swings between 30 and 77 % of the rate on a 6.18 kernel",
        f"{100 * low:.0f} to {100 * high:.0f} %",
        high - low >= SWING and low < 0.5 < high,
    )


def probing(evidence: Evidence) -> Check:
    """The distance between stays in PROBE_RTT."""
    starts = [[start for start, _ in stays] for stays in evidence.probes.values()]
    gaps = np.concatenate([np.diff(flow) for flow in starts]) if starts else np.array([])
    low, high = PROBE_GAP_S
    middle = float(np.median(gaps)) if len(gaps) else float("nan")
    return Check(
        "Every BBR flow goes into PROBE_RTT about every 10 s.",
        "Median time between the starts of a flow's stays in PROBE_RTT, seen at the sample "
        f"interval, over all BBR flows. Passes from {low:g} to {high:g} s.",
        "10 s, and the time that the probe takes",
        f"{middle:.2f} s over {len(gaps)} intervals" if len(gaps) else _unseen(evidence),
        _decided(evidence, low <= middle <= high),
    )


def inflation(evidence: Evidence) -> Check:
    """Which probes find a queue that stays full."""
    path_ms = float(evidence.trial.scenario["path"]["rtt_ns"]) / 1e6
    estimates = evidence.estimates()
    high = estimates[estimates > INFLATED * path_ms]
    part = len(high) / len(estimates) if len(estimates) else float("nan")
    low_part, high_part = INFLATED_PART
    measured = f"{100 * part:.0f} % of {len(estimates)} probes"
    if len(high):
        measured += f", {float(np.median(high)):.0f} ms in their median"
    return Check(
        "Some probes find the queue still full of CUBIC's packets and inflate RTprop; others "
        "find the true one.",
        f"Part of all stays in PROBE_RTT after which the flow's RTprop is above {INFLATED:g} times "
        f"the path's delay. Passes from {100 * low_part:g} to {100 * high_part:g} %.",
        "every other one, near 60 ms instead of 25 (the document)",
        measured if len(estimates) else _unseen(evidence),
        _decided(evidence, low_part <= part <= high_part),
    )


def bursts(evidence: Evidence) -> Check:
    """What comes before a burst of loss."""
    start_s = frames.column(evidence.loss, "start_s")
    rate = np.nan_to_num(frames.column(evidence.loss, "loss_rate"))
    found = measure.stretches(start_s, (rate >= BURST).tolist())
    ends = np.array([start + WINDOW_S for start, _ in found])
    after = int(measure.within(ends, _padded(evidence.inflated)).sum())
    cycles = len(evidence.inflated)
    return Check(
        "Bursts of loss follow an inflated RTprop.",
        f"Bursts are 500 ms windows in a row with {100 * BURST:g} % loss or more. One follows if "
        "some flow's RTprop is inflated in its first window. Passes if "
        f"{100 * BURSTS_PART:g} % or more do.",
        "a burst in every cycle, just after BBR's window grew",
        f"{after} of {len(found)} bursts, in {cycles} times of inflation",
        _decided(evidence, bool(found) and after >= BURSTS_PART * len(found)),
    )


def quiet(evidence: Evidence) -> Check:
    """Loss while every BBR flow knows the true RTprop."""
    inside = measure.within(frames.column(evidence.loss, "end_s"), _padded(evidence.inflated))
    arrived, dropped = (frames.column(evidence.loss, name) for name in ("arrived", "dropped"))
    between = _rate(dropped[~inside], arrived[~inside])
    during = _rate(dropped[inside], arrived[inside])
    return Check(
        "In between there is almost no loss.",
        "Packets dropped of packets arrived in all windows in which no BBR flow's RTprop is "
        f"inflated. Passes below {100 * QUIET:g} %.",
        "almost none",
        f"{100 * between:.3f} % in between, {100 * during:.2f} % while RTprop is inflated",
        _decided(evidence, between < QUIET),
    )


def _padded(spans: list[Stretch]) -> list[Stretch]:
    """With the windows at both ends, which are partly inside."""
    return [(start, end + WINDOW_S) for start, end in spans]


def _rate(dropped: Floats, arrived: Floats) -> float:
    return float(dropped.sum() / arrived.sum()) if arrived.sum() else 0.0


def _decided(evidence: Evidence, passed: bool) -> bool | None:
    """None if the back end shows neither the states nor the model of BBR."""
    return passed if _sees_bbr(evidence) else None


def _sees_bbr(evidence: Evidence) -> bool:
    rows = evidence.trial.tables["flow_samples"].filter(pl.col("flow").is_in(evidence.bbr))
    states = bool((rows.get_column("cca_state").fill_null("") != "").any())
    return states and not frames.internal(evidence.trial.tables, "min_rtt_ms").is_empty()


def _unseen(evidence: Evidence) -> str:
    return "none" if _sees_bbr(evidence) else "nothing, as this back end doesn't see inside BBR"
