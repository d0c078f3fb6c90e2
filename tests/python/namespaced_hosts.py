"""A testbed of real hosts on one machine: each is a set of namespaces with an sshd.

Senders are behind one switch, receivers behind another, a router between them, and a network for
ssh besides. Nothing is reachable from outside, and everything ends with the processes.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path
from textwrap import dedent

import pytest
from required import require
from waiting import await_that

RESTORED_S = 120.0
"""A watchdog has acted until then, on a busy machine too."""
_NEWNET = 0x40000000
_SSHD = "/usr/sbin/sshd"
_IP = shutil.which("ip") or "ip"
_INIT = """\
mount -t tmpfs -o size={tmp_kb}k tmp /tmp
mount -t tmpfs run /run
mount -t tmpfs home ~ # what a login shell reads or writes there isn't a host's
mkdir -p -m 755 /run/sshd
mount -t sysfs sys /sys
echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
ip link set lo up
touch {ready}
read -r _ < {go}
{sshd} -D -f {config} &
while :; do wait; sleep 1; done
"""
_USER = """\
mkdir /run/etc
cp -a /etc/. /run/etc
mount --bind /run/etc /etc
mount -t tmpfs home /home
echo 'pi:x:1777:1777::/home/pi:/bin/sh' >> /etc/passwd
echo 'pi:x:1777:' >> /etc/group
echo 'pi:*:19000::::::' >> /etc/shadow
install -d -o 1777 -g 1777 -m 700 /home/pi
install -m 440 {sudoers} /etc/sudoers.d/narrows
"""
_SSHD_CONFIG = """\
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
PidFile none
MaxStartups 100
UseDNS no
"""


def missing() -> str:
    """Says what this machine lacks for such hosts; empty if nothing."""
    if os.geteuid() != 0:
        return "namespaces with an sshd need root"
    absent = [name for name in (_SSHD, "ssh", "ssh-keygen", "ip", "ethtool", "unshare", "nsenter")
              if shutil.which(name) is None]  # fmt: skip
    return f"{', '.join(absent)} not found (openssh-server, iproute2, ethtool)" if absent else ""


@dataclass
class Machine:
    """A host's first process, by which its namespaces are entered."""

    name: str
    process: subprocess.Popen[bytes]
    init: int = 0

    def run(self, *command: str) -> str:
        """Runs a command on it, not by ssh; returns its output."""
        enter = ["nsenter", f"--target={self.init}", "--net", "--mount", "--pid"]
        return subprocess.run([*enter, *command], capture_output=True, text=True, check=True).stdout

    def shell(self, script: str) -> str:
        """Runs a script on it."""
        return self.run("sh", "-c", script)

    def state(self) -> str:
        """All that a run may have changed: network, settings, files, processes."""
        return (
            self.shell(
                "ip -o addr | sed 's/valid_lft.*//'; ip -o link | sed 's/^[0-9]*: //'; ip rule;"
                " ip route show table all; tc qdisc;"
                " cd /proc/sys && grep -r . net/ipv4 net/core 2>/dev/null | grep -v"
                " 'tcp_fastopen_key\\|neigh\\|/route/flush' | sort;"
                " for d in $(ls /sys/class/net); do ethtool -k $d; done;"
                " find /tmp /run | sort"
            )
            + self.processes()
        )

    def processes(self) -> str:
        """The commands that run on it, without ours and those of its first process."""
        lines = self.run("ps", "-eo", "stat,args", "--no-headers").splitlines()
        rows = [line.split(None, 1) for line in lines]
        ours = ("ps -eo", "sshd: ", "sh -ec", "sleep 1")
        return "\n".join(
            sorted(args for stat, args in rows if stat[0] != "Z" and not args.startswith(ours))
        )

    def kill(self) -> None:
        """Ends it at once with all its processes, as if its power failed."""
        os.kill(self.init, signal.SIGKILL)
        self.process.wait()


@dataclass
class Bed:
    """The hosts by their names, the controller's namespaces, and the folder of its ssh."""

    folder: Path
    controller: Machine
    machines: dict[str, Machine] = field(default_factory=dict)
    switches: list[Machine] = field(default_factory=list)
    sshd: Mapping[str, str] = field(default_factory=dict)
    """Additional settings of hosts' sshd."""

    @property
    def ssh_config(self) -> Path:
        """The configuration with which ssh reaches the hosts."""
        return self.folder / "ssh_config"

    def environment(self) -> dict[str, str]:
        """The environment of a narrows that uses this testbed."""
        return {**os.environ, "NARROWS_SSH_CONFIG": str(self.ssh_config)}

    def inventory(self, *, method: str = "narrows", pairs: int = 4) -> str:
        """An inventory of the first pairs of hosts."""
        text = f'[bottleneck]\nby = "{method}"\nat = "router"\n'
        text += '[router]\nssh = "horno"\nto_senders = "eth1"\nto_receivers = "eth2"\n'
        for kind, name, net in (("senders", "churro", 1), ("receivers", "tarta", 2)):
            for number in range(1, pairs + 1):
                text += f'[[{kind}]]\nssh = "{name}{number}"\ninterface = "eth0"\n'
                text += f'address = "10.98.{net}.{number}"\n'
        return text

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Has this thread, and what it starts, in the controller's network."""
        libc = ctypes.CDLL(None, use_errno=True)
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/proc/{self.controller.init}/ns/net", os.O_RDONLY)
        before = os.environ.get("NARROWS_SSH_CONFIG")
        os.environ["NARROWS_SSH_CONFIG"] = str(self.ssh_config)
        try:
            assert libc.setns(there, _NEWNET) == 0, os.strerror(ctypes.get_errno())
            yield
        finally:
            libc.setns(home, _NEWNET)
            os.close(home)
            os.close(there)
            os.environ.pop("NARROWS_SSH_CONFIG")
            if before is not None:
                os.environ["NARROWS_SSH_CONFIG"] = before


@contextmanager
def build_bed(
    pairs: int = 4, tmp_kb: int = 65536, sshd: Mapping[str, str] | None = None
) -> Iterator[Bed]:
    """Senders churro1 and on, receivers tarta1 and on, and the router horno between them.

    `sshd` has additional settings of some hosts' sshd.
    """
    require("root", missing())
    # Not in /tmp, which each host has for itself.
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="narrows-bed-") as place:
        folder = Path(place)
        for key in ("host_key", "user_key"):
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)]
            subprocess.run(command, check=True)
        bed = Bed(folder, _begin(folder, "controller", "true", tmp_kb), sshd=sshd or {})
        try:
            _build(bed, pairs, tmp_kb)
            yield bed
        finally:
            for machine in (*bed.machines.values(), *bed.switches, bed.controller):
                if machine.process.poll() is None:
                    machine.kill()


def add_user(bed: Bed, machine: Machine, sudoers: str) -> None:
    """Gives a host the user `pi`, who logs in with the same key, and a file for sudo."""
    bed.folder.chmod(0o711)
    (bed.folder / "sudoers").write_text(sudoers)
    machine.shell(_USER.format(sudoers=bed.folder / "sudoers"))


def states(bed: Bed) -> dict[str, str]:
    """The states of all hosts."""
    return {name: machine.state() for name, machine in bed.machines.items()}


def await_restored(bed: Bed, pristine: dict[str, str], what: str) -> None:
    """Waits until all hosts are as they were; fails with the differences if they stay."""
    ends = time.monotonic() + RESTORED_S
    while (now := states(bed)) != pristine:
        if time.monotonic() > ends:
            changes = [
                line
                for name, text in pristine.items()
                for line in unified_diff(text.splitlines(), now[name].splitlines(), name, n=0)
            ]
            pytest.fail(f"{what}: " + "\n".join(changes))
        time.sleep(0.2)


def _begin(folder: Path, name: str, sshd: str, tmp_kb: int, extra: str = "") -> Machine:
    """A machine without a network; its sshd, with `extra` settings, waits until it has one."""
    ready, go = folder / f"{name}-ready", folder / f"{name}-go"
    os.mkfifo(go)
    script = _INIT.format(
        sshd=sshd, config=folder / f"{name}-sshd", ready=ready, go=go, tmp_kb=tmp_kb
    )
    command = ["setpriv", "--pdeathsig", "KILL", "unshare", "--fork", "--kill-child", "--net"]
    # Each host has its own clock, as if it had started at another time.
    age = str(len(list(folder.glob("*-ready"))) * 1000)
    command += ["--mount", "--pid", "--uts", "--ipc", "--mount-proc", "--time"]
    command += ["--monotonic", age, "--boottime", age, "sh", "-ec", script]
    (folder / f"{name}-sshd").write_text(_SSHD_CONFIG.format(folder=folder) + extra)
    with (folder / f"{name}-log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=log)
    machine = Machine(name, process)
    await_that(ready.exists, f"{name} doesn't start")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    machine.init = int(children.read_text().split()[0])
    return machine


def start_host(bed: Bed, name: str, number: int, tmp_kb: int = 65536) -> Machine:
    """A host with its interface for ssh, which has its default route, too."""
    machine = _begin(bed.folder, name, _SSHD, tmp_kb, bed.sshd.get(name, ""))
    bed.machines[name] = machine
    _connect(bed.controller, f"m{number}", machine, "mgmt0", f"10.99.0.{number}/24")
    bed.controller.run(_IP, "link", "set", f"m{number}", "master", "br0")
    machine.run(_IP, "route", "add", "default", "via", "10.99.0.254")
    return machine


def finish_host(bed: Bed, machine: Machine) -> None:
    """Lets a host's sshd start, now that its network is up."""
    (bed.folder / f"{machine.name}-go").write_text("\n")
    await_that(lambda: ":22 " in machine.shell("ss -ltn"), f"{machine.name}: no sshd")


def _build(bed: Bed, pairs: int, tmp_kb: int) -> None:
    controller = bed.controller
    controller.run(_IP, "link", "add", "br0", "type", "bridge")
    controller.run(_IP, "addr", "add", "10.99.0.254/24", "dev", "br0")
    controller.run(_IP, "link", "set", "br0", "up")
    router = start_host(bed, "horno", 100, tmp_kb)
    for net, (kind, side) in enumerate((("churro", "eth1"), ("tarta", "eth2")), 1):
        switch = _begin(bed.folder, f"switch{net}", "true", tmp_kb)
        bed.switches.append(switch)
        switch.run(_IP, "link", "add", "br0", "type", "bridge")
        switch.run(_IP, "link", "set", "br0", "up")
        _plug(switch, "u0", router, side, f"10.98.{net}.254/24")
        for number in range(1, pairs + 1):
            machine = start_host(bed, f"{kind}{number}", 10 * net + number, tmp_kb)
            _plug(switch, f"p{number}", machine, "eth0", f"10.98.{net}.{number}/24")
            machine.run(_IP, "route", "add", f"10.98.{3 - net}.0/24", "via", f"10.98.{net}.254")
    _write_ssh_config(bed, pairs)
    for machine in bed.machines.values():
        finish_host(bed, machine)
    carries = lambda machine: "NO-CARRIER" not in machine.run(_IP, "link")  # noqa: E731
    await_that(lambda: all(map(carries, bed.machines.values())), "a cable without a carrier")


def _plug(switch: Machine, port: str, machine: Machine, device: str, address: str) -> None:
    _connect(switch, port, machine, device, address)
    switch.run(_IP, "link", "set", port, "master", "br0")


def _connect(one: Machine, port: str, other: Machine, device: str, address: str) -> None:
    """A cable between two machines; the second one's end gets an address."""
    peer = ("peer", "name", device, "netns", str(other.init))
    subprocess.run(
        [
            "nsenter",
            f"--target={one.init}",
            "--net",
            _IP,
            "link",
            "add",
            port,
            "type",
            "veth",
            *peer,
        ],
        check=True,
    )
    one.run(_IP, "link", "set", port, "up")
    other.run(_IP, "addr", "add", address, "dev", device)
    other.run(_IP, "link", "set", device, "up")


def _write_ssh_config(bed: Bed, pairs: int) -> None:
    key = (bed.folder / "host_key.pub").read_text().split()[:2]
    (bed.folder / "known_hosts").write_text(f"10.99.0.* {' '.join(key)}\n")
    text = dedent(f"""\
        User root
        IdentityFile {bed.folder}/user_key
        IdentitiesOnly yes
        UserKnownHostsFile {bed.folder}/known_hosts
        """)
    addresses = {"horno": 100}
    for net, kind in enumerate(("churro", "tarta"), 1):
        addresses |= {f"{kind}{number}": 10 * net + number for number in range(1, pairs + 1)}
    # The first value counts, so the hosts' own come before.
    hosts = "".join(f"Host {name}\nHostName 10.99.0.{last}\n" for name, last in addresses.items())
    bed.ssh_config.write_text(f"{hosts}Host *\n{text}")
