"""The statements on Figure 9 of "Sharing but not Caring", checked in a run.

The document explains a cycle: CUBIC fills the queue; a PROBE_RTT of BBR finds it
full and takes an inflated RTprop; BBR's window grows with it and packets are
lost; CUBIC backs off and BBR has the rate; the next PROBE_RTT finds an empty
queue and the true RTprop, and CUBIC grows again. Each of these is measured in every run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Floats
from narrows.metrics import windows
from narrows.reproduce import measure, run_frames
from narrows.reproduce.measure import Stretch
from narrows.store import StoredTrial

WINDOW_S = 0.5
SMOOTHING = 5
"""Windows averaged before the period is measured, since PROBE_RTT itself isn't a turn."""

ALIKE = 0.3
"""The minimum correlation of a period."""
INFLATED = 1.2
"""An RTprop this many times the path's delay is inflated."""
BURST = 0.01
APART_S = 5.0
"""Windows with losses that are closer than this belong to the same burst."""
COLUMNS = (
    "period_s", "swing", "sides", "most", "probe_gap_s", "inflated_part", "inflated_rtt_ms",
    "accurate_ms", "inflated_ms", "quiet_loss", "following",
)  # fmt: skip
"""The columns of `outcome`: times in s, RTTs in ms, the others in percent."""


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

    @cached_property
    def sees_bbr(self) -> bool:
        """Returns True if the back end reports BBR's states and model."""
        rows = self.trial.tables["flow_samples"].filter(pl.col("flow").is_in(self.bbr))
        states = bool((rows.get_column("cca_state").fill_null("") != "").any())
        return states and len(frames.internal(self.trial.tables, "min_rtt_ms")) > 0

    @property
    def period_s(self) -> float:
        """The period of the alternation; infinite if there is none."""
        found = measure.period(self.smooth_share, WINDOW_S, 5.0, 60.0)
        return found.seconds if found and found.correlation > ALIKE else math.inf

    @cached_property
    def smooth_share(self) -> Floats:
        """BBR's share, without the dips of PROBE_RTT."""
        return measure.smooth(self.bbr_share, SMOOTHING)


def outcome(run: Evidence) -> pl.DataFrame:
    """Returns one row with `COLUMNS`, in which those are null that the back end doesn't report."""
    low, high = (float(np.quantile(run.smooth_share, q)) for q in (0.05, 0.95))
    row = {
        "period_s": run.period_s,
        "swing": 100 * (high - low),
        "sides": 100 * min(0.5 - low, high - 0.5),
        "most": float(frames.column(run_frames.throughput(run.trial), "percent").max()),
        **(_by_the_model(run) if run.sees_bbr else {}),
    }
    return pl.DataFrame([row], schema=dict.fromkeys(COLUMNS, pl.Float64))


def _by_the_model(run: Evidence) -> dict[str, float]:
    """The measurements that need BBR's states and its RTprop."""
    accurate, inflated = run.estimates_ms
    return {
        "probe_gap_s": run.probe_gap_s,
        "inflated_part": run.inflated_part,
        "inflated_rtt_ms": _or_never(run.inflated_rtt_ms),
        "accurate_ms": _middle(accurate),
        "inflated_ms": _middle(inflated),
        "following": following(run),
        "quiet_loss": 100 * between_bursts(run),
    }


def shares(run: Evidence) -> pl.DataFrame:
    """BBR's share of the throughput in each window since the warm-up: `start_s`, `bbr`."""
    starts = run.start_s + WINDOW_S * np.arange(len(run.bbr_share))
    return pl.DataFrame({"start_s": starts, "bbr": run.bbr_share})


def burst_times(run: Evidence) -> pl.DataFrame:
    """When each burst of loss begins: a row each, or one without a time."""
    begins: list[float | None] = [*bursts(run)] or [None]
    return pl.DataFrame({"at_s": begins}, schema={"at_s": pl.Float64})


def _or_never(value: float) -> float:
    """The value; infinite if there is none."""
    return math.inf if math.isnan(value) else value


def _middle(values: Floats) -> float:
    """The median; infinite if there are no values."""
    return float(np.median(values)) if len(values) else math.inf


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
