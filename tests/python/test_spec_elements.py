"""Elements of a path by name: what may be written, and what a scenario then holds."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from specimens import GOOD, scenario_of, spec_of

from narrows.backends.sim import Simulator
from narrows.errors import SpecError
from narrows.listing import listing
from narrows.metrics.summary import summarise
from narrows.plan import plan
from narrows.spec import load, parse_study, registry
from narrows.spec.registry import presets

UNSIZED = GOOD.replace('buffer = "1bdp"\n', "")


def path_of(text: str, *overrides: str) -> dict[str, object]:
    path = scenario_of(text, overrides)["path"]
    assert isinstance(path, dict)
    return path


def refusal(text: str, *overrides: str) -> tuple[str, str, str]:
    with pytest.raises(SpecError) as caught:
        spec_of(text, overrides)
    (problem,) = caught.value.problems
    return problem.place, problem.found, problem.remedy


def test_a_name_stands_for_the_defaults_of_tc() -> None:
    path = path_of(UNSIZED, "path.queue=codel")
    assert path["buffer"] == {"packets": 1000}
    assert path["queue"] == {
        "kind": "codel",
        "target_ns": 5_000_000,
        "interval_ns": 100_000_000,
        "ecn": False,
        "ce_threshold_ns": None,
    }
    assert path_of(UNSIZED, "path.queue.kind=codel") == path


def test_parameters_are_written_as_for_tc() -> None:
    path = path_of(UNSIZED, 'path.queue={kind="codel", target="3ms", ecn=true, limit=50}')
    assert path["buffer"] == {"packets": 50}
    queue = path["queue"]
    assert isinstance(queue, dict)
    assert (queue["target_ns"], queue["ecn"], queue["interval_ns"]) == (3_000_000, True, 10**8)


@pytest.mark.parametrize(
    ("queue", "buffer", "expected"),
    [
        ("pie", "1bdp", {"packets": 14}),  # 20 000 bytes, rounded up
        ("pie", "30kb", {"packets": 20}),
        ("pie", "30pkt", {"packets": 30}),
        ("red", "30kb", {"bytes": 30_000}),
        ("red", "30pkt", {"bytes": 45_000}),
        ("docsis_pie", "1bdp", {"bytes": 20_000}),
        ("droptail", "30pkt", {"packets": 30}),
    ],
)
def test_the_buffer_is_the_limit_of_any_queue(
    queue: str, buffer: str, expected: dict[str, int]
) -> None:
    path = path_of(GOOD, f"path.queue={queue}", f"path.buffer={buffer}")
    assert path["buffer"] == expected


def test_rates_of_the_subscription_are_the_links() -> None:
    queue = path_of(GOOD, "path.queue=docsis_pie")["queue"]
    assert isinstance(queue, dict)
    assert (queue["max_sustained_rate_bps"], queue["peak_rate_bps"]) == (8_000_000, 8_000_000)


@pytest.mark.parametrize(
    ("override", "place", "found", "remedy"),
    [
        ("path.queue=cobel", "path.queue", '"cobel"', '"codel"'),
        ("path.queue={target='5ms'}", "path.queue.kind", "nothing", "droptail"),
        ("path.queue={kind='codel', taget='5ms'}", "path.queue.taget", "unknown", '"target"'),
        ("path.queue={kind='codel', target=5}", "path.queue.target", "5", '"5ms"'),
        ("path.queue={kind='codel', target='5m'}", "path.queue.target", '"m"', "ms"),
        ("path.queue={kind='codel', interval='0s'}", "path.queue.interval", '"0s"', "duration"),
        ("path.queue={kind='codel', ecn=1}", "path.queue.ecn", "1", "true or false"),
        ("path.queue={kind='codel', limit=5}", "path.queue.limit", "both", "one of the two"),
        ("path.queue={kind='pie', alpha=33}", "path.queue.alpha", "33", "from 0 to 32"),
        ("path.queue={kind='red', probability=2}", "path.queue.probability", "2", "from 0 to 1"),
        ("path.queue=3", "path.queue", "3", "queue discipline"),
    ],
)
def test_mistakes_are_located(override: str, place: str, found: str, remedy: str) -> None:
    told = refusal(GOOD, override)
    assert told[0] == place
    assert found in told[1]
    assert remedy in told[2]


def test_a_queue_without_a_default_needs_its_room() -> None:
    assert refusal(UNSIZED, "path.queue=red")[0] == "path.buffer"
    assert refusal(UNSIZED)[0] == "path.buffer"


def test_parameters_that_dont_go_together_are_refused() -> None:
    wrong = "path.queue={kind='red', min='90kb', max='30kb'}"
    with pytest.raises(SpecError, match=r"path\.queue\.min: .*less than max"):
        spec_of(GOOD, [wrong])


@pytest.mark.parametrize("queue", sorted(registry.queues()))
def test_every_queue_carries_traffic(queue: str) -> None:
    changes = [f"path.queue={queue}", "path.buffer=4bdp", "path.rtt=40ms"]
    result = Simulator().run(scenario_of(GOOD, changes))
    last = result.tables["queue_samples"].row(-1, named=True)
    assert last["forwarded_bytes"] > 0.6 * 2e6  # of 8 Mbit/s for two seconds


def test_the_list_names_every_parameter_with_its_default() -> None:
    rows = [row[0].strip() for row in listing("queues")]
    for name, entry in registry.queues().items():
        assert name in rows
        for parameter in entry["parameters"]:
            assert parameter["name"] in rows
            assert parameter["shown"]


def test_a_preset_gives_the_fields_that_are_left_out() -> None:
    text = '[path]\npreset = "lte"\n' + GOOD[GOOD.index("[[flows]]") :]
    path = path_of(text, "path.rtt=30ms", "path.queue=codel", "path.buffer=500pkt")
    service, queue = path["service"], path["queue"]
    assert isinstance(service, dict)
    assert isinstance(queue, dict)
    assert (service["kind"], service["slot_ns"]) == ("cellular", 1_000_000)
    assert (path["rtt_ns"], queue["kind"]) == (30_000_000, "codel")
    assert refusal(text, "path.preset=lye")[0] == "path.preset"


@pytest.mark.parametrize("name", sorted(presets()))
def test_every_preset_says_where_it_comes_from_and_carries_traffic(name: str) -> None:
    text = f'[path]\npreset = "{name}"\n' + GOOD[GOOD.index("[[flows]]") :]
    assert all(getattr(presets()[name], key) for key in ("summary", "source"))
    result = Simulator().run(scenario_of(text))
    assert result.tables["queue_samples"].filter(link=0)["forwarded_packets"].max() > 40


@pytest.mark.parametrize("name", sorted(set(presets()) - {"geo"}))
def test_no_preset_delivers_more_than_its_rate(name: str) -> None:
    """Utilisation and bandwidth-delay products go by the rate: it is what the service gives."""
    text = f'[path]\npreset = "{name}"\n\n[[flows]]\ncca = "cubic"\n\n'
    seconds = ("0.5s", "1s") if name == "datacentre" else ("3s", "5s")
    text += '[host]\nsocket_buffers = "unlimited"\n\n'
    text += '[run]\nwarmup = "{}"\nduration = "{}"\n'.format(*seconds)
    scenario = scenario_of(text)
    result = Simulator().run(scenario)
    used = summarise(scenario, result.tables, result.info)["bottleneck"]["utilization"]
    assert used <= 1.0005
    assert used > 0.97 or name != "wifi"


def test_a_trace_by_hand_gives_mahimahis_opportunities(tmp_path: Path) -> None:
    """Packets of 1,500 bytes leave at the trace's ms, over and over, and at no other time."""
    (tmp_path / "small.trace").write_text("2\n2\n5\n", encoding="ascii")
    text = GOOD.replace(
        'rtt = "20ms"', 'rtt = "20ms"\nservice = { kind = "trace", file = "small.trace" }'
    )
    file = tmp_path / "spec.toml"
    file.write_text(text, encoding="utf-8")
    spec = load(file, ["run.record=packets"]).spec
    scenario = plan(spec, "test").trials[0].scenario
    assert scenario["path"]["service"] == {"kind": "trace", "opportunities_ms": [2, 2, 5]}
    packets = Simulator().run(scenario).tables["packets"]
    left = packets.filter(pl.col("event") == "forwarded", pl.col("size") == 1500)["time_s"]
    times = (left * 1e3).round(6).to_list()
    assert {time % 5 for time in times} == {0.0, 2.0}
    late = [time for time in times if 1000 <= time < 1500]
    # Saturated: three packets in 5 ms, two of them at 2 ms.
    assert late == [step for n in range(100) for step in (1000 + 5 * n, *(1002 + 5 * n,) * 2)]


@pytest.mark.parametrize(
    ("lines", "found"),
    [("1\nx\n", "line 2"), ("3\n2\n", "line 2"), ("0\n", "after 0 ms"), ("", "after 0 ms")],
)
def test_a_bad_trace_is_located(tmp_path: Path, lines: str, found: str) -> None:
    (tmp_path / "bad.trace").write_text(lines, encoding="ascii")
    file = tmp_path / "spec.toml"
    service = 'service = { kind = "trace", file = "bad.trace" }'
    file.write_text(GOOD.replace('rtt = "20ms"', f'rtt = "20ms"\n{service}'), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load(file)
    assert caught.value.place == "path.service.file"
    assert found in caught.value.problems[0].found


@pytest.mark.parametrize(
    ("override", "place"),
    [
        ("path.service=wify", "path.service"),
        ("path.service.kind=tbf", "path.service.burst"),
        ('path.service={kind="steps", rates={"1s"=3}}', "path.service.rates"),
        ('path.service={kind="trace", file="none"}', "path.service.file"),
        ('path.impairments=[{kind="los", probability=0.1}]', "path.impairments[0].kind"),
        ('path.impairments=[{kind="loss", direction="up"}]', "path.impairments[0].direction"),
        ('path.impairments=[{kind="loss"}]', "path.impairments[0].probability"),
        ('path.links=[{name="bottleneck", rate="1mbit", buffer="9pkt"}]', "path.links[0].name"),
        ('path.links=[{name="x", rate="1mbit"}]', "path.links[0].buffer"),
        ('path.reverse={rate="1mbit"}', "path.reverse.buffer"),
        ("flows.0.reverse=true", "flows[0].reverse"),
        ('flows.0.links=["x"]', "flows[0].links"),
    ],
)
def test_wrong_elements_and_topologies_are_located(override: str, place: str) -> None:
    assert refusal(GOOD, override)[0] == place


def test_an_element_of_a_list_can_be_swept() -> None:
    text = GOOD.replace(
        "[[flows]]", '[[path.impairments]]\nkind = "loss"\nprobability = [0.0, 0.1]\n\n[[flows]]', 1
    )
    (axis,) = parse_study(text, "x").axes
    assert (axis.place, axis.values) == ("path.impairments[0].probability", (0.0, 0.1))


def test_the_summary_names_every_link() -> None:
    changes = [
        'path.links=[{name="second", rate="4mbit", buffer="1bdp"}]',
        'path.reverse={rate="1mbit", buffer="50pkt"}',
    ]
    scenario = scenario_of(GOOD, changes)
    result = Simulator().run(scenario)
    summary = summarise(scenario, result.tables, result.info)
    assert [link["name"] for link in summary["links"]] == ["bottleneck", "second", "reverse"]
    assert summary["links"][0] == {"name": "bottleneck", **summary["bottleneck"]}
    assert summary["links"][1]["utilization"] > 0.9 > summary["links"][0]["utilization"]
