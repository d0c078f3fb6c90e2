"""The checks of Figure 9 of "Sharing but not Caring", on the measurements of `cycle`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from narrows.metrics.equivalence import LEAST_TRIALS
from narrows.report import Check
from narrows.reproduce.exhibit import Data
from narrows.reproduce.judging import interval, judge_bounds, make_note

from .cycle import ALIKE, APART_S, BURST, INFLATED, SMOOTHING

IRREGULAR = 0.125
"""The spread of the periods of trials, relative to their mean, beyond which there is no regular
cycle: the margin of the rule, 2.5 of 20 s."""
REGULAR = (
    "On another path it isn't met either if half of the trials or more have no such peak, or if "
    f"the standard deviation of the others' periods is above {100 * IRREGULAR:g} % of their mean. "
    "Made 2026-11-27, after results on another path were seen."
)


def turns(data: Data) -> list[Check]:
    """The period of the alternation, and the amplitude of the shares."""
    claim = "panaderia/fig9-cycle"
    periods = data.values("period_s")
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
            data.values("swing"),
        ),
        judge_bounds(
            data,
            claim,
            "sides",
            "Each kind has more than the other at some time.",
            f"{how}: the lesser of their distances from one half, each on its side.",
            data.values("sides"),
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


def rtprop(data: Data) -> list[Check]:
    """How often BBR probes, and the RTprop that it finds."""
    claim = "panaderia/fig9-rtprop"
    return [
        judge_bounds(
            data,
            claim,
            "probing",
            "Every BBR flow goes into PROBE_RTT about every 10 s.",
            "Median time between the starts of a flow's stays in PROBE_RTT, over all BBR flows.",
            data.values("probe_gap_s"),
        ),
        judge_bounds(
            data,
            claim,
            "part",
            "Every other PROBE_RTT finds the queue still full of CUBIC's packets.",
            f"Part of all stays in PROBE_RTT after which the flow's RTprop is above {INFLATED:g} "
            "times the path's delay.",
            data.values("inflated_part"),
        ),
        judge_bounds(
            data,
            claim,
            "inflated",
            "The RTT is near 60 ms then.",
            "Median RTT of BBR's packets while its RTprop is inflated.",
            data.values("inflated_rtt_ms"),
        ),
        judge_bounds(
            data,
            claim,
            "accurate",
            "The next one yields 25 ms.",
            "Median RTprop after the others.",
            data.values("accurate_ms"),
        ),
    ]


def meanwhile(data: Data) -> Check:
    """The inflated RTprop, of which the text gives no number."""
    return make_note(
        "What the inflated RTprop is: the text gives the RTT.",
        "Median RTprop after probes that find the queue full.",
        interval(data, data.values("inflated_ms"), 3, " ms"),
    )


def losses(data: Data) -> list[Check]:
    """The times of loss bursts, and the lack of loss in between."""
    claim = "panaderia/fig9-loss"
    trials = data["bursts"].partition_by("trial", maintain_order=True)
    begins = [part["at_s"].drop_nulls().to_list() for part in trials]
    return [
        judge_bounds(
            data,
            claim,
            "follows",
            "Bursts of loss come just after an inflated RTprop.",
            f"Bursts are 500 ms windows with {100 * BURST:g} % loss or more, those nearer than "
            f"{APART_S:g} s together. Part of the bursts that begin within {APART_S:g} s after "
            "some flow's RTprop became inflated.",
            data.values("following"),
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
            data.values("quiet_loss"),
        ),
    ]


def _spread_text(begins: Sequence[Sequence[float]]) -> str:
    """How far single times between bursts lie apart, whose median may hide that."""
    times = np.concatenate([np.diff(one) for one in begins])
    if not len(times):
        return ""
    low, high = np.quantile(times, (0.05, 0.95))
    return f", the median; 90 % of the single times are {low:.0f} to {high:.0f} s"
