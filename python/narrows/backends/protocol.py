"""The protocol that every back end follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from narrows.errors import SpecError
from narrows.spec.kernel_program import is_program
from narrows.store import CaptureOptions, RunResult


class Progress(Protocol):
    """Hears how far a run is; may raise to stop it."""

    def __call__(self, sim_s: float, packets: int, /) -> None:
        """`sim_s` simulated seconds and `packets` out of the bottleneck so far."""


@dataclass(frozen=True)
class Capabilities:
    """What a back end can do.

    `parallel` says whether runs may share the machine, `real_time` whether a
    simulated second takes a second, `captures` which options of
    `CaptureOptions` it knows; with any, it is a `CapturingBackend`.
    """

    ccas: tuple[str, ...]
    queues: tuple[str, ...]
    profiles: tuple[str, ...]
    parallel: bool
    real_time: bool
    captures: tuple[str, ...] = ()


class Backend(Protocol):
    """Runs one scenario at a time, and may be asked from several threads at once."""

    name: str
    engine: str
    """The version of what computes; a result counts for it alone."""

    selector: str
    """What `get_backend` takes to give the same back end in another process."""

    def capabilities(self) -> Capabilities:
        """What it can run."""

    def check(self, scenario: Mapping[str, Any]) -> None:
        """Raises SpecError for what it is known to refuse before anything runs."""

    def run(self, scenario: Mapping[str, Any], progress: Progress | None = None) -> RunResult:
        """Runs `scenario` to its end.

        Raises SpecError if the scenario can't run, and whatever `progress` raises.
        """


@dataclass(frozen=True)
class CaptureRequest:
    """What a run is to capture, and the empty directory that the files go to.

    Packets go to sender.pcapng, before-queue.pcapng, after-queue.pcapng and
    receiver.pcapng, as far as the back end can see these points.
    """

    options: CaptureOptions
    directory: Path


class CapturingBackend(Backend, Protocol):
    """A back end that leaves captures when it is asked."""

    def run(
        self,
        scenario: Mapping[str, Any],
        progress: Progress | None = None,
        captures: CaptureRequest | None = None,
    ) -> RunResult:
        """As without captures, and with the same results."""


def refuse_own_controls(scenario: Mapping[str, Any]) -> None:
    """Raises SpecError for a control written in Python, which no kernel can run."""
    for index, flow in enumerate(scenario["flows"]):
        if flow["cca"] in scenario.get("controls", {}) and not is_program(flow["cca"]):
            found = f'"{flow["cca"]}", which is written in Python'
            raise SpecError.at(f"flows[{index}].cca", found, "--backend sim for this control")
