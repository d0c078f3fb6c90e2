"""Inventories and their checks, and what a run on their hosts would change."""

from __future__ import annotations

from pathlib import Path

import pytest
from specimens import GOOD, scenario_of

from narrows.backends import get_backend
from narrows.backends.hosts.backend import nearest_profile
from narrows.backends.hosts.bottleneck import shaping
from narrows.backends.hosts.checks import check_scenario
from narrows.backends.hosts.inventory import Inventory, load_inventory
from narrows.backends.hosts.line_rates import keep_rates, known_rates, refuse_slow_hosts
from narrows.backends.hosts.pairs import number_pairs
from narrows.backends.hosts.plan import RunPlan, plan_run
from narrows.backends.hosts.script import script
from narrows.cli import main
from narrows.errors import InputError, SpecError

BED = """\
base_rtt_ms = 1

[bottleneck]
by = "tbf"
at = "router"

[router]
ssh = "horno"
to_senders = "eth1"
to_receivers = "eth2"

[[senders]]
ssh = "churro1"
interface = "eth0"
address = "10.0.1.1"

[[senders]]
ssh = "churro2"
interface = "eth0"
address = "10.0.1.2"

[[receivers]]
ssh = "tarta1"
interface = "eth0"
address = "10.0.2.1"
"""
REVERSE = '[path.reverse]\nrate = "2mbit"\nbuffer = "2bdp"\n[[flows]]'
BACK = GOOD.replace("[[flows]]", REVERSE)
THREE = GOOD + '[[flows]]\ncca = "bbr"\n[[flows]]\ncca = "reno"\n'


def inventory(folder: Path, text: str = BED) -> Inventory:
    """The inventory with that text."""
    (folder / "bed.toml").write_text(text)
    return load_inventory(str(folder / "bed.toml"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('ssh = "horno"', 'ssh = "-oProxyCommand=reboot"', 'router.ssh: found "-oProxy'),
        ('ssh = "horno"', 'ssh = "horno; reboot"', "router.ssh: found"),
        ('ssh = "churro2"', 'ssh = "churro1"', 'found "churro1" twice'),
        ('"10.0.1.2"', '"10.0.1.1"', 'found "10.0.1.1" twice'),
        ('"10.0.1.2"', '"fe80::1"', r"senders\[1\].address"),
        ('interface = "eth0"', 'interface = "$(x)"', r"senders\[0\].interface"),
        ('to_receivers = "eth2"', 'to_receivers = "eth1"', "an interface other than to_senders"),
        ('by = "tbf"', 'by = "tfb"', '"tbf" would be right'),
        ('at = "router"', 'at = "receivers"', '"receiver" would be right'),
        ("base_rtt_ms = 1", "base_rtt_ms = -1", "base_rtt_ms: found -1"),
        ("base_rtt_ms = 1", "base_rtt_ms = 1\ntraffic.by = 'iperf'", '"iperf3" would be right'),
        ("base_rtt_ms = 1", "base_rtt = 1", '"base_rtt_ms" would be right'),
        ("base_rtt_ms = 1", "base_rtt_ms = true", "base_rtt_ms: found True"),
        ('ssh = "horno"\n', "", "router.ssh: found nothing"),
        ('ssh = "horno"', 'ssh = "horno"\nshared = "yes"', "true or false would be right"),
        ("[router]", "[rooter]", '"router" would be right'),
        ("[[receivers]]", "[receivers]", r"\[\[receivers\]\], one table for each host"),
        ("[bottleneck]", "bottleneck", "TOML would be right"),
    ],
)
def test_mistakes_are_located(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in BED
    with pytest.raises(InputError, match=message) as caught:
        inventory(tmp_path, BED.replace(old, new, 1))
    assert caught.value.file == str(tmp_path / "bed.toml")


def test_a_bottleneck_at_the_receiver_needs_a_single_one(tmp_path: Path) -> None:
    at_receiver = BED.replace('at = "router"', 'at = "receiver"')
    assert inventory(tmp_path, at_receiver).shaper.ssh == "tarta1"
    second = '[[receivers]]\nssh = "b"\ninterface = "eth0"\naddress = "10.0.2.2"\n'
    with pytest.raises(InputError, match="2 receivers with the bottleneck at the receiver"):
        inventory(tmp_path, at_receiver + second)
    with pytest.raises(InputError, match='"narrows" at the receiver'):
        inventory(tmp_path, at_receiver.replace('"tbf"', '"narrows"'))


def test_a_missing_inventory_is_named() -> None:
    with pytest.raises(InputError, match='"hosts:nosuch", but no such file'):
        get_backend("hosts:nosuch")
    with pytest.raises(InputError, match="not a back end"):
        get_backend("hosts")


def test_flows_go_round_the_hosts(tmp_path: Path) -> None:
    plan = plan_run(scenario_of(THREE), inventory(tmp_path))
    parts = {host.entry.ssh: (dict(host.sends), host.receives) for host in plan.hosts}
    assert parts["churro1"] == ({0: "10.0.2.1", 2: "10.0.2.1"}, {})
    assert parts["churro2"] == ({1: "10.0.2.1"}, {})
    assert parts["tarta1"] == ({}, {0: "10.0.1.1", 1: "10.0.1.2", 2: "10.0.1.1"})
    left = plan_run(scenario_of(THREE), inventory(tmp_path), ["churro2"])
    assert [len(host.sends) for host in left.hosts if host.sends] == [3]


LARGE = 'name = "large"\ncca = "cubic"\ncount = 2\nsize = "1mb"'
CHAIN = '[[flows]]\ncca = "reno"\nsize = "9kb"\nrepeat_gap = "1s"\nwhile = "large"\n'


def test_flows_that_wait_for_others_share_their_hosts(tmp_path: Path) -> None:
    text = GOOD.replace('cca = "cubic"', LARGE) + '[[flows]]\ncca = "bbr"\n' + CHAIN
    assert number_pairs(scenario_of(text)["flows"]) == [0, 0, 1, 0]
    parts = {host.entry.ssh: sorted(host.sends) for host in plan_of(text, tmp_path).hosts}
    assert (parts["churro1"], parts["churro2"]) == ([0, 1, 3], [2])
    with pytest.raises(SpecError, match="a flow in the same direction"):
        plan_of(text.replace("[[flows]]", REVERSE, 1) + "reverse = true\n", tmp_path)


def plan_of(text: str, folder: Path, bed: str = BED) -> RunPlan:
    """The plan of a specification on the hosts of an inventory."""
    return plan_run(scenario_of(text), inventory(folder, bed))


def test_iperf3_sends_the_flows_without_an_end(tmp_path: Path) -> None:
    bed = BED.replace('"tbf"', '"narrows"') + '[traffic]\nby = "iperf3"\n'
    text = THREE.replace('cca = "bbr"', 'cca = "bbr"\nsize = "9kb"')
    plan = plan_of(text, tmp_path, bed)
    hosts = {host.entry.ssh: host for host in plan.hosts}
    first, second, router = (hosts[name] for name in ("churro1", "churro2", "horno"))
    assert first.configuration is not None
    assert first.configuration["sender"] == "10.0.1.1"
    ports = [each and each["data_port"] for each in first.configuration["iperf3"]]
    assert ports == [30_000, None, 30_002]
    assert router.configuration is not None
    assert router.configuration["data_ports"] == ports
    reno = ("sysctl", "net/ipv4/tcp_congestion_control", "reno")
    assert [reno in [c.words for c in host.changes] for host in (first, second)] == [True, False]
    with pytest.raises(SpecError, match=r'10000 bytes.*traffic.by = "narrows"'):
        plan_of(text.replace('"reno"', '"reno"\nreceive_window = "10kb"'), tmp_path, bed)


def test_two_buckets_hold_the_rate_and_netem_the_rest_of_the_delay(tmp_path: Path) -> None:
    made = shaping(scenario_of(GOOD), inventory(tmp_path))
    commands = [" ".join(words) for change in made.changes for words in change.commands()]
    bucket = "tbf rate 8074667bit burst 1514 limit 2147483647"
    assert commands == [
        f"tc qdisc add dev eth2 root handle 1: {bucket}",
        f"tc qdisc add dev eth2 parent 1:1 handle 2: {bucket}",
        "tc qdisc add dev eth2 parent 2:1 handle 3: bfifo limit 20187",
        "tc qdisc add dev eth1 root netem delay 19000.000us limit 100000",
    ]


@pytest.mark.parametrize(
    ("override", "place"),
    [
        ("path.loss=0.01", "path.loss"),
        ("path.queue=codel", "path.queue"),
        ("path.service=wifi", "path.service"),
        ("flows.0.rtt=30ms", "flows.rtt"),
    ],
)
def test_specifications_that_tc_cannot_run_are_refused(
    override: str, place: str, tmp_path: Path
) -> None:
    scenario = scenario_of(GOOD, [override])
    with pytest.raises(SpecError) as caught:
        plan_run(scenario, inventory(tmp_path))
    assert caught.value.place == place
    plan_run(scenario, inventory(tmp_path, BED.replace('"tbf"', '"narrows"')))


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        ('[[flows]]\ncca = "cubic"\nkernel = "linux-6.12"\n', "flows[1].kernel"),
        ('[[changes]]\nat = "1s"\nloss = 0.01\n', "changes"),
    ],
)
def test_specifications_that_hosts_cannot_run_are_refused(lines: str, place: str) -> None:
    with pytest.raises(SpecError) as caught:
        check_scenario(scenario_of(GOOD + lines))
    assert place in caught.value.place
    with pytest.raises(SpecError, match=r"run\.record"):
        check_scenario(scenario_of(BACK, ["run.record=packets", "flows.0.reverse=true"]))


def test_a_card_belongs_to_one_flow(tmp_path: Path) -> None:
    text = GOOD.replace('cca = "cubic"', 'cca = "cubic"\ncount = 2\nline_rate = "4mbit"')
    plan = plan_run(scenario_of(text), inventory(tmp_path))
    first = next(host for host in plan.hosts if host.entry.ssh == "churro1")
    assert first.disciplines == ["tbf"]
    with pytest.raises(SpecError, match="as many senders as flows"):
        plan_run(scenario_of(text.replace("count = 2", "count = 3")), inventory(tmp_path))


def test_slow_hosts_are_refused_once_their_rates_are_known() -> None:
    scenario = scenario_of(GOOD, ["path.rate=500mbit"])
    slow = {"a": 225_000_000, "b": 225_000_000}
    with pytest.raises(SpecError, match="behind senders of 450 Mbit/s together"):
        refuse_slow_hosts(scenario, slow, ["a", "b"])
    refuse_slow_hosts(scenario, slow, ["a", "unknown"])
    refuse_slow_hosts(scenario_of(GOOD, ["path.rate=400mbit"]), slow, ["a", "b"])


def test_rates_are_known_for_the_inventory_that_was_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    measured = inventory(tmp_path)
    assert known_rates(measured) == {}
    keep_rates(measured, {"churro1": 8_000_000})
    assert known_rates(measured) == {"churro1": 8_000_000}
    other = inventory(tmp_path, BED.replace('interface = "eth0"', 'interface = "eth1"'))
    assert known_rates(other) == {}


@pytest.mark.parametrize(
    ("kernel", "profile"),
    [
        ("6.18.44-fc", "linux-6.12"),
        ("6.12.95", "linux-6.12"),
        ("4.17.0-rpi", "linux-4.17"),
        ("5.4.0", "linux-4.17"),
        ("4.4.1", "linux-4.9"),
    ],
)
def test_a_kernel_has_the_newest_profile_up_to_it(kernel: str, profile: str) -> None:
    assert nearest_profile(kernel) == profile


def test_the_script_undoes_in_reverse(tmp_path: Path) -> None:
    text = script(scenario_of(GOOD), inventory(tmp_path))
    made, undone = text.split("# All hosts:")
    assert "ethtool -K eth0 tcp-segmentation-offload off" in made
    assert made.index("parent 1:1 handle 2:") < made.index("dev eth1 root netem")
    assert undone.index("tc qdisc del dev eth1 root") < undone.index("tc qdisc del dev eth2 root")


def test_both_commands_print_the_same_script(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inventory(tmp_path)
    spec, bed = tmp_path / "spec.toml", tmp_path / "bed.toml"
    spec.write_text(GOOD)
    assert main(["hosts", "script", str(spec), str(bed)]) == 0
    printed = capsys.readouterr().out
    assert main(["run", str(spec), "--backend", f"hosts:{bed}", "--dry-run"]) == 0
    assert capsys.readouterr().out == printed
    assert printed.startswith("#!/bin/sh\n# good on the hosts of bed")
