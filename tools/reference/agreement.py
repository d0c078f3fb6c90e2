"""docs/reference/agreement*.md from the studies in experiments/agreement*.

A study's folder has its scenarios (study.toml), its title (README.md), what `narrows compare
--table cells.csv` measured (cells.csv, cells.json), and why cells are off (differences.md).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from narrows.compare.quantities import QUANTITIES
from narrows.errors import SpecError
from narrows.figures import frames
from narrows.spec import Spec, load_study
from reference import PAGES, ROOT
from reference.agreement_regions import MeasuredScenario, counts, regions

STUDIES = sorted(folder.parent for folder in (ROOT / "experiments").glob("*/cells.csv"))


def pages() -> dict[Path, str]:
    """The files by their paths."""
    return {PAGES / f"{folder.name}.md": generate(folder) for folder in STUDIES}


def generate(folder: Path) -> str:
    """The page of the study in a folder."""
    made_by = json.loads((folder / "cells.json").read_text(encoding="utf-8"))
    measured = read(folder)
    rows = [row for one in measured for row in one.rows]
    causes = folder / "differences.md"
    data = f"../../{(folder / 'cells.csv').relative_to(ROOT).as_posix()}"
    head = (
        f"`make reference` makes this page from [all cells]({data}); don't edit it. "
        "[Verdicts](../explanation/verdicts.md) explains how they are judged.\n"
    )
    parts = [
        (folder / "README.md").read_text(encoding="utf-8").partition("\n")[0] + "\n",
        head,
        _engines(made_by),
        _totals(len(measured), rows),
        *_by_quantity(rows),
        *regions(measured),
        *_off(measured),
        *([causes.read_text(encoding="utf-8")] if causes.is_file() else []),
        *made_by["left_out"],
    ]
    return "\n".join(parts).rstrip() + "\n"


def read(folder: Path) -> list[MeasuredScenario]:
    """The scenarios of a study with their cells, in the order of the study."""
    with (folder / "cells.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        MeasuredScenario(
            spec.scenario, spec.groups, [row for row in rows if row["case"] == spec.name]
        )
        for spec in specs(folder / "study.toml")
    ]


def specs(study: Path, changed: Sequence[str] = ()) -> Iterator[Spec]:
    """The combinations of a study, perhaps with values set; raises SpecError for a wrong one."""
    for _, spec in load_study(study, changed).specs():
        if isinstance(spec, SpecError):
            raise spec
        yield spec


def _engines(made_by: Mapping[str, Any]) -> str:
    engines = "; ".join(f"`{name}`: {engine}" for name, engine in made_by["engines"].items())
    spent = made_by["cpu_min"].items()
    costs = ", ".join(f"{minutes:.1f} min for `{backend}`" for backend, minutes in spent)
    return (
        f"Back ends: {engines}. Profile of the hosts: `{made_by['profile']}`. "
        f"Reference: `{made_by['reference']}`. Processor time of all runs: {costs}.\n"
    )


def _totals(scenarios: int, rows: Sequence[Mapping[str, str]]) -> str:
    flows = [row for row in rows if row["flows"]]
    return (
        f"**Of {len(rows)} cells in {scenarios} scenarios {_sentence(rows)}.** Of the {len(flows)} "
        f"cells of flows alone, without the bottleneck's quantities, which mostly follow from "
        f"theirs: {_sentence(flows)}.\n"
    )


def _sentence(rows: Sequence[Mapping[str, str]]) -> str:
    agree, differ, undecided = counts(rows)
    return f"{agree} agree, {differ} differ, {undecided} undecided"


def _by_quantity(rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    yield "| Quantity | Allowed | Cells | Agree | Differ | Undecided |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for quantity in QUANTITIES.values():
        mine = [row for row in rows if row["quantity"] == quantity.name]
        if mine:
            found = " | ".join(map(str, counts(mine)))
            yield f"| {quantity.title} | {quantity.rule} | {len(mine)} | {found} |"
    yield ""


def _off(measured: Sequence[MeasuredScenario]) -> Iterator[str]:
    """The scenarios in which a cell differs or is undecided."""
    yield "## Scenarios with cells that do not agree\n\nAll cells of the other scenarios agree.\n"
    yield "| Scenario | Path and flows | Trials | Agree | Differ | Undecided |"
    yield "| --- | --- | ---: | ---: | --- | --- |"
    for one in measured:
        agree, differ, undecided = counts(one.rows)
        if differ or undecided:
            cells = [one.rows[0]["case"], _conditions(one), one.rows[0]["trials"]]
            cells += [f"{agree} of {len(one.rows)}"]
            cells += [_names(one.rows, verdict) for verdict in ("differ", "undecided")]
            yield f"| {' | '.join(cells)} |"
    yield ""


def _conditions(one: MeasuredScenario) -> str:
    loss = one.scenario["path"]["loss"]
    random = f", random loss {100 * loss:g} %" if loss else ""
    return frames.conditions(one.scenario, one.groups) + random


def _names(rows: Sequence[Mapping[str, str]], verdict: str) -> str:
    return ", ".join(_name(row) for row in rows if row["verdict"] == verdict)


def _name(row: Mapping[str, str]) -> str:
    name = row["quantity"].replace("_", " ")
    return f"{name} of {row['flows']}" if row["flows"] else name
