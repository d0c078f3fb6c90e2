"""Searches for weaknesses of many controls, one pair of control and objective after another.

OUT/CONTROL-OBJECTIVE/  a search each; what is there isn't searched again
OUT/memory.json         metrics of runs, which several searches share
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from narrows.errors import InputError
from narrows.search.make import SEARCH, elsewhere, search, settings
from narrows.search.objectives import OBJECTIVES, Row
from narrows.store.atomic import write_text
from narrows.version import __version__

ASKED = tuple(name for name in OBJECTIVES if name != "slower")
"""The objectives that need no second version of a control."""
MOST_DEPARTURES = 3
"""A finding with more departures from default conditions isn't told."""
_MEMORY = "memory.json"


@dataclass(frozen=True, slots=True)
class Weakness:
    """The worst finding of a search; `found` is None if the control failed nowhere."""

    control: str
    objective: str
    tries: int
    failing: int
    found: Mapping[str, Any] | None


def survey(
    controls: Sequence[str],
    out: Path,
    *,
    tries: int = 60,
    minutes: float | None = None,
    jobs: int | None = None,
    report: Callable[[str, float], None] = lambda *_: None,
) -> bool:
    """Searches every pair that `out` lacks; returns False if the `minutes` ended before.

    `report` gets the pair, and the part of the pairs that is done.
    """
    out.mkdir(parents=True, exist_ok=True)
    began = monotonic()
    pairs = [(control, objective) for control in controls for objective in ASKED]
    memory = _read_memory(out)
    for number, (control, objective) in enumerate(pairs):
        if _document(out, control, objective, tries) is not None:
            continue
        if minutes is not None and monotonic() - began > 60 * minutes:
            _remember(out, memory)
            return False
        report(f"{control} {objective}", number / len(pairs))
        search(
            control, objective=objective, tries=tries, most=1, jobs=jobs,
            out=_place(out, control, objective), memory=memory, pages=False,
        )  # fmt: skip
    _remember(out, memory)
    return True


def confirm(control: str, objective: str, out: Path, backend: str) -> str:
    """Repeats a pair's finding on another back end, and notes the result in its record.

    Raises InputError for a pair that has no finding yet.
    """
    file = _place(out, control, objective) / SEARCH
    found = _short(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else None
    if found is None:
        remedy = "a control and an objective with a finding"
        raise InputError.at("--confirm", f"{control}-{objective}, which has none", remedy)
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    says = elsewhere(settings(control, OBJECTIVES[objective]), found["point"], backend)
    for one in document["findings"]:
        if one["point"] == found["point"]:
            one["confirmed"] = says
    write_text(file, json.dumps(document, indent=1) + "\n")
    return says


def _short(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The worst finding with few departures."""
    findings: list[Mapping[str, Any]] = document["findings"]
    return next((one for one in findings if len(one["departures"]) <= MOST_DEPARTURES), None)


def weaknesses(controls: Sequence[str], out: Path, tries: int) -> Iterator[Weakness]:
    """The findings of the searches in `out`, by control and objective, without those not done."""
    for control in controls:
        for objective in ASKED:
            document = _document(out, control, objective, tries)
            if document is None:
                continue
            counts = (document["tries"], document["failing"])
            yield Weakness(control, objective, *counts, _short(document))


def _place(out: Path, control: str, objective: str) -> Path:
    return out / f"{control.replace(':', '-')}-{objective}"


def _document(out: Path, control: str, objective: str, tries: int) -> dict[str, Any] | None:
    """The record of a search with `tries` tries by this version."""
    file = _place(out, control, objective) / SEARCH
    if not file.is_file():
        return None
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    same = document["version"] == __version__ and document["tries"] >= tries
    return document if same else None


def _read_memory(out: Path) -> dict[str, Row]:
    file = out / _MEMORY
    if not file.is_file():
        return {}
    known: dict[str, Row] = json.loads(file.read_text(encoding="utf-8"))
    return known


def _remember(out: Path, memory: Mapping[str, Row]) -> None:
    write_text(out / _MEMORY, json.dumps(memory))
