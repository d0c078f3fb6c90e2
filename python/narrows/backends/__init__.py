"""What runs scenarios: one protocol, and whatever is behind it, the same tables."""

from __future__ import annotations

from narrows.backends.protocol import (
    Backend,
    Capabilities,
    CaptureRequest,
    CapturingBackend,
    Progress,
)
from narrows.errors import InputError
from narrows.spec.suggest import one_of

NAMES = ("sim", "uml", "kernel")
"""The back ends of this version."""

__all__ = [
    "NAMES",
    "Backend",
    "Capabilities",
    "CaptureRequest",
    "CapturingBackend",
    "Progress",
    "get_backend",
]


def get_backend(name: str) -> Backend:
    """The back end of that name; raises InputError for one that this version lacks.

    "uml:NAME" is `uml` with the kernel of that name, "kernel:own" is `kernel` with
    our own sender instead of iperf3, "capture:DIR" what was captured: the results of
    `narrows analyze` in that directory.
    """
    if name == "sim":
        from narrows.backends.sim import Simulator

        return Simulator()
    if name == "uml" or name.startswith("uml:"):
        from narrows.backends.uml import Uml

        return Uml(name.partition(":")[2] or None)
    if name == "kernel" or name.startswith("kernel:"):
        from narrows.backends.kernel import Kernel

        return Kernel(name.partition(":")[2] or "iperf3")
    if name.startswith("capture:"):
        from narrows.backends.capture import Captured

        return Captured(name.partition(":")[2])
    raise InputError.at("--backend", f'"{name}", which is no back end', one_of(name, NAMES))
