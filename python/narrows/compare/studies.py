"""Comparisons of all scenarios in a directory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from narrows.compare.judge import Comparison, Counts, Row
from narrows.compare.run import TRIALS, compare
from narrows.compare.table import markdown
from narrows.compare.text import lines
from narrows.compare.write import document
from narrows.errors import InputError, StoreError
from narrows.execute import State, Watcher
from narrows.spec import Override
from narrows.store.write import RESULTS


@dataclass(frozen=True)
class Study:
    """The comparisons of a directory, or the one of a single file."""

    source: Path
    comparisons: tuple[Comparison, ...]

    @property
    def rows(self) -> list[Row]:
        """All cells of all scenarios."""
        return [row for comparison in self.comparisons for row in comparison.rows]

    @property
    def counts(self) -> Counts:
        """The number of cells with each verdict."""
        return Counts.of(self.rows)

    def lines(self) -> Iterator[str]:
        """What to print: every table, the files, and the totals."""
        for comparison in self.comparisons:
            yield from lines(comparison)
            yield from comparison.files.values()
            yield ""
        if len(self.comparisons) > 1:
            yield f"{len(self.rows)} cells: {self.counts}"

    def document(self) -> dict[str, Any]:
        """What `--json` prints: one comparison, or all of a directory as `comparisons`."""
        documents = [document(comparison) for comparison in self.comparisons]
        if not self.source.is_dir():
            return documents[0]
        counts = self.counts
        whole = {"verdict": str(counts.verdict), **asdict(counts)}
        return {**whole, "comparisons": documents}

    def write_table(self, path: Path) -> None:
        """Writes the table of all cells; raises StoreError if that fails."""
        try:
            path.write_text(
                markdown(self.source, self.comparisons, path), encoding="utf-8", newline="\n"
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError.at(str(path), reason, "a file that can be written") from error


def study(
    source: str | Path,
    overrides: Iterable[str | Override] = (),
    *,
    backends: Sequence[str] = ("sim", "uml"),
    trials: int = TRIALS,
    max_trials: int | None = None,
    out: str | Path | None = None,
    watcher: Watcher | None = None,
) -> Study:
    """Compares the back ends on a specification, or on every one (`*.toml`) of a directory.

    See `narrows.compare.run.compare`. The results of a directory go into one
    directory each. Raises InputError if there is no specification.
    """
    place, changes, made = Path(source), list(overrides), []
    places = _places(place, out)
    for number, (file, directory) in enumerate(places):
        comparison = compare(
            file,
            changes,
            backends=backends,
            trials=trials,
            max_trials=max_trials,
            out=directory,
            watcher=_part(watcher, file.stem, number, len(places)),
        )
        made.append(comparison)
    return Study(place, tuple(made))


def _places(source: Path, out: str | Path | None) -> list[tuple[Path, Path | None]]:
    """Every specification and the directory of its results."""
    if not source.is_dir():
        return [(source, Path(out) if out is not None else None)]
    files = sorted(source.glob("*.toml"))
    if not files:
        found = "a directory without *.toml"
        raise InputError.at(str(source), found, "one with specifications")
    base = Path(out) if out is not None else Path(RESULTS) / f"compare-{source.resolve().name}"
    return [(file, base / file.stem) for file in files]


def _part(watcher: Watcher | None, name: str, number: int, count: int) -> Watcher | None:
    """Reports the progress of all comparisons to the watcher."""
    if watcher is None:
        return None
    whole = watcher

    def watch(state: State) -> None:
        part = (number + state.part) / count
        whole(replace(state, step=f"{name}: {state.step}", part=part))

    return watch
