"""In images, lines that would fill their panel are means and ranges over windows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from narrows.figures import interactive, static
from narrows.figures.model import Figure, Guide, Line, LineKind, Panel, Stack
from narrows.figures.static.means import average_long

WIDE_IN = 7.0


def sawtooth(end_s: float, interval_s: float = 0.1, kind: LineKind = "line") -> Line:
    """Rises from 0 to 9 once a second."""
    x = np.arange(0, end_s + interval_s / 2, interval_s)
    return Line("queue", x, np.floor(10 * (x % 1.0) + 1e-6), "queue", kind=kind, fill=True)


def average(*lines: Line, end_s: float) -> Panel:
    panel = Panel("Time (s)", "BDP", lines, "Queue", guides=(Guide(9.0, "buffer"),))
    return average_long(panel, (0.0, end_s), WIDE_IN)


@pytest.mark.parametrize(
    ("end_s", "window_s", "words"), [(300, 1, "1 s"), (600, 2, "2 s"), (3600, 20, "20 s")]
)
def test_a_long_line_is_its_mean_and_range(end_s: float, window_s: float, words: str) -> None:
    panel = average(sawtooth(end_s), end_s=end_s)
    assert panel.title == f"Queue; mean and range of {words} windows"
    (line,) = panel.lines
    assert line.low is not None
    assert line.high is not None
    assert line.band
    assert not line.fill
    assert np.diff(line.x) == pytest.approx(window_s)
    assert line.x[0] == window_s / 2
    assert len(line.x) == end_s / window_s  # the sample at the end has no window of its own
    assert line.y[:-1] == pytest.approx(4.5)
    assert set(line.low) == {0.0}
    assert set(line.high) == {9.0}


def test_short_runs_slow_lines_and_exact_ones_are_drawn_as_they_are() -> None:
    long = sawtooth(600.0)
    slow = replace(long, y=np.sin(long.x / 20))
    for line, end_s in (
        (sawtooth(200.0), 200.0),
        (slow, 600.0),
        (replace(long, exact=True), 600.0),
        (replace(long, kind="points"), 600.0),
        (replace(long, y=np.full(len(long.x), np.nan)), 600.0),
        (long, 100.0),  # of which only a part is in sight
    ):
        panel = average(line, end_s=end_s)
        assert panel.marks == (line,)
        assert panel.title == "Queue"


def test_windows_without_a_value_stay_gaps_and_steps_reach_the_end() -> None:
    line = sawtooth(300.0, kind="step")
    line.y[(line.x > 99.95) & (line.x < 101.95)] = np.nan
    (made,) = average(line, end_s=300.0).lines
    assert (made.x[0], made.x[-1]) == (0.0, 300.0)
    assert list(made.x[np.isnan(made.y)]) == [100.0, 101.0]


@pytest.mark.parametrize("stack", [Stack((0.0, 600.0)), None])
def test_an_image_has_means_and_a_page_all_samples(stack: Stack | None) -> None:
    panel = Panel("Time (s)", "BDP", (sawtooth(600.0),), "Queue", x_range=(0.0, 600.0))
    figure = Figure("t", "s", (panel,), "a", stack=stack)
    with static.style():
        (axes,) = static.draw(figure).axes
    assert "mean and range of 2 s windows" in axes.get_title(loc="left").replace("\n", " ")
    assert len(axes.lines[0].get_xdata()) == 300
    assert len(axes.collections) == 1
    (plot,) = interactive.plots(figure)
    assert "mean and range" not in str(plot.layout)
    assert max(len(trace["x"]) for trace in plot.data) > 1000
