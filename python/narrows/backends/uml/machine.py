"""Boots a guest, which runs its script and ends."""

from __future__ import annotations

import os
import platform
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from narrows.backends.linux.tools import which
from narrows.backends.uml.processors import own_processor, starting_on
from narrows.errors import NarrowsError

SCRIPT = "init"
"""The guest's first program, a shell script in its directory."""
CONSOLE = "console.log"
LOG, STATUS = "log", "status"
"""Files in a guest's directory: the output of its programs, and their status."""
SILENCE_S = 120.0
"""A guest that reports nothing for this long has stopped its clock, and is ended."""
POLL_S = 0.05
ZERO_NS = 300 * 10**9 - 27 * 10_240_000_000
"""CLOCK_MONOTONIC of every guest at time 0 of the run, after all have booted.

A timer of a quarter second or more waits for a slot of the kernel's timer wheel, up to an eighth
longer. Slots begin at multiples of 8, 64 or 512 ticks. The kernel's counter of ticks is 0 at 300 s
(`INITIAL_JIFFIES`), the simulator's at time 0. This is a multiple of 512 ticks before 300 s, if a
second has 100, 250 or 1000 of them.
"""
_NEEDED_BYTES = 256 << 20
"""Memory for the pages of a guest with a few flows, with a margin."""

# This text is the same in every run: the kernel mixes its command line into its random pool. The
# guest's own files come by way of the process's working directory, whose path differs.
_COMMAND_LINE = (
    "mem=1G",
    "time-travel=inf-cpu",
    "time-travel-start=0",
    "root=/dev/root",
    "rootfstype=hostfs",
    "rootflags=/",
    "ro",
    "quiet",
    "con0=null,fd:1",
    "con=null",
    "init=/bin/sh",
)
_FIRST_STEPS = f'"mount -t hostfs -o /proc/self/cwd none /mnt && . /mnt/{SCRIPT}"'
"""The host's `/proc/self` is the guest itself, so this is its working directory."""
GUEST_DIRECTORY = "/mnt"
"""The path of its directory, as seen by the guest."""


class GuestError(NarrowsError):
    """A guest couldn't do its work."""


@dataclass(frozen=True)
class Program:
    """A kernel program, the library between it and its host (host.c), and further libraries."""

    binary: Path
    library: Path
    others: Sequence[Path] = ()


def boot(
    program: Program,
    directory: Path,
    *,
    seed: int,
    parameters: Sequence[str] = (),
    watch: Callable[[], object] = lambda: None,
) -> float:
    """Boots a guest that runs the script in `directory`; returns the CPU seconds that it took.

    `parameters` are additional words of the kernel's command line. `watch` is called several times
    a second: its return value must change within SILENCE_S, and an exception ends the guest. Raises
    GuestError if the guest stops responding or can't start.
    """
    command = [*_launcher(), str(program.binary), *_COMMAND_LINE, *parameters]
    command += [f"narrows.seed={seed}", "--", "-c", _FIRST_STEPS]
    with own_processor() as processor, (directory / CONSOLE).open("wb") as console:
        try:
            with starting_on(processor):
                process = subprocess.Popen(
                    command,
                    cwd=directory,
                    env=_environment(program, directory, seed),
                    stdin=subprocess.DEVNULL,
                    stdout=console,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            raise GuestError(f"the guest can't be started: {error}") from error
        try:
            return _wait(process, watch)
        finally:
            _end(process)


def console(directory: Path) -> str:
    """Returns the last lines of a guest's output, without the call trace of a panic."""
    try:
        text = (directory / CONSOLE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    lines = [line for line in text.strip().splitlines() if not line.startswith(" [<")]
    return "\n".join(lines[-5:])


def complain(directory: Path) -> None:
    """Raises GuestError unless the guest's programs report success."""
    try:
        status = (directory / STATUS).read_text(encoding="ascii").strip()
    except OSError:
        raise GuestError(f"the guest didn't finish; it said: {console(directory)}") from None
    if status != "0":
        said = (directory / LOG).read_text(encoding="utf-8", errors="replace").strip()
        raise GuestError(f"the guest failed: {said or console(directory)}")


def guest_programs() -> list[Path]:
    """Returns the host's programs that set up a guest and exist here.

    With another shell a guest's random numbers differ, and with them a run. Other programs on the
    host make no difference.
    """
    found = map(which, ("sh", "mount", "ip", "tc"))
    return [Path(program) for program in found if program is not None]


def missing_programs() -> list[str]:
    """Returns the programs that the host lacks to boot a guest and to make its network."""
    return [name for name in ("setarch", "ip", "tc") if which(name) is None]


def _launcher() -> list[str]:
    """Returns the words before the guest's program.

    They switch address randomisation off, and end the guest when this process ends.
    """
    setpriv = which("setpriv")
    launcher = [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
    return [*launcher, which("setarch") or "setarch", platform.machine(), "-R"]


def _environment(program: Program, directory: Path, seed: int) -> dict[str, str]:
    """Returns the guest's environment, with nothing from the caller.

    UML keeps its files in HOME.
    """
    return {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(directory),
        "TMPDIR": _memory_directory(),
        "LD_PRELOAD": ":".join(str(each) for each in (program.library, *program.others)),
        "NARROWS_SEED": str(seed),
    }


def _memory_directory() -> str:
    """Returns the directory of the guest's memory file.

    It is in RAM if there is room and programs may be mapped there.
    """
    try:
        state = os.statvfs("/dev/shm")  # noqa: S108 (UML itself makes an unlinked file)
    except OSError:
        return tempfile.gettempdir()
    free = state.f_bavail * state.f_frsize
    usable = not state.f_flag & os.ST_NOEXEC and free >= _NEEDED_BYTES
    return "/dev/shm" if usable else tempfile.gettempdir()  # noqa: S108


def _wait(process: subprocess.Popen[bytes], watch: Callable[[], object]) -> float:
    last, changed = None, time.monotonic()
    with _waiter(process.pid) as wait:
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                return usage.ru_utime + usage.ru_stime
            state = watch()
            if state != last:
                last, changed = state, time.monotonic()
            if time.monotonic() - changed > SILENCE_S:
                raise GuestError(f"the guest didn't respond for {SILENCE_S:g} s and was ended")
            wait(POLL_S)


@contextmanager
def _waiter(pid: int) -> Iterator[Callable[[float], object]]:
    """Yields a function that waits some seconds, or until a process ends if the host can tell."""
    try:
        end = os.pidfd_open(pid)
    except OSError:  # Linux before 5.3
        yield time.sleep
        return
    try:
        poll = select.poll()
        poll.register(end, select.POLLIN)
        yield lambda seconds: poll.poll(seconds * 1000)
    finally:
        os.close(end)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the guest with its processes, which form their own session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.returncode is None:
        process.wait()
