"""A plot for plotly.js, with its text and numbers encoded so that a page is safe."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from narrows.figures.model import Floats, Heat, Mark, Span
from narrows.figures.palette import colour


@dataclass(frozen=True, slots=True)
class Plot:
    """A stack or a panel for plotly.js: height in pixels, colours, and whether it was thinned."""

    name: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    height: int
    thinned: bool
    colours: dict[str, tuple[str, str]]

    def json(self) -> str:
        """The plot as compact JSON that can stand inside a script element."""
        plot = {"data": self.data, "layout": self.layout, "colours": self.colours}
        return in_script(json.dumps(plot, separators=(",", ":"), allow_nan=False))


def in_script(text: str) -> str:
    """JSON without characters that could end a script element in HTML or hide its end.

    Inside a script, `<!--` followed by `<script` makes a browser skip the next `</script>`.
    """
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def words(text: str) -> str:
    """Text escaped for plotly.js, whose markup (`<b>`, links) must have no meaning in a name."""
    return escape(text, quote=False)


def numbers(values: Floats) -> list[float | None]:
    """Values with five significant digits, None for NaN: precise enough, and compact."""
    return [float(f"{v:.5g}") if math.isfinite(v) else None for v in np.asarray(values).tolist()]


def exactly(values: Floats) -> list[float | None]:
    """Values with six decimals, None for NaN: times in seconds to the microsecond."""
    array = np.asarray(values, dtype=float)
    rounded: list[float] = np.round(array, 6).tolist()
    return [v if math.isfinite(v) else None for v in rounded]


def colours(marks: Iterable[Mark], spans: Iterable[Span] = ()) -> dict[str, tuple[str, str]]:
    """The colours of marks and spans by their keys, for light and dark backgrounds."""
    keys = {mark.colour for mark in marks if not isinstance(mark, Heat)}
    keys |= {span.colour for span in spans}
    return {key: (colour(key).light, colour(key).dark) for key in sorted(keys)}
