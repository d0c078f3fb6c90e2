"""The capacity of a link over time, and the two-way delay of a path, according to the scenario.

A rate may follow `[[changes]]`, the service `steps` or the opportunities of a `trace`; the path's
delay may follow `[[changes]]`. The services `tbf` and `htb` offer their own rate, and `wifi` the
rate of full batches if it exceeds the link's rate; others offer the link's rate. Times are in ns,
amounts in IP bytes; both may be arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from narrows.packets import PACKET_BYTES
from narrows.spec.scenario import Scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

BOTTLENECK = "bottleneck"
_NS = 1e9


class Offer(Protocol):
    """The capacity of a link."""

    varies: bool
    burst_bytes: float
    """Bytes that may leave at once, ahead of the rate."""
    margin: float
    """The fraction by which the capacity may be exceeded, since only the mean of random waits
    counts."""

    def bytes_until(self, time_ns: Any) -> Numbers:  # noqa: ANN401 (a number or an array)
        """The bytes offered from time 0 to a time."""

    def time_of(self, amount: Any) -> Numbers:  # noqa: ANN401 (a number or an array)
        """The first time in ns at which `amount` bytes have been offered."""


@dataclass(frozen=True)
class StepFunction:
    """A value that changes at given times: `values[i]` from `starts_ns[i]` on.

    The first start is 0.
    """

    starts_ns: Numbers
    values: Numbers

    @classmethod
    def of(cls, first: float, changes: Mapping[int, float]) -> StepFunction:
        """Returns the function with a value from time 0 on, and later values by time in ns."""
        steps = dict(sorted(({0: first} | dict(changes)).items()))
        return cls(np.array(list(steps), float), np.array(list(steps.values()), float))

    @property
    def varies(self) -> bool:
        """Returns True if the value ever changes."""
        return len(self.values) > 1

    def at(self, time_ns: Any) -> Numbers:  # noqa: ANN401 (a number or an array)
        """Returns the value at a time; a change counts from its instant on."""
        row = np.searchsorted(self.starts_ns, time_ns, side="right") - 1
        found: Numbers = self.values[np.maximum(row, 0)]
        return found

    def integral(self, time_ns: Any) -> Numbers:  # noqa: ANN401 (a number or an array)
        """Returns the integral over ns from time 0 to a time."""
        before = np.concatenate([[0.0], np.cumsum(np.diff(self.starts_ns) * self.values[:-1])])
        row = np.maximum(np.searchsorted(self.starts_ns, time_ns, side="right") - 1, 0)
        found: Numbers = before[row] + (time_ns - self.starts_ns[row]) * self.values[row]
        return found


class SteppedOffer:
    """The capacity of a link whose rate in bit/s is constant or changes in steps."""

    def __init__(self, rates: StepFunction, burst_bytes: float = 0.0, margin: float = 0.0) -> None:
        self._rates, self.varies = rates, rates.varies
        self.burst_bytes, self.margin = burst_bytes, margin

    def bytes_until(self, time_ns: Any) -> Numbers:  # noqa: ANN401 (a number or an array)
        """The bytes offered from time 0 to a time."""
        return self._rates.integral(time_ns) / 8 / _NS

    def time_of(self, amount: Any) -> Numbers:  # noqa: ANN401 (a number or an array)
        """The first time in ns at which `amount` bytes have been offered."""
        starts, rates = self._rates.starts_ns, self._rates.values / 8 / _NS
        before = self.bytes_until(starts)
        row = np.maximum(np.searchsorted(before, amount, side="left") - 1, 0)
        found: Numbers = starts[row] + (amount - before[row]) / rates[row]
        return found


class TraceOffer:
    """The capacity of a link with the opportunities of a trace, which repeats."""

    varies = True
    burst_bytes = margin = 0.0

    def __init__(self, opportunities_ms: NDArray[Any]) -> None:
        self._at_ns = np.asarray(opportunities_ms, float) * 1e6
        self._round_ns = float(self._at_ns[-1])

    def bytes_until(self, time_ns: Any) -> Numbers:  # noqa: ANN401 (a number or an array)
        """The bytes offered from time 0 to a time."""
        rounds, within = np.divmod(time_ns, self._round_ns)
        count = np.searchsorted(self._at_ns, within, side="right")
        found: Numbers = (rounds * len(self._at_ns) + count) * float(PACKET_BYTES)
        return found

    def time_of(self, amount: Any) -> Numbers:  # noqa: ANN401 (a number or an array)
        """The first time in ns at which `amount` bytes have been offered."""
        number = np.maximum(np.ceil(np.asarray(amount) / PACKET_BYTES), 1) - 1
        rounds, within = np.divmod(number, len(self._at_ns))
        found: Numbers = rounds * self._round_ns + self._at_ns[within.astype(int)]
        return found


def offers(scenario: Scenario) -> list[Offer]:
    """Returns the capacity of each link, by the links' numbers in the tables."""
    path: Mapping[str, Any] = scenario["path"]
    more = [*path.get("links", ()), *([path["reverse"]] if path.get("reverse") else ())]
    first = {**path, "name": BOTTLENECK}
    return [_offer(scenario, link) for link in (first, *more)]


def _offer(scenario: Scenario, link: Mapping[str, Any]) -> Offer:
    service = link.get("service") or {"kind": "constant"}
    if service["kind"] == "trace":
        return TraceOffer(np.array(service["opportunities_ms"]))
    steps: dict[int, float] = {}
    if service["kind"] == "steps":
        steps = {int(at): float(rate) for at, rate in service["rates"]}
    for change in scenario.get("changes", ()):
        if "rate_bps" in change and change.get("link", BOTTLENECK) == link["name"]:
            steps[change["at_ns"]] = float(change["rate_bps"])
    rate = float(service.get("rate_bps") or link["rate_bps"])
    burst = sum(float(service.get(key) or 0) for key in ("burst_bytes", "cburst_bytes"))
    margin = 0.0
    if service["kind"] == "cellular":
        burst = rate / 8 / _NS * service["slot_ns"]
    elif service["kind"] == "wifi":
        phy, burst = float(service["phy_rate_bps"]), _batch_bytes(service)
        batch_ns = _batch_ns(service, burst)
        rate = max(rate, burst * 8 * _NS / batch_ns)
        margin = service["contention_ns"] / 2 / batch_ns
        if scenario["host"].get("gso"):  # a burst has the overhead of a packet
            margin = max(phy / rate - 1, margin)
    return SteppedOffer(StepFunction.of(rate, steps), burst, margin)


def _batch_bytes(service: Mapping[str, Any]) -> float:
    """Returns the IP bytes of a full batch of `wifi`."""
    packet_ns = (PACKET_BYTES + service["overhead_bytes"]) * 8 * _NS / service["phy_rate_bps"]
    fitting = min(service["max_packets_packets"], service["max_time_ns"] // packet_ns)
    return float(PACKET_BYTES * max(fitting, 1))


def _batch_ns(service: Mapping[str, Any], ip_bytes: float) -> float:
    """Returns the time of a batch of full packets on the medium, with the mean backoff."""
    sent = ip_bytes + ip_bytes / PACKET_BYTES * service["overhead_bytes"]
    airtime = sent * 8 * _NS / service["phy_rate_bps"]
    return float(airtime + service["access_ns"] + service["contention_ns"] / 2)


def two_way_ns(scenario: Scenario, flow: Mapping[str, Any]) -> StepFunction:
    """Returns a flow's two-way delay without queueing: its own, or the path's, which may change."""
    if flow["rtt_ns"] is not None:
        return StepFunction.of(float(flow["rtt_ns"]), {})
    changes = (change for change in scenario.get("changes", ()) if "rtt_ns" in change)
    return StepFunction.of(
        float(scenario["path"]["rtt_ns"]),
        {change["at_ns"]: float(change["rtt_ns"]) for change in changes},
    )


def drain_ms(offer: Offer, time_s: Numbers, backlog_bytes: Numbers) -> Numbers:
    """Returns how long after each time a backlog has left the link, in ms."""
    now_ns = time_s * _NS
    found: Numbers = (offer.time_of(offer.bytes_until(now_ns) + backlog_bytes) - now_ns) / 1e6
    return np.where(backlog_bytes > 0, np.maximum(found, 0.0), 0.0)
