"""Slide 'Lessons from deploying': links whose rate follows the backlog."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

from narrows.figures.model import Figure, Line, Panel
from narrows.metrics.intervals import mean
from narrows.report import Check
from narrows.reproduce import run_frames, spread
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, ratios
from narrows.reproduce.rules import rule

from . import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

CLAIM = "ietf98/backlog"
RATE_MBPS, LEAST_MBPS, RTT_MS = 50, 10, 40
BDP_KB = 250
FULL_KB = (25, 50, 100, 200)
"""The backlog needed for the full rate."""
MOST_OF = 0.8
"""Of that, on average, grants nearly the full rate."""
SENDERS: dict[str, tuple[dict[str, Any], str]] = {
    "one BDP": ({"cca": "bbr", "options": {"cwnd_gain": 1}}, "neutral"),
    "as it is": ({"cca": "bbr"}, "bbr"),
    "CUBIC": ({"cca": "cubic"}, "cubic"),
}
"""BBR with a window of one BDP, which keeps no queue; BBR as it is; a control that fills queues."""
TRIALS = 3


def cases(scope: Scope) -> Iterator[Case]:
    """Each sender alone on a cellular link, by what must wait for the full rate."""
    for label, (flow, _) in SENDERS.items():
        for full in FULL_KB:
            service = {"kind": "cellular", "min_rate": f"{LEAST_MBPS}mbit",
                       "full_backlog": f"{full}kb"}  # fmt: skip
            path = {"rate": f"{RATE_MBPS}mbit", "rtt": f"{RTT_MS}ms", "buffer": "8bdp",
                    "service": service}  # fmt: skip
            spec = testbed.spec(
                scope,
                path,
                [flow],
                duration="40s",
                warmup="10s",
                trials=testbed.trials(scope, TRIALS),
                record="summary",
            )
            yield Case({"sender": label, "full_kb": full}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The rate in percent of the link's, and the mean queue in BDP."""
    row = run_frames.summary(trial)
    return {"outcome": row.select(busy=100 * pl.col("utilization"), queue="queue_mean_bdp")}


def draw(data: Data) -> list[Picture]:
    """Rate and queue over what must wait."""
    panels = tuple(
        Panel("Backlog for the full rate (KB)", label, tuple(_lines(data, value)),
              y_range=(0, None))
        for value, label in (("busy", "Utilisation (%)"), ("queue", "Mean queue (BDP)"))
    )  # fmt: skip
    figure = Figure(
        "A link that grants more the more waits",
        f"{LEAST_MBPS} to {RATE_MBPS} Mbit/s, {RTT_MS} ms, mean and range of the trials; "
        f"{data.scope.profile}",
        panels,
        "Utilisation and queue over the backlog that the full rate needs, for three senders.",
        columns=2,
        height=3.2,
    )
    return [Picture("", "Utilisation and queue by what must wait for the full rate", figure)]


def _lines(data: Data, value: str) -> Iterator[Line]:
    for label, (_, colour) in SENDERS.items():
        rows = data["outcome"].filter(pl.col("sender") == label)
        words = label if label == "CUBIC" else f"BBR, {label}"
        yield spread.line(spread.over(rows, "full_kb", value), "full_kb", words, colour)


def judge(data: Data) -> list[Finding]:
    """The rate stays low without a queue, but not with BBR's."""
    less = starves(data)
    return [Finding(CLAIM, [less, keeps(data)], room(data), explains=[less.statement])]


def _against_cubic(data: Data, label: str) -> dict[str, list[float]]:
    return {
        f"{full} KB": ratios(
            *(data.values("busy", sender=sender, full_kb=full) for sender in (label, "CUBIC"))
        )
        for full in FULL_KB
    }


def starves(data: Data) -> Check:
    """BBR with a window of a BDP."""
    told = "; ".join(
        f"{interval(data, data.values('busy', sender='one BDP', full_kb=full))} %, {full} KB"
        for full in FULL_KB
    )  # fmt: skip
    return judge_bounds(
        data,
        CLAIM,
        "starves",
        "A sender that keeps no queue is granted less.",
        "Utilisation by BBR with a window of one BDP over that by CUBIC, which fills the buffer, "
        "by what must wait for the full rate.",
        _against_cubic(data, "one BDP"),
        f" ({told})",
    )


def keeps(data: Data) -> Check:
    """Plain BBR."""
    return judge_bounds(
        data,
        CLAIM,
        "keeps",
        "With the queue that BBR's window of two BDP keeps it has the rate.",
        "The same of BBR as it is.",
        _against_cubic(data, "as it is"),
    )


def room(data: Data) -> Check:
    """A window of a BDP keeps enough queue in the cases in which it isn't granted less."""
    enough = [
        full
        for full, found in _against_cubic(data, "one BDP").items()
        if mean(found) > rule(CLAIM, "starves").high
    ]
    parts = {
        full: mean(data.values("queue", sender="one BDP", full_kb=int(full.split()[0]))) * BDP_KB
        / int(full.split()[0])
        for full in enough
    }  # fmt: skip
    return Check(
        "Where it isn't, the packets that BBR's window has for bursts are queue enough.",
        f"The mean queue with a window of one BDP, in parts of what must wait for the full rate. "
        f"Passes if it is {MOST_OF:g} or more wherever the sender isn't granted less.",
        f"{MOST_OF:g} or more",
        "; ".join(f"{full}: {part:.2f}" for full, part in parts.items()) or "none",
        bool(parts) and min(parts.values()) >= MOST_OF,
    )
