"""The parts of the back end `uml` that need no kernel."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from specimens import GOOD, scenario_of

from narrows.backends.linux.internals import cca_states
from narrows.backends.linux.qdiscs import dscp_bits
from narrows.backends.linux.tables import packets, received_bytes
from narrows.backends.uml import build, builder, get_kernel, kernels, packages
from narrows.backends.uml.backend import _interval
from narrows.backends.uml.checks import crosses_router
from narrows.backends.uml.kernels import DEFAULT_PROFILE, BuiltKernel
from narrows.backends.uml.network import network_script, tool_config
from narrows.cli import main
from narrows.errors import InputError, SpecError

EXAMPLE = BuiltKernel(
    "six", "6.12.1", "00", ("cubic",), ("tcp_cubic.hystart",), "tree", "2026-01-01"
)


def install(kernel: BuiltKernel, directory: Path) -> None:
    """Writes the files that a build leaves in the cache, but for the program itself."""
    kernel.write(directory)
    (directory / "host.so").touch()


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def lines(
    text: str = GOOD, overrides: tuple[str, ...] = (), release: str = "6.12.117"
) -> list[str]:
    return network_script(scenario_of(text, overrides), release).splitlines()


@pytest.mark.parametrize(
    ("buffers", "release", "largest"),
    [
        ("stock", "6.12.117", 6 << 20),
        ("stock", "6.15.1", 6 << 20),
        ("stock", "6.16.0-rc1", 32 << 20),
        ("stock", "7.3.4", 32 << 20),
        ("raised", "7.3.4", 64 << 20),
    ],
)
def test_guests_have_the_receive_buffers_of_their_kernel(
    buffers: str, release: str, largest: int
) -> None:
    made = lines(overrides=(f'host.socket_buffers="{buffers}"',), release=release)
    assert f"echo 4096 131072 {largest} > /proc/sys/net/ipv4/tcp_rmem" in made


def test_without_a_kernel_the_remedy_is_reported() -> None:
    assert kernels() == []
    with pytest.raises(InputError) as caught:
        get_kernel()
    assert "narrows kernel build" in caught.value.remedy


def test_the_commands_for_kernels(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "check_machine", lambda _package: None)  # it may lack some
    assert main(["kernel", "list"]) == 0
    spec = tmp_path / "x.toml"
    spec.write_text(GOOD, encoding="utf-8")
    assert main(["run", str(spec), "--backend", "uml"]) == 2
    assert "narrows kernel build" in capsys.readouterr().err
    directory = tmp_path / "narrows" / "kernels" / "six"
    directory.mkdir(parents=True)
    install(EXAMPLE, directory)
    assert main(["kernel", "list"]) == 0
    assert "6.12.1" in capsys.readouterr().out
    assert main(["run", str(spec), "--backend", "uml:seven"]) == 2
    assert '"seven"' in capsys.readouterr().err
    assert main(["kernel", "build", "--source", str(tmp_path)]) == 2
    assert "--source" in capsys.readouterr().err


def test_a_kernel_is_found_by_name_or_as_the_latest_of_the_default_profile(tmp_path: Path) -> None:
    for name, release, built in (
        ("a", "6.12.1", "2026-01-02"),
        ("b", "6.12.1", "2026-01-01"),
        ("older", "5.10.1", "2026-01-03"),
    ):
        directory = tmp_path / "narrows" / "kernels" / name
        directory.mkdir(parents=True)
        source = "x.tar.xz" if name == "older" else "tree"
        install(BuiltKernel(name, release, "00", ("cubic",), (), source, built), directory)
    (tmp_path / "narrows" / "kernels" / "b" / "kernel.json").touch()
    broken = tmp_path / "narrows" / "kernels" / "c"
    broken.mkdir()
    (broken / "kernel.json").write_text(json.dumps({"name": "c"}))
    assert [kernel.name for kernel in kernels()] == ["a", "b", "older"]
    assert scenario_of(GOOD)["host"]["profile"] == DEFAULT_PROFILE
    assert get_kernel().name == "a"
    assert get_kernel("b").profile == "linux-6.12"
    with pytest.raises(InputError):
        get_kernel("c")


def test_the_description_of_a_built_kernel_is_kept(tmp_path: Path) -> None:
    directory = tmp_path / "six"
    directory.mkdir()
    install(EXAMPLE, directory)
    assert BuiltKernel.read(directory) == EXAMPLE
    (directory / "host.so").unlink()
    with pytest.raises(ValueError, match="incomplete"):
        BuiltKernel.read(directory)


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"source": Path("/nonexistent")}, "--source"),
        ({"debian": "linux-source-0.1"}, "kernel build"),
        ({"debian": "../../etc/passwd"}, "--debian"),
    ],
)
def test_a_build_without_sources_is_refused(
    arguments: dict[str, object], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "PROGRAMS", {})
    monkeypatch.setattr("narrows.backends.uml.builder.traffic_tool", lambda: None)
    with pytest.raises(InputError) as caught:
        build(**arguments)  # type: ignore[arg-type]
    assert caught.value.place == place


def test_rates_and_limits_count_ethernet_headers() -> None:
    bucket = next(line for line in lines() if "tbf" in line)
    # 8 Mbit/s and 20 000 bytes, times 1514/1500.
    assert "rate 8074667bit" in bucket
    assert "burst 1518" in bucket
    assert "limit 20187" in bucket


def test_a_limit_of_packets_is_a_pfifo() -> None:
    assert any("pfifo limit 7" in line for line in lines(overrides=("path.buffer=7pkt",)))


def test_one_delay_needs_no_classes() -> None:
    netems = [line for line in lines() if "netem" in line]
    assert len(netems) == 2
    assert "dev d1 root" in netems[0]
    assert "delay 10000.000us rate 8074667bit" in netems[0]
    assert "rate" not in netems[1]
    assert not any("prio" in line for line in lines())


def test_loss_spares_packets_without_data() -> None:
    text = GOOD.replace('buffer = "1bdp"', 'buffer = "1bdp"\nloss = 0.015')
    script = lines(text)
    assert [line for line in script if "loss 1.5%" in line and "1:1" in line]
    assert [line for line in script if "0xff00 at 2 flowid 1:2" in line]
    assert sum("loss" in line for line in script) == 1


def test_too_many_delays_are_refused() -> None:
    flows = "".join(f'\n[[flows]]\ncca = "reno"\nrtt = "{n}ms"\n' for n in range(21, 38))
    with pytest.raises(SpecError) as caught:
        lines(GOOD + flows)
    assert "at most 16" in caught.value.remedy


FQ_CODEL = (
    "fq_codel limit 10240 flows 16 quantum 1514 drop_batch 64 target 5000us interval 100000us ecn"
)
RED = (
    "red limit 151400 min 12617 max 37850 avpkt 1010 burst 20 bandwidth 10093334bit "
    "probability 0.02 adaptive"
)
RED_FROM_MIN = (
    "red limit 151400 min 30280 max 90840 avpkt 1010 burst 50 bandwidth 10093334bit "
    "probability 0.02"
)
FQ = (
    "fq limit 10000 flow_limit 100 quantum 3028 initial_quantum 15140 refill_delay 40000us "
    "maxrate 5000000bit"
)

CAKE = "diffserv3 triple-isolate raw mpu 0 noatm rtt 100000us memlimit 15503360"


@pytest.mark.parametrize(
    ("queue", "command"),
    [
        (
            'kind = "codel", limit = "100pkt", ce_threshold = "1ms"',
            "codel limit 100 target 5000us interval 100000us noecn ce_threshold 1000us",
        ),
        ('kind = "fq_codel", flows = 16', FQ_CODEL),
        (
            'kind = "pie", target = "20ms", ecn = true',
            "pie limit 1000 target 20000us tupdate 15000us alpha 2 beta 20 ecn nobytemode",
        ),
        ('kind = "red", limit = "150kb", adaptive = true', RED),
        ('kind = "red", limit = "150kb", min = "30kb"', RED_FROM_MIN),
        ('kind = "fq", maxrate = "5mbit"', FQ),
        ('kind = "cake", ingress = true', f"cake unlimited {CAKE} ingress no-ack-filter"),
        (
            'kind = "cake", bandwidth = "9mbit"',
            f"cake bandwidth 9000000bit {CAKE} egress no-ack-filter",
        ),
    ],
)
def test_disciplines_are_linuxs_own_below_a_class(queue: str, command: str) -> None:
    text = GOOD.replace('buffer = "1bdp"', f"queue = {{ {queue} }}")
    found = lines(text)
    assert f"qdisc add dev r1 parent 1:1 handle 2: {command}" in [
        " ".join(x.split()) for x in found
    ]
    shaper = next(line for line in found if " htb rate " in line)
    assert "rate 8074667bit burst 4 cburst 4 quantum 1514" in shaper
    assert tool_config(scenario_of(text), 1)["bottleneck_class"] == 0x10001


def test_cake_with_a_bandwidth_below_the_link_is_the_shaper() -> None:
    queue = '"cake", bandwidth = "7mbit", isolation = "flows", overhead = "32b", atm = "atm"'
    text = GOOD.replace('buffer = "1bdp"', f"queue = {{ kind = {queue} }}")
    counted = CAKE.replace("triple-isolate raw", "flows overhead 32").replace("noatm", "atm")
    shaper = f"qdisc add dev r1 root handle 1: cake bandwidth 7000000bit {counted} egress"
    found = [" ".join(line.split()) for line in lines(text)]
    assert f"{shaper} no-ack-filter" in found
    assert not any(" htb " in line for line in found)
    assert tool_config(scenario_of(text), 1)["bottleneck_class"] is None


HTB = """kind = "htb", rate = "7mbit", r2q = 5, classes = [
    { dscp = "af41", rate = "1mbit", ceil = "7mbit", quantum = 3000 },
    { rate = "6mbit", prio = 1 },
]"""


def test_htb_is_the_shaper_with_a_filter_for_each_code_point() -> None:
    text = GOOD.replace('buffer = "1bdp"', f'buffer = "30kb"\nqueue = {{ {HTB} }}')
    found = [" ".join(line.split()) for line in lines(text)]
    bursts = "burst 1600 cburst 1600"
    root = "qdisc add dev r1 root handle 1: htb default 11 r2q 5"
    below = "class add dev r1 parent 1:1 classid"
    first = f"rate 1000000bit ceil 7000000bit {bursts} prio 0 quantum 3000"
    rule = "filter add dev r1 parent 1: protocol ip prio 1 u32"
    at = found.index(root)
    assert found[at : at + 7] == [
        root,
        f"class add dev r1 parent 1: classid 1:1 htb rate 7000000bit ceil 7000000bit {bursts}",
        f"{below} 1:10 htb {first}",
        "qdisc add dev r1 parent 1:10 handle 10: bfifo limit 30280",
        f"{rule} match ip dsfield 0x88 0xfc flowid 1:10",
        f"{below} 1:11 htb rate 6000000bit ceil 6000000bit {bursts} prio 1",
        "qdisc add dev r1 parent 1:11 handle 11: bfifo limit 30280",
    ]
    scenario = scenario_of(text)
    assert tool_config(scenario, 1)["bottleneck_class"] is None
    assert not crosses_router(scenario)
    # A shaper that is faster than its link is none.
    assert crosses_router(scenario_of(text.replace("7mbit", "9mbit")))


def test_the_service_htb_is_a_class_over_the_queue() -> None:
    service = 'service = { kind = "htb", rate = "7mbit", burst = "2kb", device = "100mbit" }'
    text = GOOD.replace('buffer = "1bdp"', f'buffer = "20pkt"\n{service}')
    found = [" ".join(line.split()) for line in lines(text)]
    shape = "rate 7000000bit ceil 7000000bit burst 2000 cburst 1600 quantum 1514"
    assert f"class add dev r1 parent 1: classid 1:1 htb {shape}" in found
    assert "qdisc add dev r1 parent 1:1 handle 2: pfifo limit 20" in found
    assert any(line.endswith("rate 100933334bit") for line in found)
    assert tool_config(scenario_of(text), 1)["bottleneck_class"] == 0x10001
    assert not crosses_router(scenario_of(text))


def test_code_points_have_their_bits() -> None:
    names = {"cs0": 0, "cs6": 48, "af11": 10, "af43": 38, "ef": 46, "va": 44, "le": 1}
    assert {name: dscp_bits(name) for name in names} == names


def test_the_tool_gets_the_scenario() -> None:
    scenario = scenario_of(GOOD)
    config = tool_config(scenario, 10_000_000)
    assert config["scenario"] == scenario
    assert config["sample_ns"] == 10_000_000
    assert config["bottleneck_class"] is None
    # The simulator's connections are never given up, either.
    assert config["sysctls"]["net/ipv4/tcp_syn_retries"] == "127"
    assert config["sysctls"]["net/ipv4/tcp_retries2"] == "255"


@pytest.mark.parametrize(("interval", "flows"), [("100ms", 1), ("7ms", 1), ("33ms", 40)])
def test_the_fine_interval_divides_the_interval(interval: str, flows: int) -> None:
    overrides = (f"run.sample_interval={interval}", f"flows.0.count={flows}")
    scenario = scenario_of(GOOD, overrides)
    fine = _interval(scenario)
    assert scenario["run"]["sample_interval_ns"] % fine == 0
    assert fine <= scenario["run"]["sample_interval_ns"]


def test_samples_are_no_closer_than_the_packets_of_a_slow_path() -> None:
    slow = ("path.rate=128kbit", "path.buffer=75kb", "run.sample_interval=10s")
    assert _interval(scenario_of(GOOD, slow)) == 100_000_000
    varying = scenario_of(GOOD, slow)
    varying["changes"] = [{"at_ns": 1, "rate_bps": 10**8}]
    assert _interval(varying) == 10_000_000


def test_received_bytes_look_past_holes_and_forget_duplicates() -> None:
    frame = pl.DataFrame(
        {
            "flow": [0, 0, 0, 0],
            "open_segments": [0, 10, 12, 0],
            "dsack_dups": [None, 0, 3, None],
            "mss": [None, 1000, 1000, None],
            "open_bytes": [0, 4000, 4000, 0],
            "arrived_bytes": [0, 4000, 4000, 12_000],
        }
    )
    # Two of the segments turn out to be duplicates, but nothing goes backwards.
    assert frame.select(received_bytes()).to_series().to_list() == [0, 10_000, 10_000, 12_000]


def test_bbr_shows_its_state_by_its_gains() -> None:
    scenario = scenario_of(GOOD.replace("cubic", "bbr") + '\n[[flows]]\ncca = "cubic"\n')
    gains = [(0, 0), (739, 739), (88, 739), (320, 512), (192, 512), (256, 512), (256, 256)]
    frame = pl.DataFrame(
        {
            "flow": [0] * 7 + [1, 1, 0],
            "cwnd": [10] * 8 + [30, None],
            "ssthresh": [20] * 10,
            "cc3": [pacing for pacing, _ in gains] + [0, 0, None],
            "cc4": [window for _, window in gains] + [0, 0, None],
        }
    )
    states = frame.select(cca_states(scenario)).to_series().to_list()
    expected = ["startup", "startup", "drain", "probe_bw", "probe_bw", "probe_bw", "probe_rtt"]
    assert states == [*expected, "slow_start", "congestion_avoidance", ""]


def test_captured_packets_are_numbered_across_connections_and_wraps() -> None:
    names = ["time_ns", "direction", "source", "destination", "seq", "ack", "payload", "flags"]
    top = 2**32 - 1
    rows = [
        (0, "out", 40000, 5001, top - 1000, 0, 0, 2, None),
        (1, "in", 5001, 40000, 9, top - 999, 0, 18, None),
        (2, "out", 40000, 5001, top - 999, 10, 1000, 16, None),
        (3, "out", 40000, 5001, 0, 10, 1000, 16, None),
        (4, "in", 5001, 40000, 10, top - 999, 0, 16, "0-1000"),
        (5, "out", 40000, 5001, top - 999, 10, 1000, 16, None),
        (6, "out", 40001, 5001, 70, 0, 0, 2, None),
        (7, "out", 40001, 5001, 71, 0, 1000, 16, None),
    ]
    frame = pl.DataFrame(rows, schema=[*names, "sack"], orient="row", infer_schema_length=None)
    table = packets(frame)
    assert table["event"].to_list() == ["sent", "sent", "ack_received", "sent", "sent"]
    assert table["seq"].to_list() == [0, 1, 0, 0, 0]
    assert table["retransmission"].to_list() == [False, False, False, True, False]
    assert table["instance"].to_list() == [0, 0, 0, 0, 1]
    assert table["flow"].to_list() == [1] * 5
    assert table["size"].to_list() == [1052, 1052, 64, 1052, 1052]
