"""The page of a sweep: its results, its failures, and a sortable table of all combinations."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from narrows.figures.interactive.plot import in_script
from narrows.figures.looks import HUES
from narrows.figures.palette import colour
from narrows.report.commands import both_ways
from narrows.report.page import environment, plotly_js
from narrows.spec.copies import refer_to_copies
from narrows.store import Place, open_store
from narrows.store.atomic import write_text, writing
from narrows.store.folders import PAGES
from narrows.sweeps.copies import copies_in, with_copy
from narrows.sweeps.overview import Overview, overview
from narrows.sweeps.run_pages import MOST_AUTOMATIC, write_run_pages
from narrows.version import __version__


def write_pages(place: Place, name: str | None = None, runs: bool = False) -> dict[Path, Overview]:
    """Writes the pages of a store's studies, or of the study called `name`.

    Returns the overview on each page by the page's path.

    Beside each page is the study as a file, so that the page's command works there.

    The pages of its single runs are also made if there are few, or if `runs` is set. A store in
    object storage has no pages: nothing is written. Raises StoreError if there is no store or it
    can't be written.
    """
    store = open_store(place)
    folder = store.directory
    if folder is None:
        return {}
    pages = {}
    with writing(folder):
        for stem, record in store.studies().items():
            if name is None or record["name"] == name:
                if runs or store.study_runs(stem).height <= MOST_AUTOMATIC:
                    write_run_pages(store, folder / PAGES, stem, record)
                page = folder / f"{stem}.html"
                pages[page] = overview(store, stem, record, _pages_of_runs(folder))
                write_text(page, render(pages[page], folder, stem, record))
                spec = refer_to_copies(str(record["spec"]), copies_in(folder, record))
                write_text(folder / f"{stem}.toml", spec)
    return pages


def render(found: Overview, folder: Path, stem: str, record: Mapping[str, Any]) -> str:
    """Renders the page of a study as HTML."""
    hues = [[colour(key).light, colour(key).dark] for key in HUES]
    template = environment("narrows.sweeps").get_template("sweep.html.jinja")
    return template.render(
        overview=found,
        record=record,
        command=_command(stem, record, copies_in(folder, record)),
        version=__version__,
        data=in_script(
            json.dumps(found.document() | {"hues": hues}, separators=(",", ":"), default=list)
        ),
        plotly=plotly_js(),
        directory=folder,
    )


def _command(stem: str, record: Mapping[str, Any], copies: Mapping[str, str]) -> str:
    """Returns the commands that repeat the study: as typed, and from the file beside the page."""
    words = ["narrows", "run", f"{stem}.toml", "--backend", str(record["backend"])]
    for one in record.get("filters", []):
        words += ["--filter", with_copy(str(one), copies)]
    return both_ways(record.get("command", []), shlex.join(words))


def _pages_of_runs(directory: Path) -> dict[str, str]:
    """Returns the addresses of the existing pages of runs, relative to the study's page."""
    return {file.stem: f"{PAGES}/{file.name}" for file in (directory / PAGES).glob("*.html")}
