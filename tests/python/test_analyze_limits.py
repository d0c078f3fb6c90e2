"""The sentence on what held a captured flow up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from narrows.analyze.limits import limits

FLOW = {
    "start_s": 10.0,
    "end_s": 20.0,
    "rtt_ms": {"min": 40.0, "mean": 41.0},
    "queueing_ms": 1.0,
    "loss": {"loss_rate": 0.0},
    "window": {"zero": {"total_s": 0.0}, "limiting_s": 0.0},
    "idle": {"total_s": 0.0},
}
QUEUE = {"rtt_ms": {"min": 40.0, "mean": 75.0}, "queueing_ms": 35.0}
UNKNOWN = {"rtt_ms": {"min": None, "mean": None}, "queueing_ms": None}
LOSS = {"loss": {"loss_rate": 0.003}}
LOST = "0.30 % of its packets were lost"
FREE = "hardly a packet was lost, and there was no queue: the path wasn't full"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({}, FREE),
        (QUEUE, "hardly a packet was lost, and a queue of 35.0 ms stood: the link was full"),
        (
            QUEUE | LOSS,
            f"{LOST}, and a queue of 35.0 ms stood: the link was full",
        ),
        (
            LOSS,
            f"{LOST}, and there was no queue: random loss rather than congestion",
        ),
        (UNKNOWN | LOSS, f"{LOST}; the queue isn't visible here"),
        (
            {"window": {"zero": {"total_s": 2.0}, "limiting_s": 1.0}},
            f"{FREE}; the receiver's window stopped it for 3.0 of 10.0 s",
        ),
        ({"idle": {"total_s": 6.0}}, f"{FREE}; the application sent nothing for 6.0 of 10.0 s"),
        ({"idle": {"total_s": 0.4}}, FREE),
    ],
)
def test_a_flow_was_held_up_by(found: Mapping[str, Any], said: str) -> None:
    assert limits({**FLOW, **found}) == said
