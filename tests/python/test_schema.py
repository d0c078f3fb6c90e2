"""The JSON Schema of specifications: every experiment is valid, and what narrows refuses isn't."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from specimens import GOOD, TOGETHER

from narrows import _native

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
SPECIFICATIONS = [
    str(file.relative_to(EXPERIMENTS))
    for file in sorted(EXPERIMENTS.rglob("*.toml"))
    if file.name != "Cargo.toml"
]

BROKEN = {
    "an unknown table": ("[run]", "[runs]", "$"),
    "an unknown key": ("buffer", "bufer", "$.path"),
    "no unit": ('"8mbit"', "8", "$.path.rate"),
    "a unit of something else": ("8mbit", "8ms", "$.path.rate"),
    "an unknown control": ('"cubic"', '"cubik"', "$.flows[0].cca"),
    "another control's option": (
        '"cubic"',
        '"cubic"\noptions = { probe_rtt = "1s" }',
        "$.flows[0].options",
    ),
    "an option out of its bounds": (
        '"cubic"',
        '"cubic"\noptions = { beta = 0 }',
        "$.flows[0].options.beta",
    ),
    "an unknown queue": ('"1bdp"', '"1bdp"\nqueue = "dropttail"', "$.path.queue"),
    "a queue without its parameter": (
        '"1bdp"',
        '"1bdp"\nqueue = { kind = "tbf" }',
        "$.path.queue",
    ),
    "an unknown workload": (
        '"cubic"',
        '"cubic"\nworkload = { kind = "vidoe" }',
        "$.flows[0].workload",
    ),
    "a workload's unknown parameter": (
        '"cubic"',
        '"cubic"\nworkload = { kind = "on_off", on = "1s", of = "1s" }',
        "$.flows[0].workload",
    ),
    "a distribution in the wrong unit": (
        '"cubic"',
        '"cubic"\nworkload = { kind = "requests", size = { kind = "exponential", mean = "1s" } }',
        "$.flows[0].workload",
    ),
    "a list of flows that is a table": ("[[flows]]", "[flows]", "$.flows"),
    "a duration as a date": ('"2s"', "2024-01-01", "$.run.duration"),
    "a range without an end": ('"2s"', '{ from = "1s" }', "$.run.duration"),
}


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    made = json.loads(_native.schema())
    jsonschema.Draft202012Validator.check_schema(made)
    return jsonschema.Draft202012Validator(made)


def wrong(schema: jsonschema.Draft202012Validator, text: str) -> list[str]:
    """The places at which a specification isn't valid."""
    return [error.json_path for error in schema.iter_errors(tomllib.loads(text))]


@pytest.mark.parametrize("name", SPECIFICATIONS)
def test_every_experiment_is_valid(schema: jsonschema.Draft202012Validator, name: str) -> None:
    assert wrong(schema, (EXPERIMENTS / name).read_text()) == []


@pytest.mark.parametrize("text", [GOOD, TOGETHER], ids=["good", "together"])
def test_every_key_is_known(schema: jsonschema.Draft202012Validator, text: str) -> None:
    assert wrong(schema, text) == []


@pytest.mark.parametrize("case", BROKEN)
def test_broken_specifications_are_not_valid(
    schema: jsonschema.Draft202012Validator, case: str
) -> None:
    old, new, place = BROKEN[case]
    assert GOOD.count(old) == 1
    assert place in wrong(schema, GOOD.replace(old, new))
