"""The back end `hosts`, which runs a scenario on the machines of an inventory."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from narrows.backends.hosts.captures import gather_captures
from narrows.backends.hosts.checks import (
    check_scenario,
    refuse_captures,
    refuse_controls,
    refuse_disciplines,
    refuse_facts,
    refuse_packets,
)
from narrows.backends.hosts.facts import IPERF3, Facts, read_facts
from narrows.backends.hosts.inventory import Inventory, load_inventory
from narrows.backends.hosts.line_rates import known_rates, refuse_slow_hosts
from narrows.backends.hosts.measure import find_program, measure, run_end_ns
from narrows.backends.hosts.plan import ROUTER, TRAFFIC, RunPlan, plan_run
from narrows.backends.hosts.session import HostError
from narrows.backends.hosts.tables import HostResults, hosts_tables
from narrows.backends.hosts.team import ask_each, connect_all
from narrows.backends.hosts.validity import (
    clock_conditions,
    clock_reasons,
    drop_reasons,
)
from narrows.backends.linux.directory import run_directory
from narrows.backends.linux.tables import extent, read_flows, read_json
from narrows.backends.linux.validity import (
    MOST_DRY,
    dry_parts,
    most_waiting_ns,
    read_waits,
    sum_waits,
)
from narrows.backends.linux.validity import reasons as host_reasons
from narrows.backends.linux.versions import kernel_version
from narrows.backends.protocol import Capabilities, CaptureRequest, Progress
from narrows.spec.registry import profiles, queues
from narrows.spec.scenario import Scenario
from narrows.store import NO_CAPTURES, RunInfo, RunRecord, digest

_REVISION = 2
"""The version of the tables; increase it when they change, so that older results aren't reused."""


class Hosts:
    """The hosts of the inventory `name`.

    A host that fails is left out as long as a sender and a receiver remain; the results name it,
    with the reason.
    """

    name = "hosts"

    def __init__(self, name: str) -> None:
        self.inventory = load_inventory(name)
        self.selector = f"{self.name}:{name}"
        self._facts, self._out = survey(self.inventory)
        refuse_facts(self.inventory, self._facts, self._out)
        self._tried: dict[str, dict[str, bool]] = {}
        self.engine = self._describe()

    def _describe(self) -> str:
        """Returns the kernels, and a digest of the kernels, the inventory and our programs."""
        kernels = sorted({facts.kernel for facts in self._facts.values()})
        parts = [self.inventory.text, str(_REVISION)]
        for name, facts in sorted(self._facts.items()):
            program = find_program(self.inventory, facts, TRAFFIC)
            parts += [
                name,
                facts.kernel,
                *self._iperf3(facts),
                hashlib.sha256(program.read_bytes()).hexdigest(),
            ]
        if self.inventory.method == "narrows":
            facts = self._facts[self.inventory.shaper.ssh]
            program = find_program(self.inventory, facts, ROUTER)
            parts.append(hashlib.sha256(program.read_bytes()).hexdigest())
        mark = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
        return f"hosts {self.inventory.name} (Linux {', '.join(kernels)}) {mark}"

    def _iperf3(self, facts: Facts) -> tuple[str, ...]:
        """Returns the version of a host's iperf3, if it may send flows."""
        return (facts.iperf3,) if self.inventory.traffic == IPERF3 else ()

    def _describe_senders(self, plan: RunPlan) -> str:
        """Describes the programs that send the flows of a run."""
        names = {
            self._facts[host.entry.ssh].iperf3 if host.configuration["iperf3"][flow] else TRAFFIC
            for host in plan.hosts
            if host.configuration is not None
            for flow in host.sends
        }
        return ", ".join(sorted(names))

    def engine_of(self, scenario: Scenario) -> str:  # noqa: ARG002
        """Returns the engine, which is the same for all scenarios."""
        return self.engine

    def capabilities(self) -> Capabilities:
        """Returns the controls that all senders have now, and the queues of the bottleneck."""
        have = [set(f.controls) for f in self._ends().values()]
        return Capabilities(
            ccas=tuple(sorted(set.intersection(*have))),
            queues=tuple(queues()) if self.inventory.method == "narrows" else ("droptail",),
            profiles=self._profiles(),
            parallel=False,
            real_time=True,
            captures=("pcap", "snaplen"),
        )

    def _profiles(self) -> tuple[str, ...]:
        """Returns the newest profiles that aren't newer than a sender's kernel."""
        senders = [each.ssh for each in self.inventory.senders if each.ssh in self._facts]
        return tuple(dict.fromkeys(nearest_profile(self._facts[name].kernel) for name in senders))

    def _ends(self) -> dict[str, Facts]:
        ends = (*self.inventory.senders, *self.inventory.receivers)
        return {e.ssh: self._facts[e.ssh] for e in ends if e.ssh in self._facts}

    def check(self, scenario: Scenario) -> None:
        """Raises SpecError for what these hosts can't run."""
        check_scenario(scenario)
        plan = plan_run(scenario, self.inventory, tuple(self._out))
        sending = [host.entry.ssh for host in plan.hosts if host.sends]
        refuse_slow_hosts(scenario, known_rates(self.inventory), sending)
        for host in plan.hosts:
            refuse_controls(host, self._facts[host.entry.ssh])
        refuse_packets(scenario, plan, self._facts)
        wanted = {host.entry.ssh: host.disciplines for host in plan.hosts}
        unknown = [n for n, kinds in wanted.items() if set(kinds) - self._tried.get(n, {}).keys()]
        if unknown:
            self._try_disciplines({name: wanted[name] for name in unknown})
        refuse_disciplines(wanted, self._tried)

    def _try_disciplines(self, wanted: Mapping[str, list[str]]) -> None:
        """Tries `tc` on a device of our own to find which queue disciplines the hosts have."""
        hosts = [host for host in self.inventory.hosts if host.ssh in wanted]
        with run_directory(self.name) as folder, connect_all(hosts, folder) as sessions:
            for session in sessions:
                session.begin(60, session.entry.interfaces)
                kinds = wanted[session.name]
                have = session.ask("can", *dict.fromkeys(kinds))
                known = self._tried.setdefault(session.name, {})
                known |= {kind: kind in have for kind in kinds}

    def run(
        self,
        scenario: Scenario,
        progress: Progress | None = None,
        captures: CaptureRequest | None = None,
    ) -> RunRecord:
        """Runs `scenario` to its end in real time, and restores all hosts.

        Captures are made at both ends, and on both sides of the bottleneck if it is narrows'
        router; they contain only the flows' packets.

        Raises SpecError if these hosts can't run it, HostError if an indispensable host fails, and
        any exception of `progress`.
        """
        while True:
            self.check(scenario)
            wanted = NO_CAPTURES if captures is None else captures.options
            plan = plan_run(scenario, self.inventory, tuple(self._out), captures=wanted)
            if wanted.pcap:
                refuse_captures(plan, self._facts)
            try:
                return self._run(scenario, plan, progress, captures)
            except HostError as error:
                self._drop(error)

    def _drop(self, error: HostError) -> None:
        """Continues without a host; raises the error if the host is indispensable."""
        ends = (self.inventory.senders, self.inventory.receivers)
        left = [[e for e in end if e.ssh not in {*self._out, error.host}] for end in ends]
        if error.host == self.inventory.shaper.ssh or not all(left) or error.host in self._out:
            raise error
        print(f"narrows: goes on without {error}", file=sys.stderr)
        self._out[error.host] = error.reason

    def _run(
        self,
        scenario: Scenario,
        plan: RunPlan,
        progress: Progress | None,
        captures: CaptureRequest | None,
    ) -> RunRecord:
        began = time.perf_counter()
        with run_directory(self.name) as folder:
            measured = measure(plan, self.inventory, self._facts, folder, progress)
            assert plan.shaper is not None  # noqa: S101 (for the type checker: it isn't bare)
            merged = folder / "merged"
            merged.mkdir()
            shaper = folder / f"host-{plan.hosts.index(plan.shaper)}"
            end_ns = run_end_ns(plan, scenario, folder)
            tables = hosts_tables(merged, scenario, parts_of(plan, folder), shaper, end_ns)
            reports = iperf3_reports_of(plan, folder)
            places = [file.parent for file in folder.glob("*/waits.json")]
            dry = dry_parts(read_flows(merged), scenario)
            waits: dict[str, Any] = {**sum_waits(read_waits(places)), "dry": dry}
            router = _router(shaper)
            captured = (
                gather_captures(plan, self.inventory, folder, captures.directory)
                if captures is not None and captures.options.pcap
                else {}
            )
        invalid = [
            *router.pop("invalid", []),
            *host_reasons(waits, scenario),
            *clock_reasons(measured),
            *drop_reasons(measured),
        ]
        end_s, packets = extent(tables)
        return RunRecord(
            tables,
            RunInfo(
                backend=self.name,
                engine=self.engine,
                digest=digest(tables),
                end_s=end_s,
                packets=packets,
                cpu_s=waits["ran_ns"] / 1e9,
                wall_s=time.perf_counter() - began,
                invalid="; ".join(invalid) or None,
                conditions={
                    "bottleneck": f"{self.inventory.method} at {self.inventory.place}",
                    "sender": self._describe_senders(plan),
                    "base_rtt_ms": self.inventory.base_rtt_ns / 1e6,
                    "kernels": {n: f.kernel for n, f in self._facts.items()},
                    "clocks": clock_conditions(measured),
                    "interface_drops": dict(measured.dropped),
                    "hosts": waits,
                    "host_limits": {"waiting_ns": most_waiting_ns(scenario), "dry": MOST_DRY},
                    **({"without": dict(self._out)} if self._out else {}),
                    **router,
                },
            ),
            captured,
            reports,
        )


def iperf3_reports_of(plan: RunPlan, folder: Path) -> dict[str, bytes]:
    """Returns the reports of iperf3 from all hosts."""
    places = [folder / f"host-{number}" for number in range(len(plan.hosts))]
    return {
        file.name: file.read_bytes()
        for place in places
        for file in sorted(place.glob("iperf3-*.json"))
    }


def nearest_profile(kernel: str) -> str:
    """Returns the newest profile of the simulator up to a kernel's version, such as 6.18.44.

    A specification has to name a profile. On hosts it changes nothing, and the results name the
    real kernels.
    """
    plain = [name for name in profiles() if name.count("-") == 1]
    ordered = sorted(plain, key=kernel_version)
    return next(
        (name for name in reversed(ordered) if kernel_version(name) <= kernel_version(kernel)),
        ordered[0],
    )


def parts_of(plan: RunPlan, folder: Path) -> list[HostResults]:
    """Returns the results of all hosts of a run, which `measure` put into `folder`."""
    return [
        HostResults(folder / f"host-{number}", tuple(host.sends), tuple(host.receives))
        for number, host in enumerate(plan.hosts)
    ]


def survey(inventory: Inventory) -> tuple[dict[str, Facts], dict[str, str]]:
    """Returns the facts of all hosts that answer, and why the others don't."""
    answers = ask_each(inventory.hosts, lambda session: read_facts(session, session.entry))
    known = {name: facts for name, facts in answers.items() if isinstance(facts, Facts)}
    out = {name: error.reason for name, error in answers.items() if isinstance(error, HostError)}
    return known, out


def _router(directory: Path) -> dict[str, Any]:
    """Returns the notes of narrows-router, if it carried the packets."""
    file = directory / "router.json"
    return read_json(file) if file.exists() else {}
