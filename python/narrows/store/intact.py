"""A result has digests of its files, so that a damaged one is refused instead of shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from narrows.errors import StoreError

OWN = "digest"
"""Digest of the manifest itself, without this entry."""
FILES = "files"
_PATTERNS = ("spec.toml", "summary.json", "trial-*/scenario.json", "trial-*/*.parquet")


def sealed(manifest: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """A manifest with the digests of the files beside it, and of itself."""
    files = sorted(file for pattern in _PATTERNS for file in directory.glob(pattern))
    digests = {file.relative_to(directory).as_posix(): _digest(file.read_bytes()) for file in files}
    whole = {**manifest, FILES: digests}
    whole.pop(OWN, None)
    return {**whole, OWN: _digest(_text(whole))}


def check_intact(manifest: Mapping[str, Any], directory: Path, name: str) -> None:
    """Raises StoreError for a file changed since it was written; `name` is the manifest's."""
    if OWN not in manifest:  # written before results had digests
        return
    rest = {key: value for key, value in manifest.items() if key != OWN}
    if manifest[OWN] != _digest(_text(rest)):
        raise _damaged(directory / name)
    for file, digest in rest[FILES].items():
        try:
            content = (directory / file).read_bytes()
        except OSError as error:
            found = f"a result without this file ({error.strerror})"
            raise StoreError.at(str(directory / file), found, "a fresh run") from None
        if _digest(content) != digest:
            raise _damaged(directory / file)


def _damaged(path: Path) -> StoreError:
    return StoreError.at(str(path), "other content than the run wrote", "a fresh run")


def _text(document: object) -> bytes:
    return json.dumps(document, sort_keys=True).encode()


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()
