"""The bottlenecks that tc makes on hosts, on a guest whose kernel has all of them."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from required import needs
from specimens import GOOD, scenario_of

from narrows.backends.hosts.inventory import HostEntry, Inventory
from narrows.backends.hosts.plan import HostPlan, plan_run
from narrows.backends.hosts.session import helper
from narrows.backends.linux.qdisc_tables import read_tables
from narrows.backends.linux.tools import traffic_tool
from narrows.backends.uml.kernels import get_kernel
from narrows.backends.uml.machine import GUEST_DIRECTORY, SCRIPT, Program, boot, complain
from narrows.backends.uml.network import tool_config
from narrows.store import Tables

pytestmark = needs("uml")

_GUEST = """\
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs run /run
mount -t tmpfs tmp /tmp
echo 196608 262144 393216 > /proc/sys/net/ipv4/tcp_mem
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
{{ sh -e {directory}/network && sh {directory}/session; }} > {directory}/log 2>&1
echo $? > {directory}/status
exec {tool} power-off
"""
_NETWORK = """\
ip netns add snd
ip netns add rtr
ip netns add rcv
ip link add s0 netns snd type veth peer name eth1 netns rtr
ip link add eth2 netns rtr type veth peer name eth0 netns rcv
ip -n snd addr add 10.0.1.1/24 dev s0
ip -n snd link set s0 up
ip -n rtr addr add 10.0.1.2/24 dev eth1
ip -n rtr addr add 10.0.3.1/24 dev eth2
ip -n rtr link set eth1 up
ip -n rtr link set eth2 up
ip -n rcv addr add 10.0.3.2/24 dev eth0
ip -n rcv link set eth0 up
ip -n snd route add default via 10.0.1.2
ip -n rcv route add 10.0.1.0/24 via 10.0.3.1
ip netns exec rtr sysctl -qw net.ipv4.ip_forward=1
ip netns exec {place} ethtool -K eth0 tso off gso off gro off 2> /dev/null || true
"""
_SESSION = """\
look() {{ ip netns exec {place} sh -c 'tc qdisc; ip -o link | cut -d : -f 2; ls /tmp'; }}
cd {directory}
look > before
mkfifo /run/go
export SSH_CONNECTION='10.1.0.2 1 10.1.0.1 22'
( cat requests; read -r _ < /run/go; echo end ) |
    ip netns exec {place} sh -c {helper} > answers &
while [ $(grep -c '^ok\\|^no' answers) -lt {count} ]; do sleep 0.1; done
grep '^no' answers && exit 1
{tool} config.json
status=$?
echo > /run/go
wait
look > after
exit $status
"""


def run_in_guest(plan: HostPlan, place: str, directory: Path, overrides: list[str]) -> Tables:
    """Changes a host of a guest by the helper, and sends flows across it."""
    kernel, tool = get_kernel(), str(traffic_tool())
    scenario = scenario_of(GOOD, overrides)
    requests = [["begin", "60", "600", *plan.entry.interfaces]]
    requests += [list(change.words) for change in plan.changes if change.words[0] != "offload"]
    (directory / "requests").write_text("".join(f"{' '.join(words)}\n" for words in requests))
    config = tool_config(scenario, 10_000_000)
    assert plan.configuration is not None
    config |= {key: plan.configuration[key] for key in ("bottleneck_device", "bottleneck_class")}
    config["namespaces"] = {
        "sender": "/run/netns/snd",
        "router": f"/run/netns/{place}",
        "receiver": "/run/netns/rcv",
    }
    config["receiver_device"] = "eth0"
    config["sysctls"] |= {"net/ipv4/tcp_rmem": "4096 131072 6291456"}
    (directory / "config.json").write_text(json.dumps(config))
    words = {"directory": GUEST_DIRECTORY, "tool": tool, "place": place}
    (directory / "network").write_text(_NETWORK.format(**words))
    script = _SESSION.format(helper=shlex.quote(helper()), count=len(requests), **words)
    (directory / "session").write_text(script)
    (directory / SCRIPT).write_text(_GUEST.format(**words))
    boot(Program(kernel.binary, kernel.library), directory, seed=1)
    complain(directory)
    assert (directory / "answers").read_text().splitlines()[-1] == "ok"
    assert (directory / "after").read_text() == (directory / "before").read_text()
    return read_tables(directory, scenario)


ROUTER = Inventory(
    name="guest",
    senders=(HostEntry("snd", ("s0",), "10.0.1.1"),),
    receivers=(HostEntry("rcv", ("eth0",), "10.0.3.2"),),
    router=HostEntry("rtr", ("eth1", "eth2")),
    method="tbf",
    place="router",
    base_rtt_ns=0,
    programs={},
    text="",
)


@pytest.mark.parametrize("method", ["tbf", "htb", "netem"])
def test_a_bottleneck_at_the_router_has_rate_delay_and_buffer(method: str, tmp_path: Path) -> None:
    overrides = ["run.duration=4s", "run.warmup=1s", "path.buffer=20pkt"]
    inventory = replace(ROUTER, method=method)
    plan = plan_run(scenario_of(GOOD, overrides), inventory)
    assert plan.shaper is not None
    judge(run_in_guest(plan.shaper, "rtr", tmp_path, overrides))


@pytest.mark.parametrize("method", ["tbf", "htb", "netem"])
def test_a_bottleneck_at_the_receivers_ingress(method: str, tmp_path: Path) -> None:
    overrides = ["run.duration=4s", "run.warmup=1s", "path.buffer=20pkt"]
    inventory = replace(ROUTER, method=method, place="receiver", router=None)
    plan = plan_run(scenario_of(GOOD, overrides), inventory)
    assert plan.shaper is not None
    judge(run_in_guest(plan.shaper, "rcv", tmp_path, overrides))


def judge(tables: Tables) -> None:
    """8 Mbit/s, 20 ms and 20 packets, within a packet."""
    flows, queue = tables["flow_samples"], tables["queue_samples"]
    ends = flows.filter(flows["time_s"] >= 1.0)["received_bytes"]
    goodput = (ends[-1] - ends[0]) * 8 / 3e6
    assert 7.5 < goodput < 8.0 * 1448 / 1500 + 0.05
    assert 20.0 <= flows["min_rtt_ms"].drop_nulls().min() < 23.0
    assert 18 <= queue["backlog_packets"].max() <= 21
    assert queue["dropped_packets"].max() > 0
    # 20 packets of 1.5 ms each wait in front of a packet.
    assert 40.0 < flows["srtt_ms"].drop_nulls().max() < 56.0
