"""Names of flows without a connection: what they send, and the controls of calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class MediaControl:
    """A control of video calls: its usual spelling, what it does, and its source, if any."""

    title: str
    summary: str
    source: str


MEDIA_CONTROLS = {
    "nada": MediaControl(
        "NADA", "a rate that follows delay, loss and marks as one signal", "RFC 8698"
    ),
    "scream": MediaControl("SCReAM", "a window that keeps the queueing delay low", "RFC 8298"),
    "scream_program": MediaControl(
        "SCReAM's program",
        "the same, but the rate approaches what the link takes",
        "EricssonResearch/scream, of March 2017",
    ),
    "none": MediaControl("constant", "no control: the highest rate of the encoder", ""),
}
"""What `control` of the workload `media` can be."""

_SENT = {"udp": "UDP", "ping": "probes"}


def sent(flow: Mapping[str, Any]) -> str | None:
    """What a flow of datagrams sends, such as "call, NADA"; None if it has a connection."""
    workload = flow.get("workload") or {}
    if workload.get("kind") == "media":
        return f"call, {MEDIA_CONTROLS[workload['control']].title}"
    return _SENT.get(workload.get("kind", ""))
