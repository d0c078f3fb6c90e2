"""The folders of the evaluations with a suite, one for each set of controls, and their index.

SITE/index.html            every evaluation with its verdicts
SITE/NAME/                 the record and the pages of an evaluation
SITE/NAME/only/            the same for an evaluation of selected situations
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from narrows.evaluate.suite import Suite
from narrows.evaluate.verdicts import WORDS
from narrows.files import read_contained
from narrows.report.page import environment
from narrows.store.atomic import write_text
from narrows.store.slug import slug

RECORD = "evaluation.json"
INDEX = "index.html"
ONLY = "only"
_MOST = 1 << 26
"""The largest record that is read, in bytes."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A control under test, as listed on the index."""

    control: str
    backend: str
    page: str
    only: Sequence[str]
    counts: Mapping[str, int]


def folder_of(site: Path, controls: Sequence[str], backend: str) -> Path:
    """Returns the folder for the evaluation of these controls; no other evaluation uses it."""
    name = slug(" ".join([*controls, *([] if backend == "sim" else [backend])]))
    for number in count(1):
        folder = site / (name if number == 1 else f"{name}-{number}")
        records = [_record(folder), _record(folder / ONLY)]
        if all(one is None or _has_same_setup(one, controls, backend) for one in records):
            return folder
    raise AssertionError


def write_index(site: Path, suite: Suite) -> None:
    """Writes the index of all evaluations in a folder."""
    entries = sorted(_entries(site), key=lambda one: (one.control, one.backend, one.page))
    template = environment().get_template("evaluate-results.html.jinja")
    write_text(
        site / INDEX,
        template.render(suite=suite, entries=entries, verdicts=WORDS),
    )


def _entries(site: Path) -> Iterator[IndexEntry]:
    for folder in sorted(site.iterdir()):
        for place in (folder, folder / ONLY):
            record = _record(place)
            if record is not None:
                yield from _controls(record, (place / INDEX).relative_to(site).as_posix())


def _controls(record: Mapping[str, Any], page: str) -> Iterator[IndexEntry]:
    for control in record["controls"]:
        own = [one for one in record["situations"] if one["tested"] and one["control"] == control]
        counts = Counter(str(one["verdict"]) for one in own)
        only = [str(one["situation"]) for one in own] if page.endswith(f"{ONLY}/{INDEX}") else []
        yield IndexEntry(str(control), str(record["backend"]), page, only, counts)


def _record(folder: Path) -> dict[str, Any] | None:
    """Reads the record in a folder; None if there is none that can be read."""
    try:
        record = json.loads(read_contained(folder / RECORD, _MOST))
        whole = isinstance(record["controls"], list) and all(
            {"control", "tested", "verdict", "situation"} <= one.keys()
            for one in record["situations"]
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return record if whole and "backend" in record else None


def _has_same_setup(record: Mapping[str, Any], controls: Sequence[str], backend: str) -> bool:
    return (record["controls"], record["backend"]) == (list(controls), backend)
