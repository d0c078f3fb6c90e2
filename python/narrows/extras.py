"""Libraries that a plain installation lacks, and the extras of the package that bring them.

A run with its metrics and its page needs none of them. What does asks here before it runs anything.
"""

from __future__ import annotations

from importlib.util import find_spec

from narrows.errors import InputError

_EXTRAS = {"matplotlib": "figures", "polars": "frames"}


def has(library: str) -> bool:
    """Whether a library is installed."""
    return find_spec(library) is not None


def need_images() -> None:
    """Raises InputError if images can't be drawn here, for want of matplotlib."""
    _need("matplotlib", "images")


def need_frames() -> None:
    """Raises InputError if there can't be frames here, for want of polars.

    Studies, comparisons, imports, captures, exports and runs on kernels compute with them.
    """
    _need("polars", "frames")


def _need(library: str, what: str) -> None:
    if not has(library):
        remedy = f"pip install 'narrows[{_EXTRAS[library]}]'"
        raise InputError.at(what, f"a Python without {library}", remedy)
