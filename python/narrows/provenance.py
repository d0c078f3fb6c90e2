"""The origin of a result: the sources, the pinned versions, the packages and the machine.

A wheel contains the facts of its build; in a checkout the repository is asked.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

BUILT = Path(__file__).parent / "programs" / "build.json"
"""The file in a wheel with the `sources` of its build."""
LOCKS = ("Cargo.lock", "requirements.lock")
_ROOT = Path(__file__).parents[2]


@cache
def provenance() -> dict[str, Any]:
    """Returns the commit, the digests of locks, the versions of packages, and the machine.

    The engine's version and digest aren't here: each result and run has them.
    """
    built = json.loads(BUILT.read_text(encoding="utf-8")) if BUILT.is_file() else sources(_ROOT)
    return {
        **built,
        "packages": {name: found for name in ("numpy", "polars") if (found := _version(name))},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def _version(name: str) -> str | None:
    """Returns the version of a package; None if it isn't installed, as an extra may not be."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def sources(root: Path) -> dict[str, Any]:
    """Returns the commit of the sources in `root`, and the locks.

    The commit ends with "-dirty" if the sources were changed.
    """
    locks = {name: root / name for name in LOCKS if (root / name).is_file()}
    return {
        "commit": _commit(root) if (root / ".git").exists() else None,
        "locks": {n: hashlib.sha256(file.read_bytes()).hexdigest() for n, file in locks.items()},
    }


def _commit(root: Path) -> str | None:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except OSError:  # no git
        return None
    return done.stdout.strip() or None


def _processor() -> str | None:
    """Returns the processor's name, where Linux shows it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or None
    models = (line for line in text.splitlines() if line.startswith("model name"))
    return next((line.partition(":")[2].strip() for line in models), None)
