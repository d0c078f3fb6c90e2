"""The router's process: whether it can run here, how it runs, and how it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

from narrows.backends.protocol import Progress
from narrows.errors import InputError, NarrowsError

CONFIG, LOG = "router_config.json", "log"
"""Files in a run's directory: the router's configuration and its output."""
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


class KernelRunError(NarrowsError):
    """A run on this machine's kernel has failed."""


def has_discipline(router: Path, name: str) -> bool:
    """Returns True if a host can have this queue discipline here."""
    command = [str(router), "check", name]
    return not subprocess.run(command, capture_output=True, check=False).returncode


def check(router: Path) -> None:
    """Raises InputError if this user can't make namespaces and TUN devices here."""
    done = subprocess.run([str(router), "check"], capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().removeprefix("narrows-router: ")
        found, _, remedy = said.partition("; ")
        remedy = remedy or '"sim", or "uml", which needs none of this,'
        raise InputError.at("--backend", f'"kernel", but {found}', remedy)


def available_ccas() -> tuple[str, ...]:
    """Returns the loaded congestion controls."""
    try:
        return tuple(_AVAILABLE.read_text(encoding="ascii").split())
    except OSError:
        return ()


def has_cca(name: str) -> bool:
    """Returns True if the kernel has that control; root also loads the module."""
    if name in available_ccas():
        return True
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except PermissionError:  # it exists, but this user may not use it in this namespace
            return True
        except OSError:
            return False
    return True


def carry(router: Path, directory: Path, progress: Progress | None) -> float:
    """Runs the router on the configuration in `directory`.

    Returns the CPU seconds of all processes.

    Raises KernelRunError if it fails, and whatever `progress` raises. In any case the router's
    process is ended, and the kernel ends the rest with it.
    """
    with (directory / LOG).open("wb") as log:
        try:
            process = subprocess.Popen(
                [str(router), str(directory / CONFIG)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        except OSError as error:
            raise KernelRunError(f"the router can't be started: {error}") from error
        try:
            _follow(process, progress)
            cpu_s = _wait(process)
        finally:
            _end(process)
    if process.returncode:
        raise KernelRunError(f"the run failed: {_error_text(directory)}")
    return cpu_s


def _follow(process: subprocess.Popen[str], progress: Progress | None) -> None:
    """Passes on the router's lines, "ns packets", until it ends."""
    for line in process.stdout or ():
        now, packets = line.split()
        if progress is not None:
            progress(int(now) / 1e9, int(packets))


def _wait(process: subprocess.Popen[str]) -> float:
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def _end(process: subprocess.Popen[str]) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _error_text(directory: Path) -> str:
    text = (directory / LOG).read_text(encoding="utf-8", errors="replace").strip()
    return "; ".join(text.splitlines()[-3:]) or "it said nothing"
