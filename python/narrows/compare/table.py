"""The page of a study: how much agrees in total, by quantity, by region and by scenario."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple
from pathlib import Path

from narrows.compare.judge import Comparison, Counts, Row
from narrows.compare.quantities import QUANTITIES
from narrows.compare.regions import regions
from narrows.compare.text import difference, how_varied, interval, limit, spread, verdict
from narrows.metrics.equivalence import Verdict

CAUSES = "differences.md"
"""A file beside the scenarios that says which cells differ, and why; it is copied into the
table."""
README = "README.md"
"""A file beside the scenarios; the table takes its title."""
_RULE = (
    "A cell is a quantity of a class of flows, or of the bottleneck, in one scenario. It agrees "
    "if the whole 95 % interval of the difference lies within what the quantity allows, differs "
    "if all of the interval lies outside, and is undecided otherwise. The noise of the trials "
    "never widens what is allowed:\n"
)
_LEGEND = (
    "Means and standard deviations over the trials. The interval is the 95 % interval of the "
    "difference: of pairs where the path alone varies or its impairments' draws are shared, "
    "else by Welch. Behind an undecided cell stands how many more trials would decide it.\n"
)


def markdown(source: Path, comparisons: Sequence[Comparison], path: Path) -> str:
    """The comparisons of a directory as the page at `path`.

    The page has no date, so that the same results give the same page.
    """
    rows = [row for comparison in comparisons for row in comparison.rows]
    causes = source / CAUSES
    title = _first_line(source / README) or "# Agreement with the Linux kernel"
    command = f"narrows compare {source} --table {path}"
    parts = [
        f"{title}\n",
        f"Made by `{command}`; not to be edited.\n",
        _engines(comparisons[0]),
        _cost(comparisons),
        _totals(rows),
        _RULE,
        *_by_quantity(rows),
        *regions(comparisons),
        "## Scenarios\n",
        *_overview(comparisons),
        *([causes.read_text(encoding="utf-8")] if causes.is_file() else []),
        "## Cells\n",
        _LEGEND,
    ]
    for comparison in comparisons:
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


def _cost(comparisons: Sequence[Comparison]) -> str:
    minutes: dict[str, float] = {}
    for comparison in comparisons:
        for backend, cpu_s in comparison.cpu_s.items():
            minutes[backend] = minutes.get(backend, 0.0) + cpu_s / 60
    costs = ", ".join(f"{spent:.1f} min for `{backend}`" for backend, spent in minutes.items())
    return f"Processor time of all runs: {costs}.\n"


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
    """The name with characters escaped that would end a table's cell or begin an HTML element."""
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
    for run in comparison.left_out:
        yield f"{_plain(str(run))}\n"
