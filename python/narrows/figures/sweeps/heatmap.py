"""A metric over two axes, as colours."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from narrows.errors import InputError
from narrows.figures.axes import axis
from narrows.figures.model import Figure, Heat, Mark, Panel
from narrows.figures.sweeps.unsettled import is_unsettled, rings
from narrows.figures.sweeps.view import (
    View,
    classes_of,
    figure,
    numbers,
    require,
    value_columns,
    x_of,
)
from narrows.late import pl
from narrows.metrics.catalogue import find, scale_of
from narrows.metrics.headings import column_of

CORNER = 0.36
"""How far from its middle a ring is in a cell, whose middle has the number."""


def heatmap(frame: pl.DataFrame, view: View) -> Figure:
    """A metric over two axes, usually rate and delay; a share diverges from the fair one."""
    x = view.x or ("path.rtt" if "path.rtt" in view.axes else x_of(frame, view))
    require(frame, x, "--x", view.axes)
    rest = [place for place in view.axes if place != x]
    if not rest:
        raise InputError.at("--y", "a sweep with one axis", "the figure `lines`, or a second axis")
    y = view.y or ("path.rate" if "path.rate" in rest else rest[0])
    require(frame, y, "--y", rest)
    metric = view.metric or next((f"{c}.share" for c in classes_of(frame)), "utilization")
    metric = column_of(metric, numbers(frame), "--metric", view.controls)
    value_columns(frame, {"": metric}, metric)
    known = frame.drop_nulls(metric)
    if metric.endswith(".share"):
        known = known.filter(pl.col(f"{metric.removesuffix('.share')}.flows") < pl.col("flows"))
    if known.is_empty():
        raise InputError.at("--metric", f"{metric} in no run of several classes", "another metric")
    low, high = (0.0, 100.0) if metric.endswith(".share") else _value_range(known, metric, (x, y))

    def panel(rows: pl.DataFrame, title: str) -> Panel:
        across, up = axis(x, rows[x].to_list()), axis(y, rows[y].to_list())
        cells = {(row[0], row[1]): row[2] for row in _means(rows, (x, y), metric).rows()}
        values = np.array(
            [[cells.get((b, a), math.nan) for b in across.positions] for a in up.positions], float
        )
        heat = Heat(view.label(metric), values, _centre(rows, metric), low, high)
        ticks = tuple((float(i), w) for i, w in enumerate(across.words.values()))
        y_ticks = tuple((float(i), w) for i, w in enumerate(up.words.values()))
        ends = (-0.5, len(ticks) - 0.5), (-0.5, len(y_ticks) - 0.5)
        columns, lines = list(across.positions), list(up.positions)
        unsettled = (
            (columns.index(own[x][0]) + CORNER, lines.index(own[y][0]) + CORNER)
            for own in rows.partition_by(x, y, maintain_order=True)
            if is_unsettled(own, metric)
        )
        marks: list[Mark] = [heat, *rings(unsettled, "ink")]
        return Panel(
            across.label, up.label, tuple(marks), title, *ends, ticks=ticks, y_ticks=y_ticks
        )

    return figure(
        known, view, (x, y), panel, view.phrase(metric), "A metric over two axes, as colours."
    )


def _means(rows: pl.DataFrame, keys: Sequence[str], metric: str) -> pl.DataFrame:
    shown = pl.col(metric).mean() * scale_of(metric)
    return rows.group_by(keys).agg(shown).select(*keys, metric)


def _value_range(rows: pl.DataFrame, metric: str, keys: Sequence[str]) -> tuple[float, float]:
    """The ends of the colour scale: the values', equally far from a centre."""
    known = _means(rows, keys, metric)[metric].drop_nulls()
    low, high = float(str(known.min())), float(str(known.max()))
    centre = _centre(rows, metric)
    if centre is None:
        return low, high
    reach = max(high - centre, centre - low) or 1.0
    return centre - reach, centre + reach


def _centre(rows: pl.DataFrame, metric: str) -> float | None:
    """The centre of a diverging scale: the fair share; none for other metrics."""
    group, _, key = metric.rpartition(".")
    if key != "share":
        found = find(metric)
        return None if found is None else found.centre
    return 100 * float(rows[f"{group}.flows"][0] / rows["flows"][0])
