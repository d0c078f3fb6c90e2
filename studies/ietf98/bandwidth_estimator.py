"""Slide on open challenges: the bandwidth estimator in competition and for app-limited traffic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

from narrows.figures.model import Bar, Figure, Guide, Panel
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, ratios
from narrows.reproduce.proposals import TESTED

from . import improved_path, testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

CLAIM = "ietf98/bandwidth-estimator"
PLAIN, THIRD = "bbr", "bbr3"
VARIANTS = {PLAIN: ("BBR, as it is", "bbr"), THIRD: ("BBRv3", "bbr3")}
"""The authors' refinement ended in version 3: a filter of two probes, and lower bounds."""
COMPETING, BESIDE, LIMITED = "4 flows", "2 flows and 2 CUBIC", "1 that pauses every second"
ROOM = 4.0
PAUSES = {"kind": "on_off", "on": "1s", "off": "1s"}


def cases(scope: Scope) -> Iterator[Case]:
    """Four equal flows, two beside CUBIC, and one without data half of the time."""
    make = improved_path.bottleneck(scope, record="samples", sample_interval="100ms")
    for name in VARIANTS:
        own = {"name": TESTED, "cca": name}
        mixes: dict[str, list[dict[str, Any]]] = {
            COMPETING: [{**own, "count": 4}],
            BESIDE: [{**own, "count": 2}, {"cca": "cubic", "count": 2}],
            LIMITED: [{**own, "workload": PAUSES}],
        }
        for mix, flows in mixes.items():
            yield Case({"variant": name, "mix": mix}, make(flows, ROOM))


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The sum of the tested flows' estimates over what they could have, on average.

    They could have their throughput, or one that pauses the link's rate.
    """
    flows = trial.scenario["flows"]
    tested = [i for i, flow in enumerate(flows) if str(flow["name"]).startswith(TESTED)]
    model = run_frames.internal(trial, "bw_mbps").filter(pl.col("flow").is_in(tested))
    sums = model.group_by("time_s").agg(pl.col("value").sum())
    believed = testbed.number(sums["value"].mean())
    rate = 1448 / 1500 * improved_path.RATE_MBPS
    got = float(run_frames.summary(trial)[f"{TESTED}.goodput_mbps"][0])
    pauses = any(flow["workload"] for flow in flows)
    return {"outcome": pl.DataFrame({"believed": [100 * believed / (rate if pauses else got)]})}


def draw(data: Data) -> list[Picture]:
    """The estimate over the actual rate, a bar for each version."""
    bars = []
    for step, (name, (label, colour)) in enumerate(VARIANTS.items()):
        for place, mix in enumerate((COMPETING, BESIDE, LIMITED)):
            found = data.values("believed", variant=name, mix=mix)
            at = place + 0.36 * (step - 0.5)
            bars.append(Bar(label, at, sum(found) / len(found), colour, (min(found), max(found))))
    ticks = tuple((float(place), mix) for place, mix in enumerate((COMPETING, BESIDE, LIMITED)))
    panel = Panel("", "Estimate (% of what is there)", tuple(bars), ticks=ticks,
                  y_range=(0, None), guides=(Guide(100, "exact"),))  # fmt: skip
    figure = Figure(
        "The bandwidth estimator",
        f"{improved_path.PATH}, {ROOM:g} BDP, mean and range of the trials; {data.scope.profile}",
        (panel,),
        "What flows believe to have, in percent of what they have, for two versions of BBR.",
        height=3.2,
    )
    return [Picture("", "The sum of the flows' bandwidths, over what they had", figure)]


def judge(data: Data) -> list[Finding]:
    """The estimate is more accurate in competition, and isn't lost in pauses."""
    return [Finding(CLAIM, [nearer(data), estimate_of_pausing_flow(data)])]


def _estimates_of_pausing(data: Data, variant: str) -> list[float]:
    return data.values("believed", variant=variant, mix=LIMITED)


def nearer(data: Data) -> Check:
    """The error in competition, compared with plain BBR."""
    off = {
        (name, mix): [abs(v - 100) for v in data.values("believed", variant=name, mix=mix)]
        for name in VARIANTS
        for mix in (COMPETING, BESIDE)
    }
    told = "; ".join(
        f"{interval(data, off[THIRD, mix])} instead of {interval(data, off[PLAIN, mix])} % off, "
        f"{mix}"
        for mix in (COMPETING, BESIDE)
    )
    return judge_bounds(
        data,
        CLAIM,
        "nearer",
        "In competition the refined estimator is nearer to what a flow gets.",
        "How far the sum of the flows' bandwidths is from what they got together, with BBRv3 over "
        "that with BBR as it is.",
        {mix: ratios(off[THIRD, mix], off[PLAIN, mix]) for mix in (COMPETING, BESIDE)},
        f" ({told})",
    )


def estimate_of_pausing_flow(data: Data) -> Check:
    """The estimate of a flow that pauses."""
    return judge_bounds(
        data,
        CLAIM,
        "kept",
        "Pauses of the application don't lower it.",
        "The mean bandwidth of a BBRv3 flow that sends every other second, in percent of the "
        f"link's ({interval(data, _estimates_of_pausing(data, PLAIN), 3, ' %')} with BBR as it "
        "is).",
        _estimates_of_pausing(data, THIRD),
    )
