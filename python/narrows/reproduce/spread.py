"""A measurement over a condition: its mean and range over trials, as a frame and as a line."""

from __future__ import annotations

from narrows.figures import frames
from narrows.figures.model import Dash, Line
from narrows.late import pl


def over(rows: pl.DataFrame, by: str, value: str) -> pl.DataFrame:
    """Returns the columns `by`, `mean`, `low` and `high` of `value`, ascending by `by`."""
    column = pl.col(value)
    grouped = rows.group_by(by)
    return grouped.agg(mean=column.mean(), low=column.min(), high=column.max()).sort(by)


def line(
    found: pl.DataFrame,
    by: str,
    label: str,
    colour: str,
    *,
    middle: str = "mean",
    scale: float = 1.0,
    dash: Dash = "solid",
) -> Line:
    """Draws the result of `over`, with the range as error bars; `scale` is that of the x axis."""
    x, y, low, high = (frames.column(found, name) for name in (by, middle, "low", "high"))
    return Line(label, scale * x, y, colour, low, high, marker="o", dash=dash)
