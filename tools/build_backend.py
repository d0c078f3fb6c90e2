"""Builds wheels with maturin; adds the programs of the kernel back ends and the build's sources.

pip calls these functions (PEP 517 and 660). The programs are built only where they run, on Linux,
and where their sources are: a source archive (sdist) has only those of the native module.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import maturin
from maturin import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ("narrows-drill", "narrows-router", "narrows-traffic")
PLACE = Path("python", "narrows", "programs")
"""The folder where the package looks for them, as named in `tool.maturin.include`."""
STUDIES = Path("python", "narrows", "studies")
"""Where the package looks for the studies, which are at the top of the repository."""


def build_wheel(
    wheel_directory: str,
    config_settings: Mapping[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Builds a wheel into a directory; returns its name."""
    with known_sources(), packaged_studies(), built_programs():
        name: str = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    return name


@contextmanager
def known_sources() -> Iterator[None]:
    """Records in the package, while the wheel is made, from which sources it is made."""
    file = ROOT / PLACE / "build.json"
    file.parent.mkdir(exist_ok=True)
    module = runpy.run_path(str(ROOT / "python" / "narrows" / "provenance.py"))
    try:
        file.write_text(json.dumps(module["sources"](ROOT)) + "\n", encoding="utf-8")
        yield
    finally:
        shutil.rmtree(file.parent)


@contextmanager
def packaged_studies() -> Iterator[None]:
    """Puts the studies into the package while the wheel is made."""
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "studies", ROOT / STUDIES, ignore=unwanted)
    try:
        yield
    finally:
        shutil.rmtree(ROOT / STUDIES)


@contextmanager
def built_programs() -> Iterator[None]:
    """Puts the programs into the package while the wheel is made."""
    place = ROOT / PLACE
    sources = [ROOT / "crates" / name.removeprefix("narrows-") for name in PROGRAMS]
    if sys.platform != "linux" or not all(source.is_dir() for source in sources):
        yield
        return
    packages = [word for name in PROGRAMS for word in ("-p", name)]
    subprocess.run(["cargo", "build", "--release", "--locked", *packages], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    for name in PROGRAMS:
        shutil.copy2(target / name, place / name)
    yield
