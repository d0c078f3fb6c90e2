"""The directory for the output of a run's programs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from narrows.errors import InputError, NarrowsError, StoreError
from narrows.store.owned import owned_directory

LITTLE_BYTES = 256 << 10
"""With less free space than this, a failure is blamed on the full disk, since other programs don't
always say so."""


@contextmanager
def run_directory(backend: str) -> Iterator[Path]:
    """Yields an empty directory for a run, and removes it afterwards.

    Directories of killed runs are removed, too. If the disk is full, StoreError replaces the
    exception raised inside.
    """
    place = Path(tempfile.gettempdir()) / f"narrows-{backend}"
    with owned_directory(place, 0o700) as work:
        try:
            yield work
        except InputError:
            raise
        except (OSError, NarrowsError) as error:
            if _is_full(work):
                remedy = "room there, or another place by TMPDIR,"
                raise StoreError.at(str(place.parent), "a full disk", remedy) from error
            raise


def _is_full(path: Path) -> bool:
    state = os.statvfs(path)
    return state.f_bavail * state.f_frsize < LITTLE_BYTES
