"""A sentence on what held a captured flow up, from its losses, its queue, and its pauses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from narrows.analyze.path import met_queue

FEW = 0.0005
"""A smaller part of the packets may be lost by chance."""
LONG = 0.05
"""Pauses of a smaller part of a flow's life don't hold it up."""


def limits(flow: Mapping[str, Any]) -> str:
    """The flow's losses and queue, and how long its ends held it up."""
    return "; ".join([_path(flow), *_ends(flow)])


def _path(flow: Mapping[str, Any]) -> str:
    rate, queue_ms = flow["loss"]["loss_rate"], flow["queueing_ms"]
    lossy = rate is not None and rate > FEW
    lost = f"{100 * rate:.2f} % of its packets were lost" if lossy else "hardly a packet was lost"
    if queue_ms is None:
        return f"{lost}; the queue isn't visible here"
    if met_queue(flow["rtt_ms"]):
        return f"{lost}, and a queue of {queue_ms:.1f} ms stood: the link was full"
    cause = "random loss rather than congestion" if lossy else "the path wasn't full"
    return f"{lost}, and there was no queue: {cause}"


def _ends(flow: Mapping[str, Any]) -> Iterator[str]:
    life_s = flow["end_s"] - flow["start_s"]
    window = flow["window"]
    for who, held_s in (
        ("the receiver's window stopped it", window["zero"]["total_s"] + window["limiting_s"]),
        ("the application sent nothing", flow["idle"]["total_s"]),
    ):
        if held_s > LONG * life_s:
            yield f"{who} for {held_s:.1f} of {life_s:.1f} s"
