"""Real hosts over a network: a scenario on the machines that an inventory names.

Each host is reached by OpenSSH's own client, set up as the scenario says, and left as it was
(decision 041).
"""

from __future__ import annotations

from narrows.backends.hosts.backend import Hosts

__all__ = ["Hosts"]
