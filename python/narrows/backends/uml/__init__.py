"""Real Linux TCP in virtual time: any kernel, run as a User-Mode Linux program.

Sender, router and receiver are namespaces of one guest whose clock jumps from
event to event (`time-travel=inf-cpu`). A run is repeatable, independent of the
machine's load, faster than real time, and needs no root.
"""

from __future__ import annotations

from narrows.backends.uml.backend import Uml
from narrows.backends.uml.builder import build
from narrows.backends.uml.kernels import BuiltKernel, get_kernel, kernels

__all__ = ["BuiltKernel", "Uml", "build", "get_kernel", "kernels"]
