"""Back ends, which run scenarios: all follow one protocol and write the same tables."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from narrows.backends.protocol import Backend, CaptureRequest, CapturingBackend, Progress
from narrows.errors import InputError
from narrows.spec.suggest import one_of


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """A back end: its name, its class in a submodule, and its option.

    `option` says whether a text may or must follow the name and a colon, as in "uml:6.12". A `real`
    back end runs real hosts, and is a reference for the simulator; an `observed` one returns a
    measurement that happened once. `module` is the back end's name unless it is given.
    """

    name: str
    kind: str
    option: Literal["none", "possible", "needed"] = "none"
    real: bool = False
    observed: bool = False
    module: str = ""


# If several real back ends are compared, the first of them here is the reference.
BACKENDS = {
    entry.name: entry
    for entry in (
        BackendInfo("sim", "Simulator"),
        BackendInfo(
            "capture", "CaptureBackend", "needed", real=True, observed=True, module="observed"
        ),
        BackendInfo(
            "import", "ImportBackend", "needed", real=True, observed=True, module="observed"
        ),
        BackendInfo("uml", "Uml", "possible", real=True),
        BackendInfo("kernel", "Kernel", "possible", real=True),
        BackendInfo("hosts", "Hosts", "needed", real=True),
    )
}
OBSERVED = tuple(entry.name for entry in BACKENDS.values() if entry.observed)
"""Back ends with a single observation, however often they are run."""
NAMES = tuple(entry.name for entry in BACKENDS.values() if entry.option != "needed")
"""The back ends of this version that run scenarios and need no inventory or directory."""

__all__ = [
    "BACKENDS",
    "NAMES",
    "OBSERVED",
    "Backend",
    "CaptureRequest",
    "CapturingBackend",
    "Progress",
    "get_backend",
]


def get_backend(name: str) -> Backend:
    """Returns the back end of that name; raises InputError if this version lacks it.

    A real back end needs polars.

    "uml:NAME" is `uml` with the kernel of that name, "kernel:own" is `kernel` with our own sender
    instead of iperf3; "hosts:NAME" uses the hosts of that inventory; "capture:DIR" gives the
    results of `narrows analyze` in that directory, and "import:DIR" those of `narrows import`. A
    back end is loaded only when it is used.
    """
    plain, colon, option = name.partition(":")
    entry = BACKENDS.get(plain)
    wrong = {"none": bool(colon), "possible": False, "needed": not colon}
    if entry is None or wrong[entry.option]:
        raise InputError.at("--backend", f'"{name}", which is not a back end', one_of(name, NAMES))
    kind = getattr(import_module(f"narrows.backends.{entry.module or plain}"), entry.kind)
    made: Backend = kind(option) if option or entry.option == "needed" else kind()
    return made
