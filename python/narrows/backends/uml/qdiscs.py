"""The bottleneck as Linux's own queue disciplines.

It follows the simulator's link to the packet. A shaper releases each packet when its transmission
would start, so that the queue holds waiting packets only; `netem rate` behind it adds the
transmission time. Drop-tail is a token bucket with room for one packet's tokens. The others are
children of an `htb` class without a burst: a token bucket would dequeue a packet early to peek at
it (`qdisc_peek_dequeued`), and they would see too short a delay. CAKE with a bandwidth of its own
is the shaper.

tc counts Ethernet headers, so rates and sizes are scaled by the headers' part of a full packet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from narrows.backends.linux.traffic import FULL_PACKET

Path = Mapping[str, Any]
Queue = Mapping[str, Any]

ETHERNET = 14
"""Bytes that tc counts beyond the IP packet."""
_CLASS = 0x10001
"""1:1."""
_LATE_US = 3
"""The guest's timers are at most this late; a bucket without this slack would lose tokens."""


def framed(count: int) -> int:
    """IP bytes of full packets converted to bytes, or bit/s, as tc counts them."""
    return -(-count * (FULL_PACKET + ETHERNET) // FULL_PACKET)


def bottleneck(path: Path) -> list[str]:
    """The commands for tc that make the bottleneck on r1."""
    if path["queue"]["kind"] == "droptail":
        return _droptail(path)
    kind, rate = path["queue"]["kind"], framed(path["rate_bps"])
    if _shapes(path):
        return [f"qdisc add dev r1 root handle 1: {kind} {_parameters(path)}"]
    burst, quantum = _slack(rate), FULL_PACKET + ETHERNET
    speed = f"rate {rate}bit burst {burst} cburst {burst} quantum {quantum}"
    return [
        "qdisc add dev r1 root handle 1: htb default 1",
        f"class add dev r1 parent 1: classid 1:1 htb {speed}",
        f"qdisc add dev r1 parent 1:1 handle 2: {kind} {_parameters(path)}",
    ]


def bottleneck_class(path: Path) -> int | None:
    """The class that the discipline belongs to, as a number; None for the root."""
    root = path["queue"]["kind"] == "droptail" or _shapes(path)
    return None if root else _CLASS


def _shapes(path: Path) -> bool:
    """Whether the discipline itself holds packets back more than the link would."""
    bandwidth = path["queue"].get("bandwidth_bps") if path["queue"]["kind"] == "cake" else None
    return bandwidth is not None and bandwidth <= framed(path["rate_bps"])


def _droptail(path: Path) -> list[str]:
    rate = framed(path["rate_bps"])
    burst = FULL_PACKET + ETHERNET + _slack(rate)
    bucket = f"qdisc add dev r1 root handle 1: tbf rate {rate}bit burst {burst}"
    if "packets" in path["buffer"]:
        packets = path["buffer"]["packets"]
        return [
            f"{bucket} limit {_limit(framed(packets * FULL_PACKET))}",
            f"qdisc add dev r1 parent 1:1 handle 2: pfifo limit {_limit(packets)}",
        ]
    return [f"{bucket} limit {_limit(framed(path['buffer']['bytes']))}"]


def _slack(rate_bps: int) -> int:
    """Bytes that would pass while a timer is late."""
    return max(2, -(-rate_bps * _LATE_US // 8_000_000))


def _limit(amount: int) -> int:
    """The limit capped to tc's 32 bits, which no scenario reaches."""
    return min(amount, 2**32 - 1)


def _parameters(path: Path) -> str:
    (limit,) = path["buffer"].values()
    return _KINDS[path["queue"]["kind"]](path["queue"], limit)


def _us(nanoseconds: int) -> str:
    return f"{nanoseconds / 1000:.10g}us"


def _flag(queue: Queue, name: str, other: str = "") -> str:
    return name if queue[name] else other


def _threshold(queue: Queue) -> str:
    value = queue["ce_threshold_ns"]
    return "" if value is None else f"ce_threshold {_us(value)}"


def _delays(queue: Queue) -> str:
    times = f"target {_us(queue['target_ns'])} interval {_us(queue['interval_ns'])}"
    return f"{times} {_flag(queue, 'ecn', 'noecn')} {_threshold(queue)}"


def _codel(queue: Queue, limit: int) -> str:
    return f"limit {limit} {_delays(queue)}"


def _fq_codel(queue: Queue, limit: int) -> str:
    sizes = f"limit {limit} flows {queue['flows']} quantum {queue['quantum']}"
    return f"{sizes} drop_batch {queue['drop_batch']} {_delays(queue)}"


def _pie(queue: Queue, limit: int) -> str:
    times = f"target {_us(queue['target_ns'])} tupdate {_us(queue['tupdate_ns'])}"
    weights = f"alpha {queue['alpha']} beta {queue['beta']}"
    flags = f"{_flag(queue, 'ecn', 'noecn')} {_flag(queue, 'bytemode', 'nobytemode')}"
    return f"limit {limit} {times} {weights} {flags}"


def _red(queue: Queue, limit: int) -> str:
    """RED with defaults from tc-red(8), since tc itself doesn't supply all of them."""
    given, average = queue["max_bytes"], queue["avpkt_bytes"]
    most = limit // 4 if given is None else given
    least = most // 3 if queue["min_bytes"] is None else queue["min_bytes"]
    usual = (2 * least + most) // (3 * average)
    burst = usual if queue["burst"] is None else queue["burst"]
    sizes = f"limit {framed(limit)} min {framed(least)} max {framed(most)} avpkt {framed(average)}"
    decay = f"burst {burst} bandwidth {framed(queue['bandwidth_bps'])}bit"
    flags = " ".join(_flag(queue, name) for name in ("ecn", "harddrop", "nodrop", "adaptive"))
    return f"{sizes} {decay} probability {queue['probability']:.10g} {flags}"


def _fq(queue: Queue, limit: int) -> str:
    sizes = f"limit {limit} flow_limit {queue['flow_limit_packets']}"
    turns = f"quantum {queue['quantum']} initial_quantum {queue['initial_quantum']}"
    rate = "" if queue["maxrate_bps"] is None else f"maxrate {queue['maxrate_bps']}bit"
    refill = f"refill_delay {_us(queue['refill_delay_ns'])}"
    return f"{sizes} {turns} {refill} {rate} {_threshold(queue)}"


def _sfq(queue: Queue, limit: int) -> str:
    sizes = f"limit {limit} depth {queue['depth_packets']} flows {queue['flows']}"
    turns = f"divisor {queue['divisor']} quantum {queue['quantum']}"
    return f"{sizes} {turns} {_flag(queue, 'headdrop')}"


def _fq_pie(queue: Queue, limit: int) -> str:
    sizes = f"flows {queue['flows']} quantum {queue['quantum']}"
    return f"{_pie(queue, limit)} {sizes} ecn_prob {queue['ecn_prob']}"


def _cake(queue: Queue, limit: int) -> str:
    """CAKE with one tin, since packets carry no DSCP."""
    bandwidth = queue["bandwidth_bps"]
    rate = "unlimited" if bandwidth is None else f"bandwidth {bandwidth}bit"
    counted = "raw" if queue["overhead_bytes"] is None else f"overhead {queue['overhead_bytes']}"
    cells = f"{counted} mpu {queue['mpu_bytes']} {queue['atm']}"
    other = f"rtt {_us(queue['rtt_ns'])} memlimit {limit} {_flag(queue, 'ingress', 'egress')}"
    return f"{rate} besteffort {queue['isolation']} {cells} {other} no-ack-filter"


_KINDS: Mapping[str, Callable[[Queue, int], str]] = {
    "codel": _codel,
    "fq_codel": _fq_codel,
    "pie": _pie,
    "red": _red,
    "fq": _fq,
    "sfq": _sfq,
    "fq_pie": _fq_pie,
    "cake": _cake,
}
KINDS = ("droptail", *_KINDS)
"""The simulator's disciplines that Linux 6.12 has."""
