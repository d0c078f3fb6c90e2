"""The back end `uml` runs each scenario in its own guest."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from pathlib import Path

from narrows.backends.linux.directory import run_directory
from narrows.backends.linux.refusals import (
    refuse_ecn,
    refuse_elements,
    refuse_links,
    refuse_modelled_hosts,
    refuse_own_hosts,
    refuse_workloads,
)
from narrows.backends.linux.tools import traffic_tool
from narrows.backends.linux.traffic import FINE_NS, FULL_PACKET, fine_interval
from narrows.backends.protocol import Capabilities, Progress, refuse_own_controls
from narrows.backends.uml.kernels import get_kernel
from narrows.backends.uml.machine import (
    SCRIPT,
    GuestError,
    Program,
    boot,
    console,
    missing_programs,
)
from narrows.backends.uml.module_parameters import module_parameters
from narrows.backends.uml.network import (
    CONFIG,
    LOG,
    MAX_FLOWS,
    NETWORK,
    STATUS,
    init_script,
    network_script,
    tool_config,
)
from narrows.backends.uml.qdiscs import KINDS, check_queue
from narrows.backends.uml.tables import read_tables
from narrows.errors import InputError, SpecError
from narrows.spec.kernel_program import refuse_programs
from narrows.spec.scenario import Flow, Scenario
from narrows.spec.suggest import one_of
from narrows.store import RunInfo, RunResult, Tables, digest

_REVISION = 2
"""Is increased when the path or the tables change, so that older results aren't reused."""
_FEW_FLOWS = 8


class Uml:
    """A Linux kernel as a User-Mode Linux program, in virtual time.

    Without a `kernel` name the one built last is taken, and it must be the
    kernel that the scenario's profile names.
    """

    name = "uml"

    def __init__(self, kernel: str | None = None) -> None:
        self._chosen = kernel is not None
        self.kernel = get_kernel(kernel)
        self._tool = traffic_tool()
        missing = missing_programs()
        if missing:
            found = f'"uml", but no {", ".join(missing)} here'
            raise InputError.at("--backend", found, "a machine with iproute2 and util-linux")
        parts = f"{self.kernel.digest}:{hashlib.sha256(self._tool.read_bytes()).hexdigest()}"
        mark = hashlib.sha256(parts.encode()).hexdigest()[:12]
        self.engine = f"{self.kernel.name} ({self.kernel.release}) {mark}.{_REVISION}"
        self.selector = f"{self.name}:{self.kernel.name}"

    def capabilities(self) -> Capabilities:
        """The features of the kernel."""
        return Capabilities(
            ccas=self.kernel.ccas,
            queues=KINDS,
            profiles=(self.kernel.profile,),
            parallel=True,
            real_time=False,
        )

    def run(self, scenario: Scenario, progress: Progress | None = None) -> RunResult:
        """Runs `scenario` to its end; the same scenario always gives the same tables.

        Raises SpecError if the kernel can't run it, GuestError if the guest
        fails, and whatever `progress` raises.
        """
        parameters = self._checked(scenario)
        began = time.perf_counter()
        with run_directory(self.name) as directory:
            cpu_s = self._boot(directory, scenario, parameters, progress)
            tables = read_tables(directory, scenario)
        end_s, packets = _extent(tables)
        info = RunInfo(
            backend=self.name,
            engine=self.engine,
            digest=digest(tables),
            end_s=end_s,
            packets=packets,
            cpu_s=cpu_s,
            wall_s=time.perf_counter() - began,
        )
        return RunResult(tables, info)

    def _boot(
        self,
        directory: Path,
        scenario: Scenario,
        parameters: list[str],
        progress: Progress | None,
    ) -> float:
        config = json.dumps(tool_config(scenario, _interval(scenario)))
        _write(directory / CONFIG, config)
        _write(directory / NETWORK, network_script(scenario))
        _write(directory / SCRIPT, init_script(str(self._tool)))
        program = Program(self.kernel.binary, self.kernel.library)
        watch = Watch(directory, progress)
        seed = int(scenario["seed"])
        cpu_s = boot(program, directory, seed=seed, parameters=parameters, watch=watch)
        _complain(directory)
        return cpu_s

    def check(self, scenario: Scenario) -> None:
        """Raises SpecError for what the kernel can't run."""
        self._checked(scenario)

    def _checked(self, scenario: Scenario) -> list[str]:
        """The parameters for the kernel's command line; raises SpecError for what it can't run."""
        host, flows = scenario["host"], scenario["flows"]
        if not self._chosen and host["profile"] != self.kernel.profile:
            remedy = f'"{self.kernel.profile}", or --backend uml:{self.kernel.name},'
            raise SpecError.at("host.profile", f'"{host["profile"]}"', remedy)
        refuse_modelled_hosts(scenario, "hosts in virtual time take no time")
        check_queue(scenario["path"])
        refuse_own_hosts(scenario)
        refuse_ecn(scenario)
        refuse_workloads(scenario)
        if len(flows) > MAX_FLOWS:
            raise SpecError.at("flows", f"{len(flows)}", f"at most {MAX_FLOWS} on this back end")
        refuse_elements(scenario)
        refuse_links(scenario)
        refuse_own_controls(scenario)
        refuse_programs(scenario, "for which User-Mode Linux has no compiler (JIT)")
        for i, flow in enumerate(flows):
            if flow["cca"] not in self.kernel.ccas:
                found = f'"{flow["cca"]}", which {self.kernel.name} lacks'
                raise SpecError.at(f"flows[{i}].cca", found, one_of(flow["cca"], self.kernel.ccas))
        return self._parameters(flows)

    def _parameters(self, flows: Sequence[Flow]) -> list[str]:
        """Words for the kernel's command line; raises SpecError.

        A control's options are parameters of its module, the same for all its flows.
        """
        chosen: dict[str, dict[str, int | None]] = {}
        for i, flow in enumerate(flows):
            place, cca = f"flows[{i}].options", flow["cca"]
            options = module_parameters(cca, flow["options"])
            if chosen.setdefault(cca, options) != options:
                raise SpecError.at(place, f"{options}", f"those of the other {cca} flows")
            for name, value in options.items():
                if f"tcp_{cca}.{name}" not in self.kernel.parameters or value is None:
                    known = [p.split(".")[1] for p in self.kernel.parameters if f"_{cca}." in p]
                    remedy = f"one of {', '.join(known) or 'none'}, as the kernel's module has it,"
                    raise SpecError.at(f"{place}.{name}", f"{flow['options']}", remedy)
        return [
            f"tcp_{cca}.{name}={value}"
            for cca, options in sorted(chosen.items())
            for name, value in sorted(options.items())
        ]


def _extent(tables: Tables) -> tuple[float, int]:
    """The end of the run, and the packets out of the bottleneck: data only, or with loss all."""
    queue = tables["queue_samples"].row(-1, named=True)
    flows = tables["flow_samples"]
    data = flows.filter(flows["time_s"] == queue["time_s"])["wire_bytes"]
    packets = queue["forwarded_packets"] if data.has_nulls() else int(data.sum()) // FULL_PACKET
    return queue["time_s"], packets


class Watch:
    """Reports the guest's progress from the file that the guest writes.

    A file that is missing or is being written at the moment brings no news.
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
    """The tool's sampling interval. A fine one costs system calls for every flow."""
    flows = len(scenario["flows"])
    least_ns = FINE_NS * -(-flows // _FEW_FLOWS)
    return fine_interval(scenario["run"]["sample_interval_ns"], least_ns)


def _complain(directory: Path) -> None:
    """Raises GuestError unless the tool reports success."""
    try:
        status = (directory / STATUS).read_text(encoding="ascii").strip()
    except OSError:
        raise GuestError(f"the guest didn't finish; it said: {console(directory)}") from None
    if status != "0":
        said = (directory / LOG).read_text(encoding="utf-8", errors="replace").strip()
        raise GuestError(f"the guest failed: {said or console(directory)}")
