"""Runs guests that share a path: each has its own kernel and hosts, and the router carries packets.

The path is the simulator's, as on the back end `kernel`, but in virtual time. Guests run for a
window no longer than the shortest path between hosts, then their packets enter the path
(crates/router/src/couple.rs). So every element of a path works, and different kernels can share it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from narrows.backends.linux.groups import Group, part
from narrows.backends.linux.traffic import FIRST_PORT, scenario_for_programs
from narrows.backends.uml import hosts
from narrows.backends.uml.gate import gate_library, processor_library
from narrows.backends.uml.kernels import BuiltKernel
from narrows.backends.uml.machine import POLL_S, SCRIPT, GuestError, Program, boot, complain
from narrows.backends.uml.modules import Module
from narrows.backends.uml.network import CONFIG, NETWORK
from narrows.spec.scenario import Scenario

COUPLE, COUPLED = "couple_config.json", "couple.json"
"""Files in the run's directory: the coupling's configuration and its log."""
_COUPLE_LOG = "couple.log"
_TIMEOUT_S = 60.0
"""The time limit of the coupling for writing its results."""


@dataclass(frozen=True)
class Guest:
    """A kernel, the flows between its hosts, arguments of its command line, and its modules."""

    kernel: BuiltKernel
    group: Group
    parameters: Sequence[str]
    modules: Mapping[str, Module] = field(default_factory=dict)


@dataclass(frozen=True)
class Tools:
    """The programs that run in guests and between them."""

    traffic: Path
    router: Path


def window_ns(scenario: Scenario) -> int:
    """Returns the shortest delay from one host to another."""
    own = [flow["rtt_ns"] for flow in scenario["flows"]]
    shortest: int = min(scenario["path"]["rtt_ns"] if rtt is None else rtt for rtt in own)
    return shortest // 2


def directory_of(directory: Path, number: int) -> Path:
    """Returns the directory of a guest of a run."""
    return directory / f"guest-{number}"


def run_guests(
    directory: Path,
    scenario: Scenario,
    guests: Sequence[Guest],
    tools: Tools,
    interval_ns: int,
    watch: Callable[[], object],
    pcap: Mapping[str, Any] | None = None,
) -> float:
    """Runs all guests; returns their CPU seconds.

    `pcap` says which captures to make. `watch` is called several times a second, as for a single
    guest. Raises GuestError if a guest or the coupling fails, and whatever `watch` raises; in both
    cases all guests are ended.
    """
    for number, guest in enumerate(guests):
        _prepare(directory_of(directory, number), scenario, guest, number, tools, interval_ns)
    config = _couple_config(directory, scenario, guests, interval_ns) | {"pcap": pcap}
    (directory / COUPLE).write_text(json.dumps(config), encoding="utf-8")
    with _coupling(directory, tools.router) as coupling:
        cpu_s = _boot_all(directory, int(scenario["seed"]), guests, watch, coupling)
        try:
            coupling.wait(_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise GuestError("the coupling of the guests didn't end") from None
        _check(coupling, directory)
    return cpu_s


def _prepare(
    place: Path, scenario: Scenario, guest: Guest, number: int, tools: Tools, interval_ns: int
) -> None:
    place.mkdir()
    for pipe in ("ask", "answer"):
        os.mkfifo(place / pipe, 0o600)
    own = part(scenario, guest.group)
    names = {cca: module.name for cca, module in guest.modules.items()}
    files = [module.file for module in guest.modules.values()]
    texts = {
        NETWORK: hosts.network_script(own, guest.group, number, guest.kernel.release),
        CONFIG: json.dumps(hosts.tool_config(own, guest.group, number, interval_ns, names)),
        hosts.GATE: json.dumps(hosts.gate_config(own, window_ns(scenario))),
        SCRIPT: hosts.init_script(str(tools.traffic), str(tools.router), files),
    }
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")


def _couple_config(
    directory: Path, scenario: Scenario, guests: Sequence[Guest], interval_ns: int
) -> dict[str, Any]:
    return {
        "scenario": scenario_for_programs(scenario),
        "first_port": FIRST_PORT,
        "sample_ns": interval_ns,
        "window_ns": window_ns(scenario),
        "guests": [
            {"directory": str(directory_of(directory, number)), "flows": guest.group.flows}
            for number, guest in enumerate(guests)
        ],
        "out": str(directory),
    }


@contextmanager
def _coupling(directory: Path, router: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (directory / _COUPLE_LOG).open("wb") as log:
        process = subprocess.Popen(
            [str(router), "couple", str(directory / COUPLE)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _boot_all(
    directory: Path,
    seed: int,
    guests: Sequence[Guest],
    watch: Callable[[], object],
    coupling: subprocess.Popen[bytes],
) -> float:
    stop, state = Event(), [watch()]

    def look() -> object:
        if stop.is_set():
            raise GuestError("another guest failed")
        return state[0]

    def start(number: int, guest: Guest) -> float:
        kernel, place = guest.kernel, directory_of(directory, number)
        own = [processor_library()] if "server" in guest.group.own else []
        program = Program(kernel.binary, kernel.library, [gate_library(), *own])
        # Guests would otherwise draw the same random numbers.
        own_seed = seed + (number << 32)
        used = boot(program, place, seed=own_seed, parameters=guest.parameters, watch=look)
        complain(place)
        return used

    with ThreadPoolExecutor(len(guests)) as threads:
        running = [threads.submit(start, number, guest) for number, guest in enumerate(guests)]
        try:
            return sum(_results(running, watch, state, lambda: _check(coupling, directory)))
        finally:
            stop.set()


def _results(
    running: list[Future[float]],
    watch: Callable[[], object],
    state: list[object],
    check: Callable[[], None],
) -> list[float]:
    """Returns the results of all guests once they have ended; raises the first error."""
    left = set(running)
    while left:
        done, left = wait(left, timeout=POLL_S)
        for future in done:
            future.result()
        state[0] = watch()
        if left:
            check()
    return [future.result() for future in running]


def _check(coupling: subprocess.Popen[bytes], directory: Path) -> None:
    """Raises GuestError if the coupling has failed."""
    if coupling.poll():
        said = (directory / _COUPLE_LOG).read_text(encoding="utf-8", errors="replace").strip()
        raise GuestError(f"the coupling of the guests failed: {said or coupling.returncode}")
