"""Copies beside a study's page of the files that the study refers to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from narrows.spec import Study
from narrows.spec.copies import names_of_copies
from narrows.store import Store, slug
from narrows.store.write import write_copies

_RECORDED = "copies"


def keep_copies(store: Store, study: Study) -> dict[str, Any]:
    """Copies the files of a study and returns what its record says of them.

    A store in object storage has no pages, so it needs no copies.
    """
    if store.directory is None or not study.files:
        return {}
    copies = names_of_copies(study.files, f"{slug(study.name)}-inputs")
    write_copies(store.directory, copies, study.files)
    return {_RECORDED: copies}


def copies_in(folder: Path, record: Mapping[str, Any]) -> dict[str, str]:
    """Returns the names of a study's copies that are in `folder`, by the names of the files."""
    recorded: Mapping[str, str] = record.get(_RECORDED, {})
    return {file: copy for file, copy in recorded.items() if (folder / copy).is_file()}


def with_copy(change: str, copies: Mapping[str, str]) -> str:
    """Returns `PLACE=VALUE` with the name of a copy in place of its file's."""
    place, equals, value = change.partition("=")
    return f"{place}{equals}{copies.get(value, value)}"
