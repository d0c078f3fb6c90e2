"""The helper on a host: what it does, refuses and undoes, without ssh."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from required import require
from waiting import await_that

from narrows.backends.hosts.session import helper

_MISSING = [name for name in ("ip", "tc", "unshare") if shutil.which(name) is None]
_SET_UP = """\
mount -t tmpfs -o size={size}k tmp /tmp
mount -t sysfs sys /sys
ip link add eth0 type veth peer name far
ip link set eth0 up
ip addr add 10.97.0.1/24 dev eth0
ip link add mgmt0 type veth peer name away
ip link set mgmt0 up
ip addr add 10.96.0.1/24 dev mgmt0
ip link set lo up
{more}
export SSH_CONNECTION='10.96.0.2 50000 10.96.0.1 22'
echo ready >&2
exec sh -c "$HELPER"
"""


class Host:
    """A namespace with a helper."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []

    def ask(self, line: str) -> str:
        """Sends a request and returns the answer's last line."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(line, file=self.process.stdin, flush=True)
        self.lines = []
        while (said := self.process.stdout.readline()).startswith("| "):
            self.lines.append(said[2:].strip())
        return said.strip()

    def look(self, script: str) -> str:
        """The output of a command in the host."""
        command = [
            "nsenter",
            f"--target={self.process.pid}",
            "--net",
            "--mount",
            "sh",
            "-c",
            script,
        ]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    def state(self) -> str:
        """Everything that requests can change."""
        return self.look(
            "ip rule; ip route show table all; ip -o link; tc qdisc; ls -A /tmp; ethtool -k eth0;"
            " cd /proc/sys/net/ipv4; grep -r . tcp_* conf/eth0 | grep -v fastopen_key"
        )


@contextmanager
def host(size: int = 1024, more: str = "") -> Iterator[Host]:
    """A host with the interfaces eth0, for tests, and mgmt0, which carries ssh."""
    require("root", "" if os.geteuid() == 0 and not _MISSING else "namespaces need root")
    process = subprocess.Popen(
        ["unshare", "--net", "--mount", "sh", "-ec", _SET_UP.format(size=size, more=more)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"HELPER": helper()},
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    with process:
        yield Host(process)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(30)


def test_changes_are_undone_in_reverse() -> None:
    with host() as one:
        before = one.state()
        assert one.ask("begin 60 600 eth0") == "ok"
        for line in (
            "sysctl net/ipv4/tcp_rmem 4096 131072 67108864",
            "sysctl net/ipv4/tcp_no_metrics_save 1",
            "offload eth0 tcp-segmentation-offload off",
            "qdisc eth0",
            "tc qdisc add dev eth0 root handle 1: tbf rate 10mbit burst 2kb limit 10kb",
            "tc qdisc add dev eth0 parent 1:1 handle 2: pfifo limit 10",
            "tun nrwa",
            "sysctl net/ipv4/conf/nrwa/rp_filter 2",
            "route 7701 nrwa",
            "rule 7701 eth0 7701",
        ):
            assert one.ask(line) == "ok", line
        assert "tbf" in one.look("tc qdisc show dev eth0")
        assert "nrwa" in one.look("ip route show table 7701")
        assert one.look("cat /proc/sys/net/ipv4/tcp_rmem") == "4096\t131072\t67108864\n"
        assert one.ask("end") == "ok"
        assert one.state() == before


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("begin 60 600 nosuch", "no interface nosuch"),
        ("sysctl kernel/core_pattern x", "no session"),
        ("begin 60 600 eth0;reboot", "other characters"),
        ("begin 60 600 $(reboot)", "other characters"),
        ("format /dev/sda", "unknown verb"),
    ],
)
def test_requests_refused_without_a_session(line: str, reason: str) -> None:
    with host() as one:
        before = one.state()
        said = one.ask(line)
        assert said.startswith("no ")
        assert reason in said
        assert one.state() == before


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("sysctl kernel/core_pattern x", "isn't a setting that narrows changes"),
        ("sysctl net/ipv4/tcp_x/../../../kernel/core_pattern x", "isn't a setting"),
        ("sysctl net/ipv4/tcp_nosuch 1", "this kernel has no setting"),
        ("qdisc mgmt0", "isn't a test interface of this session"),
        ("offload mgmt0 tcp-segmentation-offload off", "isn't a test interface"),
        ("tc qdisc add dev eth0 root pfifo", "wasn't taken before"),
        ("tc qdisc del dev eth0 root", "isn't a command that narrows uses"),
        ("tun eth9", "isn't a name of ours"),
        ("job run sh", "there is no sh"),
        ("format /dev/sda", "unknown verb"),
    ],
)
def test_requests_refused_within_a_session(line: str, reason: str) -> None:
    with host() as one:
        assert one.ask("begin 60 600 eth0") == "ok"
        before = one.state()
        said = one.ask(line)
        assert said.startswith("no ")
        assert reason in said
        assert one.state() == before


def test_interfaces_of_ssh_and_of_the_default_route_stay_as_they_are() -> None:
    with host(more="ip route add default via 10.97.0.2") as one:
        assert one.ask("begin 60 600 eth0 mgmt0") == "ok"
        assert "eth0 has the default route" in one.ask("qdisc eth0")
        assert "mgmt0 carries this ssh" in one.ask("qdisc mgmt0")
        assert one.ask("end") == "ok"
        assert one.ask("begin 60 600 +eth0") == "ok"
        assert one.ask("qdisc eth0") == "ok"


def test_somebody_elses_discipline_is_left_alone() -> None:
    with host(more="tc qdisc add dev eth0 root pfifo limit 7") as one:
        before = one.state()
        assert one.ask("begin 60 600 eth0") == "ok"
        assert 'the queue discipline "pfifo ' in one.ask("qdisc eth0")
        assert one.ask("end") == "ok"
        assert one.state() == before


def test_a_setting_that_cannot_be_set_changes_nothing() -> None:
    with host() as one:
        before = one.state()
        assert one.ask("begin 60 600 eth0") == "ok"
        assert "tcp_ecn" in one.ask("sysctl net/ipv4/tcp_ecn 77")
        assert one.ask("end") == "ok"
        assert one.state() == before


def test_nothing_is_changed_when_it_cannot_be_noted() -> None:
    with host(size=64) as one:
        assert one.ask("begin 60 600 eth0") == "ok"
        before = one.look("cat /proc/sys/net/ipv4/tcp_sack")
        one.look("cat /dev/zero > /tmp/full; cat /dev/zero > /tmp/fuller")
        # Lines that fit into the journal's last page may still be noted.
        said = [one.ask(f"sysctl net/ipv4/tcp_sack {n % 2}") for n in range(400)]
        refused = [line for line in said if line != "ok"]
        assert refused
        assert all("is the disk full?" in line for line in refused)
        assert one.ask("end") == "ok"
        assert one.look("cat /proc/sys/net/ipv4/tcp_sack") == before
        assert one.look("ls -d /tmp/narrows-hosts-*") == ""


def test_no_session_begins_on_a_full_disk() -> None:
    with host(size=16) as one:
        one.look("cat /dev/zero > /tmp/full; cat /dev/zero > /tmp/fuller")
        assert "is the disk full?" in one.ask("begin 60 600 eth0")
        assert one.look("ls -d /tmp/narrows-hosts-*") == ""


def test_the_watchdog_undoes_everything_when_nothing_is_heard() -> None:
    with host() as one:
        before = one.state()
        assert one.ask("begin 1 600 eth0") == "ok"
        assert one.ask("sysctl net/ipv4/tcp_sack 0") == "ok"
        await_that(lambda: one.state() == before, "the watchdog doesn't act")
        assert "the watchdog has restored this host" in one.ask("sysctl net/ipv4/tcp_sack 0")
        assert one.state() == before


def test_lines_renew_the_lease_and_the_limit_ends_it() -> None:
    with host() as one:
        before = one.state()
        assert one.ask("begin 600 2 eth0") == "ok"
        assert one.ask("sysctl net/ipv4/tcp_sack 0") == "ok"

        def is_restored() -> bool:
            one.ask("beat")
            return one.state() == before

        await_that(is_restored, "the limit doesn't end the session")


def test_the_end_of_the_input_undoes_everything() -> None:
    with host() as one:
        before = one.state()
        assert one.ask("begin 600 600 eth0") == "ok"
        assert one.ask("sysctl net/ipv4/tcp_sack 0") == "ok"
        keeper = subprocess.Popen(
            ["nsenter", f"--target={one.process.pid}", "--net", "--mount", "sleep", "600"]
        )
        try:
            there = Host(one.process)
            there.process = keeper  # type: ignore[assignment] # to look once the helper has ended
            assert one.process.stdin is not None
            one.process.stdin.close()
            one.process.wait(30)
            await_that(lambda: there.state() == before, "something is left")
        finally:
            keeper.kill()
            keeper.wait()


def test_a_second_controller_is_refused_and_may_restore() -> None:
    with host() as one:
        before = one.state()
        assert one.ask("begin 600 600 eth0") == "ok"
        assert one.ask("sysctl net/ipv4/tcp_sack 0") == "ok"
        second = subprocess.Popen(
            ["nsenter", f"--target={one.process.pid}", "--net", "--mount", "sh", "-c", helper()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with second:
            other = Host(second)
            assert "narrows is at work here" in other.ask("begin 60 600 eth0")
            assert other.ask("restore") == "ok"
            assert one.state() == before
            assert other.ask("restore") == "ok"
            assert second.stdin is not None
            second.stdin.close()


def test_the_kernel_says_which_disciplines_it_has() -> None:
    with host() as one:
        assert one.ask("begin 60 600 eth0") == "ok"
        before = one.state()
        assert one.ask("can pfifo nosuch") == "ok"
        assert one.lines == ["pfifo"]
        assert one.state() == before


def test_a_change_waits_for_the_lock_and_is_refused_after_the_undoing() -> None:
    with host() as one:
        before = one.state()
        assert one.ask("begin 2 600 eth0") == "ok"
        # The undoing process holds the lock, and removes the file that allows changes.
        one.look(
            "cd /tmp/narrows-hosts-0; flock lock sh -c 'sleep 1; rm changeable' < /dev/null &"
            " sleep 0.3"
        )
        assert "the watchdog has restored" in one.ask("sysctl net/ipv4/tcp_sack 0")
        await_that(lambda: one.state() == before, "something is left")
