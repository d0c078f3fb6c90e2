"""The back end `uml`, which runs each scenario in its own guest."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from narrows.backends.linux.directory import run_directory
from narrows.backends.linux.groups import Group, groups
from narrows.backends.linux.programs import describe_programs, engine_suffix, files
from narrows.backends.linux.qdisc_tables import read_tables
from narrows.backends.linux.router_tables import router_tables
from narrows.backends.linux.tables import extent
from narrows.backends.linux.tools import router_tool, traffic_tool
from narrows.backends.linux.traffic import FINE_NS, fine_interval
from narrows.backends.protocol import Capabilities, CaptureRequest, Progress
from narrows.backends.uml.checks import check, check_groups, crosses_router
from narrows.backends.uml.controls import command_line
from narrows.backends.uml.coupled import (
    COUPLED,
    Guest,
    Tools,
    directory_of,
    run_guests,
    window_ns,
)
from narrows.backends.uml.kernels import BuiltKernel, get_kernel, kernel_of_profile
from narrows.backends.uml.machine import (
    GUEST_DIRECTORY,
    SCRIPT,
    Program,
    boot,
    complain,
    guest_programs,
    missing_programs,
)
from narrows.backends.uml.modules import Module, modules
from narrows.backends.uml.modules import check as check_modules
from narrows.backends.uml.network import (
    CONFIG,
    NETWORK,
    init_script,
    network_script,
    tool_config,
)
from narrows.errors import InputError
from narrows.packets import PACKET_BITS
from narrows.spec.registry import queues
from narrows.spec.scenario import Scenario
from narrows.store import RunInfo, RunRecord, Tables, digest

_REVISION = 3
"""Increased when the path or the tables change, so that older results aren't reused."""
_FEW_FLOWS = 8
DATE = "2030-01-01"
"""The date at which guests with programs boot, at midnight UTC."""


class Uml:
    """A Linux kernel as a User-Mode Linux program, in virtual time.

    Without a `kernel` name it is the kernel with the default profile (`get_kernel`), and then the
    scenario's profile must be that kernel's.
    """

    name = "uml"

    def __init__(self, kernel: str | None = None) -> None:
        self._chosen = kernel is not None
        self.kernel = get_kernel(kernel)
        self._tools = Tools(traffic_tool(), router_tool(self.name))
        missing = missing_programs()
        if missing:
            found = f'"uml", but no {", ".join(missing)} here'
            raise InputError.at("--backend", found, "a machine with iproute2 and util-linux")
        tools = (self._tools.traffic, self._tools.router, *guest_programs())
        marks = [hashlib.sha256(tool.read_bytes()).hexdigest() for tool in tools]
        parts = ":".join([self.kernel.digest, *marks])
        mark = hashlib.sha256(parts.encode()).hexdigest()[:12]
        self.engine = f"{self.kernel.name} ({self.kernel.release}) {mark}.{_REVISION}"
        self.selector = f"{self.name}:{self.kernel.name}"

    def engine_of(self, scenario: Scenario) -> str:
        """Returns the engine, and the digests of all kernels and programs that run."""
        kernels = {kernel.name: kernel.digest for kernel in map(self._kernel_of, groups(scenario))}
        if kernels.keys() == {self.kernel.name}:
            return self.engine + engine_suffix(scenario)
        parts = ":".join(f"{name}:{digest}" for name, digest in sorted(kernels.items()))
        mark = hashlib.sha256(parts.encode()).hexdigest()[:12]
        return f"{self.engine} with {', '.join(sorted(kernels))} {mark}" + engine_suffix(scenario)

    def capabilities(self) -> Capabilities:
        """Returns the capabilities of the kernel, and of the router between guests."""
        return Capabilities(
            ccas=self.kernel.ccas,
            queues=tuple(queues()),
            profiles=(self.kernel.profile,),
            parallel=True,
            real_time=False,
            captures=("pcap", "snaplen"),
        )

    def run(
        self,
        scenario: Scenario,
        progress: Progress | None = None,
        captures: CaptureRequest | None = None,
    ) -> RunRecord:
        """Runs `scenario` to its end; the same scenario always gives the same tables.

        Captures are made at both hosts, and where the router carries the packets also on both sides
        of the bottleneck. In a guest that holds the whole path they take a microsecond of virtual
        time for each packet, so the tables are those of slightly slower hosts.

        Raises SpecError if the kernel can't run it, GuestError if a guest fails, and whatever
        `progress` raises.
        """
        self.check(scenario)
        began = time.perf_counter()
        with run_directory(self.name) as directory:
            watch = Watch(directory, progress)
            run = self._couple if crosses_router(scenario) else self._alone
            pcap = self._pcap(scenario, captures, alone=not crosses_router(scenario))
            tables, cpu_s, conditions = run(directory, scenario, watch, pcap)
            captured = _collect_captures(directory, captures)
            kept = _program_files(directory, scenario)
        end_s, packets = extent(tables)
        info = RunInfo(
            backend=self.name,
            engine=self.engine_of(scenario),
            digest=digest(tables),
            end_s=end_s,
            packets=packets,
            cpu_s=cpu_s,
            wall_s=time.perf_counter() - began,
            conditions=conditions | describe_programs(scenario),
        )
        return RunRecord(tables, info, captured, kept)

    def _pcap(
        self, scenario: Scenario, captures: CaptureRequest | None, *, alone: bool
    ) -> dict[str, Any] | None:
        """Returns the places of captures: a guest can write to its own directory only."""
        if captures is None or not captures.options.pcap:
            return None
        kernel = f"Linux {self.kernel.release} in virtual time"
        return {
            "directory": GUEST_DIRECTORY if alone else str(captures.directory.resolve()),
            "snaplen": captures.options.snaplen,
            "comment": f"narrows on {kernel}: {scenario['name']}, seed {scenario['seed']}",
        }

    def _alone(
        self, directory: Path, scenario: Scenario, watch: Watch, pcap: Mapping[str, Any] | None
    ) -> _Outcome:
        """Runs one guest that holds the whole path, made of Linux's queue disciplines."""
        flows = scenario["flows"]
        parameters = command_line(self.kernel, flows, range(len(flows)))
        own = modules(scenario, flows, self.kernel)
        names = {cca: module.name for cca, module in own.items()}
        config = json.dumps(tool_config(scenario, _interval(scenario), pcap, names))
        _write(directory / CONFIG, config)
        _write(directory / NETWORK, network_script(scenario, self.kernel.release))
        _write(
            directory / SCRIPT,
            init_script(str(self._tools.traffic), [each.file for each in own.values()]),
        )
        program = Program(self.kernel.binary, self.kernel.library)
        seed = int(scenario["seed"])
        cpu_s = boot(program, directory, seed=seed, parameters=parameters, watch=watch)
        complain(directory)
        return read_tables(directory, scenario), cpu_s, _controls(own)

    def _couple(
        self, directory: Path, scenario: Scenario, watch: Watch, pcap: Mapping[str, Any] | None
    ) -> _Outcome:
        """Runs a guest for each group of flows, with the router's path between their hosts."""
        members = groups(scenario)
        guests = [self._with_modules(scenario, group) for group in members]
        interval_ns = _interval(scenario)
        cpu_s = run_guests(directory, scenario, guests, self._tools, interval_ns, watch, pcap)
        places = [directory_of(directory, number) for number in range(len(guests))]
        tables = router_tables(directory, scenario, places, members)
        noted = json.loads((directory / COUPLED).read_text(encoding="utf-8"))
        conditions = {
            "path": "narrows-router, in windows of virtual time",
            "window_ns": window_ns(scenario),
            "latest_ns": noted["latest_ns"],
            "guests": [
                {"kernel": guest.kernel.name, "digest": guest.kernel.digest, **_conditions(guest)}
                for guest in guests
            ],
        }
        return tables, cpu_s, conditions

    def _guest(self, scenario: Scenario, group: Group) -> Guest:
        kernel = self._kernel_of(group)
        flows = [scenario["flows"][number] for number in group.flows]
        parameters = command_line(kernel, flows, group.flows)
        # Programs need a date at which their certificates are valid.
        own = group.own
        dated = [_date_argument(own.get("date", DATE))] if "server" in own else []
        return Guest(kernel, group, [*parameters, *dated])

    def _with_modules(self, scenario: Scenario, group: Group) -> Guest:
        guest = self._guest(scenario, group)
        flows = [scenario["flows"][number] for number in group.flows]
        return replace(guest, modules=modules(scenario, flows, guest.kernel))

    def _kernel_of(self, group: Group) -> BuiltKernel:
        """Returns the kernel of a group: its own, one of its profile, or the back end's."""
        place = f"flows[{group.flows[0]}]"
        if "kernel" in group.own:
            return get_kernel(group.own["kernel"], f"{place}.kernel")
        profile = group.own.get("profile", self.kernel.profile)
        if profile == self.kernel.profile:
            return self.kernel
        return kernel_of_profile(profile, f"{place}.profile")

    def check(self, scenario: Scenario) -> None:
        """Raises SpecError for scenarios that the kernel can't run."""
        check(scenario, None if self._chosen else self.kernel)
        members = groups(scenario)
        check_groups(scenario, members)
        guests = [self._guest(scenario, group) for group in members]
        check_modules(scenario, [guest.kernel for guest in guests])


def _date_argument(date: str) -> str:
    """Returns the kernel's command-line argument that sets its clock."""
    midnight = datetime.fromisoformat(date).replace(tzinfo=UTC)
    return f"time-travel-start={int(midnight.timestamp()) * 10**9}"


_Outcome = tuple[Tables, float, dict[str, Any]]
"""The tables, the CPU seconds, and the conditions of the run."""


def _program_files(directory: Path, scenario: Scenario) -> dict[str, bytes]:
    """Returns the files of programs, which always run in coupled guests."""
    if not crosses_router(scenario):
        return {}
    members = groups(scenario)
    places = [directory_of(directory, number) for number in range(len(members))]
    return files(directory, scenario, places, members)


def _collect_captures(directory: Path, captures: CaptureRequest | None) -> dict[str, int]:
    """Counts the packets of each capture, and moves those of a guest to where they belong."""
    if captures is None or not captures.options.pcap:
        return {}
    notes = (directory / "captures.json", directory / "router_captures.json")
    found: dict[str, dict[str, int]] = {}
    for note in filter(Path.exists, notes):
        found |= json.loads(note.read_text(encoding="utf-8"))
    for file in directory.glob("*.pcapng"):
        shutil.move(file, captures.directory / file.name)
    return {name: ending["packets"] for name, ending in sorted(found.items())}


def _conditions(guest: Guest) -> dict[str, Any]:
    return {"flows": list(guest.group.flows), **guest.group.own, **_controls(guest.modules)}


def _controls(own: Mapping[str, Module]) -> dict[str, Any]:
    """Returns the modules that ran, for the conditions of a run."""
    return {"controls": {cca: module.as_conditions() for cca, module in own.items()}} if own else {}


class Watch:
    """Reports the guest's progress from the file that the guest writes.

    A file that is missing or just being written counts as no progress.
    """

    def __init__(self, directory: Path, progress: Progress | None) -> None:
        self._file = directory / "progress"
        self._progress = progress
        self._known = (0, 0)

    def __call__(self) -> object:
        """Looks once; the returned value changes as long as the guest works."""
        try:
            now, packets = self._file.read_text(encoding="ascii").split()
            self._known = (int(now), int(packets))
        except (OSError, ValueError):
            pass
        if self._progress is not None:
            self._progress(self._known[0] / 1e9, self._known[1])
        return self._known[0]


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _interval(scenario: Scenario) -> int:
    """Returns the tool's sampling interval; a fine one costs system calls for every flow.

    On a slow path it is no shorter than the time of a full packet, since nothing changes more
    often.
    """
    flows = len(scenario["flows"])
    least_ns = max(FINE_NS * -(-flows // _FEW_FLOWS), _packet_ns(scenario))
    return fine_interval(scenario["run"]["sample_interval_ns"], least_ns)


def _packet_ns(scenario: Scenario) -> int:
    """Returns the time of a full packet at the path's only rate; 0 if there are several rates."""
    path = scenario["path"]
    varies = path["links"] or path["service"]["kind"] != "constant" or scenario.get("changes")
    return 0 if varies else PACKET_BITS * 10**9 // int(path["rate_bps"])
