"""Hosts with a user instead of root, and with a wrong clock."""

from __future__ import annotations

import json
import platform
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from namespaced_hosts import Bed, add_user, await_restored, build_bed, states
from required import needs
from specimens import GOOD, scenario_of
from waiting import HANG_S

from narrows.backends.hosts import Hosts, session
from narrows.backends.hosts.checks import refuse_controls
from narrows.backends.hosts.facts import Facts
from narrows.backends.hosts.inventory import HostEntry
from narrows.backends.hosts.measure import permit_controls
from narrows.backends.hosts.plan import HostPlan
from narrows.backends.linux.tools import router_tool, traffic_tool
from narrows.cli import main
from narrows.errors import SpecError

SHORT = ("run.duration=1200ms", "run.warmup=600ms", "path.buffer=4bdp")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "real-hosts.md"
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), Path())


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts on a busy machine may be slow."""
    monkeypatch.setattr(session, "ANSWER_S", HANG_S)
    monkeypatch.setattr(session, "LEASE_S", round(HANG_S))


@pytest.fixture(scope="module")
def bed() -> Iterator[Bed]:
    """One pair of hosts; the receiver's clock is 3 s ahead, if libfaketime is here."""
    ahead = f"SetEnv LD_PRELOAD={FAKETIME} FAKETIME=+3s FAKETIME_DONT_FAKE_MONOTONIC=1\n"
    with build_bed(pairs=1, sshd={"tarta1": ahead} if FAKETIME.name else {}) as made:
        text = made.inventory(pairs=1) + f'[programs]\n{platform.machine()} = "programs"\n'
        (made.folder / "bed.toml").write_text(text)
        (made.folder / "users.toml").write_text(text.replace('ssh = "', 'ssh = "pi@'))
        _write_programs(made.folder / "programs")
        yield made


def _write_programs(folder: Path) -> None:
    """Our programs, of which the clock alone is fake: libfaketime also ends sleeps too early."""
    folder.mkdir()
    (folder / "narrows-router").symlink_to(router_tool())
    program = folder / "program"
    shutil.copy(traffic_tool(), program)  # hosts have other homes
    program.chmod(0o755)
    wrapper = folder / "narrows-traffic"
    unless_clock = '[ "$1" = clock ] || unset LD_PRELOAD'
    wrapper.write_text(f'#!/bin/sh\n{unless_clock}\nexec {program} "$@"\n')
    wrapper.chmod(0o755)


@needs("faketime")
def test_a_clock_3_s_off_is_reported_and_changes_nothing(
    bed: Bed, capsys: pytest.CaptureFixture[str]
) -> None:
    before = states(bed)
    with bed.inside():
        assert main(["hosts", "check", str(bed.folder / "bed.toml"), "--json"]) == 0
        hosts = Hosts(str(bed.folder / "bed.toml"))
        result = hosts.run(scenario_of(GOOD.replace('"cubic"', '"cubic"\nsize = "90kb"'), SHORT))
    await_restored(bed, before, "after a run")
    found = {report["entry"]["ssh"]: report for report in json.loads(capsys.readouterr().out)}
    told = {name: report["clock"] for name, report in found.items()}
    assert abs(told["tarta1"]["realtime_ns"] - 3e9) <= told["tarta1"]["uncertainty_ns"] + 1e8
    assert abs(told["churro1"]["realtime_ns"]) < 1e8
    assert result.info.conditions["clocks"]["tarta1"]["ahead_ms"] == pytest.approx(3000, abs=100)
    assert "moved" not in (result.info.invalid or "")
    # Both ends' samples are on one clock, or nothing would have arrived in time.
    rows = result.tables["flow_samples"]
    assert rows["received_bytes"].max() == 90_000
    (end_s,) = result.tables["completions"]["end_s"]
    arrived = rows.filter(rows["time_s"] >= end_s)["received_bytes"]
    assert arrived.min() == 90_000


@needs("sudo")
def test_a_user_with_the_pages_line_for_sudo_needs_no_root(
    bed: Bed, capsys: pytest.CaptureFixture[str]
) -> None:
    line = re.search(r"^USER ALL=.*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert line is not None
    for machine in bed.machines.values():
        add_user(bed, machine, line[0].replace("USER", "pi") + "\n")
    inventory = str(bed.folder / "users.toml")
    with bed.inside():
        hosts = Hosts(inventory)
        before = states(bed)
        result = hosts.run(scenario_of(GOOD.replace('"cubic"', '"reno"'), SHORT))
        await_restored(bed, before, "after a run")
        assert result.tables["flow_samples"]["received_bytes"].max() > 100_000
        with pytest.raises(Exception, match="root's login"):
            hosts.check(scenario_of(GOOD, ["run.record=packets"]))
        capsys.readouterr()
        assert main(["hosts", "check", inventory]) == 0
        bed.machines["churro1"].shell("sed -i 's|/usr/sbin/tc, ||' /etc/sudoers.d/narrows")
        assert main(["hosts", "check", inventory]) == 1
    assert "missing: sudo without a password for tc\n" in capsys.readouterr().out


FACTS = Facts(
    kernel="6.1", machine="x86_64", root=False, processors=1, load="0",
    controls=("reno", "bbr", "cubic"), modules=frozenset({"vegas"}), allowed=("reno", "cubic"),
    tools=frozenset(), sudo=frozenset(), tun=True, busy=False, iperf3="", default_route=(), ssh=(),
)  # fmt: skip


def test_a_user_may_choose_the_controls_of_the_flows() -> None:
    plan = HostPlan(HostEntry("churro1", ("eth0",)), controls={"bbr", "vegas"})
    (change,) = permit_controls(plan, FACTS)
    setting = "net/ipv4/tcp_allowed_congestion_control"
    assert change.words == ("sysctl", setting, "reno", "bbr", "cubic", "vegas")
    assert not [*permit_controls(plan, replace(FACTS, root=True))]
    assert not [*permit_controls(replace(plan, controls={"reno"}), FACTS)]


def test_a_control_that_a_host_cannot_load_is_refused_before_anything_runs() -> None:
    plan = HostPlan(HostEntry("churro1", ("eth0",)), controls={"bbr", "vegas"})
    refuse_controls(plan, replace(FACTS, root=True))
    refuse_controls(plan, replace(FACTS, sudo=frozenset({"modprobe"})))
    for lacking in (FACTS, replace(FACTS, root=True, modules=frozenset())):
        with pytest.raises(SpecError, match='"vegas", which the host churro1 lacks'):
            refuse_controls(plan, lacking)
