"""Turns a sweep into data for its page: axes, combinations with means and intervals, failures."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from narrows.figures.axes import ChartAxis, axis
from narrows.figures.looks import looks_of
from narrows.figures.palette import colour
from narrows.figures.sweeps.view import (
    controls_of,
    fair_shares,
    follows,
    interval_of,
    numbers,
    valued_columns,
)
from narrows.late import pl
from narrows.metrics import groups
from narrows.metrics.catalogue import page_load, scale_of
from narrows.metrics.drifts import HALF, concerns
from narrows.metrics.headings import control_of, heading_of, merged_words
from narrows.metrics.intervals import mean
from narrows.metrics.leading import leading, opening, span
from narrows.metrics.trials import alike, same_trace
from narrows.spec import registry
from narrows.spec.scenario import Scenario
from narrows.spec.values import values_in
from narrows.store import Store
from narrows.store.parts import RUNS
from narrows.sweeps.combination_names import CombinationNames, combinations_in
from narrows.sweeps.export import TableOfRuns
from narrows.sweeps.settling import settling_note, unsettled_runs
from narrows.sweeps.verdicts import smallest
from narrows.words import count_of

Values: TypeAlias = Mapping[int, Mapping[str, list[float]]]
"""The mean of each metric, perhaps with the ends of its interval, by combination."""
MOST_CELLS = 5000
"""The most combinations on a page."""
COLUMNS = 8
"""The columns of a summary that are read at a time."""


@dataclass(frozen=True, slots=True)
class Overview:
    """The contents of a sweep's page.

    A metric of a cell is its mean, or the mean and the ends of its 95 % interval, in per cent for
    shares, losses and utilization. The page has `shown` of all `combinations`.
    """

    name: str
    axes: Sequence[Mapping[str, Any]]
    metrics: Mapping[str, str]
    columns: Sequence[str]
    cells: Sequence[Mapping[str, Any]]
    failures: Sequence[Mapping[str, Any]]
    combinations: int
    runs: int
    stored: int
    opens: str | None = None
    """The metric that is shown first: the one that varies most."""
    bounds: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """The bounds of metrics in checks."""
    smallest: Sequence[str] = ()
    """Sentences on the smallest value that meets all checks."""
    hues: Mapping[str, list[str]] = field(default_factory=dict)
    """The colours, light and dark, of metrics of classes whose control is known."""
    fair: Mapping[str, float] = field(default_factory=dict)
    """The fair share of each class for which it is the same in all combinations, by metric."""
    alike: str = ""
    """Sentences, if the trials of combinations are the same run or replay a trace."""
    spans: Mapping[str, float] = field(default_factory=dict)
    """The range of the means of each metric of the table, relative to the largest."""
    unsettled: str = ""
    """A sentence, if shares, goodputs or queues still change within runs, or these are short."""
    split: str = ""
    """Sentences, if the trials of combinations fall into two groups or differ widely."""
    invalid: str = ""
    """A sentence, if runs aren't valid measurements."""

    @property
    def notes(self) -> list[str]:
        """The sentences on what a reader of the means should know."""
        return list(filter(None, (self.invalid, self.split, self.unsettled, self.alike)))

    @property
    def judged_count(self) -> int:
        """The number of combinations that were judged by checks."""
        return sum(cell["unmet"] is not None for cell in self.cells)

    @property
    def met_count(self) -> int:
        """The number of judged combinations that meet all checks."""
        return sum(cell["unmet"] == [] for cell in self.cells)

    @property
    def left_out(self) -> int:
        """The number of combinations that aren't on the page."""
        return self.combinations - len(self.cells)

    def document(self) -> dict[str, Any]:
        """The document for the page's script, in which the runs of a cell are iterable."""
        return {
            "axes": list(self.axes),
            "metrics": dict(self.metrics),
            "columns": list(self.columns),
            "opens": self.opens,
            "bounds": dict(self.bounds),
            "shades": dict(self.hues),
            "fair": dict(self.fair),
            "unsettled": self._unsettled_metrics(),
            "cells": list(self.cells),
        }

    def _unsettled_metrics(self) -> dict[str, list[str]]:
        """The metrics that are wrong where some quantities drift, by the names of these."""
        told = {tuple(cell["unsettled"]) for cell in self.cells} - {()}
        shares = [name for name in self.metrics if name.endswith(".share")]
        steady = shares if len(shares) == 1 else ()  # the only class has all
        return {
            ",".join(its): [n for n in self.metrics if n not in steady and concerns(its, n)]
            for its in told
        }


@dataclass(frozen=True, slots=True)
class CellRuns:
    """The runs of a cell, which become dictionaries one cell at a time: there may be a million."""

    rows: pl.DataFrame
    failed: Collection[str]
    pages: Mapping[str, str]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yields the documents of the runs for the page's script."""
        for trial, seed, key in self.rows.rows():
            page = {"page": self.pages[key]} if key in self.pages else {}
            yield {
                "trial": trial,
                "seed": seed,
                "run": key[:12],
                "failed": key in self.failed,
            } | page


def overview(
    store: Store, stem: str, record: Mapping[str, Any], pages: Mapping[str, str]
) -> Overview:
    """Reads a study of a store; `pages` are the addresses of pages of runs by their hashes."""
    whole, present = store.study_runs(stem), store.keys()
    name, places = str(record["name"]), list(record["axes"])
    unsettled = unsettled_runs(store, whole)
    runs_of = {one: whole if one == stem else store.study_runs(one) for one in store.study_stems()}
    summary, flows, runs = (
        TableOfRuns(store, table, list(runs_of.values())) for table in ("summary", "flows", RUNS)
    )
    controls = controls_of(pl.concat(flows.read(("class", "cca"), name)))
    readers = web_classes(values_in(record["spec"]))
    measured, values = _values(summary, name)
    metrics = {
        column: _name_pages(heading_of(column, controls), column, readers) for column in measured
    }
    classes = [column.removesuffix(".share") for column in measured if column.endswith(".share")]
    counts = pl.concat(summary.read(("flows", *(f"{group}.flows" for group in classes)), name))
    axes = _axes(whole, places)
    failed = store.failures()
    checks = record.get("checks", {})
    bounded = {metric for metric, _, _ in checks.get("bounds", ())}
    metrics, merged = _merge_classes(metrics, values, bounded)
    judged = {n: checks["unmet"].get(str(n), []) for n in checks.get("judged", ())}
    cells = [
        _cell(number, rows, merged.get(number, {}), axes, failed, pages)
        | {"unmet": judged.get(number), "unsettled": unsettled.quantities(number)}
        for number, rows in list(_by_cell(whole))[:MOST_CELLS]
    ]
    combinations = combinations_in(whole, places)
    bounds: dict[str, list[float]] = {}
    for metric, _, at in checks.get("bounds", ()):
        bounds.setdefault(metric, []).append(scale_of(metric) * at)
    some = next((key for key in whole["run"] if key in present), None)
    scenario = None if some is None else store.scenario(some)
    varying = scenario is not None and scenario["path"]["service"]["kind"] != "constant"
    columns = leading(list(metrics), varying_rate=varying)
    return Overview(
        name,
        [_axis(found) for found in axes],
        metrics,
        columns,
        cells,
        [_failure(failed[key]) for key in sorted(failed.keys() & whole["run"])],
        whole["cell"].n_unique(),
        whole.height,
        len(present.intersection(whole["run"])),
        opening(cells, list(metrics), list(bounds)),
        bounds,
        smallest(combinations, {number: not broken for number, broken in judged.items()}),
        _hues_of_metrics(list(metrics), controls),
        {
            f"{group}.share": guide.value
            for group in classes
            for guide in fair_shares(counts, [group])
        },
        _alike(_digests(runs, name), scenario),
        {name: span(cells, name) for name in columns},
        settling_note(store, whole, combinations, unsettled),
        _split(summary, name, combinations, controls),
        _invalid(summary, name),
    )


def _merge_classes(
    metrics: Mapping[str, str], values: Values, apart: Set[str]
) -> tuple[dict[str, str], Values]:
    """Merges the metrics of classes that never occur together; returns labels and values.

    Such classes are named after their control, where the control is an axis. Metrics in `apart`
    stay as they are.
    """
    groups = dict.fromkeys(name.rpartition(".")[0] for name in metrics if "." in name)
    cells = {
        group: {at for at, its in values.items() if any(n.startswith(f"{group}.") for n in its)}
        for group in groups
        if control_of(group) is not None
    }
    everywhere = sum(map(len, cells.values())) == len(values) == len(set().union(*cells.values()))
    if len(cells) < 2 or not everywhere:
        return dict(metrics), values
    alone = len(cells) == len(groups)
    of = merged_words(cells)
    merged = {}
    for name in metrics:
        group, _, key = name.rpartition(".")
        new = key if alone else f"{of}.{key}"
        if group in cells and new not in metrics and not apart & {f"{g}.{key}" for g in cells}:
            merged[name] = new
    labels: dict[str, str] = {}
    for name, label in metrics.items():
        column = merged.get(name, name)
        labels.setdefault(column, label if column == name else heading_of(column))
    return labels, {
        at: {merged.get(name, name): value for name, value in its.items()}
        for at, its in values.items()
    }


def web_classes(spec: Mapping[str, object]) -> set[str]:
    """Returns the named classes of flows that load web pages."""
    return {
        str(name)
        for place, name in spec.items()
        if place.endswith(".name") and spec.get(f"{place[:-5]}.workload.kind") == "web"
    }


def _name_pages(label: str, column: str, readers: Collection[str]) -> str:
    """Returns the label of a metric; the completion time of a page is its load time."""
    group, _, metric = column.rpartition(".")
    is_load = group in readers and metric.startswith("completion_")
    statistic = metric.removeprefix("completion_").removesuffix("_s")
    title = page_load(statistic).capitalize()
    return label.replace(f"Completion {statistic}", title, 1) if is_load else label


def _hues_of_metrics(
    metrics: Sequence[str], controls: Mapping[str, str | None]
) -> dict[str, list[str]]:
    """Returns the colours of the controls of classes, as in figures, by the classes' metrics."""
    groups = list(dict.fromkeys(metric.rpartition(".")[0] for metric in metrics if "." in metric))
    looks = looks_of(groups, controls)
    found = {}
    for metric in metrics:
        look = looks.get(metric.rpartition(".")[0])
        if look is not None:
            shade = colour(look.hue)
            found[metric] = [shade.light, shade.dark]
    return found


def _alike(digests: Mapping[object, list[str]], scenario: Scenario | None) -> str:
    """Returns sentences, if the trials of combinations are the same run or replay a trace.

    `scenario` is that of one of them, which tells whether there is a trace.
    """
    trials = max(map(len, digests.values()), default=0)
    trace = "" if scenario is None else same_trace(scenario, trials)
    return " ".join(filter(None, (alike(digests.values()), trace)))


def _split(
    summary: TableOfRuns,
    study: str,
    combinations: Mapping[int, Mapping[str, object]],
    controls: Mapping[str, str | None],
) -> str:
    """Returns sentences on combinations whose trials fall into two groups or differ widely."""
    columns = groups.columns_of(summary.columns)
    known = valued_columns(pl.concat(summary.read(("cell", *columns), study)))
    if known.height < 2 * known["cell"].n_unique():
        return ""
    return groups.note_of_study(_rows_by_words(known, combinations), controls)


def _invalid(summary: TableOfRuns, study: str) -> str:
    """Returns a sentence on runs that aren't valid measurements, with the first one's reason."""
    if "invalid" not in summary.columns:
        return ""
    told = pl.concat(summary.read(("invalid",), study))["invalid"]
    reasons = told.drop_nulls()
    if reasons.is_empty():
        return ""
    return f"{len(reasons)} of {count_of(len(told), 'run')} invalid: {reasons[0]}."


def _rows_by_words(
    rows: pl.DataFrame, combinations: Mapping[int, Mapping[str, object]]
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yields the runs of each combination with its words."""
    names = CombinationNames(combinations)
    for cell, its in _by_cell(rows):
        yield names.of_one(cell), its.to_dicts()


def _digests(runs: TableOfRuns, study: str) -> dict[object, list[str]]:
    """Returns the digests of the trials of each combination of a study."""
    rows = pl.concat(runs.read(("cell", "digest"), study))
    found: dict[object, list[str]] = {}
    for cell, digest in rows.select("cell", "digest").rows():
        found.setdefault(int(cell), []).append(str(digest))
    return found


def _axes(whole: pl.DataFrame, places: Sequence[str]) -> list[ChartAxis]:
    """Returns the axes that vary; zipped axes are one, with the words of all."""
    groups: list[list[str]] = []
    for place in places:
        if whole[place].n_unique() > 1:
            group = next((one for one in groups if _are_one(whole, place, one)), None)
            if group is None:
                groups.append([place])
            else:
                group.append(place)
    return [_combine_axes(whole, group) for group in groups]


def _are_one(whole: pl.DataFrame, place: str, group: Sequence[str]) -> bool:
    """Returns True if an axis goes with those of a group."""
    return all(follows(whole, place, one) or follows(whole, one, place) for one in group)


def _combine_axes(whole: pl.DataFrame, places: Sequence[str]) -> ChartAxis:
    """Combines axes that go together: the first axis of numbers, or else the first axis, leads."""
    all_ = [axis(place, whole[place].to_list()) for place in places]
    if len(all_) == 1:
        return all_[0]
    rows = whole.unique(list(places), maintain_order=True).to_dicts()
    leads = [one for one in all_ if len(one.positions) == len(rows)]
    lead = next((one for one in leads if one.measured), leads[0])
    told = {row[lead.place]: [one.words[row[one.place]] for one in all_] for row in rows}
    once = _common_head([one.label for one in all_])  # "BBR" for both flows, but "10, 10"
    words = {
        value: ", ".join(dict.fromkeys(values) if once else values)
        for value, values in told.items()
    }
    label = _label([one.label for one in all_])
    return replace(lead, label=label, words={value: words[value] for value in lead.positions})


def _label(labels: Sequence[str]) -> str:
    """Returns the label of axes that go together: "Control of flows 1, 2"."""
    if head := _common_head(labels):
        return f"{head} of flows {', '.join(label.rpartition(' ')[2] for label in labels)}"
    return ", ".join(dict.fromkeys(labels))


def _common_head(labels: Sequence[str]) -> str:
    """Returns what labels of several flows have in common: "Control"; empty if they differ."""
    heads = {label.rpartition(" of flow ")[0] for label in labels}
    return heads.pop() if len(heads) == 1 else ""


def _by_cell(rows: pl.DataFrame) -> Iterator[tuple[int, pl.DataFrame]]:
    for part in rows.partition_by("cell", maintain_order=True):
        yield int(part["cell"][0]), part


def _axis(found: ChartAxis) -> dict[str, Any]:
    return {
        "place": found.place,
        "label": found.label,
        "positions": list(found.positions.values()),
        "words": list(found.words.values()),
        "scale": found.scale,
        "numeric": found.measured,
        "hues": _hues(found),
    }


def _hues(found: ChartAxis) -> list[list[str]] | None:
    """Returns the colours of congestion controls, light and dark; None for other axes."""
    known = registry.ccas()
    if not all(str(value) in known for value in found.positions):
        return None
    return [[colour(str(v)).light, colour(str(v)).dark] for v in found.positions]


def _cell(
    number: int,
    runs: pl.DataFrame,
    values: Mapping[str, list[float]],
    axes: Sequence[ChartAxis],
    failed: Mapping[str, Any],
    pages: Mapping[str, str],
) -> dict[str, Any]:
    first = runs.row(0, named=True)
    at = [list(found.positions).index(first[found.place]) for found in axes]
    trials = CellRuns(runs.select("trial", "seed", "run"), failed, pages)
    return {"cell": number, "at": at, "values": values, "runs": trials}


def _values(
    summary: TableOfRuns, study: str
) -> tuple[list[str], dict[int, dict[str, list[float]]]]:
    """Returns the metrics of a study with values, and each combination's values of them.

    Some columns are read at a time, since a sweep may have a million runs.
    """
    metrics: list[str] = []
    found: dict[int, dict[str, list[float]]] = {}
    for first in range(0, len(summary.columns), COLUMNS):
        some = ("cell", *summary.columns[first : first + COLUMNS])
        known = pl.concat(summary.read(some, study))
        rows: dict[int, list[int]] = {}
        for row, cell in enumerate(known["cell"].to_list()):
            rows.setdefault(int(cell), []).append(row)
        for metric in numbers(valued_columns(known)):
            if HALF.search(metric):
                continue
            metrics.append(metric)
            column = known[metric].to_list()
            for cell, its in rows.items():
                values = [float(column[row]) for row in its if column[row] is not None]
                if values:
                    found.setdefault(cell, {})[metric] = _value(values, metric)
    return metrics, found


def _value(values: Sequence[float], metric: str) -> list[float]:
    """Returns the mean, and the ends of its interval if there are several values."""
    ends = interval_of(values, metric) if len(values) > 1 else ()
    return [_short(scale_of(metric) * value) for value in (mean(values), *ends)]


def _short(value: float) -> float:
    return float(f"{value:.5g}")


def _failure(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"cell": record["cell"], "seed": record["seed"], "error": record["error"]}
