"""Seals a result with digests of its files, so that a damaged one is refused instead of shown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Set
from functools import partial
from hashlib import blake2b, file_digest
from io import BufferedIOBase
from pathlib import Path
from typing import Any, BinaryIO, cast

from narrows.errors import StoreError
from narrows.files import open_regular

OWN = "digest"
"""The digest of the manifest itself, without this entry."""
FILES = "files"
_PATTERNS = (
    *("spec.toml", "summary.json", "inputs/*"),
    *("trial-*/scenario.json", "trial-*/*.parquet", "trial-*/programs/**/*"),
)
_LARGE = ("trial-*/captures/*", "summary.csv")
"""Files whose digests only `check_captures` compares: captures may take minutes to read."""
LARGE = "capture_files"
_FOLDERS = ("inputs", "trial-*", "trial-*/captures", "trial-*/programs")


def seal(manifest: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """Returns a manifest with the digests of the files beside it, and of itself."""
    digests = {name: digest_of_file(directory / name) for name in _files(directory)}
    whole = {**manifest, FILES: digests}
    if large := {name: digest_of_file(directory / name) for name in _files(directory, _LARGE)}:
        whole[LARGE] = large
    whole.pop(OWN, None)
    return {**whole, OWN: digest_of(whole)}


def check_intact(manifest: Mapping[str, Any], directory: Path, name: str) -> None:
    """Raises StoreError for a file changed since it was written; `name` is the manifest's.

    Only files of the layout are read, and none through a link: the result may be somebody else's.
    """
    rest = {key: value for key, value in manifest.items() if key != OWN}
    if manifest.get(OWN) != digest_of(rest):
        raise _damage_error(directory / name)
    listed = rest.get(FILES)
    if not isinstance(listed, dict):
        raise _damage_error(directory / name)
    _check_files(listed, directory, set(_files(directory)))


def check_captures(manifest: Mapping[str, Any], directory: Path) -> None:
    """Raises StoreError for a capture of a result that has changed since it was written."""
    _check_files(manifest.get(LARGE, {}), directory, set(_files(directory, _LARGE)))


def _check_files(listed: Mapping[str, str], directory: Path, present: Set[str]) -> None:
    for file in listed:
        if file not in present:
            raise StoreError.at(str(directory / file), "a result without this file", "a fresh run")
        try:
            digest = digest_of_file(directory / file)
        except OSError as error:
            found = f"no file of a run ({error.strerror})"
            raise StoreError.at(str(directory / file), found, "a fresh run") from None
        if digest != listed[file]:
            raise _damage_error(directory / file)


def _files(directory: Path, patterns: Iterable[str] = _PATTERNS) -> list[str]:
    """Returns the names of a result's files, relative to it.

    Raises StoreError for a linked folder.
    """
    for folder in (found for pattern in _FOLDERS for found in directory.glob(pattern)):
        if folder.is_symlink():
            raise StoreError.at(str(folder), "a link", "a directory of the run")
    globbed = (file for pattern in patterns for file in directory.glob(pattern))
    found = (file for file in globbed if file.is_symlink() or not file.is_dir())
    return sorted(file.relative_to(directory).as_posix() for file in found)


def digest_of_file(path: Path) -> str:
    """Returns BLAKE2b of a file, which needn't fit into memory, as 32 hexadecimal digits."""
    with open_regular(path, follow=False) as file:
        return digest_of_stream(file)


def digest_of_stream(file: BinaryIO) -> str:
    """Returns BLAKE2b of a file, which needn't fit into memory, as 32 hexadecimal digits."""
    stream = cast("BufferedIOBase", file)
    return file_digest(stream, partial(blake2b, digest_size=16)).hexdigest()


def _damage_error(path: Path) -> StoreError:
    return StoreError.at(str(path), "content that the run did not write", "a fresh run")


def digest_of(document: object) -> str:
    """Returns BLAKE2b of a JSON document, as 32 hexadecimal digits."""
    text = json.dumps(document, sort_keys=True).encode()
    return blake2b(text, digest_size=16).hexdigest()
