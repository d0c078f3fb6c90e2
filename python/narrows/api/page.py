"""Results as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS = 12


def block(title: str, lines: Iterable[str], frame: pl.DataFrame | None = None) -> str:
    """A title, some lines and the first rows of a table."""
    parts = [f"<p><b>{escape(title)}</b></p>", *(f"<p>{escape(line)}</p>" for line in lines)]
    return "\n".join(parts) + ("" if frame is None else table(frame))


def table(frame: pl.DataFrame) -> str:
    """The first rows of a table."""
    rows = [_row(frame.columns, "th"), *(_row(row, "td") for row in frame.head(MOST_ROWS).rows())]
    rest = frame.height - MOST_ROWS
    more = f"<p>and {rest} more rows</p>" if rest > 0 else ""
    return "<table>" + "".join(rows) + f"</table>{more}"


def _row(values: Sequence[object], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(_cell(value))}</{tag}>" for value in values) + "</tr>"


def _cell(value: object) -> str:
    if value is None:
        return "\N{EN DASH}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
