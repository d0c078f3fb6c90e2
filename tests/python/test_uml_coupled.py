"""Guests in virtual time that share a path; needs a kernel from `narrows kernel build`."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from required import needs
from specimens import GOOD, scenario_of
from test_uml import guests

from narrows.backends import get_backend
from narrows.backends.linux.groups import groups
from narrows.backends.linux.tools import router_tool, traffic_tool
from narrows.backends.uml import Uml, backend, get_kernel, kernels
from narrows.backends.uml.coupled import Guest, Tools, run_guests
from narrows.backends.uml.machine import SILENCE_S, GuestError
from narrows.errors import InputError, SpecError
from narrows.metrics import summarise
from narrows.plan import plan
from narrows.spec import parse

pytestmark = needs("uml")

# At 6 Mbit/s a packet takes 2 ms, the gap at which HyStart's trains of ACKs end
# (hystart_ack_delta_us): there the simulator leaves slow start at 27 packets, and Linux doesn't.
LINKS = '[[path.links]]\nname = "second"\nrate = "7mbit"\nbuffer = "1bdp"\n'
BACK = '[path.reverse]\nrate = "100kbit"\nbuffer = "30pkt"\n'


@pytest.fixture(scope="module")
def uml() -> Uml:
    return Uml(get_kernel().name)


@pytest.mark.parametrize(
    ("more", "overrides"),
    [
        (LINKS, ()),
        (BACK, ()),
        ("", ('path.impairments=[{kind="netem", delay="10ms"}]', "path.queue=dualpi2")),
    ],
    ids=["links", "reverse link", "impairment and dualpi2"],
)
def test_every_path_of_the_simulator_runs_with_a_kernel(
    uml: Uml, more: str, overrides: tuple[str, ...]
) -> None:
    scenario = scenario_of(GOOD + more, ["run.duration=4s", "run.warmup=2s", *overrides])
    found = []
    for engine in (uml, get_backend("sim")):
        result = engine.run(scenario)
        summary = summarise(scenario, result.tables, result.info)
        flow = summary["flows"][0]
        found.append((flow["goodput_mbps"], flow["rtt_ms"]["mean"]))
        assert set(result.tables["queue_samples"]["link"].unique()) == set(range(1 + bool(more)))
    assert found[0] == pytest.approx(found[1], rel=0.04)


OTHER_WAY = '[path.reverse]\nrate = "4mbit"\nbuffer = "2bdp"\n'


@pytest.mark.parametrize(
    ("more", "overrides", "within"),
    [
        # What the first flow gets depends on single ACKs, which share a queue with data.
        (OTHER_WAY + '[[flows]]\ncca = "cubic"\nreverse = true\n', (), [0.4, 0.1, 0.05, 0.1]),
        ("", ("host.gso=true", "path.rate=40mbit", "path.buffer=4bdp"), [0.05, 0.1]),
    ],
    ids=["a flow the other way", "super-packets"],
)
def test_flows_the_other_way_and_super_packets_are_as_in_the_simulator(
    uml: Uml, more: str, overrides: tuple[str, ...], within: list[float]
) -> None:
    scenario = scenario_of(GOOD + more, ["run.duration=4s", "run.warmup=2s", *overrides])
    found, sizes = [], []
    for engine in (uml, get_backend("sim")):
        result = engine.run(scenario)
        flows = summarise(scenario, result.tables, result.info)["flows"]
        found.append(
            [value for flow in flows for value in (flow["goodput_mbps"], flow["rtt_ms"]["mean"])]
        )
        last = result.tables["flow_samples"].tail(len(flows))
        assert last["wire_bytes"].min() > last["received_bytes"].max() / 3 > 0
        queue = result.tables["queue_samples"].row(-1, named=True)
        sizes.append(queue["forwarded_bytes"] / queue["forwarded_packets"])
    for ours, theirs, part in zip(*found, within, strict=True):
        assert ours == pytest.approx(theirs, rel=part)
    assert (min(sizes) > 3000) == bool(overrides), "packets of several segments"


@pytest.mark.parametrize("name", [kernel.name for kernel in kernels()])
def test_kernels_and_hosts_stand_beside_each_other_and_give_the_same_again(
    uml: Uml, name: str
) -> None:
    text = GOOD + '[[flows]]\ncca = "bbr"\nline_rate = "2mbit"\nfq = true\n'
    text += '[[flows]]\ncca = "cubic"\nstart = "500ms"\n'
    text += 'sysctls = { tcp_rmem = "4096 16384 16384" }\n'
    changes = [f'flows.0.kernel="{name}"', "run.duration=2s", "run.warmup=1s"]
    scenario = scenario_of(text, changes)
    results = [uml.run(scenario) for _ in range(2)]
    assert results[0].info.digest == results[1].info.digest
    told = results[0].info.conditions
    assert [guest["flows"] for guest in told["guests"]] == [[0], [1], [2]]
    assert told["guests"][0]["kernel"] == name
    assert told["latest_ns"] < 100_000
    assert results[0].info.engine == uml.engine_of(scenario)
    last = results[0].tables["flow_samples"].tail(3)
    assert last["flow"].to_list() == [0, 1, 2]
    wire = last["wire_bytes"] * 8 / 2e6
    assert 0.7 < wire[1] < 2.05, "the card limits this flow"
    # A window of some 10 kB for each round trip of at least 20 ms.
    assert 0.3 < wire[2] < 4.5, "the receive buffer limits this one"
    assert wire.sum() == pytest.approx(8, rel=0.06), "the first takes the rest"


def test_a_result_depends_on_the_kernels_that_flows_name(
    uml: Uml, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a store would return what an earlier build of that kernel gave."""
    spec = parse(GOOD, "test", ['flows.0.kernel="mine"']).spec
    found = {}
    for digest in ("before", "after"):
        built = replace(uml.kernel, name="mine", digest=digest)
        monkeypatch.setattr(backend, "get_kernel", lambda *_, built=built: built)
        found[digest] = plan(spec, uml.engine_of, uml.name).trials[0].hash
    assert found["before"] != found["after"]
    assert uml.engine_of(scenario_of(GOOD)) == uml.engine


def test_packets_that_come_at_once_are_acknowledged_one_by_one(uml: Uml) -> None:
    """A host takes no time, so its program has read each before the next one comes."""
    changes = [
        "path.rate=40mbit",
        'path.impairments=[{kind="jitter", max="5ms"}]',  # which keeps the order
        'path.reverse={rate="10mbit", buffer="100pkt"}',
        "run.warmup=0s",
    ]
    queues = uml.run(scenario_of(GOOD, changes)).tables["queue_samples"]
    data, acks = (
        queues.group_by("link", maintain_order=True).last()["forwarded_packets"].sort()[::-1]
    )
    assert data > 3000
    # One for every two packets, and some for single ones.
    assert acks > data / 2


def test_a_guest_that_fails_ends_all(uml: Uml) -> None:
    text = GOOD + '[[flows]]\ncca = "reno"\nsysctls = { tcp_nonsense = 1 }\n'
    with pytest.raises(GuestError, match=r"net/ipv4/tcp_nonsense"):
        uml.run(scenario_of(text, ["run.duration=1000s"]))
    assert not guests()


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ('flows.0.kernel="nobody\'s"', r"flows\[0\].kernel"),
        ('flows.0.profile="linux-4.9"', r"flows\[0\].profile"),
        ("flows.0.rtt=15us", r"path.rtt"),
        ("run.stop_when=reno-1", r"run.stop_when"),
    ],
)
def test_features_that_coupled_guests_lack_are_refused(uml: Uml, change: str, place: str) -> None:
    text = GOOD + '[[flows]]\ncca = "reno"\nsize = "1mb"\nfq = true\n'
    with pytest.raises((SpecError, InputError), match=place):
        uml.check(scenario_of(text, [change]))


def test_a_gate_that_fails_ends_its_guest_with_its_message(uml: Uml, tmp_path: Path) -> None:
    """The other guests would otherwise wait for it until they are ended for their silence."""
    router = tmp_path / "router"
    router.write_text(
        f'#!/bin/sh\n[ "$1" != gate ] || {{ echo "no such gate" >&2; exit 3; }}\n'
        f'exec {router_tool()} "$@"\n'
    )
    router.chmod(0o755)
    scenario = scenario_of(GOOD + '[[flows]]\ncca = "bbr"\nfq = true\n', ["run.duration=1s"])
    guests = [Guest(uml.kernel, group, []) for group in groups(scenario)]
    place = tmp_path / "run"
    place.mkdir()
    began = time.monotonic()
    with pytest.raises(GuestError, match="no such gate"):
        run_guests(place, scenario, guests, Tools(traffic_tool(), router), 100_000_000, list)
    assert time.monotonic() - began < SILENCE_S / 2
