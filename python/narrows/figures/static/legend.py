"""The legend above panels: the size of its letters, its columns, and names without common words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from narrows.figures.model import Figure, Line, Mark
from narrows.figures.static import marks
from narrows.figures.static.style import STYLE, width_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

SIZE, PAPER_SIZES = 8.5, (8.0, 7.5, 7.0, 6.5, 6.0)
"""The size of letters in points, and those in a paper, of which the largest that fits is taken."""
MOST_KEYS = 7
"""Keys in a row at most."""
MOST_OF_HEIGHT = 0.25
"""The part of a paper's figure that its legend may take before its letters get smaller."""
AIR_IN = 0.063
"""Below the legend, in inches."""
SPACES = {"handlelength": 2.2, "handletextpad": 0.8, "columnspacing": 2.0, "labelspacing": 0.5}
PAPER_SPACES = {
    "handlelength": 2.2,
    "handletextpad": 0.5,
    "columnspacing": 1.2,
    "labelspacing": 0.25,
}
"""matplotlib's distances in a legend, in sizes of its letters."""


@dataclass(frozen=True, slots=True)
class Legend:
    """The arrangement of a figure's keys; the `title` holds the words that all names begin with."""

    marks: Sequence[Mark]
    names: Sequence[str]
    title: str
    columns: int
    size: float
    spaces: dict[str, float]

    @property
    def height(self) -> float:
        """The height in inches."""
        rows = -(-len(self.names) // self.columns) + bool(self.title)
        pitch = self.size * (1 + self.spaces["labelspacing"]) / 72
        return rows * pitch + AIR_IN if self.names else 0.0

    def draw(self, canvas: Canvas, top: float) -> None:
        """Draws the legend below `top`, a part of the canvas's height."""
        if not self.names:
            return
        words: dict[str, Any] = {"title": self.title} if self.title else {}
        keys = zip(self.marks, self.names, strict=True)
        canvas.legend(
            handles=[marks.key(mark, name) for mark, name in keys],
            ncols=self.columns, loc="upper left", frameon=False, fontsize=self.size,
            title_fontsize=self.size, alignment="left", bbox_to_anchor=(0.005, top),
            **self.spaces, **words,
        )  # fmt: skip


def legend(figure: Figure, rest_in: float) -> Legend:
    """Arranges the legend of a figure whose other parts are `rest_in` inches high."""
    entries = figure.legend()
    names, title = list(entries), ""
    if figure.paper_in is None:
        return _arrange(entries, names, title, figure, SIZE, SPACES)
    names, title = _shorten(entries)
    for size in PAPER_SIZES:
        made = _arrange(entries, names, title, figure, size, PAPER_SPACES)
        if made.height <= MOST_OF_HEIGHT * (made.height + rest_in):
            break
    return made


def _arrange(
    entries: dict[str, Mark],
    names: Sequence[str],
    title: str,
    figure: Figure,
    size: float,
    spaces: dict[str, float],
) -> Legend:
    """The legend with as many columns as fit the width."""
    key_in = (spaces["handlelength"] + spaces["handletextpad"]) * size / 72
    gap_in, room = spaces["columnspacing"] * size / 72, 0.97 * width_of(figure)

    def width(columns: int) -> float:
        longest = (max(map(_width, part)) * size for part in np.array_split(names, columns))
        return sum(longest) + columns * key_in + (columns - 1) * gap_in

    fitting = (n for n in range(min(MOST_KEYS, len(names)), 1, -1) if width(n) <= room)
    return Legend(list(entries.values()), names, title, next(fitting, 1), size, spaces)


def _shorten(entries: dict[str, Mark]) -> tuple[list[str], str]:
    """The names without the words that all of them begin with, and these words."""
    split = {name: name.split() for name, mark in entries.items() if not _is_ring(mark)}
    first = list(takewhile(lambda same: len(set(same)) == 1, zip(*split.values(), strict=False)))
    count = min(len(first), min(map(len, split.values()), default=1) - 1) if len(split) > 1 else 0
    names = [" ".join(split[name][count:]) if name in split else name for name in entries]
    return names, " ".join(words for words, *_ in first[:count])


def _is_ring(mark: Mark) -> bool:
    return isinstance(mark, Line) and mark.hollow


@cache
def _width(text: str) -> float:
    """The width of a text in inches at a size of one point."""
    letters = FontProperties(family=STYLE["font.family"], size=100)
    width, _, _ = text_to_path.get_text_width_height_descent(text, letters, ismath=False)
    return float(width) / 100 / 72
