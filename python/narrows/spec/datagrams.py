"""Names the traffic of flows by their application, for flows without a connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class MediaControl:
    """A control of video calls: its usual spelling, its effect, and its source, if any."""

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
        "the same, but the rate approaches the link's capacity",
        "EricssonResearch/scream, of March 2017",
    ),
    "none": MediaControl("constant", "no control: the highest rate of the encoder", ""),
}
"""The values of `control` of the workload `media`."""

_SENT = {"udp": "UDP", "ping": "probes"}


def kind_of(flow: Mapping[str, Any]) -> str:
    """Returns the kind of a flow's workload; empty if it has none."""
    return str((flow.get("workload") or {}).get("kind", ""))


def traffic(flow: Mapping[str, Any]) -> str | None:
    """Describes a flow of datagrams, such as "call, NADA"; None for one with a connection."""
    kind = kind_of(flow)
    if kind == "media":
        return f"call, {MEDIA_CONTROLS[flow['workload']['control']].title}"
    return _SENT.get(kind)
