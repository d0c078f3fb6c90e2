"""Runs on real hosts, each a set of namespaces with an sshd; every host is left as it was."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from namespaced_hosts import Bed, Machine, await_restored, build_bed, states
from specimens import GOOD, scenario_of
from strict_pcapng import read_frames
from waiting import HANG_S

from narrows.backends import CaptureRequest
from narrows.backends.hosts import Hosts, session
from narrows.cli import main
from narrows.errors import InputError
from narrows.store import CaptureOptions, RunRecord

SHORT = ("run.duration=1200ms", "run.warmup=600ms")
FAILURES = int(os.environ.get("NARROWS_HOSTS_FAILURES", "5"))
"""How many failures are injected; 50 for a release."""
_RUN = """\
import sys
import time
from narrows.backends.hosts import session, team
session.LEASE_S = team.LEASE_S = 3
session.ALIVE_S, session.ANSWER_S = 1, 4.0
from narrows.backends import get_backend
from narrows.plan import plan
from narrows.spec import SpecificationText, load
text = open(sys.argv[2]).read()
scenario = load(SpecificationText(text)).spec.scenario
get_backend("hosts:" + sys.argv[1]).run(scenario, lambda s, p: None)
"""


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts on a busy machine may be slow; only the failures below are about time."""
    monkeypatch.setattr(session, "ANSWER_S", HANG_S)
    monkeypatch.setattr(session, "LEASE_S", round(HANG_S))


@pytest.fixture(scope="module")
def bed() -> Iterator[Bed]:
    with build_bed(pairs=2) as made:
        (made.folder / "bed.toml").write_text(made.inventory(pairs=2))
        yield made


@pytest.fixture(scope="module")
def pristine(bed: Bed) -> dict[str, str]:
    """The states of all hosts before anything ran on them."""
    return states(bed)


def goodput_mbps(result: RunRecord) -> list[float]:
    """Each flow's goodput from the warm-up on."""
    rows = result.tables["flow_samples"]
    ends = rows.filter(rows["time_s"] == rows["time_s"].max())["received_bytes"]
    return list((ends - rows.filter(rows["time_s"] == 0.6)["received_bytes"]) * 8 / 0.6e6)


def test_a_run_has_every_table_and_leaves_the_hosts_as_they_were(
    bed: Bed, pristine: dict[str, str]
) -> None:
    text = GOOD + '[[flows]]\ncca = "reno"\n[[flows]]\ncca = "bbr"\nsize = "30kb"\n'
    with bed.inside():
        hosts = Hosts(str(bed.folder / "bed.toml"))
        result = hosts.run(scenario_of(text, [*SHORT, "path.buffer=4bdp"]))
    await_restored(bed, pristine, "after a run")
    rates = goodput_mbps(result)
    assert min(rates[:2]) > 0
    assert 6.0 < sum(rates) < 8.0
    last = result.tables["flow_samples"].tail(3)
    assert (last["wire_bytes"] >= last["received_bytes"]).all()
    assert result.tables["completions"]["flow"].to_list() == [2]
    assert result.tables["completions"]["size_bytes"].to_list() == [30_000]
    assert result.tables["queue_samples"]["backlog_bytes"].max() > 0
    kinds = set(result.tables["distributions"]["kind"])
    assert kinds == {"rtt_ms", "queue_bytes", "one_way_ms"}
    conditions = result.info.conditions
    assert set(conditions["clocks"]) == {"churro1", "churro2", "tarta1", "tarta2", "horno"}
    assert all(clock["uncertainty_us"] < 50_000 for clock in conditions["clocks"].values())


def test_captures_of_several_hosts_are_one_file_in_the_order_of_time(
    bed: Bed, tmp_path: Path
) -> None:
    text = GOOD + '[[flows]]\ncca = "reno"\n'
    request = CaptureRequest(CaptureOptions(pcap=True), tmp_path)
    with bed.inside():
        hosts = Hosts(str(bed.folder / "bed.toml"))
        result = hosts.run(scenario_of(text, SHORT), None, request)
    names = ["after-queue", "before-queue", "receiver", "sender"]
    assert sorted(file.stem for file in tmp_path.iterdir()) == names
    for name in names:
        frames = read_frames(tmp_path / f"{name}.pcapng").frames
        assert len(frames) == result.captures[f"{name}.pcapng"] > 100
        assert [f.at for f in frames] == sorted(f.at for f in frames)
        ends = {frozenset((f.data[12:16], f.data[16:20])) for f in frames}
        assert ends == {
            frozenset((bytes([10, 98, 1, pair]), bytes([10, 98, 2, pair]))) for pair in (1, 2)
        }


def test_data_of_a_flow_the_other_way_crosses_the_link_back(bed: Bed) -> None:
    back = '[path.reverse]\nrate = "2mbit"\nbuffer = "2bdp"\n'
    text = GOOD.replace("[[flows]]", f"{back}\n[[flows]]", 1)
    text += '[[flows]]\ncca = "reno"\nreverse = true\n'
    with bed.inside():
        result = Hosts(str(bed.folder / "bed.toml")).run(scenario_of(text, SHORT))
    rates = goodput_mbps(result)
    assert 0 < rates[1] < 2.0
    assert rates[0] > 2.0


def test_the_check_measures_clocks_and_line_rates(
    bed: Bed, pristine: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    with bed.inside():
        assert main(["hosts", "check", str(bed.folder / "bed.toml"), "--json"]) == 0
    found = {report["entry"]["ssh"]: report for report in json.loads(capsys.readouterr().out)}
    assert set(found) == set(bed.machines)
    for name, report in found.items():
        # Each has its own CLOCK_MONOTONIC, a multiple of 1000 s from ours, and our wall clock.
        assert abs(report["clock"]["realtime_ns"]) < 1e9
        assert round(report["clock"]["monotonic_ns"] / 1e12) >= 1
        assert report["problems"] == []
        assert (report["rate_bps"] is not None) == name.startswith("churro")
    assert found["churro1"]["rate_bps"] > 1e6
    assert 0 < found["churro1"]["rtt_ms"] < 1000
    await_restored(bed, pristine, "after the check")


def test_an_interface_with_the_default_route_is_refused(bed: Bed) -> None:
    inventory = bed.folder / "exposed.toml"
    text = bed.inventory(pairs=1)
    inventory.write_text(text.replace('interface = "eth0"', 'interface = "mgmt0"', 1))
    with bed.inside(), pytest.raises(InputError, match="carries the default route or ssh"):
        Hosts(str(inventory))


def test_a_wrong_key_is_named(bed: Bed) -> None:
    inventory = bed.folder / "other.toml"
    inventory.write_text(bed.inventory(pairs=1).replace('ssh = "horno"', 'ssh = "nobody@horno"'))
    with bed.inside(), pytest.raises(InputError, match="Permission denied"):
        Hosts(str(inventory))


def test_a_full_disk_drops_a_host_and_the_rest_goes_on(bed: Bed, pristine: dict[str, str]) -> None:
    victim = bed.machines["churro1"]
    with bed.inside():
        hosts = Hosts(str(bed.folder / "bed.toml"))
        victim.shell("cat /dev/zero > /tmp/full || true")
        try:
            result = hosts.run(scenario_of(GOOD, SHORT))
        finally:
            victim.shell("rm /tmp/full")
    assert "is the disk full?" in result.info.conditions["without"]["churro1"]
    await_restored(bed, pristine, "after a run")


def _processes(machine: Machine, pattern: str) -> list[int]:
    """The processes of a machine whose command matches, by their numbers outside."""
    found = []
    namespace = Path(f"/proc/{machine.init}/ns/pid").readlink()
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if (process / "ns/pid").readlink() == namespace and pattern in words:
                    found.append(int(process.name))
            except OSError:  # it has just ended
                continue
    return found


def _signal(numbers: list[int], number: signal.Signals) -> None:
    for process in numbers:
        try:
            os.kill(process, number)
        except ProcessLookupError:
            continue


def _inject(kind: str, victim: Machine, controller: subprocess.Popen[bytes]) -> None:
    helpers = "dd bs=1 count="
    match kind:
        case "the controller is killed":
            controller.kill()
        case "Ctrl-C":
            controller.send_signal(signal.SIGINT)
        case "the connection is reset":
            _signal(_processes(victim, "sshd: root"), signal.SIGKILL)
        case "the network is cut":
            victim.run("ip", "link", "set", "mgmt0", "down")
        case "the program dies":
            _signal(_processes(victim, "./narrows-"), signal.SIGKILL)
        case "the program hangs":
            _signal(_processes(victim, "./narrows-"), signal.SIGSTOP)
        case "the helper and the watchdog are killed":
            _signal(_processes(victim, helpers), signal.SIGKILL)
        case "a helper is killed":
            # The watchdog is the helper's child and was started later.
            _signal(sorted(_processes(victim, helpers))[:1], signal.SIGKILL)
        case "a host hangs":
            _signal(sorted(_processes(victim, helpers))[:1], signal.SIGSTOP)


def _mend(kind: str, bed: Bed, victim: Machine, inventory: Path) -> None:
    """Does as a person would afterwards."""
    if kind == "the network is cut":
        victim.run("ip", "link", "set", "mgmt0", "up")
        victim.run("ip", "route", "add", "default", "via", "10.99.0.254")
    if kind == "a host hangs":
        _signal(_processes(victim, "dd bs=1 count="), signal.SIGCONT)
    if kind == "the helper and the watchdog are killed":
        with bed.inside():
            from narrows.backends.hosts.inventory import load_inventory
            from narrows.backends.hosts.restore import restore

            restore(load_inventory(str(inventory)))


KINDS = (
    *("the controller is killed", "Ctrl-C", "the connection is reset", "the network is cut"),
    *("the program dies", "the program hangs", "a helper is killed", "a host hangs"),
    "the helper and the watchdog are killed",
)


@pytest.mark.parametrize("number", range(FAILURES))
def test_failures_leave_every_host_as_it_was(
    bed: Bed, pristine: dict[str, str], number: int, tmp_path: Path
) -> None:
    draws = random.Random(number)
    kind, after_s = KINDS[number % len(KINDS)], draws.uniform(0.3, 7.0)
    victim = bed.machines[draws.choice(sorted(bed.machines))]
    inventory, spec = bed.folder / "bed.toml", tmp_path / "spec.toml"
    spec.write_text(GOOD)
    command = ["nsenter", f"--target={bed.controller.init}", "--net", sys.executable, "-c", _RUN]
    with (tmp_path / "said").open("wb") as said:
        controller = subprocess.Popen(
            [*command, str(inventory), str(spec)], env=bed.environment(), stderr=said
        )
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            controller.wait(after_s)
        _inject(kind, victim, controller)
        controller.wait(120)
    except subprocess.TimeoutExpired:
        pytest.fail(f"{kind} on {victim.name} after {after_s:.1f} s: narrows hangs")
    finally:
        controller.kill()
        controller.wait()
        _mend(kind, bed, victim, inventory)
    await_restored(bed, pristine, kind)
