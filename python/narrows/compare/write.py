"""Writes the numbers, the figure and the page of a comparison."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from narrows.compare import text
from narrows.compare.figure import overlay
from narrows.compare.judge import CellComparison, Comparison
from narrows.figures import interactive
from narrows.late import pl
from narrows.metrics import intervals as statistics
from narrows.report.page import environment, plotly_js
from narrows.store.atomic import writing
from narrows.version import __version__

PAGE, NUMBERS, PICTURE = "compare.html", "compare.json", "figure"


def write(
    comparison: Comparison, directory: Path, drawn: Mapping[str, Mapping[str, pl.DataFrame]]
) -> Comparison:
    """Writes everything into `directory`; returns the comparison with the paths of its files.

    `drawn` are the tables of a run of each back end.

    Raises StoreError if that can't be written.
    """
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
        return _write(comparison, directory, drawn)


def _write(
    comparison: Comparison, directory: Path, drawn: Mapping[str, Mapping[str, pl.DataFrame]]
) -> Comparison:
    from narrows.figures import static

    figure = overlay(comparison.scenario, comparison.groups, drawn, comparison.reference)
    pictures = static.save(figure, directory / PICTURE)
    page, numbers = directory / PAGE, directory / NUMBERS
    html = environment("narrows.compare").get_template("compare.html.jinja")
    page.write_text(
        html.render(
            comparison=comparison,
            figure=figure,
            plots=interactive.plots(figure),
            plotly=plotly_js([figure]),
            text=text,
            version=__version__,
        ),
        encoding="utf-8",
    )
    files = {"page": str(page), "numbers": str(numbers), "figure": str(pictures[0])}
    written = replace(comparison, files=files)
    numbers.write_text(json.dumps(document(written), indent=1) + "\n", encoding="utf-8")
    return written


def document(comparison: Comparison) -> dict[str, Any]:
    """Returns the document of `--json`, with every value in base units.

    Rates and shares range from 0 to 1.
    """
    return {
        "name": comparison.name,
        "scenario": dict(comparison.scenario),
        "engines": dict(comparison.engines),
        "reference": comparison.reference,
        "trials": comparison.trials,
        "varied": [*(["seed"] * comparison.seeded), *(["path"] * comparison.varied)],
        "verdict": str(comparison.counts.verdict),
        **asdict(comparison.counts),
        "more_trials": comparison.more_trials,
        "left_out": [asdict(out) for out in comparison.left_out],
        "cells": [_cell(row) for row in comparison.rows],
        "files": dict(comparison.files),
    }


def _cell(row: CellComparison) -> Mapping[str, Any]:
    return {
        "quantity": row.cell.quantity,
        "flows": row.cell.flows or None,
        "backend": row.backend,
        **_sample("", row.values),
        **_sample("reference_", row.reference_values),
        "difference": None if row.difference is None else row.difference.mean,
        "interval": row.interval,
        "limit": row.limit,
        "verdict": str(row.verdict),
        "more_trials": row.more_trials,
    }


def _sample(prefix: str, values: tuple[float, ...]) -> dict[str, Any]:
    return {
        f"{prefix}mean": statistics.mean(values) if values else None,
        f"{prefix}sd": statistics.deviation(values) if len(values) > 1 else None,
        f"{prefix}values": list(values),
    }
