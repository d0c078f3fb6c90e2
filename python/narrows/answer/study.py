"""The study that a question is about, with other values at the place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from narrows.answer.question import OPTION, Question, parse, place_in
from narrows.answer.scale import Scale, scale_of
from narrows.backends import Backend, get_backend
from narrows.errors import InputError
from narrows.metrics.headings import column_of, controls_in
from narrows.metrics.tables import columns_of
from narrows.packets import PACKET_BYTES
from narrows.plan import Cell, Grid, grid
from narrows.spec import Override, SpecificationText, Study, load_study
from narrows.spec.scenario import Scenario
from narrows.spec.suggest import quote
from narrows.spec.values import exact_value, full_place, measure
from narrows.words import join_words, short_number

AskedCase: TypeAlias = tuple[tuple[str, object], ...]
"""The values of the other axes by place."""
BUFFER = "path.buffer"
"""The place whose answers are also given in kB and packets."""


@dataclass(frozen=True)
class AskedStudy:
    """A study, a question about it, and what it varies besides the place of the question.

    `values` are those that the study has there; `scale` is None if they are words. `cases` are the
    combinations of the other axes, each of which gets an answer.
    """

    spec: str | Path | SpecificationText
    overrides: tuple[str | Override, ...]
    question: Question
    backend: Backend
    name: str
    values: tuple[object, ...]
    scale: Scale | None
    cases: tuple[AskedCase, ...]
    controls: Mapping[str, str | None]
    """The control of each class of flows; None where it has several."""
    longer_duration: str = ""
    """The duration that a search chose, which is in `overrides`; empty if it is the study's own."""

    def spelling(self, value: float | str) -> object:
        """A value of the search as a specification writes it."""
        if self.scale is not None:
            return self.scale.spelling(float(value))
        return next(one for one in self.values if str(one) == value)

    @property
    def places(self) -> set[str]:
        """All places with several values."""
        return {self.question.place, *(place for place, _ in self.cases[0])}

    def scenarios(self) -> list[Scenario]:
        """A scenario of each combination that is written in the study."""
        return [cell.plan.trials[0].scenario for cell in self.grid(self.values, 1).cells]

    def grid(self, written: Sequence[object], trials: int) -> Grid:
        """The combinations with these values at the place; raises SpecError."""
        value = written if len(written) > 1 else written[0]
        changes = (f"{self.question.place}={json.dumps(value)}", f"run.trials={trials}")
        study = load_study(
            self.spec, (*self.overrides, *(Override(one, OPTION) for one in changes))
        )
        controls = self.backend.capabilities().ccas
        return grid(study, self.backend.engine_of, self.backend.name, controls)

    def cells(self, written: Sequence[object], trials: int) -> dict[tuple[AskedCase, object], Cell]:
        """The combinations with these values, by case and exact value."""
        return {self.key(cell, written): cell for cell in self.grid(written, trials).cells}

    def in_full(self, value: float | str, case: AskedCase) -> str:
        """A value as written; a buffer also in bytes and packets."""
        written = self.spelling(value)
        if self.question.place != BUFFER:
            return str(written)
        cell = self.cells([written], 1)[case, exact_value(written)]
        return f"{written}{_sizes(str(written), cell.plan.trials[0].scenario)}"

    def key(self, cell: Cell, written: Sequence[object]) -> tuple[AskedCase, object]:
        """The case and the exact value of a combination; a single value isn't an axis."""
        value = cell.values.get(self.question.place, written[0])
        return _case(cell.values, self.question.place), exact_value(value)


def ask(
    spec: str | Path | SpecificationText,
    overrides: Iterable[str | Override],
    text: str,
    backend: str = "sim",
) -> AskedStudy:
    """Reads a study and the question in `text`; raises InputError if they don't fit."""
    engine, changes = get_backend(backend), tuple(overrides)
    study = load_study(spec, changes)
    _check_axis(study, place_in(text))
    cells = grid(study, engine.engine_of, engine.name, engine.capabilities().ccas).cells
    controls = controls_in((cell.plan.groups, cell.plan.trials[0].scenario) for cell in cells)
    columns = dict.fromkeys(name for cell in cells for name in columns_of(cell.plan))
    question = parse(text, lambda metric: column_of(metric, columns, OPTION, controls))
    values = next(axis.values for axis in study.axes if axis.place == question.place)
    cases = tuple(dict.fromkeys(_case(cell.values, question.place) for cell in cells))
    scale = scale_of(question.place, values)
    return AskedStudy(spec, changes, question, engine, study.name, values, scale, cases, controls)


def _sizes(written: str, scenario: Mapping[str, Any]) -> str:
    """A scenario's buffer in kB and full packets, without the unit in which it is written."""
    buffer, kind = scenario["path"]["buffer"], (measure(written) or ("",))[0]
    size = buffer.get("bytes", buffer.get("packets", 0) * PACKET_BYTES)
    units = {
        "b": f"{short_number(size / 1e3, 4)} kB",
        "pkt": f"{short_number(size / PACKET_BYTES, 4)} packets",
    }
    return "".join(f" = {words}" for unit, words in units.items() if unit != kind)


def _case(values: Mapping[str, object], place: str) -> AskedCase:
    return tuple((name, value) for name, value in values.items() if name != place)


def _check_axis(study: Study, place: str) -> None:
    if study.design != "grid":
        found = f'the design "{study.design}"'
        raise InputError.at("sweep.design", found, f'"grid", for a question about {place},')
    groups = [[axis.place for axis in group] for group in study.groups]
    group = next((group for group in groups if place in group), None)
    if group is None:
        whole = full_place(place)
        if whole is not None:
            raise InputError.at(OPTION, quote(place), quote(whole))
        remedy = f"a place with several values (--set {place}=LOW,HIGH makes a range)"
        raise InputError.at(OPTION, f"{place}, which has no list of values", remedy)
    if len(group) > 1:
        others = join_words(one for one in group if one != place)
        raise InputError.at(OPTION, f"{place}, zipped with {others}", "a place that isn't zipped")
