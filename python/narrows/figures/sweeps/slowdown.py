"""The slowdown of transfers by their size."""

from __future__ import annotations

from dataclasses import replace

from narrows._native import SLOWDOWN_STATISTICS
from narrows.figures.looks import asides
from narrows.figures.model import Figure, Mark, Panel
from narrows.figures.sweeps.view import View, bounds_of, by_class, choose_lines, figure
from narrows.figures.transfers import size_panel, slowdown_by_size
from narrows.late import pl


def slowdown(frame: pl.DataFrame, view: View) -> Figure:
    """Median and 99th percentile of the slowdown for each range of sizes, by class."""
    view = choose_lines(frame, view, (), frame["class"].n_unique())
    shown = by_class(frame, view)
    classes = frame["class"].unique().to_list()
    guides = tuple(
        guide
        for name in SLOWDOWN_STATISTICS
        for guide in bounds_of(view, [f"{one}.slowdown_{name}" for one in classes], of=name)
    )

    def panel(rows: pl.DataFrame, title: str) -> Panel:
        known = list(shown(rows))
        marks: list[Mark] = []
        for (label, look, part), place in zip(known, asides(len(known)), strict=True):
            marks += slowdown_by_size(label, part, look.hue, place)
        return replace(size_panel(marks, title), guides=guides)

    used = () if view.by is None else (view.by,)
    return figure(
        frame, view, used, panel, "Slowdown of transfers of each size",
        "Slowdown over the size of transfers.", f"{frame.height:,} transfers",
    )  # fmt: skip
