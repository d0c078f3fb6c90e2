"""Throughput against delay."""

from __future__ import annotations

import polars as pl

from narrows.figures.looks import looks_of, words
from narrows.figures.model import Cloud, Figure, Mark, Panel
from narrows.figures.names import setting
from narrows.figures.sweeps.view import (
    View,
    classes_of,
    figure,
    shades_of,
    split,
)


def scatter(frame: pl.DataFrame, view: View) -> Figure:
    """Throughput against queueing delay, an ellipse for each class; better is up and right."""
    known = classes_of(frame)
    looks = looks_of(known)
    by = view.by
    shades = shades_of(frame, view)

    def panel(rows: pl.DataFrame, title: str) -> Panel:
        marks: list[Mark] = []
        for value, part in split(rows, by, shades):
            label = setting(by, value) if by else ""
            for group in known:
                points = part.drop_nulls([f"{group}.delay_mean_ms", f"{group}.goodput_mbps"])
                if points.height:
                    x = points[f"{group}.delay_mean_ms"].to_numpy()
                    y = points[f"{group}.goodput_mbps"].to_numpy()
                    marks.append(Cloud(words(group), x, y, looks[group].hue, label))
        clouds = [mark for mark in marks if isinstance(mark, Cloud)]
        least = min((float(cloud.x.min()) for cloud in clouds), default=0.0)
        most = max((float(cloud.x.max()) for cloud in clouds), default=1.0)
        high = max((float(cloud.y.max()) for cloud in clouds), default=1.0)
        return Panel(
            "Mean queueing delay (ms), less to the right",
            "Goodput (Mbit/s)",
            tuple(marks),
            title,
            (max(most, 0.1) * 1.08, min(least, 0.0) * 1.08),
            (0.0, max(high, 0.1) * 1.08),
        )

    return figure(
        frame, view, () if by is None else (by,), panel, "Throughput and delay",
        "Goodput over queueing delay, the delay axis reversed; ellipses of one deviation.",
    )  # fmt: skip
