"""The distribution of completion times of all transfers."""

from __future__ import annotations

from dataclasses import replace

from narrows._native import COMPLETION_STATISTICS
from narrows.figures.model import Figure, Mark, Panel
from narrows.figures.sweeps.view import View, bounds_of, by_class, choose_lines, figure
from narrows.figures.transfers import TIME, distribution, distribution_panel
from narrows.late import pl
from narrows.words import join_words


def completion_times(frame: pl.DataFrame, view: View) -> Figure:
    """Completion times of the transfers of all runs, a line for each class (and value of `by`)."""
    view = choose_lines(frame, view, (), frame["class"].n_unique())
    shown = by_class(frame, view)
    classes = frame["class"].unique().to_list()
    guides = tuple(
        replace(guide, below=True)  # the curves are at the top there
        for name in COMPLETION_STATISTICS
        for guide in bounds_of(
            view, [f"{one}.completion_{name}_s" for one in classes], upright=True, of=name
        )
    )

    unit = "pages" if {*classes} <= {*view.readers} else "transfers"
    times_s = frame["fct_s"].drop_nulls().to_numpy()

    def panel(rows: pl.DataFrame, title: str) -> Panel:
        marks: list[Mark] = []
        for label, look, part in shown(rows):
            marks.append(distribution(label, part["fct_s"].to_numpy(), look.hue, look.dash))
        return distribution_panel(marks, title, times_s, guides, unit)

    used = () if view.by is None else (view.by,)
    note = f"{frame.height:,} {unit} of {join_words(view.words(str(one)) for one in classes)}"
    alt = "Distribution functions of completion times."
    return figure(frame, view, used, panel, f"{TIME[unit]}s", alt, note)
