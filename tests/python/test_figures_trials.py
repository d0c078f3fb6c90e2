"""The timeline of several trials: means and ranges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from narrows.figures import interactive, static
from narrows.figures.interactive.thin import thin
from narrows.figures.model import Figure, Floats, Line, LineKind, Panel, Span, Stack
from narrows.figures.trials import over_trials

NAN = float("nan")


def floats(*values: float) -> Floats:
    return np.array(values)


def trial(*lines: Line, end_s: float = 3.0) -> Figure:
    spans = (Span(1.0, 2.0, "span", "PROBE_RTT"),)
    return Figure(
        "t", "conditions", (Panel("s", "ms", lines, "Delay"),), "Delay.",
        name="timeline", stack=Stack((0.0, end_s), spans),
    )  # fmt: skip


def rtt(x: Floats, y: Floats, kind: LineKind = "line", fill: bool = False) -> Line:
    return Line("BBR", x, y, "bbr", kind=kind, fill=fill)


def join(*lines: Line) -> Line:
    [line] = over_trials([trial(line) for line in lines]).panels[0].lines
    return line


def test_a_line_is_the_mean_and_its_band_the_range() -> None:
    x = floats(0, 1, 2)
    line = join(rtt(x, floats(1, 2, 9)), rtt(x, floats(3, 2, 3)), rtt(x, floats(5, 2, 0)))
    assert line.low is not None
    assert line.high is not None
    assert line.y.tolist() == [3, 2, 4]
    assert line.low.tolist() == [1, 2, 0]
    assert line.high.tolist() == [5, 2, 9]
    assert line.band


def test_a_trial_without_a_value_is_left_out() -> None:
    x = floats(0, 1, 2)
    line = join(rtt(x, floats(1, NAN, NAN)), rtt(x, floats(3, 4, NAN)))
    assert line.low is not None
    np.testing.assert_equal(line.y, floats(2, 4, NAN))
    np.testing.assert_equal(line.low, floats(1, 4, NAN))


def test_a_trial_that_ends_early_counts_until_then() -> None:
    long, short = floats(0, 1, 2, 3), floats(0, 1.5)
    line = join(rtt(short, floats(0, 3)), rtt(long, floats(2, 2, 2, 2)))
    assert line.x.tolist() == [0, 1, 2, 3]
    assert line.y.tolist() == [1, 2, 2, 2]
    steps = join(rtt(short, floats(4, 6), "step"), rtt(long, floats(2, 2, 2, 2), "step"))
    assert steps.y.tolist() == [3, 3, 2, 2]


def test_values_that_all_trials_share_have_no_band() -> None:
    x = floats(0, 1)
    line = join(rtt(x, floats(5, NAN), fill=True), rtt(x, floats(5, NAN), fill=True))
    assert line.low is None
    assert line.fill


def test_spans_go_and_the_subtitle_says_what_is_drawn() -> None:
    x = floats(0, 1)
    figure = over_trials([trial(rtt(x, x)), trial(rtt(x, 2 * x), end_s=5.0)])
    assert figure.stack == Stack((0.0, 5.0))
    assert figure.subtitle == "conditions; mean of 2 trials, band from the lowest to the highest"


def test_the_y_axis_reaches_the_ends_of_the_band() -> None:
    x = floats(0, 1)
    figure = over_trials([trial(rtt(x, floats(0, 0))), trial(rtt(x, floats(0, 100)))])
    assert figure.panels[0].limits()[1] == pytest.approx(106)


@pytest.mark.parametrize(("kind", "corners"), [("line", 8), ("step", 12)])
def test_a_band_is_an_outline_with_gaps(kind: LineKind, corners: int) -> None:
    x = floats(0, 1, 2, 3, 4)
    ends = rtt(x, floats(1, 2, NAN, 3, 4), kind), rtt(x, floats(2, 3, NAN, 4, 5), kind)
    [plot] = interactive.plots(over_trials([trial(end) for end in ends]))
    [band] = [trace for trace in plot.data if trace.get("fill") == "toself"]
    assert band["legendgroup"] == "BBR"
    assert len([at for at in band["x"] if at is not None]) == corners
    assert band["x"].count(None) == band["y"].count(None) == 2
    assert {at for at in band["y"] if at is not None} == {1, 2, 3, 4, 5}


def test_a_long_band_is_thinned_to_its_ends() -> None:
    x = np.arange(10_000.0)
    low, high = np.sin(x) - 2, np.sin(x) + 2
    low[77] = -50.0
    line = Line("BBR", x, np.sin(x), "bbr", low=low, high=high, band=True)
    short = thin(line, 100)
    assert short.low is not None
    assert short.high is not None
    assert len(short.x) == len(short.y) == len(short.low) == 100
    assert short.low.min() == -50.0
    assert short.high.max() == high.max()
    assert short.y[0] == pytest.approx(np.sin(x[:100]).mean())


def test_a_picture_shows_the_band(tmp_path: Path) -> None:
    x = floats(0, 1, 2)
    figure = over_trials([trial(rtt(x, floats(1, 2, 3))), trial(rtt(x, floats(3, 2, 1)))])
    [band] = static.save(figure, tmp_path / "band", ["svg"])
    [line] = static.save(trial(rtt(x, floats(2, 2, 2))), tmp_path / "line", ["svg"])
    assert "FillBetween" in band.read_text()
    assert "FillBetween" not in line.read_text()
