"""Allots this machine's memory to runs, or refuses them before they start."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from narrows.errors import NarrowsError, SpecError
from narrows.execute.demand import Part, demand
from narrows.spec.scenario import Scenario

_SHARE = 0.9
"""Share of the free memory for runs; the rest is for everything else."""
_TICK_S = 0.1
_LEAST = 200_000_000
"""Free memory in bytes below which a run is ended."""
_RECOVERY_S = 2.0
"""The time after the end of a run in which no other run is ended, since memory is being freed."""
_LITTLE = 0.01
"""Share of the free memory below which a run is small: asking the system takes as long as the
run."""
CGROUPS = Path("/sys/fs/cgroup")
"""The directory with the limits of control groups."""
_MEMINFO = Path("/proc/meminfo")
OWN_GROUPS = Path("/proc/self/cgroup")
"""The groups of this process."""


class MemoryShortError(NarrowsError):
    """A run was ended because the machine ran short of memory."""


class MemoryBudget:
    """The memory that the runs of this process share.

    A run that would fit alone, but not beside the current ones, waits for them.
    """

    def __init__(self, free: Callable[[], int | None]) -> None:
        self.read_free = free
        self._taken = 0
        self._changed = threading.Condition()
        self._known: tuple[float, int | None] = (-math.inf, None)
        self._checked = -math.inf

    @contextmanager
    def of(self, scenario: Scenario, waiting: Callable[[], object]) -> Iterator[None]:
        """Reserves the memory that a run needs; calls `waiting` repeatedly until it is available.

        Raises SpecError if the machine doesn't have that much.
        """
        parts = demand(scenario)
        need = sum(part.bytes for part in parts)
        with self._changed:
            while not self._fits(need, parts):
                self._changed.wait(_TICK_S)
                waiting()
            self._taken += need
        try:
            yield
        finally:
            with self._changed:
                self._taken -= need
                self._changed.notify_all()

    def check(self) -> None:
        """Raises MemoryShortError if runs have left the machine hardly any memory.

        This ends a run that outgrows its estimate before the machine suffers; its memory is then
        free for the others.
        """
        now = time.monotonic()
        if now - self._checked < _TICK_S:
            return
        self._checked = now
        free = self.read_free()
        if free is not None and free < _LEAST:
            self._checked = now + _RECOVERY_S
            found = f"a run that needs more memory than estimated, while {_gb(free)} is left"
            remedy = "a shorter run.duration, or fewer flows,"
            raise MemoryShortError(f"run: found {found}; {remedy} would be right")

    def _fits(self, need: int, parts: list[Part]) -> bool:
        free = self._free_for(need)
        if free is None:
            return True
        # Memory that other runs reserved may already be in use, so it is no longer free either.
        # Counting it twice can make a run wait, but never refuses it.
        if need > free + self._taken:
            raise _refusal(need, free + self._taken, parts[0])
        return self._taken == 0 or need <= free - self._taken

    def _free_for(self, need: int) -> int | None:
        """Returns the free memory; a recent value suffices for a run that needs little."""
        when, free = self._known
        now = time.monotonic()
        if free is None or need > free * _LITTLE or now - when > _TICK_S:
            free = self.read_free()
            self._known = (now, free)
        return free


def _refusal(need: int, free: int, most: Part) -> SpecError:
    found = (
        f"a run that needs about {_gb(need)} of memory, {_gb(most.bytes)} of it for {most.what}, "
        f"while {_gb(free)} is free"
    )
    return SpecError.at("run", found, most.remedy)


def _gb(count: int) -> str:
    return f"{count / 1e9:.3g} GB"


def free_memory() -> int | None:
    """Returns the memory that this process may still take, in bytes.

    None if the system doesn't say.
    """
    known = [_free_of_machine(), *_free_of_groups()]
    counts = [count for count in known if count is not None]
    return int(min(counts) * _SHARE) if counts else None


def _free_of_machine() -> int | None:
    """Returns Linux's own estimate of the memory available without swapping, plus the free swap."""
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
        fields = dict(line.split(":", 1) for line in lines)
        return sum(int(fields[name].split()[0]) for name in ("MemAvailable", "SwapFree")) * 1024
    except (OSError, ValueError, KeyError):
        return None


def _free_of_groups() -> Iterator[int | None]:
    """Yields the memory left by the limits of this process's control groups, up to the root."""
    try:
        lines = OWN_GROUPS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            names = ("", "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            names = (
                "memory",
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            )
        else:
            continue
        root, limit, usage, cache = names
        group = Path(path.lstrip("/"))
        for part in (group, *group.parents):
            yield _headroom(CGROUPS / root / part, limit, usage, cache)


def _headroom(group: Path, limit: str, usage: str, cache: str) -> int | None:
    """Returns a group's limit minus its use; file pages that it could drop don't count as used."""
    try:
        most = int((group / limit).read_text(encoding="ascii"))
        used = int((group / usage).read_text(encoding="ascii"))
        lines = (group / "memory.stat").read_text(encoding="ascii").splitlines()
        dropped = next((int(line.split()[1]) for line in lines if line.startswith(f"{cache} ")), 0)
    except (OSError, ValueError):  # a limit may be "max"
        return None
    return max(0, most - used + dropped)


MEMORY = MemoryBudget(free_memory)
"""The memory of this process."""
