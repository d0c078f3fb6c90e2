"""Escapes text in CSV files that a spreadsheet would take for a formula.

A spreadsheet evaluates a cell that begins with = + - or @, wherever the text came from, such as a
name in somebody's specification. Such text is prefixed with an apostrophe, which spreadsheets don't
show; numbers stay numbers, including negative ones. OWASP: CSV Injection.
"""

from __future__ import annotations

import re
from typing import TypeVar

from narrows.late import pl

_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_QUOTED = r"^'([=+\-@\t\r])"

Value = TypeVar("Value")


def harmless(value: Value) -> Value | str:
    """Returns a cell's value; text that begins like a formula is prefixed with an apostrophe."""
    if not isinstance(value, str) or not re.match(_FORMULA, value) or re.match(_NUMBER, value):
        return value
    return f"'{value}"


def harmless_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Returns the frame with harmless texts and names of columns."""
    changed = []
    for column in frame.select(pl.col(pl.String)).get_columns():
        formula = column.str.contains(_FORMULA) & ~column.str.contains(_NUMBER)
        if formula.any():
            changed.append(pl.when(formula).then("'" + column).otherwise(column).alias(column.name))
    return frame.with_columns(changed).rename(lambda name: str(harmless(name)))


def as_written(frame: pl.DataFrame) -> pl.DataFrame:
    """Returns the frame of a CSV file without the apostrophes that `harmless_frame` added."""
    return frame.with_columns(pl.col(pl.String).str.replace(_QUOTED, "$1"))
