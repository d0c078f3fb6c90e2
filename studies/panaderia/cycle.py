"""The statements on Figure 9 of "Sharing but not Caring", checked in a run.

The document explains a cycle: CUBIC fills the queue; a PROBE_RTT of BBR finds it
full and takes an inflated RTprop; BBR's window grows with it and packets are
lost; CUBIC backs off and BBR has the rate; the next PROBE_RTT finds an empty
queue and the true RTprop, and CUBIC grows again. Each of these is measured in every run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Floats
from narrows.metrics import windows
from narrows.metrics.equivalence import LEAST_TRIALS
from narrows.report import Check
from narrows.reproduce import measure, run_frames
from narrows.reproduce.exhibit import Data
from narrows.reproduce.judging import interval, judge_bounds, make_note
from narrows.reproduce.measure import Stretch
from narrows.store import StoredTrial

WINDOW_S = 0.5
SMOOTHING = 5
"""Windows averaged before the period is measured, since PROBE_RTT itself isn't a turn."""

ALIKE = 0.3
"""The minimum correlation of a period."""
IRREGULAR = 0.125
"""The spread of the periods of trials, relative to their mean, beyond which there is no regular
cycle: the margin of the rule, 2.5 of 20 s."""
REGULAR = (
    "On another path it isn't met either if half of the trials or more have no such peak, or if "
    f"the standard deviation of the others' periods is above {100 * IRREGULAR:g} % of their mean. "
    "Made 2026-11-27, after results on another path were seen."
)
INFLATED = 1.2
"""An RTprop this many times the path's delay is inflated."""
BURST = 0.01
APART_S = 5.0
"""Windows with losses that are closer than this belong to the same burst."""


@dataclass(frozen=True)
class Evidence:
    """One run since the warm-up, prepared for the checks."""

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
        """BBR's share of the throughput in each window."""
        classes = {
            flow: "bbr" if flow in self.bbr else "rest"
            for flow in range(len(self.trial.scenario["flows"]))
        }
        rates = windows.throughput(self.trial.tables["flow_samples"], classes, WINDOW_S).frame()
        rates = rates.filter(pl.col("start_s") >= self.start_s)
        bbr, rest = (
            frames.column(rates.filter(pl.col("class") == name), "throughput_mbps")
            for name in ("bbr", "rest")
        )
        return bbr / np.maximum(bbr + rest, 1e-9)

    @cached_property
    def loss(self) -> pl.DataFrame:
        """Arrivals and drops at the bottleneck in each window."""
        loss = windows.queue_loss(self.trial.tables["queue_samples"], WINDOW_S).frame()
        return loss.filter(pl.col("start_s") >= self.start_s)

    def samples(self, flow: int) -> pl.DataFrame:
        """The rows of a flow since the warm-up, ascending in time."""
        table = self.trial.tables["flow_samples"]
        return table.filter((pl.col("flow") == flow) & (pl.col("time_s") >= self.start_s)).sort(
            "time_s"
        )

    def rtprop(self, flow: int) -> pl.DataFrame:
        """The minimum RTT in ms of a BBR flow's model, since the warm-up."""
        table = frames.internal(self.trial.tables, "min_rtt_ms").frame()
        return table.filter((pl.col("flow") == flow) & (pl.col("time_s") >= self.start_s))

    @cached_property
    def probes(self) -> dict[int, list[Stretch]]:
        """The stays in PROBE_RTT of each BBR flow."""
        return {
            flow: [(a, b) for a, b, _ in frames.stays(self.samples(flow), "cca_state", "probe_rtt")]
            for flow in self.bbr
        }

    @cached_property
    def inflated_spans(self) -> list[Stretch]:
        """When any BBR flow had an inflated RTprop."""
        limit = INFLATED * float(self.trial.scenario["path"]["rtt_ns"]) / 1e6
        found: list[Stretch] = []
        for flow in self.bbr:
            rows = self.rtprop(flow)
            above = frames.column(rows, "value") > limit
            found += measure.stretches(frames.column(rows, "time_s"), above.tolist())
        return frames.union(found)

    @cached_property
    def estimates_ms(self) -> tuple[Floats, Floats]:
        """The RTprops that the PROBE_RTTs left half a second after their end, true and inflated."""
        found: list[float] = []
        for flow, stays in self.probes.items():
            rows = self.rtprop(flow)
            times, rtprop = frames.column(rows, "time_s"), frames.column(rows, "value")
            later = [int(np.searchsorted(times, end + WINDOW_S)) for _, end in stays]
            found += [float(rtprop[index]) for index in later if index < len(times)]
        left = np.array(found)
        high = left > INFLATED * float(self.trial.scenario["path"]["rtt_ns"]) / 1e6
        return left[~high], left[high]

    @property
    def inflated_rtt_ms(self) -> float:
        """The median RTT of BBR's packets while an RTprop is inflated; NaN if none ever is."""
        found = []
        for flow in self.bbr:
            rows = self.samples(flow).with_columns(run_frames.LATEST_RTT).drop_nulls("rtt_ms")
            inside = measure.within(frames.column(rows, "time_s"), self.inflated_spans)
            found.append(frames.column(rows, "rtt_ms")[inside])
        together = np.concatenate(found)
        return float(np.median(together)) if len(together) else math.nan

    @property
    def inflated_part(self) -> float:
        """The percentage of PROBE_RTTs that left an inflated RTprop; infinite without any."""
        accurate, inflated = (len(values) for values in self.estimates_ms)
        return 100 * inflated / (accurate + inflated) if accurate + inflated else math.inf

    @property
    def probe_gap_s(self) -> float:
        """The median interval of a flow's PROBE_RTTs; infinite if there is none."""
        starts = [[start for start, _ in stays] for stays in self.probes.values()]
        gaps = [gap for flow in starts for gap in np.diff(flow).tolist()]
        return float(np.median(gaps)) if gaps else math.inf

    @property
    def sees_bbr(self) -> bool:
        """Returns True if the back end reports BBR's states and model."""
        rows = self.trial.tables["flow_samples"].filter(pl.col("flow").is_in(self.bbr))
        states = bool((rows.get_column("cca_state").fill_null("") != "").any())
        return states and len(frames.internal(self.trial.tables, "min_rtt_ms")) > 0


Runs = Sequence["Evidence"]


def turns(data: Data, runs: Runs) -> list[Check]:
    """The period of the alternation, and the amplitude of the shares."""
    claim = "panaderia/fig9-cycle"
    shares = [measure.smooth(run.bbr_share, SMOOTHING) for run in runs]
    found = [measure.period(share, WINDOW_S, 5.0, 60.0) for share in shares]
    periods = [p.seconds if p and p.correlation > ALIKE else math.inf for p in found]
    low, high = ([float(np.quantile(share, q)) for share in shares] for q in (0.05, 0.95))
    how = "5th and 95th percentile of BBR's share, smoothed as above"
    regular = judge_bounds(
        data,
        claim,
        "period",
        "BBR and CUBIC take turns in a regular cycle of 20 s.",
        "First high peak, between 5 and 60 s, of the autocorrelation of BBR's share of the "
        f"throughput (500 ms windows, mean of {SMOOTHING}) with a correlation above {ALIKE:g}.",
        periods,
    )
    return [
        _on_another_path(regular, periods) if data.changed_path else regular,
        judge_bounds(
            data,
            claim,
            "swing",
            "First one kind dominates, then the other: the shares swing.",
            f"{how}: their distance.",
            [100 * (b - a) for a, b in zip(low, high, strict=True)],
        ),
        judge_bounds(
            data,
            claim,
            "sides",
            "Each kind has more than the other at some time.",
            f"{how}: the lesser of their distances from one half, each on its side.",
            [100 * min(0.5 - a, b - 0.5) for a, b in zip(low, high, strict=True)],
        ),
    ]


def _on_another_path(check: Check, periods: Sequence[float]) -> Check:
    """The check, not met if the trials have no regular cycle in common.

    A mean over them would be no trial's period.
    """
    told = replace(check, rule=f"{check.rule} {REGULAR}")
    known = sorted(period for period in periods if math.isfinite(period))
    if len(periods) < LEAST_TRIALS or not known or _is_regular(known, len(periods)):
        return told
    measured = f"no regular cycle: {_periods_text(known, len(periods))}"
    return replace(told, passed=False, measured=measured, values={})


def _is_regular(known: Sequence[float], trials: int) -> bool:
    """True if most trials have a period, and these are alike."""
    return 2 * len(known) > trials and bool(np.std(known) <= IRREGULAR * np.mean(known))


def _periods_text(known: Sequence[float], trials: int) -> str:
    """The ascending periods in words, and in how many trials there is none."""
    ends = dict.fromkeys(f"{period:.0f}" for period in (known[0], known[-1]))
    seconds = f"{' to '.join(ends)} s"
    missing = trials - len(known)
    if not missing:
        return f"{seconds} in {trials} trials"
    others = "the other" if len(known) == 1 else "the others"
    return f"none in {missing} of {trials} trials, {seconds} in {others}"


def rtprop(data: Data, runs: Runs) -> list[Check]:
    """How often BBR probes, and the RTprop that it finds."""
    claim = "panaderia/fig9-rtprop"
    seen = [run for run in runs if run.sees_bbr]
    return [
        judge_bounds(
            data,
            claim,
            "probing",
            "Every BBR flow goes into PROBE_RTT about every 10 s.",
            "Median time between the starts of a flow's stays in PROBE_RTT, over all BBR flows.",
            [run.probe_gap_s for run in seen],
        ),
        judge_bounds(
            data,
            claim,
            "part",
            "Every other PROBE_RTT finds the queue still full of CUBIC's packets.",
            f"Part of all stays in PROBE_RTT after which the flow's RTprop is above {INFLATED:g} "
            "times the path's delay.",
            [run.inflated_part for run in seen],
        ),
        judge_bounds(
            data,
            claim,
            "inflated",
            "The RTT is near 60 ms then.",
            "Median RTT of BBR's packets while its RTprop is inflated.",
            [_or_never(run.inflated_rtt_ms) for run in seen],
        ),
        judge_bounds(
            data,
            claim,
            "accurate",
            "The next one yields 25 ms.",
            "Median RTprop after the others.",
            [_middle(run.estimates_ms[0]) for run in seen],
        ),
    ]


def meanwhile(data: Data, runs: Runs) -> Check:
    """The inflated RTprop, of which the text gives no number."""
    found = [_middle(run.estimates_ms[1]) for run in runs if run.sees_bbr]
    return make_note(
        "What the inflated RTprop is: the text gives the RTT.",
        "Median RTprop after probes that find the queue full.",
        interval(data, found, 3, " ms"),
    )


def _or_never(value: float) -> float:
    """The value; infinite if there is none."""
    return math.inf if math.isnan(value) else value


def _middle(values: Floats) -> float:
    """The median; infinite if there are no values."""
    return float(np.median(values)) if len(values) else math.inf


def losses(data: Data, runs: Runs) -> list[Check]:
    """The times of loss bursts, and the lack of loss in between."""
    claim = "panaderia/fig9-loss"
    seen = [run for run in runs if run.sees_bbr]
    begins = [bursts(run) for run in runs]
    return [
        judge_bounds(
            data,
            claim,
            "follows",
            "Bursts of loss come just after an inflated RTprop.",
            f"Bursts are 500 ms windows with {100 * BURST:g} % loss or more, those nearer than "
            f"{APART_S:g} s together. Part of the bursts that begin within {APART_S:g} s after "
            "some flow's RTprop became inflated.",
            [following(run) for run in seen],
        ),
        judge_bounds(
            data,
            claim,
            "period",
            "They come every 20 s.",
            "Median time from one burst to the next.",
            [float(np.median(np.diff(one))) if len(one) > 1 else math.inf for one in begins],
            _spread_text(begins) if data.changed_path else "",
        ),
        judge_bounds(
            data,
            claim,
            "quiet",
            "In between there is almost no loss.",
            "Packets dropped of packets arrived in all windows in which no BBR flow's RTprop is "
            "inflated.",
            [100 * between_bursts(run) for run in seen],
        ),
    ]


def _spread_text(begins: Sequence[Sequence[float]]) -> str:
    """How far single times between bursts lie apart, whose median may hide that."""
    times = np.concatenate([np.diff(one) for one in begins])
    if not len(times):
        return ""
    low, high = np.quantile(times, (0.05, 0.95))
    return f", the median; 90 % of the single times are {low:.0f} to {high:.0f} s"


def bursts(evidence: Evidence) -> list[float]:
    """When each burst of loss begins."""
    start_s = frames.column(evidence.loss, "start_s")
    rate = np.nan_to_num(frames.column(evidence.loss, "loss_rate"))
    found: list[float] = []
    last = -math.inf
    for at in start_s[rate >= BURST].tolist():
        if at > last + APART_S:
            found.append(at)
        last = at
    return found


def following(evidence: Evidence) -> float:
    """The percentage of bursts that begin just after an RTprop was inflated."""
    found = np.array(bursts(evidence))
    if not len(found):
        return -math.inf
    begun = [(start - WINDOW_S, start + APART_S) for start, _ in evidence.inflated_spans]
    return 100 * float(measure.within(found, begun).mean())


def between_bursts(evidence: Evidence) -> float:
    """Loss while every BBR flow knows the true RTprop."""
    inside = measure.within(frames.column(evidence.loss, "end_s"), _pad(evidence.inflated_spans))
    arrived, dropped = (frames.column(evidence.loss, name) for name in ("arrived", "dropped"))
    return _rate(dropped[~inside], arrived[~inside])


def _pad(spans: list[Stretch]) -> list[Stretch]:
    """The windows of a span, including partial ones at both ends."""
    return [(start, end + WINDOW_S) for start, end in spans]


def _rate(dropped: Floats, arrived: Floats) -> float:
    return float(dropped.sum() / arrived.sum()) if arrived.sum() else 0.0
