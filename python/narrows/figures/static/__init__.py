"""Figures as images: PNG, SVG and PDF, drawn by matplotlib.

pyplot is never imported: it is slow to load and keeps every figure alive. The same description
always gives the same bytes: without a date or random identifiers, and with the typeface that
matplotlib includes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from narrows.figures.model import Figure
from narrows.figures.static import grid, stack
from narrows.figures.static.style import DPI, WIDTH_IN, style, width_of
from narrows.figures.telling_apart import tell_apart
from narrows.store.owned import owned_file

__all__ = ["DPI", "WIDTH_IN", "draw", "save", "style"]

FORMATS: dict[str, dict[str, Any]] = {
    "png": {"metadata": {"Software": None}, "pil_kwargs": {"compress_level": 4}},
    "svg": {"metadata": {"Date": None, "Creator": None}},
    "pdf": {"metadata": {"CreationDate": None, "Creator": None, "Producer": None}},
}
"""Metadata of the files, without anything that changes from run to run."""


def save(figure: Figure, stem: Path, formats: Iterable[str] = ("png", "svg")) -> list[Path]:
    """Write the figure as `stem.png`, `stem.svg` or `stem.pdf` and return their paths.

    Raises ValueError for another format and OSError if a file can't be written.
    """
    wanted = list(formats)
    unknown = [kind for kind in wanted if kind not in FORMATS]
    if unknown:
        raise ValueError(f"figure format {unknown[0]!r}: png, svg or pdf is needed")
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in wanted]
    with style():
        canvas = draw(figure)
        for kind, path in zip(wanted, paths, strict=True):
            with owned_file(path) as work:
                canvas.savefig(work, dpi=DPI, format=kind, **FORMATS[kind])
    return paths


def draw(figure: Figure, kind: type[Canvas] = Canvas) -> Canvas:
    """The figure as a matplotlib figure, to change or save; use it within `style`.

    `kind` is the class of the figure.
    """
    figure = tell_apart(figure)
    layout = stack if figure.stack is not None else grid
    canvas = kind(figsize=(width_of(figure), layout.height(figure)), **layout.OPTIONS)
    FigureCanvasAgg(canvas)
    layout.draw(figure, canvas)
    return canvas
