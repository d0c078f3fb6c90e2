"""Makes a diff: reads both sides, judges them, writes the page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from narrows.diff.judge import DiffRow, documents, headline, judge, pairing
from narrows.diff.side import RUN, Side, changes, read, title
from narrows.errors import InputError
from narrows.figures import interactive
from narrows.figures.model import Figure
from narrows.figures.sweeps.lines import lines
from narrows.figures.sweeps.view import View
from narrows.late import pl
from narrows.metrics.headings import heading_of
from narrows.store import RESULTS, Place, slug
from narrows.store.atomic import write_text, writing
from narrows.version import __version__

PAGE, NUMBERS = "diff.html", "diff.json"
MOST_FIGURES = 6
"""The most changed metrics of which a sweep gets figures."""


@dataclass(frozen=True)
class Diff:
    """The differences between two results, in the specification and in metrics."""

    first: Side
    second: Side
    changes: Sequence[tuple[str, str, str]]
    rows: Sequence[DiffRow]
    directory: Path
    pairing: str = ""
    """For which trials paired differences are used, in words."""

    @property
    def page(self) -> Path:
        """The path of the page."""
        return self.directory / PAGE

    def document(self) -> dict[str, Any]:
        """The data for `--json`."""
        places = {side.label: str(side.place) for side in (self.first, self.second)}
        return {
            "kind": self.first.kind,
            "title": self.title,
            "places": places,
            "specification": [
                {"place": place, "first": one, "second": two} for place, one, two in self.changes
            ],
            "pairing": self.pairing,
            "metrics": list(documents(self.rows)),
            "page": str(self.page),
        }

    @property
    def title(self) -> str:
        """A title for the difference, such as "Drop-tail → FQ-CoDel"."""
        return title(self.first, self.second, self.changes)

    def lines(self, *, whole: bool = False) -> Iterator[str]:
        """Returns the lines for a terminal: the headline rows, or the `whole` table."""
        from narrows.diff.text import lines

        yield from lines(
            (self.first, self.second), self.changes, self.rows, self.pairing, whole=whole
        )
        yield str(self.page)


def diff(first: Place, second: Place, out: str | Path | None = None) -> Diff:
    """Compares the results at two places, and writes a page into `out`.

    Raises InputError if they can't be compared, and StoreError if `out` can't be written.
    """
    one, two = read(first, "A"), read(second, "B")
    if one.kind != two.kind:
        found = f"a {one.kind} and a {two.kind}"
        raise InputError.at("narrows diff", found, "two runs or two sweeps")
    directory = Path(out) if out is not None else _default(one, two)
    made = Diff(one, two, changes(one, two), judge(one, two), directory, pairing(one, two))
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
        write_text(directory / NUMBERS, json.dumps(made.document(), indent=1) + "\n")
        write_text(made.page, _page(made))
    return made


def _default(one: Side, two: Side) -> Path:
    names = [slug(Path(str(side.place)).name, 40) for side in (one, two)]
    return Path(RESULTS) / f"{names[0]}-to-{names[1]}.diff"


def _page(made: Diff) -> str:
    from narrows.report.page import environment, plotly_js

    drawn = [(figure, interactive.plots(figure)) for figure in figures(made)]
    first = headline(made.rows)
    template = environment("narrows.diff").get_template("diff.html.jinja")
    return template.render(
        diff=made,
        drawn=drawn,
        plotly=plotly_js([figure for figure, _ in drawn]) if drawn else "",
        version=__version__,
        first=first,
        told=[row for row in made.rows if row.has_changed and row not in first],
        rest=[row for row in made.rows if not row.has_changed and row not in first],
    )


def figures(made: Diff) -> list[Figure]:
    """Draws both sides over each other: the first trials of two runs, or metrics of two sweeps."""
    return _of_runs(made) if made.first.kind == RUN else list(_of_sweeps(made))


def _of_runs(made: Diff) -> list[Figure]:
    from narrows.compare.figure import overlay
    from narrows.report.write import has_samples

    results = [side.result for side in (made.first, made.second)]
    known = [result for result in results if result is not None and has_samples(result)]
    if len(known) < 2:
        return []
    trials = [result.trials[0] for result in known]
    if len({len(trial.scenario["flows"]) for trial in trials}) > 1:
        return []
    tables: dict[str, Mapping[str, Any]] = {
        side.label: trial.tables
        for side, trial in zip((made.first, made.second), trials, strict=True)
    }
    return [overlay(trials[0].scenario, tuple(known[0].groups), tables, made.first.label)]


def _of_sweeps(made: Diff) -> Iterator[Figure]:
    axes = tuple(made.first.axes)
    sides = [
        side.rows.with_columns(pl.lit(side.label).alias("side"))
        for side in (made.first, made.second)
    ]
    rows = pl.concat(sides, how="diagonal_relaxed")
    told = [row.metric for row in made.rows if row.has_changed and row.metric in rows.columns]
    for metric in told[:MOST_FIGURES]:
        drawn = lines(rows, View(metric, (*axes, "side"), metric, by="side"))
        yield replace(drawn, title=heading_of(metric))
