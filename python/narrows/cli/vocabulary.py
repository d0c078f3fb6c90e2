"""The command that lists: the vocabulary of specifications, its schema, results."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Annotated

import typer

from narrows.cli.options import AsJson, Backend
from narrows.cli.output import hint, print_json
from narrows.cli.places import RESULTS, list_results
from narrows.errors import InputError


def add(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    app.command("list")(list_)


class ListKind(StrEnum):
    """The kinds of things that `narrows list` lists."""

    CCAS = "ccas"
    MEDIA = "media"
    QUEUES = "queues"
    SERVICES = "services"
    IMPAIRMENTS = "impairments"
    WORKLOADS = "workloads"
    DISTRIBUTIONS = "distributions"
    PATHS = "paths"
    PROFILES = "profiles"
    FIELDS = "fields"
    FIGURES = "figures"
    METRICS = "metrics"
    BACKENDS = "backends"
    RESULTS = "results"
    SCHEMA = "schema"


_MEANING = {
    ListKind.CCAS: "congestion controls",
    ListKind.MEDIA: "rate controls of video calls",
    ListKind.QUEUES: "queue disciplines of a link",
    ListKind.SERVICES: "ways in which a link's rate varies: Wi-Fi, cellular, traces",
    ListKind.IMPAIRMENTS: "losses, delays and reordering on the path",
    ListKind.WORKLOADS: "applications: web pages, video, calls, background traffic",
    ListKind.DISTRIBUTIONS: "distributions of sizes and times",
    ListKind.PATHS: "presets of a path, such as a satellite's",
    ListKind.PROFILES: "kernels whose TCP a host can follow",
    ListKind.FIELDS: "keys of a specification",
    ListKind.FIGURES: "charts of results, and published figures to reproduce",
    ListKind.METRICS: "numbers in the tables of results",
    ListKind.BACKENDS: "the simulator and real kernels, and what each can do",
    ListKind.RESULTS: "the results in narrows-results, or in another directory",
    ListKind.SCHEMA: "the JSON Schema of a specification, for editors",
}


_MOST_NAMES = {ListKind.RESULTS: 1, ListKind.SCHEMA: 0}
"""The names that some kinds take at most."""


def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]",
            help=f"What to list: {', '.join(ListKind)}. Or a name alone, such as cubic.",
            autocompletion=lambda: list(ListKind),
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME...]",
            help="Only these, or all whose names contain this, with all their options; or a "
            "directory of results.",
        ),
    ] = None,
    backend: Backend = "sim",
    as_json: AsJson = False,
) -> None:
    """List controls, queues, metrics and so on, or the results."""
    if kind is None:
        _list_kinds(as_json)
        return
    if kind not in list(ListKind):
        for name in (kind, *(names or ())):
            _list_by_name(name, backend, as_json)
        return
    most = _MOST_NAMES.get(ListKind(kind))
    if names and most is not None and len(names) > most:
        remedy = "one directory" if most else f"`narrows list {kind}` alone"
        raise InputError.at("list", f'"{names[most]}" beside {kind}', remedy)
    if kind == ListKind.RESULTS:
        list_results(names[0] if names else RESULTS, as_json)
        return
    if kind == ListKind.SCHEMA:
        import json

        from narrows import _native

        print_json(json.loads(_native.schema()))
        return
    from narrows.console import print_list
    from narrows.listing import as_json as document
    from narrows.listing import listing, overview

    if as_json:
        print_json(document(kind, backend, names or ()))
        return
    rows = listing(kind, backend, names or ())
    shown = rows if names else overview(kind, rows)
    print_list(shown)
    if len(shown) < len(rows):
        hint(f"narrows list {kind} {_first_with_more(rows)}")


def _first_with_more(rows: Sequence[tuple[str, str]]) -> str:
    """Returns the first name that has indented rows below it."""
    return next(above for (above, _), (name, _) in pairwise(rows) if name.startswith(" "))


def _list_by_name(name: str, backend: str, as_json: bool) -> None:
    """Prints the entries of a name, below their kinds if it occurs in several."""
    from narrows.console import print_list
    from narrows.listing import find, nest

    found = find(name, backend)
    if as_json:
        print_json({kind: nest(rows) for kind, rows in found.items()})
        return
    for kind, rows in found.items():
        if len(found) > 1:
            print(f"{kind}:")
        print_list(rows)


def _list_kinds(as_json: bool) -> None:
    """Prints what can be listed: the kinds, each with the number of its entries."""
    from narrows.console import print_list
    from narrows.listing import count

    rows = [(kind, count(kind), meaning) for kind, meaning in _MEANING.items()]
    if as_json:
        print_json([{"name": kind, "count": n, "meaning": meaning} for kind, n, meaning in rows])
        return
    print_list((kind, meaning if n is None else f"{n:3}  {meaning}") for kind, n, meaning in rows)
    hint("narrows list ccas")
