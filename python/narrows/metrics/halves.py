"""Compares the halves of a run's measured time: what differs in them hasn't settled.

A mean over a time in which shares still drift is no steady value, and trials don't show that, since
they all drift alike. A control's own cycles aren't a drift: BBR gives way every 10 s, CUBIC and
Reno have sawteeth, and BBR and CUBIC take turns every 20 s. So the halves must differ by more than
a quantity's ups and downs within them, and by an amount that changes what a reader concludes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from narrows.columns import Floats, Tables
from narrows.metrics.duration import SHORTEST_S, is_steady
from narrows.metrics.series import BOTTLENECK, RunSeries
from narrows.metrics.windows import increments_by_key
from narrows.spec.scenario import Scenario

CYCLE_S = 20.0
"""The longest cycle that is known: every second time that BBR probes, CUBIC's packets stay."""
PARTS = 5
"""The parts of each half, whose spread shows a quantity's ups and downs."""
BEYOND, BEYOND_OF_SHORT = 0.8, 1.5
"""How far halves are apart, in standard deviations of the parts within them; the second if a half
is shorter than `CYCLE_S`.

Of 103 runs of one to four flows, measured for 25 to 300 s, those that drifted by `SHARE` had 0.88
or more. Where flows only took turns, short halves were up to 18 points and 1.0 deviation apart.
"""
SHARE = 0.1
"""The smallest drift of a share: 10 points, as from 45 to 55 %, can turn who is ahead."""
RELATIVE = 0.2
"""The smallest drift of a goodput or a queue, as a part of the larger half."""
WHOLE = 0.02
"""How far the measured passes of a trace may be from a whole number."""
OF_RTT = 0.05
"""The smallest drift of a queue, as a part of the path's RTT: less changes no delay that counts."""


def halves(
    scenario: Scenario, groups: Sequence[str], tables: Tables, end_s: float
) -> dict[str, Any]:
    """Returns the goodputs of the classes and the queue in both halves of the measured time.

    `drifting` has the names of those that drift. Empty where nobody can tell: the time is short,
    flows come, go or pause, the path changes, or the run kept no samples. The queue is left out
    where the link's rate varies, and so is the sum of the goodputs where a trace tells it, unless
    whole passes of the trace are measured. Of an odd number the middle one is left out.
    """
    begin_s = scenario["run"]["warmup_ns"] / 1e9
    if not may_drift_in(scenario, end_s) or not _is_sampled(scenario, end_s):
        return {}
    beyond = BEYOND if end_s - begin_s >= 2 * CYCLE_S else BEYOND_OF_SHORT
    passes = whole_passes(scenario, end_s)
    half_s = passes // 2 * pass_s(scenario) if passes else (end_s - begin_s) / 2
    borders = _borders((begin_s, end_s - half_s), half_s)
    counted = increments_by_key(tables["flow_samples"], "flow", "received_bytes", borders)
    received = {flow: np.delete(its, PARTS) for flow, its in counted.items()}
    if any(not np.isfinite(its).all() for its in received.values()):
        return {}
    nothing = np.zeros(2 * PARTS)
    by_class = dict.fromkeys(groups, nothing)
    for flow, its in received.items():
        by_class[groups[flow]] = by_class[groups[flow]] + its
    total = sum(by_class.values(), nothing)
    scale = 8e-6 / half_s
    sums = {group: its.reshape(2, PARTS).sum(axis=1) for group, its in by_class.items()}
    goodputs = {group: (scale * its).tolist() for group, its in sums.items()}
    found: dict[str, Any] = {"goodput_mbps": goodputs, "drifting": []}
    shares = [_ratio(its, total) for its in by_class.values()]
    service = scenario["path"]["service"]["kind"]
    alike = passes > 0
    if any(_drifts(one, SHARE, beyond, alike) for one in shares) or (
        (alike or service != "trace") and _drifts(total, RELATIVE * _larger(total), beyond, alike)
    ):
        found["drifting"].append("goodput_mbps")
    if service != "constant" and not alike:
        return found
    queue = _queue(scenario, groups, tables, borders)
    found["queue_ms"] = queue.reshape(2, PARTS).mean(axis=1).tolist()
    least_ms = OF_RTT * scenario["path"]["rtt_ns"] / 1e6
    if _drifts(queue, max(RELATIVE * _larger(queue), least_ms), beyond, alike):
        found["drifting"].append("queue_ms")
    return found


def pass_s(scenario: Scenario) -> float:
    """Returns how long a trace lasts until it repeats, in s."""
    opportunities = scenario["path"]["service"]["opportunities_ms"]
    return float(opportunities[-1]) / 1e3


def whole_passes(scenario: Scenario, end_s: float) -> int:
    """Returns how many passes of the link's trace are measured.

    0 without a trace, and unless they are 2 or more, and whole.
    """
    if scenario["path"]["service"]["kind"] != "trace":
        return 0
    passes = (end_s - scenario["run"]["warmup_ns"] / 1e9) / pass_s(scenario)
    return round(passes) if passes > 1.5 and abs(passes - round(passes)) <= WHOLE else 0


def until_pass_ends(scenario: Scenario, end_s: float) -> float:
    """Returns the end of two or more whole passes of the link's trace, not before `end_s`.

    `end_s` itself without a trace.
    """
    if scenario["path"]["service"]["kind"] != "trace":
        return end_s
    begin_s = scenario["run"]["warmup_ns"] / 1e9
    return begin_s + max(passes_in(scenario, end_s - begin_s), 2) * pass_s(scenario)


def passes_in(scenario: Scenario, seconds: float) -> int:
    """Returns how many passes of the link's trace take so long or longer, within 0.5 %."""
    return math.ceil(round(seconds / pass_s(scenario), 2))


def _borders(starts_s: Sequence[float], half_s: float) -> Floats:
    """Returns the ends of the parts of both halves; what is between the halves is a part, too."""
    ends = [np.linspace(at, at + half_s, PARTS + 1) for at in starts_s]
    return np.maximum.accumulate(np.concatenate(ends))


def may_drift_in(scenario: Scenario, end_s: float) -> bool:
    """Returns True if the same long flows share the same path in a long enough measured time."""
    return end_s - scenario["run"]["warmup_ns"] / 1e9 >= SHORTEST_S and is_steady(scenario)


def _is_sampled(scenario: Scenario, end_s: float) -> bool:
    """Returns True if each part of the measured time has two samples or more."""
    run = scenario["run"]
    part_s = (end_s - run["warmup_ns"] / 1e9) / (2 * PARTS)
    return run["record"] != "summary" and run["sample_interval_ns"] / 1e9 <= part_s / 2


def _queue(scenario: Scenario, groups: Sequence[str], tables: Tables, borders: Floats) -> Floats:
    """Returns the mean queue in each part, in ms."""
    (samples,) = RunSeries(scenario, groups, tables).read(BOTTLENECK, "queue_ms")
    known = np.isfinite(samples.values)
    times, values = samples.time_s[known], samples.values[known]
    sums, _ = np.histogram(times, borders, weights=values)
    counts, _ = np.histogram(times, borders)
    return np.delete(_ratio(sums.astype(np.float64), counts.astype(np.float64)), PARTS)


def _drifts(parts: Floats, limit: float, beyond: float, alike: bool) -> bool:
    """Returns True if the halves differ by the limit, and by so many deviations within them.

    Where halves are `alike`, as they replay the same trace, their parts are compared in pairs.
    """
    halves_ = parts.reshape(2, PARTS)
    apart = abs(float(np.diff(halves_.mean(axis=1))[0]))
    variance = np.diff(halves_, axis=0).var(ddof=1) / 2 if alike else halves_.var(axis=1, ddof=1)
    spread = float(np.sqrt(variance.mean()))
    return apart > 0 and apart >= limit and apart >= beyond * spread


def _larger(parts: Floats) -> float:
    return float(parts.reshape(2, PARTS).mean(axis=1).max())


def _ratio(part: Floats, whole: Floats) -> Floats:
    found: Floats = np.zeros(len(part))
    np.divide(part, whole, out=found, where=whole > 0)
    return found
