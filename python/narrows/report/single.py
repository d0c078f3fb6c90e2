"""One figure as a zoomable, self-contained page."""

from __future__ import annotations

from pathlib import Path

from narrows.figures import interactive
from narrows.figures.model import Figure
from narrows.report.page import environment, plotly_js
from narrows.store.atomic import write_text


def save_page(figure: Figure, stem: Path) -> Path:
    """Writes `stem.html`; raises OSError if it can't."""
    path = stem.with_name(f"{stem.name}.html")
    write_text(path, page(figure))
    return path


def page(figure: Figure) -> str:
    """Renders a described figure as HTML."""
    template = environment().get_template("figure.html.jinja")
    return template.render(
        figure=figure, plots=interactive.plots(figure), plotly=plotly_js([figure])
    )
