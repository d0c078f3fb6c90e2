"""Random valid specifications: what holds for every run, and changes that change nothing.

Each test takes some seeds; `make fuzz` runs more, `NARROWS_SEEDS` of them from `NARROWS_FUZZ_FIRST`
on. A failure names its seed and prints the specification.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from physics import broken
from random_specifications import (
    choices,
    declared_keys,
    random_trial,
    schema,
    trial,
    write_files,
)
from relations import (
    ACTING,
    WATCHING,
    Document,
    apart,
    differing,
    flows_of,
    is_ordered,
    other_order,
    packets_too,
    sampled_places,
    share_an_instant,
)

from narrows.backends import get_backend
from narrows.metrics.summary import summarise
from narrows.plan import Trial
from narrows.store import RunRecord

FIRST = int(os.environ.get("NARROWS_FUZZ_FIRST", "1")) % 2**31
SEEDS = range(FIRST, FIRST + int(os.environ.get("NARROWS_SEEDS", "60")))
BATCHES = [SEEDS[begin : begin + 20] for begin in range(0, len(SEEDS), 20)]
batches = pytest.mark.parametrize("seeds", BATCHES, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with the files that specifications name."""
    return write_files(tmp_path_factory.mktemp("random"))


def run(made: Trial) -> tuple[RunRecord, dict[str, Any]]:
    """Runs a trial and summarises it."""
    result = get_backend("sim").run(made.scenario)
    return result, summarise(made.scenario, result.tables, result.info)


def failure_message(seed: int, document: Document, wrong: list[str]) -> str:
    """The message of a failure."""
    return "\n".join([f"seed {seed}", json.dumps(document), *wrong])


@batches
def test_every_run_keeps_the_invariants(files: Path, seeds: range) -> None:
    for seed in seeds:
        document, made = random_trial(seed, files)
        result, summary = run(made)
        wrong = broken(made.scenario, result, summary)
        assert not wrong, failure_message(seed, document, wrong)


@batches
def test_a_run_repeats_itself(files: Path, seeds: range) -> None:
    for seed in seeds[::10]:
        document, made = random_trial(seed, files)
        digests = {run(made)[0].info.digest for _ in range(2)}
        assert len(digests) == 1, failure_message(seed, document, sorted(digests))


@batches
@pytest.mark.parametrize("change", WATCHING)
def test_sampling_and_record_level_change_no_number(files: Path, seeds: range, change: str) -> None:
    for seed in seeds[::4]:
        document = with_samples(random_trial(seed, files)[0])
        made = trial(document, files)
        other = run(trial(WATCHING[change](document), files))[1]
        found = differing(run(made)[1], other, fewer=change == "summary alone")
        wrong = [
            line for line in found if not any(key in line for key in sampled_places(made.scenario))
        ]
        assert not wrong, failure_message(seed, document, wrong)


@batches
@pytest.mark.parametrize("change", ACTING)
def test_an_idle_element_and_a_late_flow_change_no_flow(
    files: Path, seeds: range, change: str
) -> None:
    for seed in seeds[::4]:
        document, made = random_trial(seed, files)
        other = run(trial(ACTING[change](document), files))[1]
        wrong = differing(flows_of(run(made)[1]), flows_of(other))
        assert not wrong, failure_message(seed, document, wrong)


@batches
def test_the_order_of_flows_changes_none_of_them(files: Path, seeds: range) -> None:
    for seed in seeds[::2]:
        document = packets_too(apart(random_trial(seed, files)[0]))
        made, other = (trial(one, files) for one in (document, other_order(document)))
        result, before = run(made)
        if not is_ordered(made.scenario, before) or share_an_instant(result.tables["packets"]):
            continue
        if flows_by_name(made) != flows_by_name(other):
            continue  # names such as "bbr-2" have moved to other flows
        after = run(other)[1]
        wrong = differing(flows_of(before), flows_of(after))
        assert not wrong, failure_message(seed, document, wrong)


def flows_by_name(made: Trial) -> dict[str, Any]:
    """The flows of a scenario by name."""
    return {flow["name"]: flow for flow in made.scenario["flows"]}


def with_samples(document: Document) -> Document:
    """The document with the default level of recording."""
    return {**document, "run": {**document["run"], "record": "samples"}}


def test_each_declared_key_has_its_turn(files: Path) -> None:
    """A new key or kind is drawn without a change here; some need others that may not come up."""
    keys = declared_keys()
    drawn = [(seed, choices(random_trial(seed, files)[0])) for seed in SEEDS]
    missing = [key for seed, used in drawn if (key := keys[seed % len(keys)]) not in used]
    assert len(keys) > 500
    assert len(missing) < 0.2 * len(drawn), missing


def test_specifications_are_valid_by_the_schema(files: Path) -> None:
    validator = jsonschema.Draft202012Validator(dict(schema()))
    for seed in SEEDS[:20]:
        document = random_trial(seed, files)[0]
        wrong = [error.json_path for error in validator.iter_errors(document)]
        assert not wrong, failure_message(seed, document, wrong)
