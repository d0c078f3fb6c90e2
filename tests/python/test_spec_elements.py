"""Elements of a path by name: what may be written, and what a scenario then holds."""

from __future__ import annotations

import pytest
from specimens import GOOD, scenario_of, spec_of

from narrows.backends.sim import Simulator
from narrows.errors import SpecError
from narrows.listing import listing
from narrows.spec import registry
from narrows.spec.elements import Element, show_default

UNSIZED = GOOD.replace('buffer = "1bdp"\n', "")


def path_of(text: str, *overrides: str) -> dict[str, object]:
    path = scenario_of(text, overrides)["path"]
    assert isinstance(path, dict)
    return path


def refused(text: str, *overrides: str) -> tuple[str, str, str]:
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
def test_what_is_wrong_is_located(override: str, place: str, found: str, remedy: str) -> None:
    told = refused(GOOD, override)
    assert told[0] == place
    assert found in told[1]
    assert remedy in told[2]


def test_a_queue_without_a_default_needs_its_room() -> None:
    assert refused(UNSIZED, "path.queue=red")[0] == "path.buffer"
    assert refused(UNSIZED)[0] == "path.buffer"


def test_parameters_that_dont_go_together_are_refused() -> None:
    scenario = scenario_of(GOOD, ["path.queue={kind='red', min='90kb', max='30kb'}"])
    with pytest.raises(SpecError, match=r"path.queue.min_bytes.*less than max"):
        Simulator().run(scenario)


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
            assert show_default(parameter)


def test_an_element_is_plain_data() -> None:
    assert spec_of(GOOD).path.queue == Element("droptail")
