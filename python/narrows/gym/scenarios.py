"""The scenarios of the registered environments: each episode draws its conditions.

The first flow is the agent's; its control is `fixed`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from narrows.errors import InputError
from narrows.packets import PACKET_BYTES
from narrows.spec import SpecificationText, load

Draw: TypeAlias = "Callable[[np.random.Generator], dict[str, Any]]"
"""Draws the conditions of an episode, as a scenario for the engine."""

MBIT = 1_000_000
BESIDE = ("cubic", "bbr", "reno")
"""Controls of flows beside the agent's."""


@cache
def _base(flows: int, service: str) -> dict[str, Any]:
    """Returns a checked scenario whose numbers the episodes replace."""
    others = [{"cca": "cubic", "name": f"other-{n}", "start": "1s"} for n in range(flows)]
    document = {
        "name": "episode",
        "path": {"rate": "10mbit", "rtt": "40ms", "buffer": "1bdp", "service": service},
        "flows": [{"cca": "fixed", "name": "agent"}, *others],
        "run": {"duration": "20s", "record": "summary"},
    }
    return dict(load(SpecificationText.document(document)).spec.scenario)


def _episode(
    random: np.random.Generator,
    rates: tuple[float, float],
    flows: int = 0,
    service: str = "constant",
) -> dict[str, Any]:
    """Draws the conditions of an episode.

    The rate in Mbit/s is from a range, the round trip 20 to 100 ms, the buffer half to four BDP.
    """
    scenario = copy.deepcopy(_base(flows, service))
    rate = round(_logarithmic(random, *rates) * MBIT)
    rtt = round(_logarithmic(random, 20.0, 100.0) * 1e6)
    bdp = rate * rtt / 8e9
    room = max(10 * PACKET_BYTES, round(bdp * _logarithmic(random, 0.5, 4.0)))
    scenario["path"] |= {"rate_bps": rate, "rtt_ns": rtt, "buffer": {"bytes": room}}
    scenario["seed"] = int(random.integers(2**32))
    return scenario


def bottleneck(random: np.random.Generator) -> dict[str, Any]:
    """A lone flow behind a drop-tail queue.

    The rate is 4 to 24 Mbit/s, the delay 20 to 100 ms, the buffer half to four BDP, for 20 s.
    """
    return _episode(random, (4.0, 24.0))


def mix(random: np.random.Generator) -> dict[str, Any]:
    """Like `bottleneck` at 8 to 24 Mbit/s, with 1 to 3 flows of CUBIC, BBR or Reno from 1 s on."""
    flows = int(random.integers(1, 4))
    scenario = _episode(random, (8.0, 24.0), flows)
    for flow in scenario["flows"][1:]:
        flow["cca"] = BESIDE[int(random.integers(len(BESIDE)))]
    return scenario


def cellular(random: np.random.Generator) -> dict[str, Any]:
    """A lone flow on a cellular network whose grants grow with the backlog: 6 to 24 Mbit/s.

    With an empty queue the rate is 20 % to 80 % of that.
    """
    scenario = _episode(random, (6.0, 24.0), service="cellular")
    least = scenario["path"]["rate_bps"] * random.uniform(0.2, 0.8)
    scenario["path"]["service"]["min_rate_bps"] = round(least)
    return scenario


SCENARIOS: Mapping[str, Draw] = {"Bottleneck": bottleneck, "Mixed": mix, "Cellular": cellular}
"""The registered environments."""


def draw_of(scenario: str | Mapping[str, Any] | Draw) -> Draw:
    """Returns the function for a registered name, a specification or the user's own function.

    The user's function gets the environment's generator and returns a specification as a mapping.
    Raises InputError if the first flow's control isn't `fixed`.
    """
    if isinstance(scenario, str):
        if scenario not in SCENARIOS:
            raise InputError.at("scenario", f'"{scenario}"', " or ".join(SCENARIOS))
        return SCENARIOS[scenario]
    if isinstance(scenario, Mapping):
        made = _check(scenario)
        return lambda random: {**made, "seed": int(random.integers(2**32))}
    return lambda random: _check(scenario(random))


def _check(document: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {**load(SpecificationText.document(document)).spec.scenario}
    first = made["flows"][0]["cca"]
    if first != "fixed":
        raise InputError.at("flows[0].cca", f'"{first}"', '"fixed" for the agent')
    return made


def _logarithmic(random: np.random.Generator, least: float, most: float) -> float:
    """Draws a number between two, uniformly on a logarithmic scale."""
    return float(least * (most / least) ** random.random())


def as_json(scenario: Mapping[str, Any]) -> str:
    """Returns a scenario as the native module takes it."""
    return json.dumps(scenario)
