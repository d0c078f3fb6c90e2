"""Commands on what a specification can say: `narrows list` and `narrows schema`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from narrows.cli.options import AsJson, Backend
from narrows.cli.output import print_json


def add(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    app.command("list")(list_)
    app.command()(schema)


class Kind(StrEnum):
    """What `narrows list` can list."""

    CCAS = "ccas"
    QUEUES = "queues"
    SERVICES = "services"
    IMPAIRMENTS = "impairments"
    WORKLOADS = "workloads"
    DISTRIBUTIONS = "distributions"
    PATHS = "paths"
    PROFILES = "profiles"
    FIGURES = "figures"


def list_(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    backend: Backend = "sim",
    as_json: AsJson = False,
) -> None:
    """List what can be named in a specification."""
    from narrows.console import print_list
    from narrows.listing import listing, nested

    rows = listing(kind.value, backend)
    if as_json:
        print_json(nested(rows))
    else:
        print_list(rows)


def schema() -> None:
    """Print a JSON Schema of specifications, with which editors complete and check TOML."""
    import json

    from narrows import _native

    print_json(json.loads(_native.schema()))
