"""Finds the captures in a directory: those of a run, or those that lie in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from narrows.errors import InputError

CAPTURES = "trial-1/captures"
"""The place of a run's captures, in its results."""
_CAPTURE = re.compile(r"\.(pcap|pcapng|cap|dmp)(\.gz)?\d*$")


def captures_in(given: Iterable[Path]) -> list[Path]:
    """The files as given, and for a directory the captures in it, or in a run's results.

    Of a run with several trials those of the first. Raises InputError for a directory without any.
    """
    return [
        file for place in given for file in (_list_captures(place) if place.is_dir() else [place])
    ]


def _list_captures(folder: Path) -> list[Path]:
    places = (folder, folder / CAPTURES)
    known = (
        sorted(filter(_is_capture, one.iterdir()), key=_rank) for one in places if one.is_dir()
    )
    found = next(filter(None, known), None)
    if found is None:
        remedy = "captures, such as those of `narrows run SPEC --pcap`,"
        raise InputError.at(str(folder), "a directory without captures", remedy)
    return found


def _rank(file: Path) -> tuple[bool, str]:
    """The sender's capture first, after which a result is named."""
    return not file.name.startswith("sender."), file.name


def _is_capture(file: Path) -> bool:
    return file.is_file() and _CAPTURE.search(file.name) is not None
