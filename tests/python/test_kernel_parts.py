"""The parts of the back end `kernel` that need no rights."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
from pathlib import Path

import polars as pl
import pytest
from required import require
from specimens import GOOD, scenario_of

from narrows.backends.kernel import backend, machine
from narrows.backends.kernel.config import router_config
from narrows.backends.kernel.machine import KernelRunError, carry, check
from narrows.backends.kernel.senders import Senders, find_senders
from narrows.backends.linux import directory as place
from narrows.backends.linux import router_tables, tools
from narrows.backends.linux.directory import run_directory
from narrows.backends.linux.refusals import check_features
from narrows.backends.linux.tables import queue_depths
from narrows.backends.linux.traffic import fine_interval, scenario_for_programs
from narrows.backends.linux.validity import LATENESS_LIMITS_NS
from narrows.backends.uml.network import tool_config
from narrows.cached import cache_directory
from narrows.errors import InputError, SpecError, StoreError
from narrows.store.owned import hidden_path

IPERF3 = Senders("iperf3", Path("/iperf3"), "iperf3 3.12")


def program(directory: Path, text: str) -> Path:
    """A program that stands for the router."""
    file = directory / "narrows-router"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


@pytest.mark.parametrize("limit", ["receive_window", "notsent_lowat"])
def test_iperf3_has_no_limits_of_a_socket(limit: str) -> None:
    flows = scenario_of(GOOD, [f"flows.0.{limit}=10kb"])["flows"]
    with pytest.raises(SpecError, match=rf"{limit}.*kernel:own"):
        IPERF3.check(flows)


def test_every_flow_gets_its_delay_and_the_tool_its_flows(tmp_path: Path) -> None:
    text = GOOD + '\n[[flows]]\ncca = "bbr"\nrtt = "30ms"\n'
    config = router_config(scenario_of(text), Path("/tool"), IPERF3, tmp_path)
    told = config["scenario"]
    assert [flow["rtt_ns"] for flow in told["flows"]] == [None, 30_000_000]
    assert told["path"]["buffer"] == {"bytes": 20_000}
    assert config["lateness_limits_ns"] == LATENESS_LIMITS_NS
    traffic = config["hosts"][0]["traffic"]
    assert [flow["cca"] for flow in told["flows"]] == ["cubic", "bbr"]
    ports = [30_000, 30_001]
    assert config["data_ports"] == ports
    assert traffic["iperf3"] == [{"program": "/iperf3", "data_port": port} for port in ports]
    assert traffic["sysctls"]["net/ipv4/tcp_rmem"] == "4096 131072 67108864"
    assert traffic["sysctls"]["net/ipv4/tcp_syn_retries"] == "127"
    json.dumps(config)


def flow(size_bytes: int | None = None, ecn: str = "off") -> dict[str, object]:
    return {"size_bytes": size_bytes, "ecn": ecn, "receive_window_bytes": None, "workload": None}


def test_iperf3_sends_what_has_no_size() -> None:
    flows = [flow(), flow(size_bytes=1000), flow(ecn="dctcp")]
    assert [IPERF3.program(flow) for flow in flows] == ["/iperf3", None, None]
    assert IPERF3.describe(flows) == "iperf3 3.12, narrows-traffic"
    own = find_senders("own")
    assert [own.program(flow) for flow in flows] == [None] * 3
    own.check(flows)


def test_a_missing_iperf3_is_one_sentence_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    senders = find_senders("iperf3")
    senders.check([flow(size_bytes=1000)])
    with pytest.raises(InputError, match=r'found "kernel", .*; `apt install iperf3`, or'):
        senders.check([flow()])


def test_options_that_iperf3_lacks_are_refused() -> None:
    with pytest.raises(SpecError, match="flows: found 101; at most 100"):
        IPERF3.check([flow()] * 101)
    with pytest.raises(SpecError, match="different settings of ecn"):
        IPERF3.check([flow(), flow(ecn="classic")])
    assert [IPERF3.tcp_ecn([flow(ecn=ecn)]) for ecn in ("off", "classic")] == ["2", "1"]
    with pytest.raises(SpecError, match="at most a day"):
        IPERF3.check_duration(scenario_of(GOOD, ["run.duration=90000s"]))
    with pytest.raises(InputError, match="not a sender"):
        find_senders("iperf")


@pytest.mark.parametrize("wanted", [100_000_000, 7_000_000, 33_000_000, 1])
def test_the_fine_interval_divides_the_interval(wanted: int) -> None:
    assert wanted % fine_interval(wanted) == 0
    assert fine_interval(wanted) <= wanted


@pytest.mark.parametrize(
    ("override", "place"),
    [
        ("host.jitter=1ms", "host.jitter"),
        ("host.timer_lateness=1ms", "host.timer_lateness"),
        ("host.gro=1ms", "host.gro"),
        ("flows.0.options.hystart=off", "flows[0].options"),
        ("flows.0.kernel=mine", "flows[0].kernel"),
        ("flows.0.profile=linux-5.15", "flows[0].profile"),
    ],
)
def test_features_that_a_real_kernel_lacks_are_refused(override: str, place: str) -> None:
    with pytest.raises(SpecError) as caught:
        backend._check(scenario_of(GOOD, [override]))
    assert caught.value.place == place


def test_a_refused_duration_has_a_unit_that_a_specification_takes() -> None:
    with pytest.raises(SpecError, match=r'host\.jitter: found "20us"; "0s", since'):
        backend._check(scenario_of(GOOD, ["host.jitter=20us"]))


def test_packets_of_flows_the_other_way_are_refused() -> None:
    text = GOOD.replace("[[flows]]", f"{LINKS}\n[[flows]]\nreverse = true", 1)
    backend._check(scenario_of(text))
    with pytest.raises(SpecError) as caught:
        backend._check(scenario_of(text, ["run.record=packets"]))
    assert caught.value.place == "run.record"


OWN = """
[[flows]]
cca = "reno"
line_rate = "3mbit"
[[flows]]
cca = "bbr"
sysctls = { tcp_sack = 0 }
[[flows]]
cca = "cubic"
"""


def test_flows_with_hosts_of_their_own_have_a_pair_for_each_kind(tmp_path: Path) -> None:
    scenario = scenario_of(GOOD + OWN)
    backend._check(scenario)
    hosts = router_config(scenario, Path("/tool"), IPERF3, tmp_path)["hosts"]
    assert [pair["flows"] for pair in hosts] == [(0, 3), (1,), (2,)]
    assert [[flow["cca"] for flow in pair["scenario"]["flows"]] for pair in hosts] == [
        ["cubic", "cubic"],
        ["reno"],
        ["bbr"],
    ]
    assert [len(pair["commands"]) for pair in hosts] == [0, 1, 0]
    # A packet of 1500 bytes, and 3 ms of the rate.
    assert "tbf rate 3000000bit burst 1502" in " ".join(hosts[1]["commands"][0])
    assert hosts[2]["traffic"]["sysctls"]["net/ipv4/tcp_sack"] == "0"
    assert [each["data_port"] for each in hosts[0]["traffic"]["iperf3"]] == [30_000, 30_003]
    assert len({pair["out"] for pair in hosts}) == 3


def test_a_guests_receivers_answer_accurate_ecn_if_a_flow_asks_for_it() -> None:
    asked = scenario_of(GOOD, ["flows.0.ecn=accurate", "host.profile=linux-7.3"])
    place = "net/ipv4/tcp_ecn"
    assert tool_config(asked, 10_000_000)["sysctls"][place] == "3"
    assert place not in tool_config(scenario_of(GOOD), 10_000_000)["sysctls"]
    with pytest.raises(SpecError, match=r"flows\[0\]\.ecn.*one of off, classic for cubic"):
        check_features(asked, "a real host has its own", 10)


def test_flows_with_a_line_rate_share_no_card(tmp_path: Path) -> None:
    scenario = scenario_of(GOOD, ["flows.0.line_rate=3mbit", "flows.0.count=3"])
    hosts = router_config(scenario, Path("/tool"), IPERF3, tmp_path)["hosts"]
    assert [pair["flows"] for pair in hosts] == [(0,), (1,), (2,)]
    with pytest.raises(SpecError, match="33 kinds of hosts; at most 32"):
        backend._check(scenario_of(GOOD, ["flows.0.line_rate=3mbit", "flows.0.count=33"]))


def test_hosts_that_would_have_to_hear_of_each_other_are_refused() -> None:
    text = GOOD + OWN + '[[flows]]\nname = "sized"\ncca = "reno"\nsize = "1mb"\n'
    with pytest.raises(SpecError, match=r"run\.stop_when"):
        backend._check(scenario_of(text, ["run.stop_when=sized"]))


LINKS = """
[[path.links]]
name = "second"
rate = "6mbit"
buffer = "1bdp"

[path.reverse]
rate = "1mbit"
buffer = "10pkt"
"""


def test_further_links_are_the_routers(tmp_path: Path) -> None:
    text = GOOD.replace("[[flows]]", f"{LINKS}\n[[flows]]", 1).replace(
        'cca = "cubic"', 'cca = "cubic"\nlinks = ["second"]', 1
    )
    scenario = scenario_of(text)
    backend._check(scenario)
    told = router_config(scenario, Path("/tool"), IPERF3, tmp_path)["scenario"]
    assert [link["name"] for link in told["path"]["links"]] == ["second"]
    assert told["flows"][0]["links"] == ["second"]


def test_every_link_has_its_rows() -> None:
    queue = pl.DataFrame(
        {
            "time_ns": [0, 0, 10, 10, 20, 20],
            "link": [0, 1] * 3,
            **{name: [0, 100, 1, 101, 2, 102] for name in COUNTED},
        }
    )
    rows = router_tables._queue_samples(pl.DataFrame({"time_ns": [10, 10, 20]}), queue)
    assert rows["link"].to_list() == [0, 1, 0, 1]
    assert rows["backlog_bytes"].to_list() == [1, 101, 2, 102]
    depths = queue_depths(queue, pl.col("backlog_bytes"), 0)
    assert depths["id"].to_list() == [0, 0, 1, 1]
    assert depths["value"].to_list() == [0.0, 1.0, 100.0, 101.0]


COUNTED = (
    *("backlog_bytes", "backlog_packets", "arrived_packets", "dropped_packets"),
    *("marked_packets", "forwarded_packets", "forwarded_bytes"),
)


def test_a_control_that_the_kernel_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "has_cca", lambda name: name == "reno")
    with pytest.raises(SpecError) as caught:
        backend._check(scenario_of(GOOD))
    assert caught.value.place == "flows[0].cca"
    assert '"cubic"' in caught.value.problems[0].found


def test_a_kernel_without_a_control_says_so() -> None:
    assert machine.has_cca("reno")
    assert not machine.has_cca("no-such-control")


def test_missing_rights_are_one_sentence_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        check(program(tmp_path, "echo 'narrows-router: no TUN; modprobe tun' >&2; exit 1"))
    found = 'found "kernel", but no TUN; modprobe tun would be right'
    assert str(caught.value) == f"--backend: {found}"
    check(program(tmp_path, "exit 0"))


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "rust_sources", lambda: None)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(InputError) as caught:
        tools.router_tool()
    assert "narrows-router" in caught.value.problems[0].found


def test_a_wheel_has_its_own_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "rust_sources", lambda: None)
    monkeypatch.setattr(tools, "INSTALLED", tmp_path / "programs")
    (tmp_path / "path").mkdir()
    other = program(tmp_path / "path", "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert tools.router_tool() == other
    (tmp_path / "programs").mkdir()
    assert tools.router_tool() == other
    own = program(tmp_path / "programs", "exit 0")
    assert tools.router_tool() == own


def test_nobodys_programs_need_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 4_000_000_000)
    with pytest.raises(InputError, match="XDG_CACHE_HOME"):
        cache_directory()


def test_a_failed_run_tells_what_was_said(tmp_path: Path) -> None:
    router = program(tmp_path, "echo '5000000 7'; echo 'No space left on device' >&2; exit 1")
    heard: list[tuple[float, int]] = []
    with pytest.raises(KernelRunError, match="No space left"):
        carry(router, tmp_path, lambda *state: heard.append(state))
    assert heard == [(0.005, 7)]


def test_directories_of_killed_runs_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with run_directory("kernel") as living:
        stale = hidden_path(tmp_path / "narrows-kernel")
        stale.mkdir()
        (stale / "log").touch()
        with run_directory("kernel") as directory:
            assert directory.parent == tmp_path
            assert not stale.exists()
            assert living.exists()
        assert not directory.exists()


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(KernelRunError, match="otherwise"), run_directory("kernel"):
        raise KernelRunError("otherwise")
    monkeypatch.setattr(place, "LITTLE_BYTES", 1 << 62)
    with pytest.raises(StoreError, match="a full disk"), run_directory("kernel"):
        raise KernelRunError("otherwise")
    assert not list(tmp_path.iterdir())


def test_only_the_first_process_of_a_guest_switches_its_machine_off() -> None:
    # In a namespace of processes, whose end is all that a power-off could be.
    inside = ["unshare", "-Urp", "--fork", "--kill-child", "sh", "-c"]
    allowed = subprocess.run([*inside, "true"], capture_output=True, check=False)
    why = "this user may make no namespace of processes"
    require("unshare", why if allowed.returncode else "")
    tool = tools.traffic_tool("kernel")
    done = subprocess.run(
        [*inside, f"{tool} power-off; echo status $?"], capture_output=True, text=True, check=False
    )
    assert done.stdout == "status 1\n"
    assert "narrows-traffic: power-off: found process 2; the first process" in done.stderr
    first = subprocess.run(
        [*inside, f"exec {tool} power-off"], capture_output=True, text=True, check=False
    )
    assert first.returncode in (-signal.SIGINT, 128 + signal.SIGINT)


def test_the_traffic_tool_reads_a_scenario_and_says_what_it_cannot_do(tmp_path: Path) -> None:
    config = {**tool_config(scenario_of(GOOD), 10_000_000), "out": str(tmp_path)}
    config["scenario"]["flows"][0]["ecn"] = "l4s"
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config))
    done = subprocess.run(
        [tools.traffic_tool("kernel"), file], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert (
        'scenario.flows[0].ecn: found "l4s"; "off", "classic", "accurate" or "dctcp"' in done.stderr
    )


def test_a_program_is_built_again_when_a_crate_that_it_needs_has_changed() -> None:
    workspace = Path(__file__).resolve().parents[2]
    needed = tools._crates(workspace, "narrows-traffic")
    assert {"narrows-traffic", "narrows-spec", "narrows-tcp", "narrows-base"} <= needed
    assert not needed & {"narrows-sim", "narrows-python"}


def test_an_own_control_has_the_kernels_name_for_the_programs() -> None:
    scenario = {**scenario_of(GOOD), "controls": {"mine.bpf.c": {}}}
    first = {**scenario["flows"][0], "cca": "mine.bpf.c"}  # type: ignore[index]
    told = scenario_for_programs({**scenario, "flows": [first]}, {"mine.bpf.c": "mine"})
    assert told["flows"][0]["cca"] == "mine"
    assert "controls" not in told
