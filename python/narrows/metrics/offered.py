"""The capacity of a link over time, and the two-way delay of the path, according to the scenario.

The native module knows them; times are in ns, amounts in IP bytes.
"""

from __future__ import annotations

import numpy as np

from narrows import _native
from narrows._native import OfferedCapacity
from narrows.columns import Floats
from narrows.spec.scenario import Scenario


def offers(scenario: Scenario) -> list[OfferedCapacity]:
    """Returns the capacity of each link, by the links' numbers in the tables."""
    return _native.offers(scenario)


def bytes_until(offer: OfferedCapacity, time_ns: Floats) -> Floats:
    """Returns the bytes offered from time 0 to each time."""
    return np.frombuffer(offer.bytes_until(np.ascontiguousarray(time_ns, float)))


def drain_ms(offer: OfferedCapacity, time_s: Floats, backlog_bytes: Floats) -> Floats:
    """Returns how long after each time a backlog has left the link, in ms."""
    times, backlog = (np.ascontiguousarray(one, float) for one in (time_s, backlog_bytes))
    return np.frombuffer(offer.drain_ms(times, backlog))


def two_way_ns(scenario: Scenario) -> tuple[Floats, Floats]:
    """Returns the path's two-way delay without queueing, by the times from which it counts."""
    starts_ns, values = _native.two_way_ns(scenario)
    return np.array(starts_ns), np.array(values)
