"""Real Linux TCP in real time, on this machine's own kernel.

Sender and receiver are network namespaces without a name; between them a program carries the
packets through the same link as the simulator's. It works with or without root, and however the run
ends, the kernel removes everything.
"""

from __future__ import annotations

from narrows.backends.kernel.backend import Kernel

__all__ = ["Kernel"]
