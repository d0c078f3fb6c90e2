"""Real Linux TCP in real time, on this machine's kernel: a few short runs."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from kernel_here import require_on_time
from required import needs, require
from specimens import GOOD, scenario_of, write
from waiting import HANG_S, await_that

from narrows.backends import get_backend
from narrows.backends.kernel import Kernel
from narrows.backends.linux.tools import router_tool
from narrows.backends.linux.validity import reasons
from narrows.metrics import summarise

BACKEND = "kernel" if shutil.which("iperf3") else "kernel:own"

pytestmark = needs("kernel")

TWO = GOOD.replace('"8mbit"', '"16mbit"') + '\n[[flows]]\ncca = "bbr"\nrtt = "30ms"\n'


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return Kernel("own")


def test_two_flows_fill_the_link_and_the_tables_are_the_simulators(kernel: Kernel) -> None:
    overrides = ["run.record=packets", "run.duration=3s", "run.warmup=1s"]
    scenario = scenario_of(TWO, overrides)
    result = kernel.run(scenario)
    theirs = get_backend("sim").run(scenario).tables
    assert set(result.tables) == set(theirs)
    for name, table in theirs.items():
        assert result.tables[name].schema == table.schema, name
    for name in ("flow_samples", "queue_samples"):
        ours = result.tables[name]["time_s"].to_list()
        # If the machine is late, only the last instants differ.
        assert ours[:-2] == theirs[name]["time_s"].to_list()[: len(ours) - 2]
    summary = summarise(scenario, result.tables, result.info)
    assert summary["bottleneck"]["queue_bdp"]["max"] <= 1.0
    assert result.info.packets > 0
    beyond_ms = []
    for flow, rtt in ((0, 20), (1, 30)):
        rows = result.tables["flow_samples"].filter(result.tables["flow_samples"]["flow"] == flow)
        least = rows["min_rtt_ms"].min()
        assert isinstance(least, float)
        # A late machine can only lengthen it.
        assert rtt <= least
        beyond_ms.append(least - rtt)
    assert set(result.tables["packets"]["event"]) == {"sent", "ack_received"}
    require_on_time(result)
    assert summary["bottleneck"]["utilization"] > 0.8
    assert result.info.packets > 2000
    assert max(beyond_ms) < 20


def test_packets_are_recorded_although_none_comes_after_the_end(kernel: Kernel) -> None:
    overrides = ["flows.0.size=9kb", "run.record=packets", "run.duration=1s"]

    def progress(sim_s: float, packets: int) -> None:  # noqa: ARG001
        assert time.monotonic() < began + HANG_S, "the run doesn't end"

    began = time.monotonic()
    packets = kernel.run(scenario_of(GOOD, overrides), progress).tables["packets"]
    assert packets.filter(packets["event"] == "sent")["size"].sum() >= 9000


def test_the_conditions_are_kept(kernel: Kernel) -> None:
    scenario = scenario_of(GOOD, ["run.duration=600ms", "run.warmup=100ms"])
    info = kernel.run(scenario).info
    kept = info.conditions
    assert os.uname().release in kept["kernel"]
    assert kept["sysctls"]["net/ipv4/tcp_no_metrics_save"] == "1"
    assert kept["sysctls"]["net/ipv4/tcp_wmem"].endswith(" 67108864")
    assert kept["oversize_packets"] == 0
    late = kept["lateness_ns"]
    assert 0 < late["p50"] <= late["p99"] <= late["p999"] <= late["max"]
    limits = kept["lateness_limits_ns"]
    beyond = [
        found[name] > limits[name]
        for found in (late, kept["taking_ns"])
        for name in ("p99", "p999")
    ]
    hosts = kept["hosts"]
    assert hosts["ran_ns"] > 0
    assert hosts["turns"] > 0
    assert (info.invalid is not None) == (any(beyond) or any(reasons(hosts, scenario)))


def test_a_chain_with_losses_completes_and_ends_the_run(kernel: Kernel) -> None:
    text = GOOD.replace(
        'cca = "cubic"',
        'cca = "cubic"\nname = "large"\nsize = "1mb"\n[[flows]]\ncca = "bbr"\nname = "chain"\n'
        'size = "50kb"\nrepeat_gap = "100ms"\nstart = "200ms"\nwhile = "large"',
    ).replace('duration = "2s"', 'duration = "20s"\nstop_when = "large"')
    result = kernel.run(scenario_of(text, ["path.rate=12mbit", "path.loss=0.01"]))
    done = result.tables["completions"]
    large = done.filter(done["flow"] == 0).row(0, named=True)
    assert result.info.end_s >= large["end_s"]
    assert done.filter(done["flow"] == 1).height >= 2
    last = result.tables["flow_samples"].filter(result.tables["flow_samples"]["flow"] == 0)
    assert last["received_bytes"].max() == 1_000_000
    # Lost behind the queue, so counted as its own drops and not as the queue's.
    dropped, queue_drops = last["dropped"].max(), result.tables["queue_samples"]["dropped_packets"]
    assert isinstance(dropped, int)
    assert dropped > 0 or queue_drops.max() == 0
    require_on_time(result)
    assert result.info.end_s - large["end_s"] < 0.2
    assert result.info.end_s < 15


def test_further_links_and_a_link_back_have_their_queues(kernel: Kernel) -> None:
    links = (
        '[[path.links]]\nname = "second"\nrate = "4mbit"\nbuffer = "1bdp"\n'
        '[path.reverse]\nrate = "1mbit"\nbuffer = "50pkt"\n[[flows]]\ncca = "reno"\n'
        'links = ["second"]\n'
    )
    text = GOOD.replace("[[flows]]", f"{links}[[flows]]", 1)
    result = kernel.run(scenario_of(text, ["run.duration=1s", "run.warmup=100ms"]))
    last = result.tables["queue_samples"].tail(3)
    assert last["link"].to_list() == [0, 1, 2]
    first, second, back = last["forwarded_packets"]
    assert 0 < first < second
    assert back > 0
    # The second link forwards these bytes, and the headers of the handshakes.
    wire = result.tables["flow_samples"].tail(2)["wire_bytes"].sum()
    assert 0.8 * wire < last["forwarded_bytes"][1] < 1.2 * wire + 10_000


def test_a_receive_window_limits_the_rate(kernel: Kernel) -> None:
    changes = ["run.duration=2s", "run.warmup=100ms", "flows.0.receive_window=10kb"]
    scenario = scenario_of(GOOD, changes)
    result = kernel.run(scenario)
    rows = result.tables["flow_samples"]
    rounds = 2e9 / scenario["path"]["rtt_ns"]
    assert 0 < rows["received_bytes"][-1] <= 10_000 * (rounds + 1)
    require_on_time(result)
    assert rows["received_bytes"][-1] > 0.6 * 10_000 * rounds


def test_applications_write_now_and_then(kernel: Kernel) -> None:
    text = GOOD.replace(
        '"cubic"', '"cubic"\nworkload = { kind = "requests", size = "10kb", think = "20ms" }'
    )
    text += (
        '[[flows]]\ncca = "reno"\nworkload = { kind = "arrivals", gap = "100ms", size = "5kb" }\n'
    )
    result = kernel.run(scenario_of(text, ["run.duration=1500ms", "run.warmup=100ms"]))
    done = result.tables["completions"]
    sizes = {flow: done.filter(flow=flow)["size_bytes"].to_list() for flow in (0, 1)}
    assert set(sizes[0]) == {10_000}
    assert set(sizes[1]) == {5_000}
    # Three round trips and a pause at least for an answer; a connection each 100 ms.
    assert 1 <= len(sizes[0]) <= 40
    assert 1 <= len(sizes[1]) <= 14
    assert (done["end_s"] - done["start_s"]).min() > 0.02, "no answer is faster than a round trip"
    require_on_time(result)
    assert min(map(len, sizes.values())) > 8


@needs("iperf3")
def test_iperf3_sends_and_its_reports_are_kept() -> None:
    text = TWO.replace('cca = "bbr"', 'cca = "bbr"\nstart = "200ms"\nstop = "1s"')
    scenario = scenario_of(text, ["run.duration=2s", "run.warmup=100ms"])
    result = Kernel().run(scenario)
    assert result.info.conditions["sender"].startswith("iperf3 ")
    assert set(result.files) == {"iperf3-0.json", "iperf3-1.json"}
    whole, stopped = (json.loads(result.files[f"iperf3-{i}.json"]) for i in range(2))
    flows = result.tables["flow_samples"]
    first = flows.filter(flows["flow"] == 0)
    assert whole["end"]["sum_sent"]["retransmits"] >= first["retransmitted"].max()
    received, sent = first["received_bytes"].max(), whole["end"]["sum_sent"]["bytes"]
    assert isinstance(received, int)
    # The rest was still in the sender's buffer at the end of the run.
    assert received <= sent
    assert "terminated" in stopped["error"]
    second = flows.filter(flows["flow"] == 1)
    assert second["received_bytes"][-1] > 0
    assert second["state"][-1] == "closed"
    least = second["min_rtt_ms"].min()
    assert isinstance(least, float)
    assert least >= 30
    require_on_time(result)
    assert received > 0.5 * sent
    assert least < 50
    assert not result.tables["internals"].is_empty()


def test_progress_is_reported_and_can_stop_the_run(kernel: Kernel) -> None:
    reported: list[float] = []

    def progress(sim_s: float, packets: int) -> None:
        reported.append(sim_s)
        if packets > 100:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        kernel.run(scenario_of(GOOD, ["run.duration=1000s", "run.record=summary"]), progress)
    assert reported == sorted(reported)
    await_that(lambda: not ours())


def test_nothing_is_left_after_kill_9(tmp_path: Path) -> None:
    write(tmp_path)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    before = traces()
    moments = random.Random(20261121)
    for i in range(10):
        process = start(tmp_path, "100s", environment)
        if i == 0:
            await_that(lambda: len(ours(str(temporary))) == (4 if shutil.which("iperf3") else 2))
        time.sleep(moments.uniform(0.0, 1.2))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    await_that(lambda: not ours(str(temporary)))
    last = start(tmp_path, "600ms", environment)
    assert last.communicate()[0].count(b"bottleneck") == 1
    assert last.returncode == 0
    assert not list(temporary.iterdir())
    await_that(lambda: not ours(str(temporary)))
    await_that(lambda: traces() == before)


def start(directory: Path, duration: str, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "from narrows.cli import main; main()", "run", "good.toml"]
    command += ["--backend", BACKEND, "--set", f"run.duration={duration}"]
    return subprocess.Popen(command, cwd=directory, env=environment, stdout=subprocess.PIPE)


def test_a_full_disk_is_reported_in_one_sentence(tmp_path: Path) -> None:
    write(tmp_path)
    tiny = tmp_path / "tiny"
    tiny.mkdir()
    run = f"{sys.executable} -c 'import sys; from narrows.cli import main; sys.exit(main())' run"
    script = f"mount -t tmpfs -o size=16k tiny {tiny} && TMPDIR={tiny} {run} good.toml"
    command = ["unshare", "-m", "sh", "-c", f"{script} --backend {BACKEND}"]
    allowed = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    require("unshare", "this user may not mount a small disk" if allowed.returncode else "")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = f"narrows: error: {tiny}: found a full disk; room there, or another place by TMPDIR,"
    assert done.stderr.strip().splitlines()[-1] == f"{said} would be right"
    assert done.returncode == 2


def test_missing_user_namespaces_are_reported_in_one_sentence() -> None:
    limited = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all"
    script = f"{limited} --bounding-set=-all {router_tool()} check"
    done = subprocess.run(
        ["unshare", "-Ur", "sh", "-c", script], capture_output=True, text=True, check=False
    )
    refused = done.returncode not in (0, 1)
    require("unshare", f"no user namespaces to try that in: {done.stderr}" if refused else "")
    assert done.returncode == 1
    assert "this user may make no network namespaces (limit reached); root, or" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_another_user_needs_only_an_open_tun() -> None:
    require("root", "only root can become somebody else" if os.geteuid() else "")
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        router = shutil.copy(router_tool(), place)
        check = f"setpriv --reuid=65534 --regid=65534 --clear-groups {router} check"
        tun = f"mknod -m 666 {place}/tun c 10 200 && mount --bind {place}/tun /dev/net/tun"
        said = []
        for script in (f"chmod 600 {place}/tun && {check}", check):
            command = [
                "unshare",
                "-m",
                "sh",
                "-c",
                f"{tun} && {script}; s=$?; rm {place}/tun; exit $s",
            ]
            said.append(subprocess.run(command, capture_output=True, text=True, check=False))
    closed, opened = said
    assert closed.returncode == 1
    assert "/dev/net/tun isn't open to this user; root, or mode 0666 for it," in closed.stderr
    assert (opened.returncode, opened.stderr) == (0, "")


def traces() -> tuple[list[str], list[str]]:
    """The devices and mounted namespaces of this namespace: runs leave none behind."""
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    devices = sorted(device.name for device in Path("/sys/class/net").iterdir())
    return devices, [line for line in mounts if "nsfs" in line]


def ours(mark: str = "narrows-kernel.") -> list[str]:
    """Living programs of runs with `mark` on their command line or in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_text()
            environment = (process / "environ").read_text()
        except OSError:
            continue
        name = command.split("\0")[0].rsplit("/", 1)[-1]
        if name.startswith(("narrows-", "iperf3")) and mark in command + environment:
            found.append(command)
    return found
