"""The bottleneck and its delay by tc, as in the testbeds of the reproduced documents.

`tbf`: two token buckets in a row with the smallest bursts, at the router's interface towards the
receivers (the Panaderia). `htb`: a class of HTB with the queue discipline below it. `netem`: its
own rate and limit. The delay is added by netem at the interface towards the senders, so on the path
of the ACKs. At a receiver, arriving packets pass an ifb device with the bottleneck (CS 244).

tc counts 14 bytes of Ethernet headers around each IP packet, so rates and sizes are scaled.
"""

from __future__ import annotations

from dataclasses import dataclass

from narrows.backends.hosts.changes import HostChange, take, tc
from narrows.backends.hosts.inventory import Inventory
from narrows.backends.linux.qdiscs import ETHERNET, below_class, with_headers
from narrows.errors import SpecError
from narrows.packets import PACKET_BYTES
from narrows.spec.scenario import Path, Scenario

IFB = "nrwi"
_MANY = 100_000
"""A limit above the packets in flight of any scenario."""
_TICK_S = 0.001
"""A token bucket needs tokens for the longest time between two interrupts of its timer."""


@dataclass(frozen=True)
class Shaping:
    """The changes that make the bottleneck, and where tc shows its queue.

    `queue_class` is the number of a class such as 1:1, or None for the device's root.
    """

    changes: tuple[HostChange, ...]
    device: str
    queue_class: int | None
    disciplines: tuple[str, ...]


def shaping(scenario: Scenario, inventory: Inventory) -> Shaping:
    """Plans the bottleneck by tc on the inventory's shaper.

    Raises SpecError for a bottleneck that tc can't make.
    """
    _check(scenario, inventory.method)
    path, host = scenario["path"], inventory.shaper
    if inventory.place == "router":
        back, device = host.interfaces
        before: list[HostChange] = [take(device)]
    else:
        back, device = host.interfaces[0], IFB
        redirect = f"filter add dev {back} parent ffff: protocol ip u32 match u32 0 0"
        before = [
            HostChange(("ifb", IFB)),
            HostChange(("ingress", back)),
            tc(f"{redirect} action mirred egress redirect dev {IFB}"),
        ]
    made = [*before, *map(tc, _COMMANDS[inventory.method](path, device))]
    delay_ns = path["rtt_ns"] - inventory.base_rtt_ns
    if delay_ns > 0:
        delay = f"netem delay {delay_ns / 1000:.3f}us limit {_MANY}"
        made += [take(back), tc(f"qdisc add dev {back} root {delay}")]
    kind = path["queue"]["kind"]
    needed = [inventory.method, *(["netem"] if delay_ns > 0 else [])]
    needed += [] if kind == "droptail" else [kind]
    where = 0x10001 if inventory.method == "htb" else None
    return Shaping(tuple(made), device, where, tuple(dict.fromkeys(needed)))


def _check(scenario: Scenario, method: str) -> None:
    path, remedy = scenario["path"], 'bottleneck.by = "narrows" in the inventory'
    others: dict[str, bool] = {
        "path.links": bool(path["links"]),
        "path.reverse": path["reverse"] is not None,
        "path.impairments": bool(path["impairments"]),
        "path.loss": bool(path["loss"]),
        "path.service": path["service"]["kind"] != "constant",
        "flows.rtt": any(flow["rtt_ns"] is not None for flow in scenario["flows"]),
    }
    for place, used in others.items():
        if used:
            raise SpecError.at(place, "what tc doesn't do here", remedy)
    kind = path["queue"]["kind"]
    if kind != "droptail" and (method != "htb" or kind in {"htb", "cake"}):
        raise SpecError.at("path.queue", f'"{kind}" by {method}', f'"droptail", or {remedy}')


def _buffer(path: Path) -> tuple[str, int]:
    """Returns the kind and the limit of the drop-tail queue below a shaper."""
    buffer = path["buffer"]
    if "packets" in buffer:
        return "pfifo", buffer["packets"]
    return "bfifo", with_headers(buffer["bytes"])


def _two_buckets(path: Path, device: str) -> list[str]:
    rate = with_headers(path["rate_bps"])
    frame = PACKET_BYTES + ETHERNET
    burst = max(frame, round(rate / 8 * _TICK_S))
    kind, limit = _buffer(path)
    # Each bucket peeks at a packet of the one below it; the queue is the innermost discipline.
    bucket = f"tbf rate {rate}bit burst {burst} limit {2**31 - 1}"
    return [
        f"qdisc add dev {device} root handle 1: {bucket}",
        f"qdisc add dev {device} parent 1:1 handle 2: {bucket}",
        f"qdisc add dev {device} parent 2:1 handle 3: {kind} limit {limit}",
    ]


def _class_of_htb(path: Path, device: str) -> list[str]:
    return below_class(device, path)


def _netem(path: Path, device: str) -> list[str]:
    rate = with_headers(path["rate_bps"])
    buffer = path["buffer"]
    packets = buffer.get("packets") or max(1, buffer["bytes"] // PACKET_BYTES)
    # The packet in transmission is one of those in netem's queue.
    return [f"qdisc add dev {device} root netem rate {rate}bit limit {packets + 1}"]


_COMMANDS = {"tbf": _two_buckets, "htb": _class_of_htb, "netem": _netem}
