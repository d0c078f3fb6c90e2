"""What the study doesn't say about its testbed, varied to show what it decides.

Each variation is a condition of the testbed that is as likely as the one that was chosen, and
that the study leaves open. Where a statement doesn't hold as the study is described but does
under one of them, that is the reason why this setup differs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from narrows.report import Check
from narrows.reproduce.exhibit import Case, Data
from narrows.reproduce.judging import together
from narrows.reproduce.mixed import testbed

PLAIN = "as described"
"""The value of the column `condition` for the study's own description."""
REPETITIONS = 3
CONVERSATION_RTTS = 4

Spec = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that the study leaves open: its name, what it is, how it changes a run."""

    name: str
    why: str
    change: Callable[[Spec, Mapping[str, Any]], None]


def _offload(spec: Spec, key: Mapping[str, Any]) -> None:
    rate_bps, room = 1e6 * key["rate_mbps"], key["buffer_bdp"]
    packets = round(room * rate_bps * testbed.RTT_MS / 1000 / 8 / 1500)
    spec["path"]["buffer"] = f"{packets}pkt"
    spec["host"]["gso"] = True


def _conversation(spec: Spec, _key: Mapping[str, Any]) -> None:
    for flow in spec["flows"]:
        if "repeat_gap" in flow:
            gap_s = float(flow["repeat_gap"].removesuffix("s"))
            flow["repeat_gap"] = f"{gap_s + CONVERSATION_RTTS * testbed.RTT_MS / 1000:g}s"


def _metrics(spec: Spec, key: Mapping[str, Any]) -> None:
    _conversation(spec, key)
    spec["host"]["metrics_save"] = True


OFFLOAD = Condition(
    "offload",
    "The study doesn't say whether segmentation offload was on, as it is by default. With it a "
    "burst can reach the middle node as one super-packet, and netem's limit counts it as one "
    "packet. With every burst as one packet:",
    _offload,
)
CONVERSATION = Condition(
    "iperf3",
    "Between two flows iperf3 also talks to its server: three round trips before the data "
    "connection and one before its data (iperf_client_api.c). The study's 0.1 s is the gap "
    f"between two calls. With a gap longer by {CONVERSATION_RTTS} RTT:",
    _conversation,
)
METRICS = Condition(
    "metrics",
    "Linux 4.11 remembers the slow-start threshold of a destination (tcp_no_metrics_save = 0), "
    "unless a flow is reset at its end, as iperf3's may be; the study doesn't say. With it kept, "
    "and the gap of iperf3's conversation:",
    _metrics,
)


def plain(cases: Iterable[Case]) -> Iterator[Case]:
    """The cases as the study describes them."""
    for case in cases:
        yield Case({"condition": PLAIN, **case.key}, case.spec)


def under(
    condition: Condition,
    cases: Iterable[Case],
    *,
    repetitions: int = REPETITIONS,
    **more: object,
) -> Iterator[Case]:
    """The cases under another condition, repeated `repetitions` times at most.

    `more` are parts of the key that the condition needs and that the cases don't name.
    """
    for case in cases:
        spec = copy.deepcopy(dict(case.spec))
        condition.change(spec, {**case.key, **more})
        spec["run"]["trials"] = min(spec["run"]["trials"], repetitions)
        yield Case({"condition": condition.name, **case.key}, spec, aside=True)


def only(data: Data, condition: Condition | None = None) -> Data:
    """What was measured under a condition, or as the study describes it."""
    name = condition.name if condition else PLAIN
    frames = {
        key: frame.filter(pl.col("condition") == name).drop("condition")
        for key, frame in data.frames.items()
    }
    return Data(frames, data.scope)


def reason(
    condition: Condition, data: Data, judge: Callable[[Data], Sequence[Check]]
) -> Check | None:
    """The checks that `judge` makes of what was measured under a condition, as one.

    None where the back end can't run it.
    """
    varied = only(data, condition)
    if any(frame.is_empty() for frame in varied.frames.values()):
        return None
    checks = judge(varied)
    statements = " ".join(check.statement for check in checks)
    return joined([replace(checks[0], statement=f"{condition.why} {statements}"), *checks[1:]])


def both(first: Check | None, second: Check | None) -> Check | None:
    """Two reasons for two parts of a claim as one; None if one is missing."""
    if first is None or second is None:
        return None
    statement = f"{first.statement} {second.statement}"
    return joined([replace(first, statement=statement), second])


def joined(checks: Sequence[Check]) -> Check:
    """Several checks as one, which has the statement of the first."""
    return Check(
        checks[0].statement,
        " ".join(check.rule for check in checks),
        "; ".join(check.expected for check in checks),
        "; ".join(check.measured for check in checks),
        together(check.passed for check in checks),
    )
