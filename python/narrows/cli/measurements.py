"""Reads the files of measurements that `narrows compare` is given as back ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from narrows.spec import Study


def find_backends(
    text: str, study: Study, filters: Sequence[str]
) -> tuple[list[str], Mapping[str, str]]:
    """Returns the names of the back ends in a list, and the headings of measured files.

    A file is read first, and its back end has the name of the results; the heading has that of the
    file.
    """
    labels = text.split(",")
    names = [_read_measurement(label, study, filters) for label in labels]
    read = [(label, name) for label, name in zip(labels, names, strict=True) if label != name]
    headings = {name: _heading(label) for label, name in read}
    if len(set(headings.values())) < len(headings):
        headings = {name: label for label, name in read}
    return names, headings


def _heading(label: str) -> str:
    backend, _, file = label.partition(":")
    return f"{backend}:{Path(file).name}"


def _read_measurement(label: str, study: Study, filters: Sequence[str]) -> str:
    """Returns the name of a back end; a file becomes a results directory first."""
    backend, _, file = label.partition(":")
    if backend not in ("capture", "import") or not Path(file).is_file():
        return label
    if backend == "import":
        from narrows.exchange.beside import import_beside

        return f"import:{import_beside(file, study, filters).path}"
    from narrows.analyze import analyze

    return f"capture:{analyze([file]).result.path}"
