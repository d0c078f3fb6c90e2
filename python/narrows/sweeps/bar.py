"""The progress of a sweep on standard error, if that is a terminal."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from narrows.sweeps.pool import State

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE_S = 1.0
"""A sweep shorter than this shows nothing."""


class SweepBar:
    """Done, failed, packets per second, time left; a context manager and a watcher."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._wanted = sys.stderr.isatty()
        self._bar: Progress | None = None

    def __enter__(self) -> SweepBar:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, state: State, /) -> None:
        """Shows how far the sweep is."""
        elapsed = time.monotonic() - self._began
        if not self._wanted or elapsed < PATIENCE_S:
            return
        if self._bar is None:
            self._bar = _bar()
            self._bar.add_task("", total=1.0, text="")
            self._bar.start()
        text = progress_line(state, elapsed)
        self._bar.update(self._bar.task_ids[0], completed=state.part, text=text)


def progress_line(state: State, elapsed_s: float) -> str:
    """The state of a sweep `elapsed_s` seconds after its beginning, in words."""
    parts = [f"{state.done} of {state.total} done"]
    if state.failed:
        parts.append(f"{state.failed} failed")
    parts.append(f"{state.packets / elapsed_s:,.0f} packets/s")
    if state.part > 0:
        parts.append(f"{clock(elapsed_s * (1 - state.part) / state.part)} left")
    return ", ".join(parts)


def clock(seconds: float) -> str:
    """A time as people say it: 45 s, 12 min, 3.5 h."""
    if seconds < 120:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(), TextColumn("{task.fields[text]}"))
    return Progress(*columns, console=Console(stderr=True), transient=True)
