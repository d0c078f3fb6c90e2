"""Reports the progress of runs to the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

TICK_S = 0.1
"""Time between reports to a watcher, in seconds."""


@dataclass(frozen=True)
class RunProgress:
    """The progress of some runs: `done` and `failed` of `total`.

    Of at most `total_s` simulated seconds, `sim_s` have passed in all runs together, and `packets`
    have left their bottlenecks; `part` of the work is done, from 0 to 1. If there are several
    steps, `step` names the current one. `after` says what is done once the runs are.
    """

    done: int
    failed: int
    total: int
    sim_s: float
    total_s: float
    packets: int
    part: float
    step: str = ""
    after: str = "judging and writing the results"

    @classmethod
    def beyond_runs(cls, after: str, step: str = "") -> RunProgress:
        """Returns the state of work that follows the runs."""
        return cls(0, 0, 0, 0.0, 0.0, 0, 1.0, step, after)


class Watcher(Protocol):
    """Receives the progress about ten times a second; may raise to stop the runs."""

    def __call__(self, state: RunProgress, /) -> None:
        """Receives the current state."""


def progress_line(state: RunProgress, elapsed_s: float) -> str:
    """Describes a state in words, `elapsed_s` seconds after the beginning."""
    parts = [state.step] if state.step else []
    if state.total > 1:
        parts.append(f"{state.done} of {state.total} done")
    elif state.total:
        parts.append(f"{state.sim_s:,.1f} of {state.total_s:,.0f} s simulated")
    if state.failed:
        parts.append(f"{state.failed} failed")
    if state.total:
        parts.append(f"{state.packets / elapsed_s:,.0f} packets/s")
    if state.part >= 1:
        parts.append(state.after)
    elif state.part > 0:
        parts.append(f"{clock(elapsed_s * (1 - state.part) / state.part)} left")
    return ", ".join(parts)


def clock(seconds: float) -> str:
    """Returns a duration in a readable unit: 45 s, 12 min, 3.5 h."""
    if seconds < 120:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
