"""An agent's observations and actions, with units: the engine's numbers as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narrows.columns import Floats
from narrows.packets import PAYLOAD_BITS

LEAST_WINDOW, MOST_WINDOW = 2.0, 100_000.0
"""Bounds of the window, in packets."""

OBSERVATIONS = {
    "throughput_mbps": (1e5, "payload delivered in the step, in Mbit/s"),
    "sent_mbps": (1e5, "payload sent in the step, with retransmissions, in Mbit/s"),
    "loss": (1.0, "packets marked lost in the step, as a part of those marked lost or delivered"),
    "rtt_ms": (1e6, "mean round-trip time of the step; without a sample the smoothed one, in ms"),
    "min_rtt_ms": (1e6, "lowest round-trip time so far, in ms"),
    "window": (MOST_WINDOW, "congestion window, in packets"),
    "in_flight": (MOST_WINDOW, "packets in flight"),
}
"""The numbers of an observation in order: the largest possible value, and the meaning."""

ACTIONS = {"window_log2": "the factor by which the window changes, as its logarithm to base 2"}
"""The numbers of an action, each from -1 to 1."""

COLUMNS = (
    "now_s",
    "over",
    "sent",
    "delivered",
    "lost",
    "rtt_ms",
    "min_rtt_ms",
    "srtt_ms",
    "window",
    "in_flight",
    "pacing_mbps",
)
"""The numbers that the native module returns for each environment."""


@dataclass(frozen=True)
class Step:
    """A step of several environments; each field has a number for each environment."""

    span_s: Floats
    """How long the step lasted; 0 if the run was already over."""
    throughput_mbps: Floats
    sent_mbps: Floats
    loss: Floats
    rtt_ms: Floats
    min_rtt_ms: Floats
    rtt_before_ms: Floats
    """The round-trip time in the previous step."""
    window: Floats
    in_flight: Floats
    over: NDArray[np.bool_]
    """True if the run has ended."""

    def observation(self) -> NDArray[np.float32]:
        """Returns a row for each environment, with the columns of OBSERVATIONS."""
        columns: list[Floats] = [getattr(self, name) for name in OBSERVATIONS]
        rows: Floats = np.clip(np.stack(columns, axis=1), 0.0, largest())
        return rows.astype(np.float32)


def largest() -> Floats:
    """Returns the largest values of an observation."""
    return np.array([most for most, _ in OBSERVATIONS.values()])


def numbers(raw: bytes) -> Floats:
    """Reads the native module's numbers as rows of COLUMNS."""
    return np.frombuffer(raw, np.float64).reshape(-1, len(COLUMNS))


def step_between(before: Floats, after: Floats) -> Step:
    """Returns the step from one state to the next."""
    old = {name: before[:, at] for at, name in enumerate(COLUMNS)}
    new = {name: after[:, at] for at, name in enumerate(COLUMNS)}
    span = new["now_s"] - old["now_s"]
    sent, delivered, lost = (new[name] - old[name] for name in ("sent", "delivered", "lost"))
    per_second = PAYLOAD_BITS / 1e6 / np.where(span > 0, span, 1.0)
    return Step(
        span_s=span,
        throughput_mbps=delivered * per_second,
        sent_mbps=sent * per_second,
        loss=lost / np.maximum(lost + delivered, 1.0),
        rtt_ms=_round_trip(new),
        min_rtt_ms=new["min_rtt_ms"],
        rtt_before_ms=_round_trip(old),
        window=new["window"],
        in_flight=new["in_flight"],
        over=new["over"] > 0,
    )


def _round_trip(state: dict[str, Floats]) -> Floats:
    return np.where(state["rtt_ms"] > 0, state["rtt_ms"], state["srtt_ms"])


def settings(windows: Floats) -> bytes:
    """Returns windows in packets as the native module takes them, without pacing rates."""
    rows = np.zeros((len(windows), 2))
    rows[:, 0] = np.round(windows)
    return rows.tobytes()
