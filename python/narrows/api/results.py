"""Results in Python: their tables as polars frames, their figures, their HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows import figures
from narrows.api.page import Interactive, block
from narrows.errors import InputError
from narrows.late import pl
from narrows.spec.suggest import number_to, one_of
from narrows.store import Place, Result, is_store, location, open_store, states
from narrows.store import open_result as open_directory
from narrows.words import count_of

if TYPE_CHECKING:
    from narrows.api.drawing import Drawing
    from narrows.figures.model import Figure
    from narrows.sweeps.run import SweepOutcome

_SHOWN = ("name", "class", "goodput_mbps", "share", "retransmits", "rtt_mean_ms", "fct_s")


class _Tables:
    """The base of results, whose tables are named as in `narrows export`."""

    def _place(self) -> Place:
        raise NotImplementedError

    def table(self, name: str) -> pl.DataFrame:
        """Returns a table over all runs: "summary", "flows", "runs", "flow_samples" and so on.

        A polars frame is converted by `.to_pandas()` and `.to_arrow()`, which need `pip install
        pandas pyarrow`, and by the Arrow C stream interface. Raises InputError for a table that no
        run has.
        """
        from narrows.sweeps.export import frame

        return frame(self._place(), name)

    @property
    def summary_table(self) -> pl.DataFrame:
        """A row for each run; docs/reference/metrics.md explains the columns."""
        return self.table("summary")

    @property
    def flows(self) -> pl.DataFrame:
        """A row for each flow of each run."""
        return self.table("flows")


@dataclass(frozen=True, repr=False)
class RunResult(Result, _Tables):
    """The results directory that `narrows.run` returns.

    `path` is the directory, `summary` has the numbers of its `runs`, and `trials` the runs with
    their scenarios and tables.
    """

    unmet: list[str] = field(default_factory=list)
    """The checks that aren't met or are undecided, in words; empty for an opened result."""

    def __repr__(self) -> str:
        count = len(self.manifest["trials"])
        runs = f"{count_of(count, 'run')} on {self.manifest['backend']}"
        offers = ".summary_table, .flows, .table(NAME), .plot(NAME), .page, .notes, .unmet"
        return _with_notes(
            f"<RunResult {self.name!r}, {runs}, in {self.path}; {offers}>", self.notes
        )

    @property
    def notes(self) -> list[str]:
        """Sentences on trials that drift, are too short or differ widely, as in a terminal."""
        from narrows.metrics.notes import notes_of_run

        return notes_of_run(self.summary["runs"], self.groups)

    @property
    def page(self) -> Path:
        """The page of the result, to be opened in a browser."""
        return self.path / "report.html"

    def pages(self) -> list[Path]:
        """The page as a list, since a sweep has a page for each study."""
        return [self.page]

    @property
    def failures(self) -> dict[str, str]:
        """Always empty, since a run that fails gives no result; see `SweepResult.failures`."""
        return {}

    def _place(self) -> Place:
        return self.path

    def plot(self, name: str = "timeline", trial: int = 1) -> Drawing:
        """Draws a figure of one trial; `narrows list figures` lists the figures of a run.

        Raises InputError for another name or trial.
        """
        return _drawing(self._figure_of(name, trial))

    def explore(self, name: str = "timeline", trial: int = 1) -> Interactive:
        """Returns the same figure, zoomable in a notebook."""
        return Interactive(self._figure_of(name, trial))

    def _figure_of(self, name: str, trial: int) -> Figure:
        from narrows.sweeps.figure import of_trial

        known = [entry.name for entry in figures.of("run")]
        if name not in known:
            raise InputError.at(
                "plot", f'"{name}", which is not a figure of a run', one_of(name, known)
            )
        if not 1 <= trial <= len(self.trials):
            raise InputError.at("trial", str(trial), number_to(len(self.trials)))
        run = self.trials[trial - 1]
        made = figures.describe(name, run.scenario, run.columns, self.groups)
        return of_trial(made, trial, len(self.trials))

    def _repr_html_(self) -> str:
        engine, backend = self.manifest["engine"], self.manifest["backend"]
        runs = count_of(len(self.trials), "run")
        lines = [f"{runs} on {backend} ({engine}), in {self.path}", *self.notes]
        sampled = self.trials[0].scenario["run"]["record"] != "summary"
        charts = self._figure_of("timeline", 1) if sampled else None
        shown = self.flows.select(_SHOWN)
        known = [column.name for column in shown if column.null_count() < len(column)]
        return block(self.name, lines, shown.select(known), charts)


@dataclass(frozen=True)
class SweepResult(_Tables):
    """The store of runs that `narrows.sweep` returns, with the outcome of a sweep that just ran."""

    place: Place
    outcome: SweepOutcome | None = None

    def _place(self) -> Place:
        return self.place

    def __repr__(self) -> str:
        count = len(open_store(self.place).keys())
        offers = ".summary_table, .flows, .table(NAME), .plot(NAME), .page, .notes, .unmet"
        return _with_notes(
            f"<SweepResult of {count} stored runs in {self.place}; {offers}, .failures>", self.notes
        )

    @property
    def notes(self) -> list[str]:
        """Sentences on runs that drift, are too short, differ widely or are invalid."""
        from narrows.sweeps.overview import overview

        store = open_store(self.place)
        studies = store.studies().items() if self._has_runs() else ()
        return [note for study in studies for note in overview(store, *study, {}).notes]

    @property
    def path(self) -> Place:
        """The store's directory or URL."""
        return self.place

    @property
    def name(self) -> str:
        """The name of the study that ran last, or the names of an opened store's studies."""
        if self.outcome is not None:
            return self.outcome.job.name
        return ", ".join(state.name for state in states(open_store(self.place)))

    @property
    def summary(self) -> dict[str, Any]:
        """The data of `narrows run --json`, or the state of an opened store's studies."""
        if self.outcome is not None:
            return self.outcome.document()
        known = states(open_store(self.place))
        return {"directory": str(self.place), "studies": [asdict(state) for state in known]}

    @property
    def page(self) -> Path:
        """The page of the study that ran last, to be opened in a browser.

        Raises InputError for a store in object storage, which has no pages.
        """
        from narrows.sweeps.page import write_pages

        name = self.outcome.job.name if self.outcome is not None else None
        made = list(write_pages(self.place, name))
        if not made:
            raise InputError.at(str(self.place), "a store without pages", "a directory on a disk")
        return made[-1]

    def pages(self) -> list[Path]:
        """The rewritten pages of the store's studies; empty for a store in object storage."""
        from narrows.sweeps.page import write_pages

        return list(write_pages(self.place))

    def plot(
        self,
        name: str = "share",
        *,
        metric: str | None = None,
        x: str | None = None,
        y: str | None = None,
        by: str | None = None,
        where: Sequence[str] = (),
        trial: int | None = None,
        ylim: str | None = None,
        xscale: str | None = None,
    ) -> Drawing:
        """Draws a figure of the sweep or of one run; `name` is one of `narrows list figures`.

        `x`, `y` and `by` are axes such as "path.buffer", `metric` a column,
        `where` conditions such as "path.rate=40mbit,80mbit", `ylim` "auto" or
        "90:100", `xscale` "linear" or "log", `trial` that of a figure of one run, by default 1.
        Raises InputError.
        """
        from narrows.sweeps.figure import describe

        return _drawing(
            describe(
                self.place,
                name,
                metric=metric,
                x=x,
                y=y,
                by=by,
                where=where,
                trial=trial,
                ylim=ylim,
                xscale=xscale,
            )
        )

    def explore(
        self,
        name: str = "share",
        *,
        metric: str | None = None,
        x: str | None = None,
        y: str | None = None,
        by: str | None = None,
        where: Sequence[str] = (),
        trial: int | None = None,
        ylim: str | None = None,
        xscale: str | None = None,
    ) -> Interactive:
        """Returns the same figure, zoomable in a notebook."""
        from narrows.sweeps.figure import describe

        return Interactive(
            describe(
                self.place,
                name,
                metric=metric,
                x=x,
                y=y,
                by=by,
                where=where,
                trial=trial,
                ylim=ylim,
                xscale=xscale,
            )
        )

    @property
    def unmet(self) -> list[str]:
        """The checks that aren't met or are undecided, in words; empty for an opened store."""
        return [str(one) for one in self.outcome.unmet] if self.outcome else []

    @property
    def failures(self) -> dict[str, str]:
        """The reasons why runs failed, by the hash of the run."""
        found = open_store(self.place).failures()
        return {key: str(record["error"]) for key, record in found.items()}

    def _repr_html_(self) -> str:
        lines = [
            f"{s.name}: {s.stored} of {count_of(s.runs, 'run')}, {s.failed} failed "
            f"({s.backend} {s.engine})"
            for s in states(open_store(self.place))
        ]
        lines += [*self.notes, *self.unmet]
        return block(str(self.place), lines, self.summary_table if self._has_runs() else None)

    def _has_runs(self) -> bool:
        return bool(open_store(self.place).keys())


def open_result(path: str | Path) -> RunResult | SweepResult:
    """Opens the results of an earlier run or sweep at a path or URL; raises InputError."""
    if is_store(path):
        return SweepResult(location(path))
    return of_run(open_directory(Path(path)))


def _with_notes(text: str, notes: Iterable[str]) -> str:
    return "\n".join([text, *notes])


def _drawing(figure: Figure) -> Drawing:
    from narrows.api.drawing import drawing

    return drawing(figure)


def of_run(result: Result, unmet: Iterable[object] = ()) -> RunResult:
    """Returns a result of the store with the methods of the Python interface."""
    return RunResult(result.path, result.manifest, [str(one) for one in unmet])
