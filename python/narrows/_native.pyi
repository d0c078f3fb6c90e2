"""The native module: the simulator of narrows. It is written in crates/python."""

from collections.abc import Callable
from typing import Any, Final, final

engine_version: Final[str]
"""The version of the engine; results are stored with it."""

class ScenarioError(ValueError):
    """A scenario that can't run: "PLACE: found X; Y is needed"."""

@final
class ArrowTable:
    """A table that any Arrow library reads without a copy."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...

@final
class RunOutput:
    """What a run gives: tables by name, a digest of all results, and what it cost."""

    @property
    def tables(self) -> dict[str, ArrowTable]: ...
    @property
    def digest(self) -> str: ...
    @property
    def end_s(self) -> float: ...
    @property
    def packets(self) -> int: ...
    @property
    def cpu_s(self) -> float: ...
    @property
    def captures(self) -> list[tuple[str, int]]: ...

def run(
    scenario_json: str,
    progress: Callable[[float, int], None] | None = None,
    captures_json: str | None = None,
) -> RunOutput:
    """Runs a scenario; other threads run meanwhile.

    `progress` is called about ten times a second; what it raises ends the run.
    `captures_json` is `{"directory": an existing one, "snaplen": bytes or null,
    "ipv6": bool}`; raises OSError if they can't be written.
    """

def ccas() -> list[dict[str, Any]]:
    """The controls: `name`, `summary`, `source`, and `options`.

    An option is a dict of `name`, `default`, `min`, `max`, `whole` (whether it
    must be a whole number) and `what` (what it does, with its unit).
    """

def queues() -> list[dict[str, Any]]:
    """The queue disciplines: `name`, `summary`, `source`."""

def profiles() -> list[str]:
    """The kernels whose TCP the hosts can have, such as "linux-6.12"."""
