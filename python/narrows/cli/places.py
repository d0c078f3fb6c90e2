"""Commands on directories of results: `narrows open`, `narrows diff`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from narrows.cli.options import AsJson, Out, Png
from narrows.cli.output import print_json, print_lines, print_result
from narrows.cli.status import reading
from narrows.errors import InputError
from narrows.words import align

RESULTS = "narrows-results"
Show = Annotated[bool, typer.Option("--show/--no-show", help="Show the page in a browser.")]


def add(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    app.command()(diff)
    app.command("open")(open_)


def list_results(directory: str, as_json: bool) -> None:
    """Lists the results in a directory, the latest first."""
    from narrows.report.results_index import items

    found = items(directory)
    if as_json:
        print_json([item.document() for item in found])
        return
    rows = [(item.path, item.kind, item.state, item.what) for item in found]
    print_lines(align(rows, left=4) if rows else [f"no results in {directory}"])


def open_(
    place: Annotated[
        str, typer.Argument(metavar="[DIR]", help="Results, or a directory of results.")
    ] = RESULTS,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make the page of results again.")
    ] = False,
    png: Png = False,
    runs: Annotated[
        bool, typer.Option("--runs", help="For a sweep, also make the page of every run.")
    ] = False,
    show: Show = True,
) -> None:
    """Show results in a browser, one or a whole directory of them."""
    from narrows.cli.results import write_pages
    from narrows.console import print_paths
    from narrows.report.results_index import page_of, write_index
    from narrows.store import is_store, location

    if runs and not is_store(place):
        raise InputError.at("--runs", f"{place}, which is no sweep", "the command without it")
    single = is_store(place) or (location(place) / "manifest.json").is_file()  # type: ignore[operator]
    with reading(place):
        if rebuild or png or runs:
            pages = write_pages(place, png, runs)
        elif single:
            known = page_of(place)
            pages = [known] if known is not None else write_pages(place)
        else:
            pages = [write_index(place)]
    print_paths(pages)
    if show:
        show_page(pages[0])


def has_display() -> bool:
    """Returns True if a person sits at a terminal and could see a browser's window."""
    windows = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return windows and sys.stdout.isatty()


def show_page(page: Path) -> None:
    """Opens the browser; if there is none, the printed path has to suffice."""
    import webbrowser

    try:
        webbrowser.get()
    except webbrowser.Error:
        return
    webbrowser.open(page.resolve().as_uri())


def as_path(folder: Path) -> str:
    """Returns a folder as a word that can't be the id of a figure."""
    return str(folder) if folder.is_absolute() or str(folder).startswith(".") else f"./{folder}"


def diff(
    first: Annotated[str, typer.Argument(metavar="A", help="Results of a run or a sweep.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Results of the same kind.")],
    whole: Annotated[bool, typer.Option("--all", help="Print every metric.")] = False,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Compare two results: what was changed, and its effect."""
    from narrows.diff import diff as compare

    with reading(first, second):
        made = compare(first, second, out)
    print_result(made.document, lambda: made.lines(whole=whole), as_json)
