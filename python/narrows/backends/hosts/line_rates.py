"""The senders' line rates, as last measured by `narrows hosts check`."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Mapping
from pathlib import Path

from narrows.backends.hosts.inventory import Inventory
from narrows.cached import cache_directory, private_directory
from narrows.errors import SpecError
from narrows.spec.scenario import Scenario

_MARGIN = 1.05
"""How much faster than the bottleneck all its senders together must be."""


def keep_rates(inventory: Inventory, rates: Mapping[str, int]) -> None:
    """Stores the rates, in bit/s of IP packets, for later runs on this inventory."""
    checked = time.strftime("%Y-%m-%d")
    kept = {"checked": checked, "inventory": inventory.text, "rates_bps": dict(rates)}
    _place(inventory.name).write_text(json.dumps(kept), encoding="utf-8")


def known_rates(inventory: Inventory) -> dict[str, int]:
    """Returns the stored rates by host; empty if they weren't measured with this inventory."""
    try:
        kept = json.loads(_place(inventory.name).read_text(encoding="utf-8"))
        if kept["inventory"] != inventory.text:
            return {}
        return {str(name): int(rate) for name, rate in kept["rates_bps"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def refuse_slow_hosts(
    scenario: Scenario, rates: Mapping[str, int], sending: Collection[str]
) -> None:
    """Raises SpecError if the hosts would be slower than the bottleneck.

    `sending` names the hosts that send; if the rate of one is unknown, nothing is refused.
    """
    if not set(sending) <= rates.keys():
        return
    together = sum(rates[name] for name in sending)
    if together < _MARGIN * scenario["path"]["rate_bps"]:
        found = (
            f"{scenario['path']['rate_bps'] / 1e6:g} Mbit/s behind senders of "
            f"{together / 1e6:.0f} Mbit/s together (`narrows hosts check` measured them)"
        )
        raise SpecError.at("path.rate", found, f"at most {together / _MARGIN / 1e6:.0f} Mbit/s")


def _place(name: str) -> Path:
    safe = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
    return private_directory(cache_directory() / "hosts") / f"{safe}.json"
