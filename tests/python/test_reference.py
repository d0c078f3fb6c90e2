"""Generated files are up to date, and the notebooks run."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import make_reference
import pytest
from reference import PAGES, notebooks, python
from specimens import TOGETHER, scenario_of
from test_spec_scenario import WHOLE

import narrows as nw
import narrows.spec.scenario
from narrows import _native
from narrows.metrics.tables import summary_columns
from narrows.spec import registry

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "docs" / "notebooks").glob("*.py"))


@pytest.mark.parametrize("name", make_reference.MADE)
def test_generated_files_are_up_to_date(name: str) -> None:
    for path, text in import_module(f"reference.{name}").pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path}: `make reference` renews it"


def test_every_maker_is_called() -> None:
    pages = {path.stem for path in (ROOT / "tools" / "reference").glob("*.py")}
    made = {*make_reference.MADE, *make_reference.RUN}
    assert pages - made == {"__init__", "agreement_regions", "statement_list"}


def test_the_commands_are_described() -> None:
    assert "## narrows store check\n" in text_of("commands.md")


def test_every_key_is_described() -> None:
    text = text_of("specification.md")
    for section in ("[path]", "[[flows]]", "[host]", "[run]", "[[check]]", "[sweep.until]"):
        assert f"## {section}\n" in text


def text_of(page: str) -> str:
    return (PAGES / page).read_text(encoding="utf-8")


def test_the_reference_is_complete() -> None:
    text = text_of("python.md")
    for name in set(nw.__all__) - {"__version__"}:
        assert f"## nw.{name}\n" in text
    for name in nw.metrics.__all__:
        assert f"### nw.metrics.{name}\n" in text
    for table in (nw.Path, nw.Flow, nw.Run):
        for field in table.__dataclass_fields__:
            assert f"| `{field}` |" in text


def test_the_typed_scenario_is_that_of_the_declared_keys() -> None:
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
    text = text_of("controls.md")
    for entry in registry.ccas().values():
        assert f"## `{entry['name']}`\n" in text
        for option in entry["parameters"]:
            assert f"| `{option['name']}` |" in text
            assert str(option["what"]) in text


def test_the_page_of_tables_is_that_of_the_declaration() -> None:
    text = text_of("tables.md")
    for entry in _native.tables():
        assert f"## `{entry['name']}`\n" in text
        for column in entry["columns"]:
            assert f"| `{column['name']}` |" in text
            assert str(column["meaning"]) in text


def test_the_page_of_metrics_is_that_of_the_declarations() -> None:
    text = text_of("metrics.md")
    for column in summary_columns(["bbr"]):
        assert f"| `{column.removeprefix('bbr.')}` |" in text


def test_a_missing_docstring_is_reported() -> None:
    with pytest.raises(ValueError, match=r"nw\.silent has no docstring"):
        python.words("nw.silent", lambda: None)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_showed(script: Path) -> None:
    with notebooks.elsewhere():
        made = notebooks.notebook(script.read_text())
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
