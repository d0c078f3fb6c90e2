"""The findings of `narrows hosts check`: each host's facts, clock, line rate and obstacles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from narrows.backends.hosts.backend import parts_of, survey
from narrows.backends.hosts.clocks import Offset
from narrows.backends.hosts.facts import Facts
from narrows.backends.hosts.inventory import HostEntry, Inventory
from narrows.backends.hosts.line_rates import keep_rates
from narrows.backends.hosts.measure import HostMeasurements, measure
from narrows.backends.hosts.plan import plan_run
from narrows.backends.hosts.session import HostError
from narrows.backends.hosts.tables import merge
from narrows.backends.linux.directory import run_directory
from narrows.backends.linux.tables import read_flows
from narrows.late import pl
from narrows.packets import WIRE
from narrows.spec import SpecificationText, load
from narrows.spec.scenario import Scenario

_TURN_S = 2
"""How long each sender sends alone, in s."""
_SPEC = """\
name = "line-rates"
path = {{ rate = "100gbit", rtt = "1ms", buffer = "1bdp" }}
run = {{ duration = "{duration}s", warmup = "0s", sample_interval = "100ms" }}
host = {{ gso = true, socket_buffers = "raised" }}
"""
_FLOW = '[[flows]]\nname = "f{number}"\ncca = "reno"\nstart = "{start}s"\nstop = "{stop}s"\n'
"""A flow with Reno, which every kernel has and lets every user choose."""


@dataclass(frozen=True)
class HostReport:
    """The findings about a host, or the `reason` why there are none.

    `packages` are the missing Debian packages.
    """

    entry: HostEntry
    facts: Facts | None
    reason: str = ""
    clock: Offset | None = None
    drift_ns: int = 0
    rate_bps: int | None = None
    rtt_ms: float | None = None
    packages: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The findings as plain data."""
        facts = None if self.facts is None else asdict(self.facts)
        if facts is not None:
            facts |= {key: sorted(facts[key]) for key in ("modules", "tools", "sudo")}
        return asdict(replace(self, facts=None)) | {"facts": facts, "problems": self.problems()}

    def problems(self) -> list[str]:
        """Returns the obstacles to a run, with their remedies."""
        if self.facts is None:
            return [self.reason]
        found = [f"`apt install {package}`" for package in self.packages]
        if rights := self.facts.missing_rights():
            found.append(f"sudo without a password for {', '.join(rights)}")
        exposed = "{} carries the default route or ssh: shared = true allows it"
        found += map(exposed.format, self.facts.find_exposed(self.entry))
        for name in self.entry.interfaces:
            address = self.facts.interfaces[name].address
            if self.entry.address and address != self.entry.address:
                found.append(
                    f"{name} has the address {address or 'none'}, not {self.entry.address}"
                )
            if not self.facts.interfaces[name].qdisc.endswith(" 0:"):
                found.append(f"{name} has a queue discipline of its own, or doesn't exist")
        if self.facts.busy:
            found.append("narrows is at work there, or was killed: `narrows hosts restore`")
        return found


def examine(inventory: Inventory) -> list[HostReport]:
    """Asks all hosts, and measures clocks and line rates if all of them can run something.

    Each sender sends alone for a few seconds, without a bottleneck. All changes are undone.
    """
    facts, out = survey(inventory)
    reports = [
        HostReport(
            entry,
            facts.get(entry.ssh),
            out.get(entry.ssh, ""),
            packages=tuple(facts[entry.ssh].missing_tools(inventory, entry))
            if entry.ssh in facts
            else (),
        )
        for entry in inventory.hosts
    ]
    if any(report.problems() for report in reports):
        return reports
    return _measure_all(inventory, facts, reports)


def _measure_all(
    inventory: Inventory, facts: Mapping[str, Facts], reports: list[HostReport]
) -> list[HostReport]:
    scenario = _line_rates(inventory)
    plan = plan_run(scenario, inventory, bare=True)
    try:
        with run_directory("hosts") as folder:
            told = measure(plan, inventory, facts, folder, None)
            merged = folder / "merged"
            merged.mkdir()
            merge(merged, parts_of(plan, folder), scenario["run"]["duration_ns"])
            found = _rates(merged)
    except HostError as error:
        failed = {error.host: error.reason}
        return [
            replace(each, facts=None, reason=failed[each.entry.ssh])
            if each.entry.ssh in failed
            else each
            for each in reports
        ]
    sent = {entry.ssh: found[number] for number, entry in enumerate(inventory.senders)}
    keep_rates(inventory, {name: rate_bps for name, (rate_bps, _) in sent.items()})
    return [_with_measurements(each, told, sent) for each in reports]


def _with_measurements(
    report: HostReport, told: HostMeasurements, sent: Mapping[str, tuple[int, float]]
) -> HostReport:
    name = report.entry.ssh
    rate_bps, rtt_ms = sent.get(name, (None, None))
    before, after = told.before[name], told.after[name]
    drift_ns = after.monotonic_ns - before.monotonic_ns
    return replace(report, clock=before, drift_ns=drift_ns, rate_bps=rate_bps, rtt_ms=rtt_ms)


def _line_rates(inventory: Inventory) -> Scenario:
    """Returns a scenario with a flow from each sender, one after the other."""
    count = max(len(inventory.senders), len(inventory.receivers))
    text = _SPEC.format(duration=count * _TURN_S)
    for number in range(count):
        start = number * _TURN_S
        text += _FLOW.format(number=number, start=start, stop=start + _TURN_S)
    return load(SpecificationText(text)).spec.scenario


def _rates(merged: Path) -> list[tuple[int, float]]:
    """Returns each flow's rate in its best half second, and its lowest RTT.

    The rate is in bit/s of IP packets.
    """
    flows = read_flows(merged).sort("time_ns")
    coarse = flows.filter(pl.col("time_ns") % 500_000_000 == 0)
    steps = coarse.with_columns(step=pl.col("arrived_bytes").diff().over("flow"))
    best = steps.group_by("flow").agg(pl.col("step").max())
    lowest = flows.group_by("flow").agg(pl.col("min_rtt_us").min())
    rows = best.join(lowest, on="flow").sort("flow")
    return [
        (round((step or 0) * 16 * WIRE), (rtt_us or 0) / 1e3)
        for _, step, rtt_us in rows.iter_rows()
    ]


def report_lines(reports: list[HostReport], inventory: Inventory) -> Iterator[str]:
    """Yields the findings as lines for people."""
    for report in reports:
        yield f"{report.entry.ssh} ({_role(report.entry, inventory)})"
        yield from (f"  {line}" for line in _facts_lines(report))
        yield from (f"  missing: {problem}" for problem in report.problems())


def _role(entry: HostEntry, inventory: Inventory) -> str:
    roles = (("sender", inventory.senders), ("receiver", inventory.receivers))
    return next((role for role, hosts in roles if entry in hosts), "router")


def _facts_lines(report: HostReport) -> Iterator[str]:
    facts = report.facts
    if facts is None:
        return
    yield (
        f"Linux {facts.kernel} on {facts.machine}, {facts.processors} processors, "
        f"load {facts.load}; controls {', '.join(facts.controls)}"
    )
    for name, interface in facts.interfaces.items():
        speed = f"{interface.speed} Mbit/s" if interface.speed else "unknown speed"
        offloads = ", ".join(interface.offloads) or "no"
        yield (
            f"{name}: {interface.address}, {speed}, {interface.qdisc or 'no'} discipline, "
            f"{offloads} offload, {interface.drops} packets dropped so far"
        )
    if report.clock is not None:
        yield (
            f"clock: {report.clock.realtime_ns / 1e6:+.3f} ms from ours, known to within "
            f"{report.clock.uncertainty_ns / 1e6:.3f} ms, moved by {report.drift_ns / 1e3:+.1f} us"
        )
    if report.rate_bps is not None:
        yield (
            f"line rate: {report.rate_bps / 1e6:.0f} Mbit/s of IP packets, measured; "
            f"round trip to its receiver {report.rtt_ms:.3f} ms at the least (base_rtt_ms)"
        )
    senders = [name for name in ("iperf3", "netperf") if name in facts.tools]
    if senders:
        yield f"also there: {', '.join(senders)}"
