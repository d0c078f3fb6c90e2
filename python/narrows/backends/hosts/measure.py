"""Runs a plan on hosts: sets them up, starts their programs at one instant, waits, and collects."""

from __future__ import annotations

import json
import platform
import tarfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narrows.backends.hosts.changes import HostChange, sysctl
from narrows.backends.hosts.clocks import Offset, measure_offset
from narrows.backends.hosts.facts import Facts, drops
from narrows.backends.hosts.inventory import Inventory
from narrows.backends.hosts.plan import ROUTER, TRAFFIC, HostPlan, RunPlan
from narrows.backends.hosts.session import HostError, Session
from narrows.backends.hosts.team import connect_all, side_by_side
from narrows.backends.linux.tools import router_tool, traffic_tool
from narrows.backends.linux.traffic import fine_interval
from narrows.backends.protocol import Progress
from narrows.errors import InputError
from narrows.signals import defer_signals
from narrows.spec.scenario import Scenario

CONFIG = "configuration.json"
OUT = "out"
_STOP = "stop"
"""The file with which the helper ends a program."""
_JOB = "run"
_LEAD_NS = 3_000_000_000
"""From the moment when all hosts are ready to time 0; the programs have to start in between."""
_LEAD_PER_HOST_NS = 100_000_000
_GRACE_S = 20.0
_GLANCE_S, _POLL_S = 0.1, 2.0
_DONE = "done_ns"
"""When a host's own flows of `stop_when` were done, in ns of the run."""


@dataclass(frozen=True)
class HostAtWork:
    """A host that takes part: its plan, its session, and the local directory for its results."""

    plan: HostPlan
    session: Session
    directory: Path


@dataclass(frozen=True)
class HostMeasurements:
    """The hosts' clocks and interfaces around a run, by host."""

    before: Mapping[str, Offset]
    after: Mapping[str, Offset]
    dropped: Mapping[str, int]


def find_program(inventory: Inventory, facts: Facts, name: str) -> Path:
    """Returns our program for a host's processor; raises InputError if there is none."""
    if facts.machine in inventory.programs:
        found = inventory.programs[facts.machine] / name
    elif facts.machine == platform.machine():
        return traffic_tool("hosts") if name == TRAFFIC else router_tool("hosts")
    else:
        found = Path()
    if not found.is_file():
        remedy = f"programs.{facts.machine}, a directory with {name} (docs/how-to/real-hosts.md),"
        raise InputError.at("inventory", f"hosts with {facts.machine} processors", remedy)
    return found


def measure(
    plan: RunPlan,
    inventory: Inventory,
    facts: Mapping[str, Facts],
    folder: Path,
    progress: Progress | None,
) -> HostMeasurements:
    """Runs a plan; the results of each host go into a subdirectory of `folder` with its name.

    Raises HostError for the first host that fails. In any case all hosts are restored.
    """
    with connect_all([each.entry for each in plan.hosts], folder) as sessions:
        parts = [
            HostAtWork(each, session, folder / f"host-{number}")
            for number, (each, session) in enumerate(zip(plan.hosts, sessions, strict=True))
        ]
        side_by_side(parts, lambda part: _set_up(part, plan.limit_s, inventory, facts))
        _report(progress, 0.0)
        lost = _drops(parts)
        before = _offsets(parts)
        lead_s = _start(parts, before, may_stop=plan.may_stop)
        _await(parts, plan, lead_s, progress)
        after = _offsets(parts)
        dropped = {name: count - lost[name] for name, count in _drops(parts).items()}
        side_by_side(parts, _fetch)
    return HostMeasurements(before, after, dropped)


def _set_up(
    part: HostAtWork, limit_s: int, inventory: Inventory, facts: Mapping[str, Facts]
) -> None:
    """Begins a host's session, makes the planned changes, and copies the programs."""
    session, plan, known = part.session, part.plan, facts[part.plan.entry.ssh]
    session.begin(limit_s, plan.entry.interfaces)
    for name in dict.fromkeys((TRAFFIC, plan.program)):  # the traffic tool reads the clocks
        session.put(find_program(inventory, known, name), name)
    for module in _modules(plan, known):
        session.ask("module", module)
    for change in (*permit_controls(plan, known), *plan.changes):
        session.ask(*change.words)


def _modules(plan: HostPlan, facts: Facts) -> list[str]:
    """Returns modules of missing congestion controls; the kernel loads the modules of tc itself."""
    return [f"tcp_{name}" for name in sorted(plan.controls) if name not in facts.controls]


def permit_controls(plan: HostPlan, facts: Facts) -> Iterator[HostChange]:
    """Yields the change that lets a host's user choose the flows' controls, if only root may."""
    if facts.root or plan.controls <= set(facts.allowed):
        return
    wanted = {*facts.allowed, *plan.controls}
    # In the order in which the kernel shows them.
    known = [*facts.controls, *sorted(plan.controls - set(facts.controls))]
    names = " ".join(name for name in known if name in wanted)
    yield sysctl("net/ipv4/tcp_allowed_congestion_control", names)


def _offsets(parts: Sequence[HostAtWork]) -> dict[str, Offset]:
    """Measures each host's clocks, one host after the other so that they don't delay each other."""
    return {part.session.name: measure_offset(part.session, TRAFFIC) for part in parts}


def _drops(parts: Sequence[HostAtWork]) -> dict[str, int]:
    return {part.session.name: drops(part.session, part.plan.entry) for part in parts}


def _start(parts: Sequence[HostAtWork], offsets: Mapping[str, Offset], *, may_stop: bool) -> float:
    """Starts the programs of all hosts; returns how many seconds later their time 0 is."""
    working = [part for part in parts if part.plan.configuration is not None]
    for part in working:
        part.directory.mkdir()
    lead_ns = _LEAD_NS + _LEAD_PER_HOST_NS * len(working)
    # The first round shows how long it takes on busy hosts or over a slow connection.
    began = time.monotonic_ns()
    side_by_side(working, lambda part: _configure(part, offsets, 0, may_stop))
    lead_ns += 3 * (time.monotonic_ns() - began)
    began = time.monotonic_ns()
    zero = began + lead_ns
    side_by_side(working, lambda part: _configure(part, offsets, zero, may_stop))
    with defer_signals():
        side_by_side(working, _start_program)
    return (zero - time.monotonic_ns()) / 1e9


def _configure(part: HostAtWork, offsets: Mapping[str, Offset], zero: int, may_stop: bool) -> None:
    """Copies a program's configuration to its host; `zero` is time 0 by our clock."""
    session = part.session
    own: dict[str, Any] = {
        **(part.plan.configuration or {}),
        "zero_ns": zero + offsets[session.name].monotonic_ns,
        "out": f"{session.home}/{OUT}",
        **({"stop": f"{session.home}/{_STOP}"} if may_stop else {}),
    }
    if "pcap" in own:
        own["pcap"] = {**own["pcap"], "directory": own["out"]}
    file = part.directory / CONFIG
    file.write_text(json.dumps(own), encoding="utf-8")
    session.put(file, CONFIG)


def _start_program(part: HostAtWork) -> None:
    words = ["forward", CONFIG] if part.plan.program == ROUTER else [CONFIG]
    part.session.ask("job", _JOB, part.plan.program, *words)


def _await(
    parts: Sequence[HostAtWork], plan: RunPlan, lead_s: float, progress: Progress | None
) -> None:
    """Waits for the programs of all hosts, and ends them when all flows of `stop_when` are done."""
    working = [part for part in parts if part.plan.configuration is not None]
    sending = [part for part in parts if part.plan.sends]
    # A sender's failure may be a consequence of its receiver's, which is reported then.
    waiting = sorted(working, key=lambda part: bool(part.plan.sends))
    duration_s = plan.duration_s
    began = time.monotonic()
    asked, ends = began, began + lead_s + duration_s
    while waiting:
        time.sleep(_GLANCE_S)
        now = time.monotonic()
        _report(progress, min(max(0.0, now - began - lead_s), duration_s))
        if plan.may_stop and now < ends and _are_done(sending):
            side_by_side(working, lambda part: part.session.ask(_STOP))
            ends = now
        if now - asked < (_POLL_S if now < ends else 2 * _GLANCE_S):
            continue
        asked = now
        waiting = [part for part in waiting if not _has_ended(part)]
        if waiting and now > ends + _GRACE_S:
            raise HostError(waiting[0].session.name, "its program doesn't end")


def _are_done(sending: Sequence[HostAtWork]) -> bool:
    """Returns True once every host's own flows of `stop_when` are done."""
    return all(part.session.ask("done") for part in sending)


def run_end_ns(plan: RunPlan, scenario: Scenario, folder: Path) -> int:
    """Returns the end of a run; with `stop_when`, the first sample at which its flows were done."""
    run = scenario["run"]
    sending = [number for number, host in enumerate(plan.hosts) if host.sends]
    noted = [folder / f"host-{number}" / _DONE for number in sending]
    if not plan.may_stop or not all(file.exists() for file in noted):
        return run["duration_ns"]
    interval = fine_interval(run["sample_interval_ns"])
    latest = max(int(file.read_text(encoding="ascii")) for file in noted)
    return min(-(-latest // interval) * interval, run["duration_ns"])


def _has_ended(part: HostAtWork) -> bool:
    """Returns True if a host's program ended; raises HostError if it failed."""
    lines = part.session.ask("ended", _JOB)
    if lines and lines[0] != "0":
        said = "; ".join(lines[1:]) or "it said nothing"
        raise HostError(part.session.name, f"{part.plan.program} failed: {said}")
    return bool(lines)


def _fetch(part: HostAtWork) -> None:
    """Copies a host's results here; only plain files of its directory are accepted."""
    if part.plan.configuration is None:
        return
    archive = part.directory / "out.tar"
    part.session.fetch(archive)
    with tarfile.open(archive) as tar:
        for member in tar:
            name = Path(member.name).name
            content = tar.extractfile(member) if member.isfile() else None
            if content is not None:
                with (part.directory / name).open("wb") as file:
                    while piece := content.read(1 << 20):
                        file.write(piece)
    archive.unlink()


def _report(progress: Progress | None, at_s: float) -> None:
    if progress is not None:
        progress(at_s, 0)
