"""The back end `kernel`, which runs a scenario on this machine's own kernel."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

from narrows.backends.kernel import programs
from narrows.backends.kernel.config import (
    MAX_FLOWS,
    MAX_HOSTS,
    host_directory,
    router_config,
)
from narrows.backends.kernel.machine import (
    CONFIG,
    available_ccas,
    carry,
    check,
    has_cca,
    has_discipline,
)
from narrows.backends.kernel.senders import find_senders
from narrows.backends.linux.directory import run_directory
from narrows.backends.linux.groups import flow_rows, groups
from narrows.backends.linux.iperf3 import iperf3_reports
from narrows.backends.linux.programs import (
    NO_CONTROL,
    check_programs,
    describe_programs,
    engine_suffix,
    files,
)
from narrows.backends.linux.refusals import (
    check_features,
    refuse_packets_of_reverse_flows,
    refuse_waiting_for_others,
)
from narrows.backends.linux.router_tables import router_tables
from narrows.backends.linux.tables import read_json
from narrows.backends.linux.tools import router_tool, traffic_tool, which
from narrows.backends.linux.validity import (
    LATENESS_LIMITS_NS,
    MOST_DRY,
    most_waiting_ns,
    read_hosts,
    reasons,
)
from narrows.backends.protocol import (
    Capabilities,
    CaptureRequest,
    Progress,
)
from narrows.errors import InputError, SpecError
from narrows.packets import PACKET_BYTES
from narrows.spec.kernel_program import is_program, refuse_modules
from narrows.spec.registry import queues
from narrows.spec.scenario import Scenario
from narrows.spec.suggest import one_of
from narrows.store import RunInfo, RunRecord, digest

_REVISION = 2
"""Increased when the tables change, so that older results aren't reused."""


class Kernel:
    """This machine's kernel in real time.

    The scenario's profile applies to the simulator only. Here the running kernel counts, and the
    results name it. `sender` chooses the program for flows without a size: "iperf3", whose reports
    are kept, or "own".
    """

    name = "kernel"

    def __init__(self, sender: str = "iperf3") -> None:
        if platform.system() != "Linux":
            found = f'"kernel", but this is {platform.system()}'
            raise InputError.at("--backend", found, "Linux")
        self._senders = find_senders(sender)
        self._router, self._tool = router_tool(), traffic_tool(self.name)
        check(self._router)
        self.release = platform.release()
        parts = [hashlib.sha256(t.read_bytes()).hexdigest() for t in (self._router, self._tool)]
        parts += [platform.version(), sender, self._senders.version]
        mark = hashlib.sha256(":".join(parts).encode()).hexdigest()[:12]
        self.engine = f"Linux {self.release} {mark}.{_REVISION}"
        self.selector = f"{self.name}:{sender}"

    def engine_of(self, scenario: Scenario) -> str:
        """Returns the engine, and the digest of all programs that run."""
        return self.engine + engine_suffix(scenario)

    def capabilities(self) -> Capabilities:
        """Returns the capabilities, which depend on the loaded controls.

        Only one run takes place at a time, since runs would disturb each other.
        """
        return Capabilities(
            ccas=available_ccas(),
            queues=tuple(queues()),
            profiles=(f"linux-{'.'.join(self.release.split('.')[:2])}",),
            parallel=False,
            real_time=True,
            captures=("pcap", "snaplen"),
        )

    def check(self, scenario: Scenario) -> None:
        """Raises SpecError for what this machine's kernel can't run."""
        _check(scenario)
        self._check_hosts(scenario)
        programs.check(scenario)
        self._senders.check(scenario["flows"])
        self._senders.check_duration(scenario)

    def _check_hosts(self, scenario: Scenario) -> None:
        """Raises InputError or SpecError for queue disciplines that hosts can't have here."""
        fair = [("host.fq", scenario["host"]["fq"])]
        fair += [
            (f"flows[{i}].fq", bool(flow.get("fq"))) for i, flow in enumerate(scenario["flows"])
        ]
        place = next((place for place, wanted in fair if wanted), None)
        limited = any("line_rate_bps" in flow for flow in scenario["flows"])
        if (place or limited) and which("tc") is None:
            raise InputError.at("--backend", '"kernel", but no tc here', "`apt install iproute2`")
        if place and not has_discipline(self._router, "fq"):
            found = f"true, but kernel {self.release} has no fq"
            raise SpecError.at(place, found, "false, or --backend uml,")

    def run(
        self,
        scenario: Scenario,
        progress: Progress | None = None,
        captures: CaptureRequest | None = None,
    ) -> RunRecord:
        """Runs `scenario` to its end in real time.

        Captures are made at both hosts' devices and at both sides of the bottleneck.

        Raises SpecError if the kernel can't run it, KernelRunError if the run
        fails, and whatever `progress` raises.
        """
        self.check(scenario)
        began = time.perf_counter()
        with run_directory(self.name) as directory:
            with programs.register(scenario, directory) as own:
                names = {cca: program.name for cca, program in own.items()}
                config = router_config(
                    scenario, self._tool, self._senders, directory, captures, names
                )
                (directory / CONFIG).write_text(json.dumps(config), encoding="utf-8")
                members = groups(scenario)
                places = [host_directory(directory, number) for number in range(len(members))]
                for place in places:
                    place.mkdir()
                cpu_s = carry(self._router, directory, progress)
            tables = router_tables(directory, scenario, places, members)
            hosts = read_hosts(places, flow_rows(places, members), scenario)
            reports = iperf3_reports(places, members)
            reports |= files(directory, scenario, places, members)
            told = read_json(directory / "router.json")
            captured = _count_packets([directory, *places])
        flows, end_s = tables["flow_samples"], tables["queue_samples"]["time_s"][-1]
        info = RunInfo(
            backend=self.name,
            engine=self.engine_of(scenario),
            digest=digest(tables),
            end_s=end_s,
            packets=int(flows.filter(flows["time_s"] == end_s)["wire_bytes"].sum()) // PACKET_BYTES,
            cpu_s=cpu_s,
            wall_s=time.perf_counter() - began,
            invalid="; ".join([*told.pop("invalid"), *reasons(hosts, scenario)]) or None,
            conditions=self._conditions(
                {**told, **_controls(own), **describe_programs(scenario), "hosts": hosts},
                scenario,
                captured,
            ),
        )
        packets = {name: ending["packets"] for name, ending in captured.items()}
        return RunRecord(tables, info, packets, reports)

    def _conditions(
        self,
        told: Mapping[str, Any],
        scenario: Scenario,
        captured: Mapping[str, Mapping[str, int]],
    ) -> dict[str, Any]:
        missed = {name: ending["missed"] for name, ending in captured.items() if ending["missed"]}
        return {
            "kernel": f"{self.release} {platform.version()}",
            "sender": self._senders.describe(scenario["flows"]),
            "offloads": _OFFLOADS[scenario["host"]["gso"]],
            "lateness_limits_ns": LATENESS_LIMITS_NS,
            "host_limits": {"waiting_ns": most_waiting_ns(scenario), "dry": MOST_DRY},
            **({"missed_by_captures": missed} if missed else {}),
            **told,
        }


def _controls(own: Mapping[str, programs.BpfProgram]) -> dict[str, Any]:
    """Returns the programs that ran, for the conditions of a run."""
    return {"controls": {cca: asdict(program) for cca, program in own.items()}} if own else {}


_OFFLOADS = {
    False: "none (TUN without TUNSETOFFLOAD)",
    True: "checksums and segmentation (TUNSETOFFLOAD): super-packets pass in one piece",
}


def _count_packets(places: Sequence[Path]) -> dict[str, dict[str, int]]:
    """Counts the packets of each capture, and those that it missed."""
    found: dict[str, dict[str, int]] = {}
    for place, name in product(places, ("captures.json", "router_captures.json")):
        if (place / name).exists():
            found |= read_json(place / name)
    return dict(sorted(found.items()))


def _check_groups(scenario: Scenario) -> None:
    """Raises SpecError for hosts that this machine can't give."""
    for i, flow in enumerate(scenario["flows"]):
        for key in {"kernel", "profile"} & flow.keys():
            remedy = "none, since all hosts have this machine's kernel, or --backend uml,"
            raise SpecError.at(f"flows[{i}].{key}", f'"{flow[key]}"', remedy)  # type: ignore[literal-required]
        for key in {"syscall_time_ns", "date"} & flow.keys():
            remedy = "none, since processor and clock are this machine's, or --backend uml,"
            raise SpecError.at(f"flows[{i}].{key}", f"{flow[key]}", remedy)  # type: ignore[literal-required]
    members = groups(scenario)
    if len(members) > MAX_HOSTS:
        found = f"{len(members)} kinds of hosts"
        raise SpecError.at("flows", found, f"at most {MAX_HOSTS} on this back end")
    refuse_waiting_for_others(scenario, members)


def _check(scenario: Scenario) -> None:
    """Raises SpecError for what a real kernel can't do."""
    check_features(scenario, "a real host has its own", MAX_FLOWS)
    check_programs(scenario)
    refuse_packets_of_reverse_flows(scenario)
    _check_groups(scenario)
    refuse_modules(scenario, "which is not to be loaded into this machine's kernel")
    for i, flow in enumerate(scenario["flows"]):
        if flow["options"]:
            remedy = "none on this back end: they are the whole machine's module parameters,"
            raise SpecError.at(f"flows[{i}].options", f"{dict(flow['options'])}", remedy)
        if flow["cca"] == NO_CONTROL:
            continue
        if not is_program(flow["cca"]) and not has_cca(flow["cca"]):
            found = f'"{flow["cca"]}", which kernel {platform.release()} lacks'
            raise SpecError.at(f"flows[{i}].cca", found, one_of(flow["cca"], available_ccas()))
