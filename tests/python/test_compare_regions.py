"""Where the simulator can be trusted: regions of a study's page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from specimens import scenario_of

from narrows.compare import Comparison
from narrows.compare.quantities import Cell
from narrows.compare.regions import regions

BBR_BESIDE = """\
name = "made up"

[path]
rate = "80mbit"
rtt = "25ms"
buffer = "0.5bdp"

[[flows]]
cca = "bbr"

[[flows]]
cca = "cubic"

[run]
duration = "2s"
"""


def comparison(text: str, sim: float, uml: float) -> Comparison:
    measured = {"sim": [{Cell("rtt", "cubic"): sim}] * 3, "uml": [{Cell("rtt", "cubic"): uml}] * 3}
    return Comparison("made up", "", scenario_of(text), ("cubic",), {}, measured)


def table(made: list[Comparison], first: str) -> dict[str, dict[str, str]]:
    """The table whose first column is called so, as rows of columns."""
    lines = [*"\n".join(regions(made)).splitlines(), ""]
    (start,) = [i for i, line in enumerate(lines) if line.startswith(f"| {first}")]
    head, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines[start : lines.index("", start)]
    ]
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows[1:]}


SHALLOW = "below 0.75 BDP"


@pytest.mark.parametrize(
    ("sim", "shown"), [(50.0, "2 of 2"), (60.0, "**1 of 2**")], ids=["agrees", "differs"]
)
def test_a_region_counts_the_cells_of_its_scenarios(sim: float, shown: str) -> None:
    made = [comparison(BBR_BESIDE, 50.0, 50.0), comparison(BBR_BESIDE, sim, 50.0)]
    assert filled(table(made, "Rate")) == {("50 to 150 Mbit/s", "20 to 35 ms"): shown}
    assert filled(table(made, "Flows")) == {("BBR beside others", SHALLOW): shown}


def test_what_is_open_counts_neither_way() -> None:
    made = comparison(BBR_BESIDE, 50.0, 50.0)
    few = {backend: runs[:2] for backend, runs in made.measured.items()}
    undecided = replace(made, measured=few)
    found = filled(table([made, undecided], "Flows"))
    assert found == {("BBR beside others", SHALLOW): "1 of 1, 1 open"}


@pytest.mark.parametrize(
    ("old", "new", "row", "column"),
    [
        ('"bbr"', '"reno"', "several controls, none of them BBR", SHALLOW),
        ('"bbr"', '"cubic"', "several of one control", SHALLOW),
        ('"bbr"', '"bbr"\nsize = "1mb"', "with flows of a size", SHALLOW),
        ('[[flows]]\ncca = "bbr"', "", "one flow", SHALLOW),
        ('"0.5bdp"', '"12bdp"', "BBR beside others", "12 and more BDP"),
        ('buffer = "0.5bdp"', 'queue = "codel"', "BBR beside others", "a managed queue"),
    ],
)
def test_flows_and_buffer_decide_the_region(old: str, new: str, row: str, column: str) -> None:
    found = table([comparison(BBR_BESIDE.replace(old, new), 50.0, 50.0)], "Flows")
    assert list(filled(found)) == [(row, column)]


def filled(found: dict[str, dict[str, str]]) -> dict[tuple[str, str], str]:
    """The regions that hold a scenario."""
    return {
        (row, column): text
        for row, columns in found.items()
        for column, text in columns.items()
        if text != "-"
    }
