"""Libraries between guests and their host, in addition to the one that each kernel has."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from pathlib import Path

from narrows.backends.uml.origin import call
from narrows.cached import cache_directory, is_private, private_directory
from narrows.store.owned import owned_file


def gate_library() -> Path:
    """Returns the library that makes a guest's clock wait for the other guests (gate.c).

    Raises NarrowsError if it can't be built.
    """
    return _library("gate")


def processor_library() -> Path:
    """Returns the library that always shows a guest's programs the same processor (processor.c).

    Raises NarrowsError if it can't be built.
    """
    return _library("processor")


@cache
def _library(name: str) -> Path:
    """Returns a library, which is built if it doesn't exist."""
    source = resources.files("narrows.backends.uml").joinpath(f"{name}.c")
    mark = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    library = private_directory(cache_directory() / "tools") / f"{name}-{mark}.so"
    if not is_private(library):
        with resources.as_file(source) as code, owned_file(library) as work:
            call(["gcc", "-O2", "-shared", "-fPIC", "-o", str(work), str(code)], f"{name}.c")
            work.chmod(0o700)
    return library
