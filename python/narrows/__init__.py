"""narrows: a laboratory for congestion control.

Describe a bottleneck and the flows that share it once; run it in a
deterministic simulator; get tables, figures and verdicts.

    >>> result = narrows.run("fig9.toml")           # doctest: +SKIP
    >>> result.summary["runs"][0]["bottleneck"]     # doctest: +SKIP

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from narrows.version import __version__

if TYPE_CHECKING:
    from narrows.errors import InputError, NarrowsError
    from narrows.runner import run
    from narrows.spec import load
    from narrows.store import open_result

__all__ = ["InputError", "NarrowsError", "__version__", "load", "open_result", "run"]

_HOMES = {
    "InputError": "narrows.errors",
    "NarrowsError": "narrows.errors",
    "load": "narrows.spec",
    "open_result": "narrows.store",
    "run": "narrows.runner",
}


def __getattr__(name: str) -> object:
    """Imports a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found: object = getattr(import_module(_HOMES[name]), name)
    return found
