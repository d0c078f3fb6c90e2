"""The network of a guest, from Linux's own parts: namespaces, veth, tbf and netem.

    snd, oth -> rtr (tbf: the bottleneck) -> pol (a token bucket that drops: guest.py)
             -> dly (netem: delay, loss, reordering) -> rcv

The kernel was built without a policer, hence the program; none of it is narrows' own. The observed
flow is captured in snd and in rcv.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator
from typing import Any

_CHAIN = (("snd", "rtr"), ("rtr", "pol"), ("pol", "dly"), ("dly", "rcv"))
_NAMES = ("snd", "rtr", "pol", "dly", "rcv", "oth")
_BURST = 3028
"""Two packets; tc counts 1514 bytes for a full one."""
_MANY = 1_000_000
FILTER = "tcp port 5001"


def init_script(case: dict[str, Any], here: str, python: str, program: str) -> str:
    """The guest's first program: builds the network, runs the transfer, and powers off."""
    run = f"{shlex.quote(python)} {here}/{program} {here}/case.json"
    count = len(case.get("others", ()))
    others = "".join(f"ip netns exec oth {run} {n} & " for n in range(1, count + 1))
    steps = [
        *_hosts(case),
        *_disciplines(case),
        f"ip netns exec rcv {run} receive & :",
        *_policer(case, run),
        f"sleep 1; {others} :",
        *(
            f"ip netns exec {space} dumpcap -q -i {device} -s 128 -B 64 -f {shlex.quote(FILTER)} "
            f"-w {here}/{name}.pcapng & :"
            for space, device, name in (("snd", "s0", "sender"), ("rcv", "v0", "receiver"))
        ),
        "sleep 2",
        *_outages(case),
        f"ip netns exec snd {run} 0",
        "sleep 1; killall -q -INT dumpcap || pkill -INT dumpcap; sleep 1",
    ]
    return _INIT.format(here=here, steps="\n".join(steps), python=shlex.quote(python))


_INIT = """\
export PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONDONTWRITEBYTECODE=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs run /run
mount -t tmpfs tmp /tmp
(
set -e
{steps}
) > {here}/log 2>&1
echo $? > {here}/status
sync
exec {python} -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)'
"""


def _hosts(case: dict[str, Any]) -> Iterator[str]:
    yield "echo 196608 262144 393216 > /proc/sys/net/ipv4/tcp_mem"
    yield from (f"ip netns add {name}; ip -n {name} link set lo up" for name in _NAMES)
    links = [*_CHAIN, ("oth", "rtr")]
    for number, (one, other) in enumerate(links, 1):
        yield (
            f"ip link add {_end(number, 0)} netns {one} address {_mac(number, 1)} type veth "
            f"peer name {_end(number, 1)} netns {other} address {_mac(number, 2)}"
        )
        for side, space in enumerate((one, other)):
            device = _end(number, side)
            yield f"ip -n {space} addr add 10.0.{number}.{side + 1}/24 dev {device}"
            offloads = "tso off gso off gro off tx off"
            yield f"ip netns exec {space} ethtool -K {device} {offloads} > /dev/null"
            yield f"ip -n {space} link set {device} up"
            neighbour, mac = f"10.0.{number}.{2 - side}", _mac(number, 2 - side)
            yield f"ip -n {space} neigh add {neighbour} lladdr {mac} dev {device}"
    for number, (one, other) in enumerate(_CHAIN, 1):
        yield f"ip netns exec {other} sysctl -qw net.ipv4.ip_forward=1"
        yield f"ip -n {one} route add default via 10.0.{number}.2"
        if number > 1:
            yield f"ip -n {other} route add 10.0.1.0/24 via 10.0.{number}.1"
            yield f"ip -n {other} route add 10.0.5.0/24 via 10.0.{number}.1"
    yield "ip -n oth route add default via 10.0.5.2"
    yield from (
        f"ip netns exec {name} sysctl -qw net.ipv4.tcp_no_metrics_save=1" for name in ("snd", "oth")
    )
    if case.get("fixed_dupthresh"):
        # Three duplicate ACKs mean loss, as in stacks without RACK.
        yield "ip netns exec snd sysctl -qw net.ipv4.tcp_recovery=0 net.ipv4.tcp_max_reordering=3"


def _end(number: int, side: int) -> str:
    """The name of a device; the outermost have simple ones."""
    return {(1, 0): "s0", (len(_CHAIN), 1): "v0"}.get((number, side), f"e{number}{side}")


def _mac(number: int, side: int) -> str:
    return f"02:00:00:00:{number:02x}:{side:02x}"


def _disciplines(case: dict[str, Any]) -> Iterator[str]:
    rate, kept = case["rate_mbps"], case["buffer_bytes"]
    burst = max(_BURST, round(rate * 1e6 / 8 / 1000))
    add = "tc -n rtr qdisc add dev e20"
    yield f"{add} root handle 1: tbf rate {rate}mbit burst {burst} limit {kept + burst}"
    if case.get("fq_codel"):
        yield f"{add} parent 1:1 fq_codel"
    yield f"tc -n dly qdisc add dev e40 root netem {_netem(case)}"
    yield f"tc -n dly qdisc add dev e31 root netem delay {case['rtt_ms'] / 2}ms limit {_MANY}"


def _policer(case: dict[str, Any], run: str) -> Iterator[str]:
    """Lets the program take the data that would cross the namespace."""
    if "police_mbps" in case:
        yield "ip -n pol route add blackhole 10.0.4.0/24"
        yield f"ip netns exec pol {run} police & :"


def _netem(case: dict[str, Any]) -> str:
    delay = f"delay {case['rtt_ms'] / 2}ms"
    if "jitter_ms" in case:
        delay += f" {case['jitter_ms']}ms"
    loss = f" loss {case['loss_percent']}%" if "loss_percent" in case else ""
    again = f" reorder {case['reorder_percent']}%" if "reorder_percent" in case else ""
    return f"{delay}{loss}{again} limit {_MANY}"


def _outages(case: dict[str, Any]) -> Iterator[str]:
    """Loses everything at the times of the case, in the background."""
    outages = case.get("outages", [])
    if not outages:
        return
    change = "tc -n dly qdisc change dev e40 root netem"
    ends = [0.0, *(begin + length for begin, length in outages)]
    waits = [begin - end for (begin, _), end in zip(outages, ends, strict=False)]
    parts = (
        f"sleep {wait:.2f}; {change} {_netem(case)} loss 100%; sleep {length}; "
        f"{change} {_netem(case)} loss 0%"
        for wait, (_, length) in zip(waits, outages, strict=True)
    )
    yield f"({'; '.join(itertools.chain(parts))}) & :"
