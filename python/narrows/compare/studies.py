"""Comparisons of all scenarios in a directory, and their table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from typing import Any

from narrows.compare.judge import Comparison, Counts, Row
from narrows.compare.quantities import QUANTITIES
from narrows.compare.run import TRIALS, compare
from narrows.compare.text import difference, how_varied, interval, limit, lines, spread, verdict
from narrows.compare.write import document
from narrows.errors import InputError, StoreError
from narrows.execute import State, Watcher
from narrows.metrics.equivalence import Verdict
from narrows.spec import Override
from narrows.store.write import RESULTS

CAUSES = "differences.md"
"""A file beside the scenarios: which cells differ, and why. It goes into the table as it is."""
README = "README.md"
"""A file beside the scenarios, whose title the table takes."""
_RULE = (
    "A cell is a quantity of a class of flows, or of the bottleneck, in one scenario. It agrees "
    "if the whole 95 % interval of the difference lies within what the quantity allows, differs "
    "if all of the interval lies outside, and is undecided otherwise. The noise of the trials "
    "never widens what is allowed:\n"
)
_LEGEND = (
    "Means and standard deviations over the trials. The interval is the 95 % interval of the "
    "difference: of pairs where the trials vary the path, else by Welch. Behind an undecided "
    "cell stands how many more trials would decide it.\n"
)


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
        """How many cells have which verdict."""
        return Counts.of(self.rows)

    def lines(self) -> Iterator[str]:
        """What to print: every table, the files, and how much agrees in all."""
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
        """Writes the table of all cells; raises StoreError if that can't be done."""
        try:
            path.write_text(markdown(self, path), encoding="utf-8", newline="\n")
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
    """Every specification, and where its results go."""
    if not source.is_dir():
        return [(source, Path(out) if out is not None else None)]
    files = sorted(source.glob("*.toml"))
    if not files:
        found = "a directory without *.toml"
        raise InputError.at(str(source), found, "one with specifications")
    base = Path(out) if out is not None else Path(RESULTS) / f"compare-{source.resolve().name}"
    return [(file, base / file.stem) for file in files]


def _part(watcher: Watcher | None, name: str, number: int, count: int) -> Watcher | None:
    """Tells the watcher how much of all comparisons is done."""
    if watcher is None:
        return None
    whole = watcher

    def watch(state: State) -> None:
        part = (number + state.part) / count
        whole(replace(state, step=f"{name}: {state.step}", part=part))

    return watch


def markdown(made: Study, path: Path) -> str:
    """The study as the page at `path`, without a date: the same results give the same page."""
    first = made.comparisons[0]
    causes = made.source / CAUSES
    title = _first_line(made.source / README) or "# Agreement with the Linux kernel"
    command = f"narrows compare {made.source} --table {path}"
    parts = [
        f"{title}\n",
        f"Made by `{command}`; not to be edited.\n",
        _engines(first),
        _totals(made.rows),
        _RULE,
        *_by_quantity(made.rows),
        "## Scenarios\n",
        *_overview(made.comparisons),
        *([causes.read_text(encoding="utf-8")] if causes.is_file() else []),
        "## Cells\n",
        _LEGEND,
    ]
    for comparison in made.comparisons:
        parts += _details(comparison)
    return "\n".join(parts).rstrip() + "\n"


def _first_line(file: Path) -> str:
    return file.read_text(encoding="utf-8").partition("\n")[0] if file.is_file() else ""


def _totals(rows: Sequence[Row]) -> str:
    flows = [row for row in rows if row.cell.flows]
    return (
        f"**Of {len(rows)} cells {Counts.of(rows)}.** Of the {len(flows)} cells of flows alone, "
        f"without the bottleneck's quantities, which mostly follow from theirs: "
        f"{Counts.of(flows)}.\n"
    )


def _engines(first: Comparison) -> str:
    profile = first.scenario["host"]["profile"]
    engines = "; ".join(f"`{name}`: {engine}" for name, engine in first.engines.items())
    reference = first.reference
    return f"Back ends: {engines}. Profile of the hosts: `{profile}`. Reference: `{reference}`.\n"


def _by_quantity(rows: Sequence[Row]) -> Iterator[str]:
    yield "| Quantity | Allowed | Cells | Agree | Differ | Undecided |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for quantity in QUANTITIES.values():
        mine = [row for row in rows if row.cell.quantity == quantity.name]
        if mine:
            counts = " | ".join(str(count) for count in astuple(Counts.of(mine)))
            yield f"| {quantity.title} | {quantity.rule} | {len(mine)} | {counts} |"
    yield ""


def _overview(comparisons: Iterable[Comparison]) -> Iterator[str]:
    yield "| Scenario | Path and flows | Trials | Agree | Differ | Undecided |"
    yield "| --- | --- | --- | ---: | --- | --- |"
    for comparison in comparisons:
        rows = comparison.rows
        agreeing = f"{comparison.counts.agree} of {len(rows)}"
        cells = [_plain(comparison.name), _path(comparison), how_varied(comparison), agreeing]
        cells += [_names(rows, Verdict.DIFFER), _names(rows, Verdict.UNDECIDED)]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _path(comparison: Comparison) -> str:
    loss = comparison.scenario["path"]["loss"]
    return comparison.conditions + (f", random loss {100 * loss:g} %" if loss else "")


def _names(rows: Iterable[Row], verdict: Verdict) -> str:
    return ", ".join(_name(row) for row in rows if row.verdict is verdict)


def _name(row: Row) -> str:
    name = row.cell.quantity.replace("_", " ")
    return f"{name} of {_plain(row.cell.flows)}" if row.cell.flows else name


def _plain(name: str) -> str:
    """A name that ends no cell of a table and begins no element of HTML."""
    return name.replace("|", "\\|").replace("<", "&lt;")


def _details(comparison: Comparison) -> Iterator[str]:
    yield f"### {_plain(comparison.name)}\n\n{_path(comparison)}; {how_varied(comparison)}\n"
    head = ["Quantity", "Flows", "Back end", "Mean", comparison.reference]
    head += ["Difference", "95 % interval", "Limit", "Verdict"]
    yield f"| {' | '.join(head)} |\n| --- | --- | --- |{' ---: |' * 5} --- |"
    for row in comparison.rows:
        quantity = row.cell.of
        cells = [f"{quantity.title}, {quantity.unit}", _plain(row.cell.flows), row.backend]
        cells += [spread(quantity, row.values), spread(quantity, row.reference)]
        cells += [difference(row), interval(row), limit(row)]
        cells += [f"**{verdict(row)}**" if row.verdict is Verdict.DIFFER else verdict(row)]
        yield f"| {' | '.join(cells)} |"
    yield ""
