"""Figures in a column of a paper, and in grey."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from narrows.figures import interactive, static
from narrows.figures.model import Figure, Guide, Line, Panel, Stack
from narrows.figures.telling_apart import tell_apart

CONTROLS = ("bbr", "cubic", "reno", "vegas")


def line(name: str, marker: str = "o", **more: object) -> Line:
    x = np.array([1.0, 2.0, 4.0])
    return Line(name, x, x * len(name), name, marker=marker, **more)  # type: ignore[arg-type]


def figure(*lines: Line) -> Figure:
    return Figure("Title", "", (Panel("x", "y", lines),), "", columns=1, height=3.2)


def test_controls_in_one_figure_differ_in_their_markers() -> None:
    [panel] = tell_apart(figure(*map(line, CONTROLS))).panels
    assert len({one.marker for one in panel.lines}) == len(CONTROLS)


def test_the_page_has_the_same_markers_as_the_image() -> None:
    [plot] = interactive.plots(figure(line("bbr"), line("cubic"), line("reno")))
    symbols = [trace.get("marker", {}).get("symbol") for trace in plot.data]
    assert symbols == [None, "square", "triangle-up"]


def test_a_ring_has_the_shape_of_the_marker_that_it_is_around() -> None:
    ring = line("cubic", kind="points", hollow=True, group="drifting")
    [panel] = tell_apart(figure(line("bbr"), line("cubic"), ring)).panels
    assert [one.marker for one in panel.lines] == ["o", "s", "s"]


def test_lines_without_markers_differ_in_dashes_in_a_paper_only() -> None:
    whole = figure(*(line(name, "") for name in CONTROLS))
    assert {one.dash for one in tell_apart(whole).panels[0].lines} == {"solid"}
    lines = tell_apart(whole.for_paper(3.5)).panels[0].lines
    assert all(one.dash != other.dash for one, other in combinations(lines, 2))


def draw_legend(made: Figure):
    """A figure as drawn, with the extents of its legend, in inches."""
    with static.style():
        canvas = static.draw(made)
        canvas.draw_without_rendering()
        [legend] = canvas.legends
        box = legend.get_window_extent()
        return canvas, legend, box.width / canvas.dpi, box.height / canvas.dpi


@pytest.mark.parametrize("width", [3.5, 7.0])
def test_the_legend_of_a_paper_fits_its_column(width: float) -> None:
    queues = ("Drop-tail", "CoDel", "FQ-CoDel", "PIE")
    names = [f"Queue: {queue} {group}" for queue in queues for group in ("CUBIC", "BBR")]
    for labels in (CONTROLS, names):
        lines = [line("bbr", group=label) for label in labels]
        canvas, legend, wide, high = draw_legend(figure(*lines).for_paper(width))
        assert wide <= width
        assert high <= 0.25 * canvas.get_figheight()
        texts = [text.get_text() for text in legend.get_texts()]
        assert len(texts) == len(labels)
        assert not any(text.startswith("Queue") for text in texts)


def test_a_legend_says_words_that_all_names_begin_with_once() -> None:
    labels = ("Queue: CoDel", "Queue: PIE")
    made = figure(*(line("bbr", group=label) for label in labels))
    _, legend, _, _ = draw_legend(made.for_paper(3.5))
    assert legend.get_title().get_text() == "Queue:"
    assert [text.get_text() for text in legend.get_texts()] == ["CoDel", "PIE"]
    _, legend, _, _ = draw_legend(made)
    assert [text.get_text() for text in legend.get_texts()] == list(labels)


def test_a_narrow_stack_has_titles_of_one_size_which_no_label_covers() -> None:
    x = np.linspace(0.0, 60.0, 200)
    full = Line("queue", x, 1.7 + 0.03 * np.sin(x), "queue")
    guide = Guide(1.75, "buffer 1.75 BDP = 43.8 ms")
    titles = ("Queue at the bottleneck", "Loss at the bottleneck, 500 ms windows, and so on")
    panels = tuple(Panel("Time (s)", "BDP", (full,), title, guides=(guide,)) for title in titles)
    made = Figure("Title", "", panels, "", height=1.55, stack=Stack((0.0, 60.0)))
    with static.style():
        canvas = static.draw(made.for_paper(3.5))
        canvas.draw_without_rendering()
    headings = [axes._left_title for axes in canvas.axes]
    assert len({heading.get_fontsize() for heading in headings}) == 1
    for axes, heading in zip(canvas.axes, headings, strict=True):
        [label] = axes.texts
        assert not label.get_window_extent().overlaps(heading.get_window_extent())
