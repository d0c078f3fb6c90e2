"""The four functions of an exhibit, for a study that is a file."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from narrows.errors import InputError
from narrows.late import pl
from narrows.report import Check
from narrows.reproduce import run_frames
from narrows.reproduce.changes import put
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import Samples, interval, judge_bounds, make_note
from narrows.reproduce.library import Table, library
from narrows.reproduce.study import measures, own_measures, picture
from narrows.reproduce.study.labels import axes as axes_of
from narrows.reproduce.study.labels import head
from narrows.reproduce.study_code import sources
from narrows.reproduce.study_files import studies, takes_functions
from narrows.store import StoredTrial

Labels = Mapping[str, Any]
"""A condition, as labels by axis."""


@dataclass(frozen=True)
class StudyMethod:
    """A study by its id, its file, and the profile of its document's kernel."""

    identifier: str
    table: Table
    profile: str

    @property
    def __name__(self) -> str:
        return self.identifier

    @property
    def document(self) -> str:
        """The key of its document."""
        return self.identifier.partition("/")[0]

    def sources(self) -> list[str]:
        """Returns the texts that decide what is measured."""
        asked = self.table["measures"]
        own = own_measures.texts(self.document) if takes_functions(self.table) else []
        return [json.dumps(asked, sort_keys=True), *sources(measures), *own]

    def cases(self, scope: Scope) -> Iterator[Case]:
        """Yields every combination of the axes' labels."""
        axes, quick = axes_of(self.table), self.table.get("quick", {})
        labels = [quick.get(name, list(axes[name])) if scope.quick else axes[name] for name in axes]
        for chosen in product(*labels):
            spec = self._spec(scope)
            for axis, label in zip(axes, chosen, strict=True):
                for place, value in axes[axis][label].items():
                    put(spec, place, value)
            for place, value in quick.get("set", {}).items() if scope.quick else ():
                put(spec, place, value)
            yield Case(dict(zip(axes, chosen, strict=True)), spec)

    def _spec(self, scope: Scope) -> dict[str, Any]:
        own = self.table.get("own_host", {}) if scope.profile == self.profile else {}
        spec = copy.deepcopy({"name": self.document, **self.table["spec"]})
        host = {"profile": scope.profile, **spec.get("host", {}), **own}
        return {**spec, "host": host, "run": spec.get("run", {})}

    def measure(self, trial: StoredTrial) -> dict[str, pl.DataFrame]:
        """Returns one row with every measure, and one that tells runs apart.

        Runs may differ although their measures are equal.
        """
        row = {
            name: measures.value(self.document, one, trial)
            for name, one in self.table["measures"].items()
        }
        run = run_frames.summary(trial).select("forwarded", "queue_mean_bdp")
        return {"outcome": pl.DataFrame([row], schema=dict.fromkeys(row, pl.Float64)), "run": run}

    def values(self, data: Data) -> list[list[str]]:
        """Returns a row for each condition: labels, and each measure's mean with its interval."""
        named = self.table["measures"].items()
        axes = [head(self.table, name) for name in self.table["axes"]]
        heads = [*axes, *(one["label"] for _, one in named)]
        return [heads, *(self._row(cell, data) for cell in self._cells(data, {}))]

    def _row(self, cell: Labels, data: Data) -> list[str]:
        values = (_values(data, name, cell) for name in self.table["measures"])
        return [*map(str, cell.values()), *(interval(data, each) for each in values)]

    def draw(self, data: Data) -> list[Picture]:
        """Returns a panel for each figure."""
        return [picture.draw(self.table, data)]

    def judge(self, data: Data) -> list[Finding]:
        """Returns a finding for each claim; checks of conditions that weren't run are left out.

        Raises InputError for a measure of an own study that no run has.
        """
        self._check_measured(data)
        return [self._finding(claim, data) for claim in self.table.get("claim", ())]

    def _check_measured(self, data: Data) -> None:
        home = library().home
        for name in self.table["measures"] if home is not None else ():
            if data["outcome"][name].null_count() == data["outcome"].height:
                remedy = "a metric of the bottleneck, or of a flow or a control that is there,"
                raise InputError.at(
                    f"measures.{name}", "a value that no run has", remedy, str(home)
                )

    def _finding(self, claim: Table, data: Data) -> Finding:
        identifier = f"{self.document}/{claim['id']}"
        checks = [self._check(identifier, check, data) for check in claim.get("check", ())]
        notes = [self._note(note, data) for note in claim.get("note", ())]
        return Finding(identifier, [check for check in checks if check], notes=notes)

    def _check(self, claim: str, check: Table, data: Data) -> Check | None:
        found = self.samples(check, data)
        if not found:
            return None
        how = check.get("how") or self._label(check["measure"])
        samples = found[""] if list(found) == [""] else found
        return judge_bounds(data, claim, check["name"], check["statement"], how, samples)

    def _note(self, note: Table, data: Data) -> Check:
        unit = "" if "ratio" in note else self.table["measures"][note["measure"]].get("unit", "")
        told = [
            f"{name}: {interval(data, values, 3, unit)}"
            if name
            else interval(data, values, 3, unit)
            for name, values in self.samples(note, data).items()
        ]
        return make_note(note["statement"], self._label(note["measure"]), "; ".join(told))

    def _label(self, measure: str) -> str:
        return f"{self.table['measures'][measure]['label']}."

    def samples(self, asked: Table, data: Data) -> dict[str, Samples]:
        """Returns the values of a check or a note, in each condition that it names, by trial.

        With `best` it is the highest or lowest of these in each trial.
        """
        found = self._samples(asked, data)
        if not found or "best" not in asked:
            return found
        best = {"highest": max, "lowest": min}[asked["best"]]
        return {"": [best(values) for values in zip(*found.values(), strict=True)]}

    def _samples(self, asked: Table, data: Data) -> dict[str, Samples]:
        where, value = asked.get("where", {}), asked["measure"]
        kind = next((kind for kind in ("ratio", "difference") if kind in asked), None)
        if kind is None:
            cells = self._cells(data, where)
            return {self._name(cell, where): _values(data, value, cell) for cell in cells}
        ((axis, (first, second)),) = asked[kind].items()
        sides = self._cells(data, {**where, axis: first})
        return {
            self._name(cell, {**where, axis: first}): _combine(
                kind, _by_trial(data, value, cell), _by_trial(data, value, {**cell, axis: second})
            )
            for cell in sides
            if len(data.rows("outcome", **{**cell, axis: second}))
        }

    def _cells(self, data: Data, where: Labels) -> list[dict[str, Any]]:
        """Returns the conditions that were run whose labels are among those named."""
        rows = picture.matching(data, where).select(*self.table["axes"])
        return list(rows.unique(maintain_order=True).iter_rows(named=True))

    def _name(self, cell: Labels, where: Labels) -> str:
        """Returns the labels of a condition that `where` leaves open."""
        fixed = {axis for axis, label in where.items() if not isinstance(label, list)}
        return ", ".join(str(label) for axis, label in cell.items() if axis not in fixed)


def study(identifier: str, profile: str) -> StudyMethod:
    """Returns the study of an id."""
    document = identifier.partition("/")[0]
    return StudyMethod(identifier, studies(document)[identifier], profile)


def _by_trial(data: Data, value: str, cell: Labels) -> dict[int, float]:
    rows = data.rows("outcome", **cell).sort("trial").drop_nulls(value)
    return dict(zip(rows["trial"].to_list(), rows[value].to_list(), strict=True))


def _values(data: Data, value: str, cell: Labels) -> Sequence[float]:
    return list(_by_trial(data, value, cell).values())


def _combine(kind: str, first: dict[int, float], second: dict[int, float]) -> list[float]:
    """Returns the ratios or the differences of the trials that both conditions have."""
    both = [(first[trial], second[trial]) for trial in first if trial in second]
    if kind == "difference":
        return [a - b for a, b in both]
    return [a / b if b else float("inf") if a else 1.0 for a, b in both]
