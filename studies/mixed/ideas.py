"""Section VII's proposals: a shorter bandwidth filter, a STARTUP that HyStart ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from narrows.reproduce.exhibit import Scope

from . import testbed

Options = Mapping[str, float | str | bool]


def spec(
    scope: Scope,
    pair: tuple[str, str],
    rate_mbps: float,
    buffer_bdp: float,
    options: Options,
) -> dict[str, Any]:
    """A pair of the study in which the BBR flows have options."""
    made = testbed.spec(scope, *pair, rate_mbps, buffer_bdp)
    flows = [
        {**flow, "options": dict(options)} if flow["cca"] == "bbr" else flow
        for flow in made["flows"]
    ]
    return {**made, "name": "mixed-ideas", "flows": flows}
