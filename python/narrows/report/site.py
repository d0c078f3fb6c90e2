"""A site of reproduced figures: an index, and a page for each figure.

The folder is self-contained: pages, pictures, and the data behind them as Parquet and CSV. No page
makes a network request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.report.page import Check, environment
from narrows.store.atomic import write_text
from narrows.store.cells import harmless_frame
from narrows.store.parquet import write_parquet

if TYPE_CHECKING:
    import polars as pl

MOST_CSV_ROWS = 100_000
"""Larger tables are written as Parquet only."""


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """The verdict on a claim, its checks, and how it was found."""

    claim: str
    where: str
    setup: str
    expect: str
    quote: str
    verdict: str
    way: str
    checks: Sequence[Check]
    reason: Check | None = None
    notes: Sequence[Check] = ()


@dataclass(frozen=True, slots=True)
class FigureFiles:
    """A picture on a page: the common stem of its files, and a caption."""

    stem: str
    caption: str
    alt: str


@dataclass(frozen=True, slots=True)
class FigureVersion:
    """A figure made in one way: under one kernel's TCP on one back end."""

    label: str
    note: str
    runs: str
    plates: Sequence[FigureFiles]
    verdicts: Sequence[ClaimVerdict]
    tables: Sequence[str]


@dataclass(frozen=True, slots=True)
class FigurePage:
    """The page of a figure. `command` reproduces it; one without claims isn't `judged`."""

    identifier: str
    title: str
    source: str
    lesson: str
    choices: str
    command: str
    versions: Sequence[FigureVersion]
    judged: bool


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim on the index: its verdicts in words, by the way they were found."""

    claim: str
    expect: str
    where: str
    page: str | None
    verdict: str
    headline: str
    others: Sequence[tuple[str, str]] = field(default=())
    thumb: str | None = None


@dataclass(frozen=True, slots=True)
class Chapter:
    """A document on the index: its claims that ran, and recorded verdicts on the others."""

    name: str
    title: str
    rows: Sequence[ClaimRow]
    recorded: Sequence[ClaimRow] = ()


def page_name(identifier: str) -> str:
    """The file of a figure's page."""
    return f"{identifier.replace('/', '-')}.html"


def write_figure(folder: Path, page: FigurePage) -> Path:
    """Writes a page into `folder` and returns its path."""
    path = folder / page_name(page.identifier)
    text = environment().get_template("site-figure.html.jinja").render(page=page)
    write_text(path, text)
    return path


def write_index(folder: Path, chapters: Sequence[Chapter], counts: Mapping[str, str]) -> Path:
    """Writes the index into `folder` and returns its path; `counts` are words by kind of claim."""
    path = folder / "index.html"
    template = environment().get_template("site-index.html.jinja")
    write_text(path, template.render(chapters=chapters, counts=counts))
    return path


def write_tables(folder: Path, stem: str, frames: Mapping[str, pl.DataFrame]) -> list[str]:
    """Writes frames as Parquet, and as CSV unless they are large; returns the files' names."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for name, frame in frames.items():
        write_parquet(frame, folder / f"{stem}-{name}.parquet")
        names.append(f"{folder.name}/{stem}-{name}.parquet")
        if frame.height <= MOST_CSV_ROWS:
            table = harmless_frame(frame).write_csv(float_precision=9)
            (folder / f"{stem}-{name}.csv").write_bytes(table.encode())
            names.append(f"{folder.name}/{stem}-{name}.csv")
    return names
