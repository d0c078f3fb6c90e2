"""The examples of experiments/elements: each runs, and shows what it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from reference import paths

from narrows.backends.sim import Simulator
from narrows.metrics.checks import Combination, RunMeasurements, judge_all
from narrows.metrics.series import RunSeries
from narrows.metrics.summary import summarise
from narrows.metrics.tables import summary_tables
from narrows.plan import plan
from narrows.spec import load, registry
from narrows.spec.registry import presets

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "experiments" / "elements").glob("*.toml"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_the_example_shows_what_it_says(file: Path) -> None:
    assert file.read_text(encoding="utf-8").startswith("# ")
    spec = load(file).spec
    made = plan(spec, "test")
    scenario = made.trials[0].scenario
    result = Simulator().run(scenario)
    entry = summarise(scenario, result.tables, result.info)
    summary = summary_tables(entry, made.groups)["summary"].with_columns(cell=1)
    assert spec.checks
    case = Combination(1, "", {}, summary.columns, scenario, made.groups, alone=True)
    series = RunSeries(scenario, made.groups, result.tables)
    runs = {1: [RunMeasurements(summary.row(0, named=True), lambda: series)]}
    judged = list(judge_all(spec.checks, [case], runs))
    assert [str(one) for one in judged if not one.outcome.passed] == []
    assert judged


def test_every_element_has_an_example() -> None:
    shown = {kind for file in EXAMPLES for kind in _kinds(plan(load(file).spec, "x"))}
    known = {*registry.queues(), *registry.services(), *registry.elements("impairments")}
    assert shown == known


def _kinds(made: Any) -> Iterator[str]:
    path: Mapping[str, Any] = made.trials[0].scenario["path"]
    for link in (path, *path["links"], *([path["reverse"]] if path["reverse"] else ())):
        yield link["queue"]["kind"]
        yield link["service"]["kind"]
    for impairment in path["impairments"]:
        yield impairment["kind"]


def test_the_reference_pages_have_every_element() -> None:
    texts = [target.read_text(encoding="utf-8") for target in paths.TARGETS]
    names = [
        *registry.elements("impairments"),
        *presets(),
        *registry.elements("workloads"),
        *registry.elements("distributions"),
    ]
    assert all(any(f"#### `{name}`" in text for text in texts) for name in names)
