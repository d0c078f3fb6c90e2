"""Warns in a checkout that the native module is older than its Rust sources."""

from __future__ import annotations

import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
DEPENDENCIES = PACKAGE.parents[1] / "target" / "release" / "lib_native.d"
"""The file in which cargo lists the sources that the module was built from."""
_BETWEEN = re.compile(r"(?<!\\) ")


def note_stale_module() -> None:
    """Warns on standard error that a source has changed since the module was built."""
    changed = newer_source(PACKAGE, DEPENDENCIES)
    if changed is not None:
        remedy = "`make setup` builds it again"
        print(f"narrows: the native module is older than {changed}; {remedy}", file=sys.stderr)


def newer_source(package: Path, dependencies: Path) -> Path | None:
    """Returns a source that is newer than the module in `package`.

    None without a list of sources.
    """
    try:
        built_ns = max(file.stat().st_mtime_ns for file in package.glob("_native.*so"))
        listed = dependencies.read_text(encoding="utf-8").partition(": ")[2]
    except (OSError, ValueError):
        return None
    sources = [Path(name.replace("\\ ", " ")) for name in _BETWEEN.split(listed.strip())]
    return next((file for file in sources if _changed_ns(file) > built_ns), None)


def _changed_ns(file: Path) -> int:
    """Returns when a file was changed; 0 if it no longer exists."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0
