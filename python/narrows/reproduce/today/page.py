"""The page of the table, next to the pages of the reproductions."""

from __future__ import annotations

from pathlib import Path

from narrows.report.page import environment
from narrows.reproduce.today.table import ProblemTable, measured_text, rows
from narrows.store.atomic import write_text

PAGE = "still-true.html"


def write(table: ProblemTable, out: Path) -> Path:
    """Writes the page into the site in `out` and returns its path."""
    (out / "site").mkdir(parents=True, exist_ok=True)
    path = out / "site" / PAGE
    template = environment().get_template("site-still-true.html.jinja")
    details = [(problem, measured_text(table, problem)) for problem, _ in rows(table)]
    write_text(path, template.render(table=table, rows=list(rows(table)), details=details))
    return path
