"""Draws figures of stored results: of a sweep's tables, or of one of its runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from narrows import figures
from narrows.errors import InputError
from narrows.figures import label
from narrows.figures.frames import in_words, path_in_words
from narrows.figures.model import Figure, Scale
from narrows.figures.names import axes_in_words, settings
from narrows.figures.runs.beside import MOST_BESIDE, beside
from narrows.figures.sweeps.panels import pages
from narrows.figures.sweeps.view import View, controls_of, runs_in, valued_columns
from narrows.late import pl
from narrows.metrics.leading import of_applications
from narrows.spec.suggest import any_of, number_to, one_of, quote
from narrows.spec.values import exact_value, spell, values_in
from narrows.store import Place, is_store, location, open_result, open_store
from narrows.store.maintenance import classes
from narrows.store.stored_run import run_tables
from narrows.sweeps.export import frame
from narrows.sweeps.overview import web_classes

_SWEEPS = frozenset(entry.name for entry in figures.of("sweep"))
_USED_BY: Mapping[str, frozenset[str]] = {
    "metric": frozenset(("lines", "heatmap", "box", "cdf")),
    "x": frozenset(("share", "lines", "heatmap", "box")),
    "y": frozenset(("heatmap",)),
    "by": _SWEEPS - {"heatmap"},
    "ylim": _SWEEPS,
    "xscale": _SWEEPS,
    "trial": frozenset(entry.name for entry in figures.of("run")),
}
"""The figures that use an option."""


def default_name(place: Place) -> str:
    """Returns the default figure: for a run its timeline, for a sweep its main subject.

    That is the distribution of completion times, the metric of another application, shares, or else
    utilization.
    """
    if not is_store(place):
        return "timeline"
    summary = valued_columns(frame(place, "summary"))
    own = of_applications(summary.columns)
    if own:
        return "completion_times" if own[0].endswith(".completion_p50_s") else "lines"
    shares = summary.select(pl.col(r"^.*\.share$").is_not_null())
    has_rivals = shares.width > 1 and bool((shares.sum_horizontal() > 1).any())
    return "share" if has_rivals else "lines"


def describe(
    place: Place,
    name: str,
    *,
    metric: str | None = None,
    x: str | None = None,
    y: str | None = None,
    by: str | None = None,
    where: Sequence[str] = (),
    trial: int | None = None,
    ylim: str | None = None,
    xscale: str | None = None,
) -> Figure:
    """Describes the figure `name` of the results at `place`.

    Figures of a sweep take axes (`x`, `y`, `by`), a `metric`, conditions such as
    "path.buffer=1bdp,2bdp" (`where`), the ends of the y axis ("auto" or "LOW:HIGH"), and the scale
    of the x axis; those of a run show one `trial` of the single combination that meets the
    conditions. Raises InputError.
    """
    entry = figures.CATALOGUE.get(name)
    if entry is None:
        known = list(figures.CATALOGUE)
        raise InputError.at("NAME", f"{quote(name)}, which is not a figure", one_of(name, known))
    ends, scale = _ends(ylim), _scale(xscale)
    options = {"metric": metric, "x": x, "y": y, "by": by, "ylim": ylim, "xscale": xscale}
    _refuse_ignored(entry, {**options, "trial": trial})
    if entry.of == "run":
        figure = _of_run(place, name, where, trial or 1)
        if not figure.panels:
            found = f"{quote(name)}, for which this run has nothing to show"
            raise InputError.at("NAME", found, "another figure, such as timeline")
        return figure
    if not is_store(place):
        open_result(Path(str(location(place))))  # raises if there are no results
        right = ", ".join(key for key, one in figures.CATALOGUE.items() if one.of == "run")
        found = f"{quote(name)}, a figure of a sweep, and this is one run"
        raise InputError.at("NAME", found, f"one of {right}")
    rows, axes, title, runs = _table(place, entry.table, where)
    view = View(
        title, axes, metric, _place(x), _place(y), _place(by), runs, ends, scale,
        _bounds(place, title), conditions=_path(place, title, axes),
        controls=controls_of(frame(place, "flows"), title),
        readers=web_classes(values_in(_record(place, title).get("spec", {}))),
    )  # fmt: skip
    return figures.describe_sweep(name, rows, view)


def _refuse_ignored(entry: figures.CatalogueEntry, options: Mapping[str, object]) -> None:
    """Raises InputError for an option that the figure doesn't use."""
    for option, value in options.items():
        if value is not None and entry.name not in _USED_BY[option]:
            found = f"--{option} for {entry.name}, which doesn't use it"
            raise InputError.at("figure", found, "the command without it")


def _ends(written: str | None) -> tuple[float, float] | Literal["auto"] | None:
    """Returns the ends of the y axis."""
    if written is None or written == "auto":
        return "auto" if written else None
    try:
        low, high = (float(part) for part in written.split(":"))
    except ValueError:
        low, high = math.nan, math.nan
    if not (math.isfinite(high - low) and low < high):
        raise InputError.at(
            "--ylim",
            quote(written),
            "auto, or two numbers in the unit of the axis, such as 90:100,",
        )
    return low, high


def _scale(written: str | None) -> Scale | None:
    if written is None or written == "log":
        return "log" if written else None
    if written != "linear":
        raise InputError.at("--xscale", quote(written), one_of(written, ["linear", "log"]))
    return "linear"


def _path(place: Place, study: str, axes: Sequence[str]) -> str:
    """Returns the path in words, as far as it is the same in all runs of a study."""
    runs = frame(place, "runs").filter(pl.col("study") == study)
    return path_in_words(open_store(place).scenario(str(runs["run"][0])), axes)


def _record(place: Place, study: str) -> Mapping[str, Any]:
    """Returns what the store keeps of a study."""
    records = open_store(place).studies().values()
    return next((one for one in records if one["name"] == study), {})


def _bounds(place: Place, study: str) -> tuple[tuple[str, str, float], ...]:
    """Returns the study's bounds on metrics that hold everywhere."""
    bounds = _record(place, study).get("checks", {}).get("bounds", [])
    return tuple((str(metric), str(way), float(at)) for metric, way, at in bounds)


def save(figure: Figure, stem: Path, formats: Sequence[str]) -> list[Path]:
    """Writes a described figure as `stem.png`, `stem.svg`, `stem.pdf` and `stem.html`.

    A figure of many panels gives the images `stem-1.png`, `stem-2.png` and so on.
    """
    from narrows.report.single import save_page

    known = ("png", "svg", "pdf", "html")
    for kind in formats:
        if kind not in known:
            raise InputError.at("--format", quote(kind), one_of(kind, known))
    drawn = [kind for kind in formats if kind != "html"]
    parts = list(pages(figure)) if drawn else []
    names = [stem if len(parts) == 1 else stem.with_name(f"{stem.name}-{n + 1}")
             for n in range(len(parts))]  # fmt: skip
    paths = _images(zip(parts, names, strict=True), drawn)
    return [*paths, save_page(figure, stem)] if "html" in formats else paths


def _images(parts: Iterable[tuple[Figure, Path]], kinds: Sequence[str]) -> list[Path]:
    if not kinds:
        return []
    from narrows.figures import static

    return [path for part, name in parts for path in static.save(part, name, kinds)]


def _table(
    place: Place, table: str, where: Sequence[str]
) -> tuple[pl.DataFrame, tuple[str, ...], str, int]:
    """Returns a table of the study swept last, its axes, its name and its number of runs."""
    studies = open_store(place).studies()
    rows = frame(place, table)
    if len(studies) > 1 and not any(text.startswith("study=") for text in where):
        names = [str(record["name"]) for record in studies.values()]
        raise InputError.at("--where", f"{len(names)} studies", f"study={names[0]}")
    axes = {str(record["name"]): tuple(record["axes"]) for record in studies.values()}
    whole = rows
    for text in where:
        rows = rows.filter(_condition(rows, text, list(chain(*axes.values()))))
    if rows.is_empty():
        raise InputError.at("--where", "no run that meets all", "a combination that occurs")
    title = str(rows["study"][0])
    rows = rows.filter(pl.col("study") == title)
    known = tuple(axis for axis in axes[title] if axis in rows.columns)
    return rows, known, title, runs_in(whole.filter(pl.col("study") == title))


def _condition(rows: pl.DataFrame, text: str, axes: Sequence[str]) -> pl.Expr:
    written, equals, values = text.partition("=")
    name = _place(written.strip()) or written
    if not equals:
        raise InputError.at("--where", quote(text), "AXIS=VALUE, such as path.buffer=1bdp,")
    if name not in rows.columns:
        remedy = one_of(name, list(dict.fromkeys(axes)))
        raise InputError.at("--where", f"{quote(written)}, which is not an axis", remedy)
    wanted = {exact_value(value.strip()) for value in values.split(",")}
    known = rows[name].unique(maintain_order=True).to_list()
    fitting = [value for value in known if exact_value(value) in wanted]
    if not fitting:
        raise InputError.at("--where", quote(text), any_of(list(map(str, known))))
    return pl.col(name).is_in(fitting)


def _place(written: str | None) -> str | None:
    return written and (spell(written) or written)


def _of_run(place: Place, name: str, where: Sequence[str], trial: int) -> Figure:
    if not is_store(place):
        result = open_result(Path(str(location(place))))
        if not 1 <= trial <= len(result.trials):
            raise InputError.at("--trial", str(trial), number_to(len(result.trials)))
        run = result.trials[trial - 1]
        made = figures.describe(name, run.scenario, run.tables, result.groups)
        return of_trial(made, trial, len(result.trials))
    rows, axes, study, _ = _table(place, "summary", where)
    cells = rows.partition_by("cell", maintain_order=True)
    drawn = [_of_cell(place, name, cell, trial) for cell in _drawable(name, rows, axes, cells)]
    made = drawn[0] if len(drawn) == 1 else _beside(drawn, rows, axes, _path(place, study, axes))
    return of_trial(made, trial, rows["trial"].n_unique())


def _drawable(
    name: str, rows: pl.DataFrame, axes: Sequence[str], cells: list[pl.DataFrame]
) -> list[pl.DataFrame]:
    """Returns the combinations of a figure of runs: one, or for a timeline a few along an axis."""
    most = MOST_BESIDE if name == "timeline" else 1
    if len(cells) > most:
        drawn = "one run" if most == 1 else f"up to {most} runs"
        found = f"{quote(name)}, which draws {drawn}, and {len(cells)} combinations"
        raise InputError.at("NAME", found, f"one of them, such as {_first_of(rows, axes)},")
    return cells


def _of_cell(place: Place, name: str, rows: pl.DataFrame, trial: int) -> Figure:
    """Returns the figure of a trial of one combination."""
    keys = dict(zip(rows["trial"], rows["run"], strict=True))
    if trial not in keys:
        raise InputError.at("--trial", str(trial), one_of(str(trial), [str(t) for t in keys]))
    store, key = open_store(place), str(keys[trial])
    tables = run_tables(store, key)
    if "flow_samples" not in tables:
        raise InputError.at("DIR", "runs without samples", 'run.record = "samples" or more')
    scenario = store.scenario(key)
    return figures.describe(name, scenario, tables, classes(scenario, tables["flows"]))


def _beside(drawn: Sequence[Figure], rows: pl.DataFrame, axes: Sequence[str], path: str) -> Figure:
    """Returns the figures as columns, each under its values of the axes that differ."""
    first = rows.unique("cell", keep="first", maintain_order=True)
    varied = [axis for axis in axes if first[axis].n_unique() > 1]
    names = [
        ", ".join(settings((axis, row[axis]) for axis in varied))
        for row in first.iter_rows(named=True)
    ]
    made = beside(list(zip(names, drawn, strict=True)))
    title = made.title if in_words(made.study) else f"Over time, by {axes_in_words(varied)}"
    return replace(made, title=title, subtitle=path)


def _first_of(rows: pl.DataFrame, axes: Sequence[str]) -> str:
    """Returns the conditions that only the first combination meets, as options."""
    varied = [axis for axis in axes if rows[axis].n_unique() > 1]
    return " ".join(f"--where {axis}={rows[axis][0]}" for axis in varied)


def of_trial(figure: Figure, trial: int, count: int) -> Figure:
    """Adds to a run's figure the name of the run, and which trial it shows if there are several."""
    figure = label(figure, figure.study)
    if count == 1:
        return figure
    return replace(figure, subtitle=f"{figure.subtitle}; trial {trial} of {count}")
