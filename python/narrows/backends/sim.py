"""The simulator in this process; other threads keep running."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from narrows.backends.protocol import Capabilities, CaptureRequest, Progress
from narrows.errors import EngineError, Problem, SpecError
from narrows.late import _native
from narrows.spec import python_control, rust_control
from narrows.spec.kernel_program import refuse_modules, refuse_programs
from narrows.spec.scenario import Scenario
from narrows.store import RunInfo, RunRecord
from narrows.store.parquet import NativeTables

if TYPE_CHECKING:
    from narrows._native import RunOutput, RustControl


class Simulator:
    """The deterministic packet simulator of the native module."""

    name = "sim"
    selector = name

    def __init__(self) -> None:
        self._native = _native
        self.engine = f"{_native.engine_version}+{_build()}"
        self._capabilities = self._own_capabilities()

    def engine_of(self, scenario: Scenario) -> str:  # noqa: ARG002
        """Returns the engine, equal for all scenarios."""
        return self.engine

    def capabilities(self) -> Capabilities:
        """Returns everything that the registries of the native module list."""
        return self._capabilities

    def _own_capabilities(self) -> Capabilities:
        return Capabilities(
            ccas=tuple(entry["name"] for entry in self._native.ccas()),
            queues=tuple(entry["name"] for entry in self._native.queues()),
            profiles=tuple(self._native.profiles()),
            parallel=True,
            real_time=False,
            captures=("pcap", "qlog", "qlog_draft", "snaplen", "ipv6"),
        )

    def check(self, scenario: Scenario) -> None:
        """Raises SpecError for features that need a kernel.

        The engine checks the rest when it starts.
        """
        refuse_programs(scenario, "which only a kernel runs")
        refuse_modules(scenario, "which only a kernel loads")
        _refuse_own_kernels(scenario)

    def run(
        self,
        scenario: Scenario,
        progress: Progress | None = None,
        captures: CaptureRequest | None = None,
    ) -> RunRecord:
        """Runs `scenario` to its end; the same scenario always gives the same tables.

        Raises SpecError if the engine refuses it, EngineError if it breaks, and
        whatever `progress` raises.
        """
        began = time.perf_counter()
        made = rust_control.conditions(scenario.get("controls", {}))
        with translate_errors(self._native):
            output = self._run(scenario, progress, captures)
        info = RunInfo(
            backend=self.name,
            engine=self.engine,
            digest=output.digest,
            end_s=output.end_s,
            packets=output.packets,
            cpu_s=output.cpu_s,
            wall_s=time.perf_counter() - began,
            losses=dict(output.losses),
            conditions={"controls": made} if made else {},
        )
        return RunRecord(NativeTables(output.tables), info, dict(output.captures))

    def _run(
        self,
        scenario: Scenario,
        progress: Progress | None,
        captures: CaptureRequest | None,
    ) -> RunOutput:
        """Passes the engine its part of the scenario and the classes of own controls."""
        self.check(scenario)
        text, classes = parts(scenario)
        warn_after_s, spill = python_control.WARN_AFTER_S, _large_files()
        return self._native.run(
            text, progress, _captures_json(captures), classes, warn_after_s, spill
        )


def _large_files() -> str:
    """Returns the directory for large temporary files, since /tmp is in memory on many systems."""
    chosen = os.environ.get("TMPDIR")
    return chosen or (_LARGE if os.access(_LARGE, os.W_OK) else tempfile.gettempdir())


_LARGE = "/var/tmp"  # noqa: S108


def parts(scenario: Scenario) -> tuple[str, dict[str, Callable[..., object] | RustControl]]:
    """Returns the engine's part of a scenario as JSON, and its own controls by name."""
    classes = {
        name: (rust_control if rust_control.is_rust(name) else python_control).load(
            name, python_control.Source(**source)
        )
        for name, source in scenario.get("controls", {}).items()
    }
    rest = {name: value for name, value in scenario.items() if name != "controls"}
    return json.dumps(rest, allow_nan=False), classes


@contextmanager
def translate_errors(native: ModuleType) -> Iterator[None]:
    """Turns refusals of the native module into SpecError, and its panics into EngineError."""
    try:
        yield
    except native.ControlError as error:
        raise SpecError.at(*error.args) from error.__cause__
    except native.ScenarioError as error:
        raise _refusal(str(error), error.problems) from None
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # not derived from Exception
            raise EngineError(str(error)) from None
        raise


def _refuse_own_kernels(scenario: Scenario) -> None:
    """Raises SpecError for keys that only hosts with a real kernel have."""
    remedies = {
        "kernel": "`profile`",
        **dict.fromkeys(("sysctls", "server"), _REAL),
    }
    for index, flow in enumerate(scenario.get("flows", [])):
        for key, value in flow.items():
            if key in remedies:
                place = f"flows[{index}].{key}"
                raise SpecError.at(place, f"{value}", f"{remedies[key]} here")


_REAL = "none, or --backend uml or kernel, which have real hosts,"


def _captures_json(request: CaptureRequest | None) -> str | None:
    if request is None:
        return None
    options = request.options
    return json.dumps(
        {
            "directory": str(request.directory),
            "pcap": options.pcap,
            "qlog": options.qlog,
            "qlog_draft": options.qlog_draft,
            "snaplen": options.snaplen,
            "ipv6": options.ipv6,
        }
    )


@cache
def _build() -> str:
    """Returns a digest of the native module.

    Two builds of a version may give different results.
    """
    return blake2b(Path(str(_native.__file__)).read_bytes(), digest_size=6).hexdigest()


def _refusal(message: str, problems: Sequence[tuple[str, str, str]]) -> SpecError:
    """Turns the engine's problems into located errors; a text that it can't read has none."""
    if not problems:
        return SpecError.at("scenario", message, "a scenario that the engine takes")
    return SpecError([Problem(*problem) for problem in problems])
