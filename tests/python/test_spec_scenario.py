"""The scenario that Python writes and the one that the engine reads are the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from specimens import GOOD, TOGETHER, scenario_of

from narrows import _native
from narrows.backends import get_backend
from narrows.errors import SpecError
from narrows.spec import registry
from narrows.spec.classes import OWN_HOST

CRATES = Path(__file__).parents[2] / "crates"
SOURCES = (CRATES / "spec/src/scenario.rs", CRATES / "net/src/path/config.rs")
WHOLE = [
    'path.impairments=[{kind="loss", probability=0.001}]',
    'path.links=[{name="second", rate="8mbit", buffer="1bdp"}]',
    'path.reverse={rate="2mbit", buffer="50pkt"}',
]
"""Elements of a path that no other specimen has."""
SELDOM = [
    'flows.0.deadline="1s"',
    'flows.0.dscp="ef"',
    'flows.1.notsent_lowat="128kb"',
    'flows.0.stack="quinn"',
    'flows.2.cca="fixed"',
    'flows.2.name="told"',
    """changes=[
        {at="1s", link="second", rate="5mbit"},
        {at="2s", rtt="30ms", loss=0.01},
        {at="3s", flow="told", window=10, pacing_rate="1mbit"},
        {at="4s", flow="told", stop=true},
        {at="5s", end=true},
    ]""",
]
"""Keys that a scenario has only if they were asked for."""
CALL = """
[[flows]]
name = "call"
cca = "none"
workload = { kind = "media", control = "nada", max = "1mbit" }
"""

Place = tuple[str | int, ...]


def spell(place: Place) -> str:
    """A place as people write it: `flows[0].cca`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return text.removeprefix(".")


def tables(value: Any, place: Place = ()) -> Iterator[Place]:
    """Where the tables of a scenario are; options are the control's own, laws of several forms."""
    if isinstance(value, dict) and not {"options", "deviation_ppm"} & set(place[-1:]):
        yield place
        for key, inner in value.items():
            yield from tables(inner, (*place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            of_its_own = place == ("flows",) and (
                inner["workload"] or "notsent_lowat_bytes" in inner
            )
            if index == 0 or place == ("changes",) or of_its_own:
                yield from tables(inner, (*place, index))


def at(value: Any, place: Place) -> Any:
    for step in place:
        value = value[step]
    return value


SCENARIO = scenario_of(TOGETHER + CALL, [*WHOLE, *SELDOM])
TABLES = list(tables(SCENARIO))
FIELDS = [(*place, key) for place in TABLES for key in at(SCENARIO, place)]


def refusal(scenario: dict[str, Any]) -> str:
    with pytest.raises(_native.ScenarioError) as caught:
        _native.run(json.dumps(scenario))
    return str(caught.value)


def test_the_engine_takes_every_field() -> None:
    assert _native.run(json.dumps(SCENARIO)).packets > 0


@pytest.mark.parametrize("place", TABLES, ids=str)
def test_the_engine_takes_no_other_field(place: Place) -> None:
    scenario = deepcopy(SCENARIO)
    at(scenario, place)["unheard_of"] = 1
    assert refusal(scenario).startswith(spell(place))


@pytest.mark.parametrize("place", FIELDS, ids=str)
def test_the_engine_looks_at_every_field(place: Place) -> None:
    scenario = deepcopy(SCENARIO)
    *way, last = place
    at(scenario, tuple(way))[last] = [["neither a number nor a text"]]
    assert refusal(scenario)


def test_python_fills_every_field_of_the_engine() -> None:
    source = "\n".join(file.read_text(encoding="utf-8") for file in SOURCES)
    expected = set()
    for struct in re.findall(r"pub struct \w+ \{(.*?)\n\}", source, re.DOTALL):
        renamed = re.sub(r'#\[serde\(rename = "(\w+)"\)\]\s+pub \w+:', r"pub \1:", struct)
        expected |= set(re.findall(r"pub (\w+):", renamed))
    element = {"kind", "probability"}
    written = {place[-1] for place in FIELDS} - {"bytes", "packets", *element}
    assert written - set(OWN_HOST) == expected - {"element", *OWN_HOST}


@pytest.mark.parametrize("field", ["host.socket_buffers", "run.record"])
def test_words_mean_the_same_on_both_sides(field: str) -> None:
    known = {
        "host.socket_buffers": ["raised", "stock", "unlimited"],
        "run.record": ["summary", "samples", "packets"],
    }[field]
    for word in known:
        assert _native.run(json.dumps(scenario_of(GOOD, [f"{field}={word}"]))).packets > 0
    table, key = field.split(".")
    message = refusal({**SCENARIO, table: {**SCENARIO[table], key: "unheard_of"}})
    assert all(word in message for word in known)


def test_every_name_of_the_registries_runs() -> None:
    for name in registry.queues():
        assert _native.run(json.dumps(scenario_of(GOOD, [f"path.queue={name}"]))).packets > 0
    for name in registry.profiles():
        assert _native.run(json.dumps(scenario_of(GOOD, [f"host.profile={name}"]))).packets > 0


def test_a_refusal_by_the_engine_is_an_error_with_its_place() -> None:
    scenario = {**SCENARIO, "path": {**SCENARIO["path"], "rate_bps": 0}}
    with pytest.raises(SpecError) as caught:
        get_backend("sim").run(scenario)
    assert caught.value.place == "path.rate_bps"
    assert caught.value.problems[0].found == "0"
    assert "above zero" in caught.value.remedy


def test_ecn_is_the_flows_then_the_controls_then_the_hosts() -> None:
    def modes(*overrides: str) -> list[str]:
        return [flow["ecn"] for flow in scenario_of(TOGETHER, overrides)["flows"]]

    assert modes() == ["off"] * 4
    assert modes('host.ecn="classic"') == ["classic"] * 4
    assert modes('host.ecn="classic"', 'flows.0.cca="dctcp"')[:2] == ["dctcp", "classic"]
    assert modes('flows.0.cca="dctcp"', 'flows.0.ecn="off"', 'flows.1.ecn="l4s"')[:2] == [
        "off",
        "l4s",
    ]


def test_hosts_of_a_flow_stand_in_a_scenario_only_where_they_are() -> None:
    changes = ['flows.0.profile="linux-4.9"', "flows.0.fq=true", 'flows.0.line_rate="225mbit"']
    changes += ['flows.0.sysctls.tcp_rmem="4096 131072 6291456"']
    flow = scenario_of(GOOD, changes)["flows"][0]
    assert (flow["profile"], flow["fq"], flow["line_rate_bps"]) == ("linux-4.9", True, 225_000_000)
    assert flow["sysctls"] == {"tcp_rmem": "4096 131072 6291456"}
    plain = scenario_of(GOOD)["flows"][0]
    assert not plain.keys() & set(OWN_HOST)
    for wrong in ("TCP_sack=1", 'tcp_sack="a\\nb"', "tcp_sack=true"):
        with pytest.raises(SpecError, match=r"flows\[0\].sysctls"):
            scenario_of(GOOD, [f"flows.0.sysctls.{wrong}"])
