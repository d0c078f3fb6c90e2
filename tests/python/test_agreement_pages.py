"""The agreement studies: their scenarios, and their pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from reference import agreement
from reference.agreement_regions import MeasuredScenario, regions
from specimens import scenario_of

from narrows.plan import content_hash
from narrows.spec import Spec, load_study

ROOT = Path(__file__).parents[2]
SCENARIOS = {
    "agreement": (76, "011881b9db876c85a0d885598c986be8"),
    "agreement-bbr2": (18, "a51bf5cd8c0c524db96ae9ad3bdfad2d"),
    "agreement-bbr3": (18, "7de5735e8762835683f82787519d7795"),
    "agreement-controls": (44, "19478f1e3c486ea882ec3496e8bf2176"),
    "agreement-loss": (27, "dc68883ef84c8dc7c4af559ae26472c4"),
    "agreement-mixed": (20, "fc2100dfbdbb708bc7d0a9466def0076"),
    "agreement-networks": (21, "a3b3e7791193849a82725604eb13754a"),
    "agreement-queues": (20, "8bdeff3bb1a025eede6b67722af9945e"),
}
"""How many scenarios each study has, and a hash of all of them with their trials and classes.

The published cells are those of these scenarios: a change needs a new `cells.csv`."""


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_study_has_the_scenarios_that_were_measured(name: str) -> None:
    made = [spec for _, spec in load_study(ROOT / "experiments" / name / "study.toml").specs()]
    specs = [spec for spec in made if isinstance(spec, Spec)]
    parts = [(spec.canonical(1), str(spec.trials), *spec.groups) for spec in specs]
    digest = content_hash([part for parts_of_one in parts for part in parts_of_one])
    assert (len(made), digest) == SCENARIOS[name]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_study_that_has_a_page_was_measured(name: str) -> None:
    folder = ROOT / "experiments" / name
    assert folder in agreement.STUDIES
    assert all(one.rows for one in agreement.read(folder))


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


def judge_scenario(text: str, *verdicts: str) -> MeasuredScenario:
    """A scenario with cells that have these verdicts."""
    return MeasuredScenario(scenario_of(text), ("cubic",), [{"verdict": one} for one in verdicts])


def table(made: Sequence[MeasuredScenario], first: str) -> dict[str, dict[str, str]]:
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
    ("second", "shown"),
    [("agree", "2 of 2"), ("differ", "**1 of 2**"), ("undecided", "1 of 1, 1 open")],
)
def test_a_region_counts_the_cells_of_its_scenarios(second: str, shown: str) -> None:
    made = [judge_scenario(BBR_BESIDE, "agree"), judge_scenario(BBR_BESIDE, second)]
    assert filled_regions(table(made, "Rate")) == {("50 to 150 Mbit/s", "20 to 35 ms"): shown}
    assert filled_regions(table(made, "Flows")) == {("BBR beside others", SHALLOW): shown}


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
    found = table([judge_scenario(BBR_BESIDE.replace(old, new), "agree")], "Flows")
    assert list(filled_regions(found)) == [(row, column)]


def filled_regions(found: dict[str, dict[str, str]]) -> dict[tuple[str, str], str]:
    """The regions that hold a scenario."""
    return {
        (row, column): text
        for row, columns in found.items()
        for column, text in columns.items()
        if text != "-"
    }
