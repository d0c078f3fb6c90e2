"""Workloads: from what a person writes to what comes out."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from specimens import GOOD, scenario_of, spec_of

from narrows.backends import get_backend
from narrows.errors import SpecError
from narrows.metrics import summarise
from narrows.plan import plan
from narrows.spec import load
from narrows.spec.values import to_toml

EXAMPLES = Path(__file__).parents[2] / "experiments" / "workloads"


CERTAIN = 2**32
"""A probability of 1 in a table."""
KINDS = (
    "poisson", "arrivals", "on_off", "requests", "video", "adaptive_video", "web", "udp", "ping",
)  # fmt: skip


def law(**table: object) -> dict[str, Any]:
    """The table of a distribution of times."""
    workload = to_toml({"workload": {"kind": "arrivals", "gap": table, "size": "1b"}})
    text = GOOD.replace(
        'cca = "cubic"', 'cca = "cubic"\n' + workload.replace("[workload]", "[flows.workload]")
    )
    flow = spec_of(text).scenario["flows"][0]
    assert flow["workload"] is not None
    gap: dict[str, Any] = flow["workload"]["gap_ns"]
    return gap


def mean(points: list[list[int]]) -> float:
    pairs = pairwise(points)
    return sum((q - p) * (low + high) / 2 for (p, low), (q, high) in pairs) / CERTAIN


def quantile(points: list[list[int]], share: float) -> float:
    at = share * CERTAIN
    for (p, low), (q, high) in pairwise(points):
        if p <= at <= q:
            return low + (high - low) * (at - p) / (q - p)
    raise AssertionError


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"kind": "exponential", "mean": "1s"}, 1e9),
        ({"kind": "uniform", "min": "1s", "max": "3s"}, 2e9),
        ({"kind": "lognormal", "mean": "1s", "sigma": 1.0}, 1e9),
        ({"kind": "lognormal", "median": "1s", "sigma": 2}, math.exp(2) * 1e9),
        ({"kind": "pareto", "min": "1s", "shape": 2.5}, 2.5 / 1.5 * 1e9),
        ({"kind": "pareto", "min": "1s", "shape": 1.0, "max": "100s"}, math.log(100) / 0.99 * 1e9),
        ({"kind": "empirical", "points": [["1s", 0], ["3s", 0.5], ["3s", 1]]}, 2.5e9),
    ],
)
def test_tables_have_the_mean_of_their_distribution(table: Any, expected: float) -> None:
    assert mean(law(**table)["points"]) == pytest.approx(expected, rel=0.002)


def test_tables_have_the_quantiles_of_their_distribution() -> None:
    exponential = law(kind="exponential", mean="1s")["points"]
    lognormal = law(kind="lognormal", median="1s", sigma=1)["points"]
    for share in (0.01, 0.3, 0.5, 0.9, 0.99, 0.9999):
        assert quantile(exponential, share) == pytest.approx(-1e9 * math.log(1 - share), rel=0.02)
    assert quantile(lognormal, 0.5) == pytest.approx(1e9, rel=0.001)
    assert quantile(lognormal, 0.975) == pytest.approx(1e9 * math.exp(1.959964), rel=0.005)
    assert quantile(lognormal, 0.025) == pytest.approx(1e9 * math.exp(-1.959964), rel=0.005)


def test_a_file_becomes_a_part_of_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "sizes.txt").write_text("# bytes, share\n1kb 0.25\n20kb, 0.75\n\n1mb 1  # rare\n")
    text = GOOD + (
        '\n[[flows]]\ncca = "reno"\nworkload = { kind = "requests", think = "1s", '
        'size = { kind = "empirical", file = "sizes.txt" } }\n'
    )
    spec = tmp_path / "spec.toml"
    spec.write_text(text)
    workload = load(spec).spec.scenario["flows"][-1]["workload"]
    assert workload is not None
    quarter = CERTAIN // 4
    assert workload["size_bytes"]["points"] == [
        [0, 1000],
        [quarter, 1000],
        [3 * quarter, 20_000],
        [CERTAIN, 1_000_000],
    ]


SIZED = 'size = "10kb"'


@pytest.mark.parametrize(
    ("workload", "place", "words"),
    [
        ("5", "workload", 'found 5; a table with a kind, such as { kind = "poisson"'),
        ('{ kind = "poison" }', "workload.kind", 'not a workload; "poisson"'),
        ("{ rate = 3 }", "workload.kind", "found nothing; one of"),
        ('{ kind = "poisson", rate = "5/s" }', "workload.size", "found nothing"),
        (f'{{ kind = "poisson", rate = "5", {SIZED} }}', "workload.rate", '"5/s"'),
        (f'{{ kind = "poisson", rate = "0/s", {SIZED} }}', "workload.rate", '"5/s"'),
        (f'{{ kind = "poisson", rate = "1/s", {SIZED}, on = "1s" }}', "workload.on", "unknown"),
        (f'{{ kind = "arrivals", gap = "0s", {SIZED} }}', "workload.gap", "more than zero"),
        ('{ kind = "requests", size = "10pkt" }', "workload.size", "a size in bytes"),
        ('{ kind = "requests", size = { kind = "gauss" } }', "workload.size.kind", "distribution"),
        (
            '{ kind = "requests", size = { kind = "pareto", min = "1kb", shape = 0 } }',
            "workload.size.shape",
            "a number above 0",
        ),
        (
            '{ kind = "requests", size = { kind = "pareto", min = "1kb", shape = 0.2 } }',
            "workload.size",
            "a lighter tail",
        ),
        (
            '{ kind = "requests", size = { kind = "lognormal", sigma = 1 } }',
            "workload.size.median",
            "either `median` or `mean`",
        ),
        (
            '{ kind = "requests", size = { kind = "exponential", mean = "1kb", max = "2kb" } }',
            "workload.size.max",
            "an unknown key",
        ),
        (
            '{ kind = "requests", size = { kind = "empirical", file = "none.txt" } }',
            "workload.size.file",
            "a readable text file of",
        ),
        (
            '{ kind = "requests", size = { kind = "empirical", points = [["2kb", 0.5]] } }',
            "workload.size.points",
            "1 at the end",
        ),
        (
            '{ kind = "requests", size = { kind = "empirical", points = [["2b", 1], ["1b", 1]] } }',
            "workload.size.points",
            "ascend",
        ),
        (f'{{ kind = "web", html = "50kb", http = 3, {SIZED} }}', "workload.http", '"1.1" or "2"'),
        (
            f'{{ kind = "web", html = "50kb", levels = 0, {SIZED} }}',
            "workload.levels",
            "from 1 to",
        ),
        ('{ kind = "udp", size = "1kb" }', "workload.rate", "found nothing"),
        ('{ kind = "udp", rate = "1mbit", size = "2kb" }', "workload.size", "what fits a packet"),
        ('{ kind = "udp", rate = "1mbit", burst = 0 }', "workload.burst", "from 1 to"),
        ('{ kind = "ping", interval = "0s" }', "workload.interval", "above zero"),
        ('{ kind = "ping", size = "3pkt" }', "workload.size", "a size in bytes"),
        (
            '{ kind = "media", control = "gcc" }',
            "workload.control",
            '"nada", "scream", "scream_program" or "none"',
        ),
        ('{ kind = "media", min = "2mbit" }', "workload.min", "at most `max`"),
        ('{ kind = "media", max = "100kbit" }', "workload.max", "`min` or more"),
        ('{ kind = "media", packet = "60b" }', "workload.packet", "100"),
        ('{ kind = "media", fps = 0 }', "workload.fps", "from 1 to"),
        ('{ kind = "media", reaction = 3 }', "workload.reaction", '"200ms"'),
        ('{ kind = "video", bitrate = "5mbit" }', "workload.chunk", "found nothing"),
        (
            '{ kind = "adaptive_video", bitrates = "5mbit", chunk = "4s" }',
            "workload.bitrates",
            "a list of rates above zero",
        ),
        (
            '{ kind = "adaptive_video", bitrates = ["0mbit"], chunk = "4s" }',
            "workload.bitrates",
            "a list of rates above zero",
        ),
        (
            '{ kind = "video", bitrate = "5mbit", chunk = "4s", buffer = "6s" }',
            "workload.buffer",
            '"8s" or more',
        ),
    ],
)
def test_a_wrong_workload_is_reported_with_its_place(workload: str, place: str, words: str) -> None:
    cca = "none" if any(kind in workload for kind in ('"udp"', '"ping"', '"media"')) else "reno"
    with pytest.raises(SpecError) as caught:
        spec_of(GOOD + f'\n[[flows]]\ncca = "{cca}"\nworkload = {workload}\n')
    (problem,) = caught.value.problems
    assert problem.place == f"flows[1].{place}"
    assert words in f"found {problem.found}; {problem.remedy}"


def test_a_workload_and_a_size_exclude_each_other() -> None:
    text = f'\n[[flows]]\ncca = "reno"\nsize = "1mb"\nworkload = {{ kind = "requests", {SIZED} }}\n'
    with pytest.raises(SpecError, match=r"flows\[1\].size: found `size` beside a workload"):
        spec_of(GOOD + text)


def test_a_window_is_the_flows_or_the_hosts() -> None:
    def windows(*overrides: str) -> list[int | None]:
        flows = scenario_of(GOOD, overrides)["flows"]
        return [flow["receive_window_bytes"] for flow in flows]

    assert windows() == [None]
    assert windows('host.receive_window="64kb"') == [64_000]
    assert windows('host.receive_window="64kb"', 'flows.0.receive_window="20kb"') == [20_000]
    with pytest.raises(SpecError, match=r"flows\[0\]\.receive_window.*room for a packet"):
        spec_of(GOOD, ['flows.0.receive_window="100b"'])


def examples() -> list[Path]:
    return sorted(EXAMPLES.glob("*.toml"))


@pytest.mark.parametrize("path", examples(), ids=lambda path: path.stem)
def test_each_example_shows_its_workload(path: Path) -> None:
    """Each shows its workload: something completes, or the flow pauses."""
    scenario = plan(load(path).spec, "1").trials[0].scenario
    result = get_backend("sim").run(scenario)
    summary = summarise(scenario, result.tables, result.info)
    flows = [flow for flow in summary["flows"] if "workload" in flow]
    assert flows
    for flow in flows:
        workload = flow["workload"]
        assert flow["goodput_mbps"] > 0
        if workload["kind"] in ("on_off", "udp", "ping"):
            assert workload["completed"] == 0
            continue
        assert workload["completed"] > 5
        times = workload["completion_s"]
        assert 0 < times["p50"] <= times["p95"] <= times["p99"] <= times["max"]
        if workload["kind"].endswith("video"):
            assert workload["startup_s"] > 0


def test_there_is_an_example_of_each_kind() -> None:
    text = "".join(path.read_text() for path in examples())
    assert all(f'kind = "{kind}"' in text for kind in KINDS)


def test_tables_hold_what_the_application_saw(tmp_path: Path) -> None:
    """Also beside a flow without a workload, which has none of these columns."""
    import narrows as nw

    client = nw.Flow(cca="cubic", workload={"kind": "requests", "size": "100kb"})
    path = nw.Path(rate="20mbit", rtt="20ms", buffer="1bdp")
    scenario = nw.Scenario(
        name="tables", path=path, flows=[nw.Flow(cca="bbr"), client], run=nw.Run(duration="5s")
    )
    flows = nw.run(scenario, out=tmp_path / "run").table("flows")
    kinds, completed = flows["workload"].to_list(), flows["completed"].to_list()
    assert (kinds, completed[0]) == ([None, "requests"], None)
    assert completed[1] > 3
    assert 0.02 < flows["completion_p50_s"][1] <= flows["completion_max_s"][1] < 5


def test_an_adaptive_video_takes_what_the_path_has(tmp_path: Path) -> None:
    """A bitrate near the rate of the link, without an interruption; the metrics by hand."""
    import narrows as nw

    work = {"kind": "adaptive_video", "bitrates": ["1mbit", "3mbit", "6mbit"], "chunk": "1s"}
    film = nw.Flow(cca="cubic", workload={**work, "buffer": "10s"})
    path = nw.Path(rate="5mbit", rtt="20ms", buffer="1bdp")
    scenario = nw.Scenario(name="film", path=path, flows=[film], run=nw.Run(duration="60s"))
    result = nw.run(scenario, out=tmp_path / "run")
    (row,) = result.table("flows").to_dicts()
    sizes = result.table("completions").sort("start_s")["size_bytes"].to_list()
    assert (row["stalls"], row["between_stalls_s"]) == (0, None)
    assert 3 < row["mean_bitrate_mbps"] < 5
    assert row["mean_bitrate_mbps"] == pytest.approx(sum(sizes) * 8e-6 / len(sizes))
    assert row["switches"] == sum(one != other for one, other in pairwise(sizes)) > 0


def test_a_video_above_the_rate_plays_for_a_while_between_its_stalls(tmp_path: Path) -> None:
    import narrows as nw

    work = {"kind": "video", "bitrate": "10mbit", "chunk": "1s", "start": "1s", "buffer": "4s"}
    path = nw.Path(rate="8mbit", rtt="20ms", buffer="1bdp")
    film = nw.Flow(cca="cubic", workload=work)
    scenario = nw.Scenario(name="film", path=path, flows=[film], run=nw.Run(duration="30s"))
    (row,) = nw.run(scenario, out=tmp_path / "run").table("flows").to_dicts()
    assert row["stalls"] > 10
    assert row["between_stalls_s"] == pytest.approx(1, abs=0.15), "it plays a chunk, then waits"


def test_late_transfers_are_those_beyond_the_deadline(tmp_path: Path) -> None:
    import narrows as nw

    work = {"kind": "requests", "size": "100kb", "think": "100ms"}
    calls = nw.Flow(cca="cubic", name="calls", deadline="100ms", workload=work)
    path = nw.Path(rate="20mbit", rtt="20ms", buffer="2bdp")
    flows = [calls, nw.Flow(cca="reno", start="2s")]
    run = nw.Run(duration="8s", warmup="0s")
    scenario = nw.Scenario(name="rpc", path=path, flows=flows, run=run)
    result = nw.run(scenario, out=tmp_path / "run")
    done = result.table("completions")
    slow = ((done["end_s"] - done["start_s"]) > 0.1).mean()
    (row,) = result.table("summary").to_dicts()
    assert slow is not None
    assert 0 < row["calls.late"] == slow < 1
    with pytest.raises(SpecError, match=r"flows\[0\]\.deadline.*a deadline without transfers"):
        spec_of(GOOD, ['flows.0.deadline="1s"'])


def test_only_datagrams_have_no_control() -> None:
    probe = 'workload = { kind = "ping" }'
    for cca, work in (("cubic", probe), ("none", "")):
        with pytest.raises(SpecError, match=r"flows\[1\]\.cca: found"):
            spec_of(GOOD + f'\n[[flows]]\ncca = "{cca}"\n{work}\n')


@pytest.mark.parametrize("name", ["kernel", pytest.param("uml", marks=pytest.mark.needs("uml"))])
def test_probes_run_on_the_simulator_alone(name: str) -> None:
    scenario = scenario_of(GOOD + '\n[[flows]]\ncca = "none"\nworkload = { kind = "ping" }\n')
    with pytest.raises(SpecError, match="runs on the simulator alone"):
        get_backend(name).check(scenario)


def test_a_list_of_bitrates_is_no_sweep() -> None:
    work = '{ kind = "adaptive_video", bitrates = ["1mbit", "2mbit"], chunk = "1s" }'
    flow = spec_of(GOOD + f'\n[[flows]]\ncca = "reno"\nworkload = {work}\n').scenario["flows"][1]
    assert flow["workload"] is not None
    assert flow["workload"]["bitrates_bps"] == [1_000_000, 2_000_000]


def test_probes_measure_the_queue_and_datagrams_their_loss(tmp_path: Path) -> None:
    """Beside a source of 8 Mbit/s on a link of 6 the queue is full, and a quarter is lost.

    The probes' interval isn't a multiple of the packets', so some probes find room.
    """
    import narrows as nw

    flood = {"kind": "udp", "rate": "8mbit", "size": "1472b"}
    flows = [
        nw.Flow(cca="none", name="probe", workload={"kind": "ping", "interval": "51.3ms"}),
        nw.Flow(cca="none", name="flood", workload=flood),
    ]
    path = nw.Path(rate="6mbit", rtt="30ms", buffer="30kb")
    scenario = nw.Scenario(name="probe", path=path, flows=flows, run=nw.Run(duration="10s"))
    result = nw.run(scenario, out=tmp_path / "run")
    probe, source = result.table("flows").to_dicts()
    assert 0.030 + 0.035 < probe["rtt_p50_ms"] / 1e3 < 0.030 + 0.042, "30 kB take 40 ms"
    assert source["goodput_mbps"] == pytest.approx(6 * 1472 / 1500, rel=0.02)
    rows = result.table("flow_samples").filter(flow=1)
    assert rows["sent"][-1] == pytest.approx(8e6 * 10 / 8 / 1472, abs=2)
    lost = rows["dropped"][-1] / rows["sent"][-1]
    assert lost == pytest.approx(1 - 6 / (8 * 1500 / 1472), abs=0.02)


def test_pages_load_faster_over_one_connection_that_keeps_its_window(tmp_path: Path) -> None:
    """By hand: with one level, a page of small objects takes three round trips over HTTP/2."""
    import narrows as nw

    def page_s(http: str, objects: int) -> list[float]:
        size = {"html": "10kb", "size": "10kb", "levels": 1, "think": "100ms"}
        work = {"kind": "web", "http": http, "objects": objects, **size}
        flow = nw.Flow(cca="cubic", workload=work)
        path = nw.Path(rate="1gbit", rtt="50ms", buffer="1bdp")
        scenario = nw.Scenario(name="web", path=path, flows=[flow], run=nw.Run(duration="5s"))
        result = nw.run(scenario, out=tmp_path / f"{http}-{objects}")
        done = result.table("completions").sort("start_s")
        assert set(done["size_bytes"].to_list()) == {10_000 * (objects + 1)}
        assert done["flow"].len() > 5
        return (done["end_s"] - done["start_s"]).to_list()

    handshake_html_objects = 0.150
    for took in page_s("2", 1) + page_s("1.1", 1):
        assert took == pytest.approx(handshake_html_objects, abs=0.002)
    # Twelve objects over six connections: five of them connect first, then carry a second one.
    for took in page_s("1.1", 12):
        assert took == pytest.approx(0.050 * 5, abs=0.01)
    # Over one, 120 kB double the window of 14 to 28 packets three times.
    for took in page_s("2", 12):
        assert took == pytest.approx(0.050 * 5, abs=0.01)


@pytest.mark.parametrize("kind", ["udp", "ping"])
def test_a_duplicate_is_no_goodput(kind: str) -> None:
    """The receiver's payload counts each datagram once, and so do the answers."""
    rate = ', rate = "2mbit"' if kind == "udp" else ', interval = "2ms"'
    text = f"""
[path]
rate = "10mbit"
rtt = "20ms"
buffer = "1bdp"
impairments = [{{ kind = "duplicate", probability = 0.5 }}]
[[flows]]
cca = "none"
workload = {{ kind = "{kind}"{rate} }}
[run]
duration = "3s"
warmup = "0s"
"""
    scenario = scenario_of(text)
    result = get_backend("sim").run(scenario)
    last = result.tables["flow_samples"].row(-1, named=True)
    payload = 1200 if kind == "udp" else 56
    assert 0.9 * last["sent"] < last["received_bytes"] / payload <= last["sent"]
    assert last["delivered"] <= last["sent"]
