"""One run as plain data. Made by tools/generate_scenario.py.

Integers are in ns, bytes and bit/s; nothing has a default, so a scenario states exactly what ran.
The engine's side is crates/spec/src/scenario.rs.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

Choice = dict[str, Any]
"""An element by the name of its kind, with every parameter by its key."""


class Link(TypedDict):
    """A further link behind the first one, with the same keys."""

    name: str
    rate_bps: int
    buffer: dict[str, int]
    queue: Choice
    service: Choice


class Reverse(TypedDict):
    """The reverse link."""

    rate_bps: int
    buffer: dict[str, int]
    queue: Choice
    service: Choice
    name: str


class Path(TypedDict):
    """The bottleneck and the delay around it."""

    rate_bps: int
    rtt_ns: int
    buffer: dict[str, int]
    queue: Choice
    service: Choice
    loss: float
    impairments: list[Choice]
    links: list[Link]
    reverse: Reverse | None
    capacity_known: NotRequired[bool]
    delay_known: NotRequired[bool]


Flow = TypedDict(
    "Flow",
    {
        "cca": str,
        "stack": NotRequired[str],
        "name": str,
        "start_ns": int,
        "stop_ns": int | None,
        "size_bytes": int | None,
        "workload": dict[str, Any] | None,
        "deadline_ns": NotRequired[int],
        "receive_window_bytes": int | None,
        "notsent_lowat_bytes": NotRequired[int],
        "rtt_ns": int | None,
        "reverse": bool,
        "links": list[str] | None,
        "repeat_gap_ns": int | None,
        "while": str | None,
        "ecn": str,
        "dscp": NotRequired[str],
        "options": dict[str, Any],
        "profile": NotRequired[str],
        "fq": NotRequired[bool],
        "kernel": NotRequired[str],
        "line_rate_bps": NotRequired[int],
        "sysctls": NotRequired[dict[str, str]],
        "server": NotRequired[list[str]],
        "client": NotRequired[list[str]],
        "sender": NotRequired[str],
        "syscall_time_ns": NotRequired[int],
        "date": NotRequired[str],
    },
)
"""A flow, `count` identical ones, or a chain of successive ones."""


class Host(TypedDict):
    """TCP of the end hosts."""

    profile: str
    fq: bool
    jitter_ns: int
    timer_lateness_ns: int
    gso: bool
    metrics_save: bool
    gro_ns: int
    socket_buffers: str


class Run(TypedDict):
    """How long, how often, and what to keep."""

    duration_ns: int
    warmup_ns: int
    stop_when: str | None
    sample_interval_ns: int
    record: str


class Change(TypedDict):
    """A change in the course of the run, after everything else of its instant."""

    at_ns: int
    link: NotRequired[str]
    rate_bps: NotRequired[int]
    rtt_ns: NotRequired[int]
    loss: NotRequired[float]
    flow: NotRequired[str]
    stop: NotRequired[bool]
    window_packets: NotRequired[int]
    pacing_rate_bps: NotRequired[int]
    end: NotRequired[bool]


class Scenario(TypedDict):
    """One experiment: a path, the flows that share it, the hosts, the run."""

    name: str
    path: Path
    flows: list[Flow]
    host: Host
    run: Run
    changes: NotRequired[list[Change]]
    seed: int
    controls: NotRequired[dict[str, dict[str, str]]]
