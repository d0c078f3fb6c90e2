"""Real Linux TCP in real time: this machine's own kernel.

Sender and receiver are network namespaces without a name; between them a
program carries the packets through the same link as the simulator's. It works
with or without root, and whatever ends the run, the kernel clears everything.
"""

from __future__ import annotations

from narrows.backends.kernel.backend import Kernel

__all__ = ["Kernel"]
