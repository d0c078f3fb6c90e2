"""The bottleneck as Linux's own queue disciplines.

It follows the simulator's link to the packet. A shaper releases each packet when its transmission
would start, so the queue holds only waiting packets; `netem rate` behind it adds the transmission
time. Drop-tail is a token bucket with room for the tokens of one packet. The other disciplines are
children of an `htb` class without a burst: a token bucket would dequeue a packet early to peek at
it (`qdisc_peek_dequeued`), and they would see too short a delay. CAKE with its own bandwidth
is the shaper itself, and so is HTB, as a queue or as a service.

tc counts Ethernet headers, so rates and sizes are scaled by the headers' share of a full packet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from narrows import _native
from narrows.packets import PACKET_BYTES

Path = Mapping[str, Any]
Queue = Mapping[str, Any]

ETHERNET = 14
"""Bytes that tc counts beyond the IP packet."""
_CLASS = 0x10001
"""1:1."""
_FULL_FRAME = PACKET_BYTES + ETHERNET
_LATE_US = 3
"""The guest's timers are at most this late; a bucket without this slack would lose tokens."""


def with_headers(count: int) -> int:
    """Converts IP bytes of full packets to bytes, or bit/s, as tc counts them."""
    return -(-count * (PACKET_BYTES + ETHERNET) // PACKET_BYTES)


def bottleneck(path: Path, device: str) -> list[str]:
    """Returns the tc commands that make the bottleneck on a device."""
    kind, service = path["queue"]["kind"], path["service"]
    if service["kind"] == "htb":
        return _child_qdisc(device, f"{_shape(service)} quantum {_FULL_FRAME}", path)
    if kind == "droptail":
        return _droptail(device, path)
    if kind == "htb":
        return _htb(device, path)
    if _shapes(path):
        return [f"qdisc add dev {device} root handle 1: {kind} {_parameters(path)}"]
    return below_class(device, path)


def below_class(device: str, path: Path) -> list[str]:
    """Returns the commands for a discipline without its own rate.

    It is put below a class of HTB without a burst.
    """
    rate = with_headers(path["rate_bps"])
    burst = _slack(rate)
    speed = f"rate {rate}bit burst {burst} cburst {burst} quantum {_FULL_FRAME}"
    return _child_qdisc(device, speed, path)


def bottleneck_class(path: Path) -> int | None:
    """Returns the number of the class that the discipline belongs to; None for the root."""
    if path["service"]["kind"] == "htb":
        return _CLASS
    root = path["queue"]["kind"] == "droptail" or _shapes(path)
    return None if root else _CLASS


def device_rate(path: Path) -> int:
    """Returns the rate behind the bottleneck's discipline, in bit/s of IP packets."""
    service = path["service"]
    rate: int = service["device_bps"] if service["kind"] == "htb" else path["rate_bps"]
    return rate


def can_make(path: Path) -> bool:
    """Returns True if Linux's own disciplines can be this bottleneck."""
    queue, service = path["queue"], path["service"]
    device = with_headers(device_rate(path))
    if service["kind"] == "htb":
        shaper = service["rate_bps"] <= device
        return shaper and queue["kind"] in KINDS and queue["kind"] != "htb"
    if queue["kind"] == "htb" and queue["rate_bps"] > device:
        return False
    return service["kind"] == "constant" and queue["kind"] in KINDS


def dscp_bits(name: str) -> int:
    """Returns the six bits of the code point with this name."""
    return dict(_native.code_points())[name]


def _shapes(path: Path) -> bool:
    """Returns True if the discipline itself holds packets back more than the link would."""
    if path["queue"]["kind"] == "htb":
        return True
    bandwidth = path["queue"].get("bandwidth_bps") if path["queue"]["kind"] == "cake" else None
    return bandwidth is not None and bandwidth <= with_headers(path["rate_bps"])


def _child_qdisc(device: str, speed: str, path: Path) -> list[str]:
    """Returns the commands for the discipline below a single class of HTB."""
    return [
        f"qdisc add dev {device} root handle 1: htb default 1",
        f"class add dev {device} parent 1: classid 1:1 htb {speed}",
        f"qdisc add dev {device} parent 1:1 handle 2: {_leaf(path)}",
    ]


def _leaf(path: Path) -> str:
    kind = path["queue"]["kind"]
    if kind not in {"droptail", "htb"}:
        return f"{kind} {_parameters(path)}"
    if "packets" in path["buffer"]:
        return f"pfifo limit {_limit(path['buffer']['packets'])}"
    return f"bfifo limit {_limit(with_headers(path['buffer']['bytes']))}"


def _shape(given: Mapping[str, Any]) -> str:
    """Returns the rates of a class in HTB's words; they already count frames."""
    ceil = given.get("ceil_bps") or given["rate_bps"]
    bursts = f"burst {given['burst_bytes']} cburst {given['cburst_bytes']}"
    return f"rate {given['rate_bps']}bit ceil {ceil}bit {bursts}"


def _htb(device: str, path: Path) -> list[str]:
    """Returns the commands for HTB with its classes: 1:10 and on below 1:1, in order."""
    queue = path["queue"]
    classes = queue["classes"] or []
    numbers = {place: f"{0x10 + place:x}" for place in range(len(classes))}
    default = next((n for place, n in numbers.items() if classes[place]["dscp"] is None), "1")
    commands = [
        f"qdisc add dev {device} root handle 1: htb default {default} r2q {queue['r2q']}",
        f"class add dev {device} parent 1: classid 1:1 htb {_shape(queue)}",
    ]
    if not classes:
        return [*commands, f"qdisc add dev {device} parent 1:1 handle 2: {_leaf(path)}"]
    for place, number in numbers.items():
        own = classes[place]
        quantum = "" if own["quantum_bytes"] is None else f"quantum {own['quantum_bytes']}"
        turn = f"prio {own['prio']} {quantum}"
        commands += [
            f"class add dev {device} parent 1:1 classid 1:{number} htb {_shape(own)} {turn}",
            f"qdisc add dev {device} parent 1:{number} handle {number}: {_leaf(path)}",
        ]
        if own["dscp"] is not None:
            match = f"match ip dsfield {dscp_bits(own['dscp']) << 2:#x} 0xfc"
            rule = f"filter add dev {device} parent 1: protocol ip prio 1 u32 {match}"
            commands.append(f"{rule} flowid 1:{number}")
    return commands


def _droptail(device: str, path: Path) -> list[str]:
    rate = with_headers(path["rate_bps"])
    burst = PACKET_BYTES + ETHERNET + _slack(rate)
    bucket = f"qdisc add dev {device} root handle 1: tbf rate {rate}bit burst {burst}"
    if "packets" in path["buffer"]:
        packets = path["buffer"]["packets"]
        return [
            f"{bucket} limit {_limit(with_headers(packets * PACKET_BYTES))}",
            f"qdisc add dev {device} parent 1:1 handle 2: pfifo limit {_limit(packets)}",
        ]
    return [f"{bucket} limit {_limit(with_headers(path['buffer']['bytes']))}"]


def _slack(rate_bps: int) -> int:
    """Returns the bytes that would pass while a timer is late."""
    return max(2, -(-rate_bps * _LATE_US // 8_000_000))


def _limit(amount: int) -> int:
    """Caps a limit to tc's 32 bits, which no scenario reaches."""
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
    """Returns the words for RED with all thresholds, since tc itself doesn't supply them."""
    average = queue["avpkt_bytes"]
    least, most, burst = _native.red_thresholds(
        limit, queue["min_bytes"], queue["max_bytes"], average, queue["burst"]
    )
    least, most = with_headers(least), with_headers(most)
    sizes = f"limit {with_headers(limit)} min {least} max {most} avpkt {with_headers(average)}"
    decay = f"burst {burst} bandwidth {with_headers(queue['bandwidth_bps'])}bit"
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
    bandwidth = queue["bandwidth_bps"]
    rate = "unlimited" if bandwidth is None else f"bandwidth {bandwidth}bit"
    counted = "raw" if queue["overhead_bytes"] is None else f"overhead {queue['overhead_bytes']}"
    cells = f"{counted} mpu {queue['mpu_bytes']} {queue['atm']}"
    other = f"rtt {_us(queue['rtt_ns'])} memlimit {limit} {_flag(queue, 'ingress', 'egress')}"
    return f"{rate} {queue['diffserv']} {queue['isolation']} {cells} {other} no-ack-filter"


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
KINDS = ("droptail", "htb", *_KINDS)
"""The simulator's disciplines that Linux 6.12 has."""
