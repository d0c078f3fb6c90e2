"""The tables of a specification as classes.

Values are written as in TOML: "80mbit", "25ms", "1.75bdp". None leaves a field to
its default. In a sweep, a list or a `Range` in place of a value is an axis.
"""

from __future__ import annotations

from narrows.api.declared import classes_of

globals().update(classes_of(__name__))
