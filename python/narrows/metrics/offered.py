"""The capacity of a link over time, and the two-way delay of the path, according to the scenario.

The native module knows them; times are in ns, amounts in IP bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from narrows import _native
from narrows._native import OfferedCapacity
from narrows.spec.scenario import Scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


def offers(scenario: Scenario) -> list[OfferedCapacity]:
    """Returns the capacity of each link, by the links' numbers in the tables."""
    return _native.offers(scenario)


def bytes_until(offer: OfferedCapacity, time_ns: Numbers) -> Numbers:
    """Returns the bytes offered from time 0 to each time."""
    return np.frombuffer(offer.bytes_until(np.ascontiguousarray(time_ns, float)))


def drain_ms(offer: OfferedCapacity, time_s: Numbers, backlog_bytes: Numbers) -> Numbers:
    """Returns how long after each time a backlog has left the link, in ms."""
    times, backlog = (np.ascontiguousarray(one, float) for one in (time_s, backlog_bytes))
    return np.frombuffer(offer.drain_ms(times, backlog))


def two_way_ns(scenario: Scenario) -> tuple[Numbers, Numbers]:
    """Returns the path's two-way delay without queueing, by the times from which it counts."""
    starts_ns, values = _native.two_way_ns(scenario)
    return np.array(starts_ns), np.array(values)
