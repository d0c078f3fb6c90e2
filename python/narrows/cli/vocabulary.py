"""The command that lists: the vocabulary of specifications, its schema, results."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from narrows.cli.options import AsJson, Backend
from narrows.cli.output import print_json
from narrows.cli.places import RESULTS, list_results


def add(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    app.command("list")(list_)


class Kind(StrEnum):
    """What `narrows list` can list."""

    CCAS = "ccas"
    MEDIA = "media"
    QUEUES = "queues"
    SERVICES = "services"
    IMPAIRMENTS = "impairments"
    WORKLOADS = "workloads"
    DISTRIBUTIONS = "distributions"
    PATHS = "paths"
    PROFILES = "profiles"
    FIGURES = "figures"
    METRICS = "metrics"
    BACKENDS = "backends"
    RESULTS = "results"
    SCHEMA = "schema"


def list_(
    kind: Annotated[Kind, typer.Argument(metavar="KIND", help=f"What to list: {', '.join(Kind)}.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME...]",
            help="Only these, or those with this in their name; a directory of results.",
        ),
    ] = None,
    backend: Backend = "sim",
    as_json: AsJson = False,
) -> None:
    """List all that has a name, the results, or the JSON Schema."""
    if kind is Kind.RESULTS:
        list_results(names[0] if names else RESULTS, as_json)
        return
    if kind is Kind.SCHEMA:
        import json

        from narrows import _native

        print_json(json.loads(_native.schema()))
        return
    from narrows.console import print_list
    from narrows.listing import as_json as document
    from narrows.listing import listing

    if as_json:
        print_json(document(kind.value, backend, names or ()))
    else:
        print_list(listing(kind.value, backend, names or ()))
