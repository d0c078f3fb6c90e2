"""The inputs of a kernel's build: sources, patches and options, with a fingerprint of all."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from narrows.backends.uml.packages import archive_of
from narrows.errors import InputError, NarrowsError

_LEFT_OUT = (".git",)
"""Parts of a tree that don't affect the kernel."""
_FAILED = re.compile("FAILED|find file|ignored|malformed|Only garbage|previously applied")
"""The failures in the output of `patch`, which also prints its successes."""
_TOLD = 3


@dataclass(frozen=True)
class Origin:
    """A source tree or an archive of one, patches in order, and a file of options."""

    sources: Path
    patches: tuple[Path, ...] = ()
    config: Path | None = None

    @property
    def name(self) -> str:
        """The kernel's default name."""
        plain = self.sources.name.removesuffix(".tar.xz").replace("linux-source-", "linux-")
        parts = [plain, *(patch.name.removesuffix(patch.suffix) for patch in self.patches)]
        return re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(parts))[:64]

    def __str__(self) -> str:
        """Describes the origin in words."""
        added = [*self.patches, *([self.config] if self.config else [])]
        names = ", ".join(file.name for file in added)
        return f"{self.sources} with {names}" if names else f"{self.sources}"

    def fingerprint(self, recipe: str) -> str:
        """Returns the SHA-256 of everything that determines the kernel, with the `recipe`."""
        whole = hashlib.sha256(recipe.encode())
        for part in (self.sources, *self.patches, *([self.config] if self.config else [])):
            whole.update(_digest(part).encode())
        return whole.hexdigest()

    def prepare(self, tree: Path) -> Path:
        """Returns the patched sources, in the new directory `tree` unless no copy is needed.

        Raises InputError if a patch doesn't apply, and names it.
        """
        if self.sources.is_dir():
            if not self.patches:
                return self.sources
            left_out = shutil.ignore_patterns(*_LEFT_OUT)
            shutil.copytree(self.sources, tree, symlinks=True, ignore=left_out)
        else:
            tree.mkdir()
            unpack = ["tar", "-xJf", str(self.sources), "--strip-components=1", "-C", str(tree)]
            call(unpack, f"{self.sources}")
        for patch in self.patches:
            _apply(patch, tree)
        return tree


def find_origin(
    source: Path | None, debian: str, patches: Sequence[Path], config: Path | None
) -> Origin:
    """Returns the requested origin; raises InputError if a part of it doesn't exist."""
    if source is not None and not (source / "arch" / "um" / "Kconfig").is_file():
        raise InputError.at("--source", f"{source}, no kernel tree", "a Linux source tree")
    for place, files in (("--patch", patches), ("--config", [config] if config else [])):
        for file in files:
            if not file.is_file():
                raise InputError.at(place, f"{file}", "a file that is there")
    sources = archive_of(debian) if source is None else source.resolve()
    return Origin(sources, tuple(patch.resolve() for patch in patches), config)


def _apply(patch: Path, tree: Path) -> None:
    """Applies a patch of `git format-patch` or `diff -up`, whole or not at all."""
    command = ["patch", "-p1", "--forward", "--batch", "--no-backup-if-mismatch", "-d", str(tree)]
    done = subprocess.run(
        [*command, "--reject-file=-", "-i", str(patch)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        told = [line for line in (done.stdout + done.stderr).splitlines() if _FAILED.search(line)]
        found = f"{patch}, which doesn't apply ({'; '.join(told[:_TOLD]) or 'no patch in it'})"
        raise InputError.at("--patch", found, "a patch for these sources")


def call(command: Sequence[str], what: str) -> None:
    """Runs a program; raises NarrowsError with its last words if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        said = last_lines((done.stdout + done.stderr).strip().splitlines())
        raise NarrowsError(f"{what} failed:\n{said}")


def last_lines(lines: Sequence[str]) -> str:
    """Returns the last lines as one text."""
    return "\n".join(lines[-15:])


def _digest(place: Path) -> str:
    """Returns the SHA-256 of a file, or of a tree's files with their names and modes."""
    if place.is_file():
        with place.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    whole = hashlib.sha256()
    for file in _files(place):
        name = file.relative_to(place)
        if file.is_symlink():
            whole.update(f"{name} -> {file.readlink()}\n".encode())
        else:
            mode = "x" if os.access(file, os.X_OK) else "-"
            whole.update(f"{name} {mode} {_digest(file)}\n".encode())
    return whole.hexdigest()


def _files(tree: Path) -> Iterator[Path]:
    """Yields all files below a directory, in the order of their names."""
    for entry in sorted(tree.iterdir()):
        if entry.name in _LEFT_OUT:
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from _files(entry)
        elif entry.is_file() or entry.is_symlink():
            yield entry
