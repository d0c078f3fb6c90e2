"""The part of a kernel's build that modules need: headers, makefiles, programs and symbols."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

ARCHIVE = "modules.tar.gz"
_SOURCES = ("Makefile", "Kbuild", "Kconfig", "include", "scripts", "arch/um", "arch/x86")
_MADE = (".config", "include", "scripts", "arch/um/include", "arch/x86/include")
_LEFT_OUT = re.compile(r"(\.(o|a|cmd|d|c|S|lst|rst|dts|dtsi)|~)$")
_CODE = re.compile(r"^(include|scripts)/.*\.(c|S)$")
"""The code of the programs and headers with which modules are built."""
_SYMBOLS = ("Module.symvers", "vmlinux.symvers")
"""Files with the kernel's exported symbols; the first exists only if the kernel has modules
itself."""


def pack(tree: Path, objects: Path, archive: Path) -> None:
    """Packs the files that modules for the kernel in `objects`, built from `tree`, need."""
    with tarfile.open(archive, "w:gz", compresslevel=3) as out:
        for root, parts in ((tree, _SOURCES), (objects, _MADE)):
            for file in _files(root, parts):
                out.add(file, str(file.relative_to(root)), recursive=False)
        symbols = next((objects / name for name in _SYMBOLS if (objects / name).is_file()), None)
        if symbols is not None:
            out.add(symbols, _SYMBOLS[0])


def unpack(archive: Path, tree: Path) -> None:
    """Unpacks a tree from which modules are built."""
    tree.mkdir()
    with tarfile.open(archive) as packed:
        packed.extractall(tree, filter="tar")


def _files(root: Path, parts: tuple[str, ...]) -> Iterator[Path]:
    for part in parts:
        place = root / part
        found = [place] if place.is_file() else sorted(place.rglob("*"))
        for file in found:
            name = str(file.relative_to(root))
            if file.is_file() and (_CODE.search(name) or not _LEFT_OUT.search(name)):
                yield file
