"""Checks what a build needs on this machine, and reports everything missing in one message."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from narrows.errors import InputError, Problem
from narrows.words import join_words

SOURCES = Path("/usr/src")
"""The directory where Debian's source packages install their archives."""
DEFAULT_PACKAGE = "linux-source-6.12"
PROGRAMS = {
    "make": "build-essential",
    "gcc": "build-essential",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "tar": "tar",
    "xz": "xz-utils",
    "patch": "patch",
}
"""The programs of a build, with the Debian package of each."""


def archive_of(package: str) -> Path:
    """Returns the archive of one of Debian's source packages, which may be missing.

    Raises InputError if no such package can exist.
    """
    if not re.fullmatch(r"linux-source-[\w.]+", package):
        raise InputError.at("--debian", f'"{package}"', f"a package such as {DEFAULT_PACKAGE}")
    return SOURCES / f"{package}.tar.xz"


def check_machine(package: str | None) -> None:
    """Raises InputError that names every missing program, and the source package if it is missing.

    A `package` of None says that the sources come from a tree.
    """
    missing = {program: of for program, of in PROGRAMS.items() if shutil.which(program) is None}
    wanted = list(dict.fromkeys(missing.values()))
    lacking = [f"no {', '.join(missing)}"] if missing else []
    absent = package is not None and not archive_of(package).is_file()
    if absent and package is not None:
        lacking.append(f"no {archive_of(package)}")
        wanted.append(package)
    if not lacking:
        return
    other = ", or --source TREE for another tree," if absent else ""
    remedy = f"a machine with them (Debian: apt install {' '.join(wanted)}){other}"
    raise InputError([Problem("kernel build", join_words(lacking), remedy)])
