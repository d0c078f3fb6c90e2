"""Generated files are up to date, and the notebooks run."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from specimens import TOGETHER, scenario_of
from test_spec_scenario import WHOLE

import narrows as nw
import narrows.spec.scenario
from narrows import _native
from narrows.metrics.tables import summary_columns
from narrows.spec import registry

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "docs" / "notebooks").glob("*.py"))


@pytest.fixture(autouse=True)
def tools() -> Iterator[None]:
    sys.path.insert(0, str(ROOT / "tools"))
    yield
    sys.path.remove(str(ROOT / "tools"))


def test_the_commands_are_described() -> None:
    import generate_commands

    text = generate_commands.TARGET.read_text()
    assert text == generate_commands.generate(), "`make reference` renews it"
    assert "## narrows store check\n" in text


def test_every_key_is_described() -> None:
    import generate_specification

    text = generate_specification.TARGET.read_text()
    assert text == generate_specification.generate(), "`make reference` renews it"
    for section in ("[path]", "[[flows]]", "[host]", "[run]", "[[expect]]", "[sweep.until]"):
        assert f"## {section}\n" in text


def test_the_reference_is_complete() -> None:
    import generate_reference

    text = generate_reference.TARGET.read_text()
    assert text == generate_reference.generate(), "`make reference` renews it"
    for name in set(nw.__all__) - {"__version__"}:
        assert f"## nw.{name}\n" in text
    for name in nw.metrics.__all__:
        assert f"### nw.metrics.{name}\n" in text
    for table in (nw.Path, nw.Flow, nw.Run):
        for field in table.__dataclass_fields__:
            assert f"| `{field}` |" in text


def test_the_typed_scenario_is_that_of_the_declared_keys() -> None:
    import generate_scenario

    text = generate_scenario.TARGET.read_text(encoding="utf-8")
    made = generate_scenario.format_text(generate_scenario.generate(), generate_scenario.TARGET)
    assert text == made, "`make reference` renews it"
    scenario = scenario_of(TOGETHER, WHOLE)
    for part, title in (("path", "Path"), ("host", "Host"), ("run", "Run")):
        known = set(vars(narrows.spec.scenario)[title].__annotations__)
        assert set(scenario[part]) == known - {"capacity_known", "delay_known"}
    flow = narrows.spec.scenario.Flow.__required_keys__
    assert all(set(entry) == set(flow) for entry in scenario["flows"])
    assert set(scenario) == set(narrows.spec.scenario.Scenario.__annotations__) - {
        "controls",
        "changes",
    }


def test_the_page_of_controls_is_that_of_the_registry() -> None:
    import generate_controls

    text = generate_controls.TARGET.read_text(encoding="utf-8")
    assert generate_controls.renew(text) == text, "`make reference` renews it"
    for entry in registry.ccas().values():
        assert f"## `{entry['name']}`\n" in text
        for option in entry["parameters"]:
            assert f"| `{option['name']}` |" in text
            assert str(option["what"]) in text


def test_the_page_of_tables_is_that_of_the_declaration() -> None:
    import generate_columns

    text = generate_columns.TARGET.read_text(encoding="utf-8")
    assert generate_columns.renew(text) == text, "`make reference` renews it"
    for entry in _native.tables():
        assert f"## `{entry['name']}`\n" in text
        for column in entry["columns"]:
            assert f"| `{column['name']}` |" in text
            assert str(column["meaning"]) in text


def test_the_page_of_requirements_is_that_of_the_suite() -> None:
    import generate_requirements

    from narrows.evaluate import load_suite

    text = generate_requirements.TARGET.read_text(encoding="utf-8")
    assert generate_requirements.generate(load_suite("rfc9743")) == text, (
        "`make reference` renews it"
    )


def test_the_page_of_metrics_is_that_of_the_declarations() -> None:
    import generate_metrics

    text = generate_metrics.TARGET.read_text(encoding="utf-8")
    assert generate_metrics.generate() == text, "`make reference` renews it"
    for column in summary_columns(["bbr"]):
        assert f"| `{column.removeprefix('bbr.')}` |" in text


def test_a_name_without_words_is_found() -> None:
    import generate_reference

    with pytest.raises(ValueError, match=r"nw\.silent has no docstring"):
        generate_reference.words("nw.silent", lambda: None)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_showed(script: Path) -> None:
    import make_notebooks

    with make_notebooks.elsewhere():
        made = make_notebooks.notebook(script.read_text())
    kept = json.loads(script.with_suffix(".ipynb").read_text())
    assert [c["source"] for c in kept["cells"]] == [c["source"] for c in made["cells"]], (
        "`make reference` renews it"
    )
    for before, now in zip(kept["cells"], made["cells"], strict=True):
        assert forms(before) == forms(now)


def forms(cell: dict) -> list[object]:
    """The kinds of output of a cell; numbers may change with the engine."""
    return [sorted(out.get("data", {"text": ""})) for out in cell.get("outputs", [])]


def test_there_are_notebooks_and_they_are_small() -> None:
    assert SCRIPTS
    for script in SCRIPTS:
        assert script.with_suffix(".ipynb").stat().st_size < 400_000


def test_samples_of_controls_are_made_from_their_declaration() -> None:
    import generate_samples

    for path, text in generate_samples.generate().items():
        assert path.read_text(encoding="utf-8") == text, f"{path}: `make reference` renews it"
