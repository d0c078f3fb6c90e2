"""The protocol that every back end follows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from narrows.errors import SpecError
from narrows.spec.kernel_program import is_module, is_program
from narrows.spec.rust_control import is_rust
from narrows.spec.scenario import Scenario
from narrows.store import CaptureOptions, RunRecord


class Progress(Protocol):
    """Receives the progress of a run; may raise to stop it."""

    def __call__(self, sim_s: float, packets: int, /) -> None:
        """Receives the simulated seconds and the packets out of the bottleneck so far."""


@dataclass(frozen=True)
class Capabilities:
    """The capabilities of a back end.

    `parallel` says whether runs may share the machine, `real_time` whether a simulated second takes
    a second, and `captures` which options of `CaptureOptions` are known. A back end that knows any
    is a `CapturingBackend`.
    """

    ccas: tuple[str, ...]
    queues: tuple[str, ...]
    profiles: tuple[str, ...]
    parallel: bool
    real_time: bool
    captures: tuple[str, ...] = ()


class Backend(Protocol):
    """Runs one scenario per call, and may be called from several threads at once."""

    name: str
    engine: str
    """The version of the engine, to which the validity of results is limited."""

    selector: str
    """The name for which `get_backend` returns the same back end in another process."""

    def engine_of(self, scenario: Scenario) -> str:
        """Returns the version for which a result of `scenario` is valid.

        It includes the kernels that the scenario names.
        """

    def capabilities(self) -> Capabilities:
        """Returns the scenarios that the back end can run."""

    def check(self, scenario: Scenario) -> None:
        """Raises SpecError for everything known to be refused, before anything runs."""

    def run(self, scenario: Scenario, progress: Progress | None = None) -> RunRecord:
        """Runs `scenario` to its end.

        Raises SpecError if the scenario can't run, and whatever `progress` raises.
        """


@dataclass(frozen=True)
class CaptureRequest:
    """The captures of a run, and the empty directory for the files.

    Packets go to sender.pcapng, before-queue.pcapng, after-queue.pcapng and receiver.pcapng, if the
    back end can see these points.
    """

    options: CaptureOptions
    directory: Path


class CapturingBackend(Backend, Protocol):
    """A back end that can write captures."""

    def run(
        self,
        scenario: Scenario,
        progress: Progress | None = None,
        captures: CaptureRequest | None = None,
    ) -> RunRecord:
        """Runs as without captures, with the same results."""


def refuse_own_controls(scenario: Scenario) -> None:
    """Raises SpecError for a control in Python or Rust, which no kernel can run."""
    for index, flow in enumerate(scenario["flows"]):
        if flow["cca"] in scenario.get("controls", {}) and not (
            is_program(flow["cca"]) or is_module(flow["cca"])
        ):
            language = "Rust" if is_rust(flow["cca"]) else "Python"
            found = f'"{flow["cca"]}", which is written in {language}'
            raise SpecError.at(f"flows[{index}].cca", found, "--backend sim for this control")
