"""The library that makes a guest's clock wait for the others (gate.c)."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from pathlib import Path

from narrows.backends.linux.tools import cache_directory
from narrows.backends.uml.origin import call
from narrows.store.owned import owned_file


@cache
def gate_library() -> Path:
    """The library, which is built if it doesn't exist.

    Raises NarrowsError if it can't be built.
    """
    source = resources.files("narrows.backends.uml").joinpath("gate.c")
    mark = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    library = cache_directory() / "tools" / f"gate-{mark}.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        with resources.as_file(source) as code, owned_file(library) as work:
            call(["gcc", "-O2", "-shared", "-fPIC", "-o", str(work), str(code)], "gate.c")
    return library
