"""The group `narrows hosts`: the machines of an inventory for the back end hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from narrows.cli.help import WholeGroup
from narrows.cli.options import AsJson, Sets, overrides, source
from narrows.cli.output import print_lines, print_result
from narrows.cli.status import DONE, FAILED

if TYPE_CHECKING:
    from narrows.spec import Override, SpecificationText

app = typer.Typer(
    cls=WholeGroup,
    help="Check the hosts of an inventory, and restore them.",
    rich_markup_mode=None,
)
_PLACE = "INVENTORY"
_INVENTORY = typer.Argument(metavar=_PLACE, help="NAME of NAME.toml, or a path.")


@app.command()
def check(inventory: Annotated[str, _INVENTORY], as_json: AsJson = False) -> None:
    """Show each host's system, clock and line rate; status 1 if anything is missing."""
    from narrows.backends.hosts.inventory import load_inventory
    from narrows.backends.hosts.report import examine, report_lines

    loaded = load_inventory(inventory, _PLACE)
    reports = examine(loaded)
    problems = [problem for report in reports for problem in report.problems()]
    print_result(
        lambda: [report.as_json() for report in reports],
        lambda: report_lines(reports, loaded),
        as_json,
    )
    raise typer.Exit(FAILED if problems else DONE)


@app.command()
def script(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A specification.")],
    inventory: Annotated[str, _INVENTORY],
    sets: Sets = None,
) -> None:
    """Print the commands of a run, to be typed by hand; no host is contacted."""
    print_script(source(spec), overrides(sets or [], None, None), inventory, _PLACE)


def print_script(
    spec: str | SpecificationText,
    changes: Sequence[Override],
    inventory: str,
    option: str = "--backend",
) -> None:
    """Prints the commands of a specification's run on the hosts of an inventory.

    `option` is the place of the inventory on the command line.
    """
    from narrows.backends.hosts.checks import check_scenario
    from narrows.backends.hosts.inventory import load_inventory
    from narrows.backends.hosts.script import script as write
    from narrows.spec import load

    scenario = load(spec, changes).spec.scenario
    check_scenario(scenario)
    print(write(scenario, load_inventory(inventory, option)), end="")


@app.command()
def restore(inventory: Annotated[str, _INVENTORY]) -> None:
    """Undo the changes that a killed run left on each host."""
    from narrows.backends.hosts.inventory import load_inventory
    from narrows.backends.hosts.restore import restore as undo

    answers = undo(load_inventory(inventory, _PLACE))
    print_lines(f"{name}: {said}" for name, said in answers.items())
    raise typer.Exit(
        FAILED if any(said.startswith("failed") for said in answers.values()) else DONE
    )
