"""Real hosts on a network, which an inventory names.

narrows reaches each host by OpenSSH's own client, sets it up as the scenario says, and leaves it as
it was (decision 041).
"""

from __future__ import annotations

from narrows.backends.hosts.backend import Hosts

__all__ = ["Hosts"]
