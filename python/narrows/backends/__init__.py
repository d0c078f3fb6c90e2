"""What runs scenarios: one protocol, and whatever is behind it, the same tables."""

from __future__ import annotations

from narrows.backends.protocol import Backend, Capabilities, Progress
from narrows.errors import InputError
from narrows.spec.suggest import one_of

NAMES = ("sim", "uml")
"""The back ends of this version."""
PLANNED = ("kernel",)
"""Those that later versions will have."""

__all__ = ["NAMES", "PLANNED", "Backend", "Capabilities", "Progress", "get_backend"]


def get_backend(name: str) -> Backend:
    """The back end of that name; raises InputError for one that this version lacks.

    "uml:NAME" is `uml` with the kernel of that name.
    """
    if name == "sim":
        from narrows.backends.sim import Simulator

        return Simulator()
    if name == "uml" or name.startswith("uml:"):
        from narrows.backends.uml import Uml

        return Uml(name.partition(":")[2] or None)
    if name in PLANNED:
        found = f'"{name}", which this version does not have yet'
        raise InputError.at("--backend", found, '"sim" or "uml"')
    raise InputError.at("--backend", f'"{name}", which is no back end', one_of(name, NAMES))
