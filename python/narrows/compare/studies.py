"""Compares back ends on the combinations of a study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from narrows.compare.judge import CellComparison, Comparison, VerdictCounts
from narrows.compare.run import ComparisonOptions, Participant, compare_participants
from narrows.compare.table import write_cells
from narrows.compare.text import lines
from narrows.compare.write import document
from narrows.errors import Problem, SpecError
from narrows.execute import RunProgress, Watcher
from narrows.plan import MOST_PROBLEMS, Selection
from narrows.spec import Override, Spec, Study, load_study
from narrows.store.slug import slug
from narrows.store.write import RESULTS


@dataclass(frozen=True)
class Comparisons:
    """The comparisons of a study's combinations, of which a plain specification has one."""

    name: str
    made: tuple[Comparison, ...]

    @property
    def rows(self) -> list[CellComparison]:
        """All cells of all scenarios."""
        return [row for comparison in self.made for row in comparison.rows]

    @property
    def counts(self) -> VerdictCounts:
        """The number of cells with each verdict."""
        return VerdictCounts.of(self.rows)

    def lines(self) -> Iterator[str]:
        """Yields the printed text: every table, the files, and the totals."""
        for comparison in self.made:
            yield from lines(comparison)
            yield from comparison.files.values()
            yield ""
        if len(self.made) > 1:
            yield f"{len(self.rows)} cells: {self.counts}"

    def document(self) -> dict[str, Any]:
        """Returns the document of `--json`: one comparison, or all as `comparisons`."""
        documents = [document(comparison) for comparison in self.made]
        if len(documents) == 1:
            return documents[0]
        whole = {"verdict": str(self.counts.verdict), **asdict(self.counts)}
        return {**whole, "comparisons": documents}

    def write_cells(self, path: Path) -> None:
        """Writes the table of all cells; raises StoreError if that fails."""
        write_cells(self.made, path)


@dataclass(frozen=True)
class _Combination:
    """One combination of the study, as each back end reads it."""

    number: int
    name: str
    participants: tuple[Participant, ...]


def compare(
    source: str | Path | Study,
    overrides: Iterable[str | Override] = (),
    *,
    filters: Sequence[str] = (),
    backends: Sequence[str] = ("sim", "uml"),
    headings: Mapping[str, str] | None = None,
    trials: int | None = None,
    max_trials: int | None = None,
    out: str | Path | None = None,
    watcher: Watcher | None = None,
) -> Comparisons:
    """Compares the back ends on a specification, or on every combination of a study.

    `filters` choose combinations; `narrows.compare.run` says how each is compared. Their results go
    into one directory each. `headings` replace the names of back ends. Raises InputError for bad
    input or a back end that can't run here.
    """
    options = ComparisonOptions(backends, trials, max_trials, headings or {})
    study = source if isinstance(source, Study) else load_study(source, overrides)
    combinations = _combinations(study, options, filters)
    base = Path(out) if out is not None else None
    whole = base or Path(RESULTS) / f"compare-{slug(study.name, 40, 'study')}"
    made = []
    for place, one in enumerate(combinations):
        inner = whole / f"{one.number:02}-{slug(one.name, 60, 'run')}"
        part = _part(watcher, one.name, place, len(combinations))
        made.append(
            compare_participants(
                one.participants, options, one.name, inner if study.axes else base, part
            )
        )
    return Comparisons(study.name, tuple(made))


def _combinations(
    study: Study, options: ComparisonOptions, filters: Sequence[str]
) -> list[_Combination]:
    wanted = Selection(study, filters)
    chosen = [(n, point) for n, point in enumerate(study.points(), 1) if wanted.takes(point)]
    if not chosen:
        raise wanted.none()
    participants: list[list[Participant]] = []
    for label, backend in options.find().items():
        specs = _specs(study, {number for number, _ in chosen}, backend.capabilities().ccas)
        participants.append([Participant(label, backend, spec) for spec in specs])
    each = zip(chosen, zip(*participants, strict=True), strict=True)
    return [_Combination(n, _name(both[0].spec, point), both) for (n, point), both in each]


def _specs(study: Study, wanted: set[int], controls: Sequence[str]) -> list[Spec]:
    """Returns the wanted combinations; raises SpecError with the problems of all, each once."""
    specs: list[Spec] = []
    problems: dict[Problem, None] = {}
    for number, (_, spec) in enumerate(study.specs(controls), 1):
        if number not in wanted:
            continue
        if isinstance(spec, SpecError):
            problems.update(dict.fromkeys(spec.problems))
        else:
            specs.append(spec)
    if problems:
        raise SpecError(list(problems)[:MOST_PROBLEMS])
    return specs


def _name(spec: Spec, point: Mapping[str, object]) -> str:
    """Returns the name of a combination: its case's or the study's, with its other values."""
    values = [f"{place}={value}" for place, value in point.items() if place != "case"]
    return ", ".join([spec.name, *values])


def _part(watcher: Watcher | None, name: str, number: int, count: int) -> Watcher | None:
    """Reports the progress of all comparisons to the watcher."""
    if watcher is None:
        return None
    whole = watcher

    def watch(state: RunProgress) -> None:
        part = (number + state.part) / count
        whole(replace(state, step=f"{name}: {state.step}", part=part))

    return watch
