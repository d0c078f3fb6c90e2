"""Results as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.late import pl
from narrows.words import short_number

if TYPE_CHECKING:
    from narrows.figures.model import Figure

MOST_ROWS = 12


def block(
    title: str,
    lines: Iterable[str],
    frame: pl.DataFrame | None = None,
    charts: Figure | None = None,
) -> str:
    """Renders a title, some lines, a small chart of each panel, and the first rows of a table."""
    parts = [f"<p><b>{escape(title)}</b></p>", *(f"<p>{escape(line)}</p>" for line in lines)]
    if charts is not None:
        from narrows.figures.spark import sparks

        parts.append(sparks(charts))
    return "\n".join(parts) + ("" if frame is None else table(frame))


def table(frame: pl.DataFrame) -> str:
    """Renders the first rows of a table."""
    rows = [
        _row([heading(name) for name in frame.columns], "th"),
        *(_row(row, "td") for row in frame.head(MOST_ROWS).rows()),
    ]
    rest = frame.height - MOST_ROWS
    more = f"<p>and {rest} more rows</p>" if rest > 0 else ""
    return "<table>" + "".join(rows) + f"</table>{more}"


def heading(column: str) -> str:
    """Returns the heading of a column with its unit, such as "goodput (Mbit/s) of CUBIC"."""
    from narrows.metrics.catalogue import find
    from narrows.metrics.headings import words

    metric, group = find(column), column.rpartition(".")[0]
    if metric is None:
        return column
    return f"{metric.label} of {words(group)}" if group else metric.label


@dataclass(frozen=True)
class Interactive:
    """A zoomable figure in its own frame: the page that `--format html` writes."""

    figure: Figure

    def _repr_html_(self) -> str:
        from narrows.figures import interactive
        from narrows.report.single import page

        high = 140 + sum(plot.height for plot in interactive.plots(self.figure))
        inner, title = escape(page(self.figure), quote=True), escape(self.figure.title, quote=True)
        style = f"width:100%;height:{min(high, 1400)}px;border:0"
        return f'<iframe srcdoc="{inner}" title="{title}" style="{style}"></iframe>'

    def save(self, file: str | Path) -> Path:
        """Writes the self-contained page; returns its path."""
        from narrows.report.single import page

        place = Path(file)
        place.write_text(page(self.figure), encoding="utf-8")
        return place


def _row(values: Sequence[object], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(_cell(value))}</{tag}>" for value in values) + "</tr>"


def _cell(value: object) -> str:
    if value is None:
        return "\N{EN DASH}"
    return short_number(value, 4) if isinstance(value, float) else str(value)
