"""The testbeds that the paper leaves open."""

from __future__ import annotations

from narrows.reproduce.testbed_axes import (
    CLOCK,
    STARTS,
    Edit,
    Level,
    Spec,
    TestbedAxis,
    shape,
    timers,
)

CHOSEN_FLOWS = 4


def _flows(count: int) -> Edit:
    """Other numbers of flows where there are four of our choice."""

    def edit(spec: Spec) -> None:
        numbers = [flow.get("count", 1) for flow in spec["flows"]]
        if sum(numbers) == CHOSEN_FLOWS and all(n * count % CHOSEN_FLOWS == 0 for n in numbers):
            for flow, number in zip(spec["flows"], numbers, strict=True):
                flow["count"] = number * count // CHOSEN_FLOWS

    return edit


def _confirming(**options: float) -> Edit:
    """Other options of a BBR whose RTprop rises once it is confirmed."""

    def edit(spec: Spec) -> None:
        for flow in spec["flows"]:
            if flow.get("options", {}).get("rtprop") == "confirm":
                flow["options"] |= options

    return edit


def _token_buckets(spec: Spec) -> None:
    """Two token bucket filters with small buckets, one after the other."""
    if shape(spec, kind="tbf", burst="5kb"):
        path = spec["path"]
        path["links"] = [{"name": "second bucket", "rate": path["rate"], "buffer": "1mb",
                          "service": path["service"]}]  # fmt: skip


AXES = (
    TestbedAxis(
        "How late pacing timers were isn't known. 50 us were chosen, and that choice was made "
        "beside this paper's losses (decision 006): not at all, by 30 or by 100 us.",
        (
            Level("timers on time", timers("0s")),
            Level("timers 30 us late", timers("30us")),
            Level("timers 100 us late", timers("100us")),
        ),
        crossed=True,
    ),
    TestbedAxis(
        "How many flows these figures have isn't said; Table I has 2, 4 and 8.",
        (Level("2 flows", _flows(2)), Level("8 flows", _flows(8))),
        tuple(f"panaderia/fig{n}" for n in (6, 7, 8, 10, 11, 12)),
        crossed=True,
    ),
    STARTS,
    CLOCK,
    TestbedAxis(
        "The router has two token bucket filters with small buckets, of which nothing more is "
        "said: 5 KB each, in place of a link.",
        (Level("two token buckets", _token_buckets),),
    ),
    TestbedAxis(
        "A higher RTprop counts if it is consistently higher for many probes or drastically "
        "higher for one. How many and how much isn't said: 3 or 10 probes instead of 5; only "
        "many probes; only a single one.",
        (
            Level("3 probes", _confirming(rtprop_probes=3)),
            Level("10 probes", _confirming(rtprop_probes=10)),
            Level("many probes alone", _confirming(rtprop_jump=1000)),
            Level("a drastic probe alone", _confirming(rtprop_probes=100)),
        ),
        ("panaderia/fix-rtprop",),
    ),
)
