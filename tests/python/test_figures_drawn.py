"""The same description as PNG and SVG, and as data for plotly.js."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
import synthetic_run

from narrows import figures
from narrows.figures import interactive, static
from narrows.figures.interactive.plot import numbers
from narrows.figures.model import Bar, Figure, Guide, Heat, Line, Panel, Stack
from narrows.figures.sweeps.panels import share_axes
from narrows.figures.transfers import distribution, distribution_panel

LONG_PATH = {"rtt_ns": 1_000_000_000}
"""A path on which 10 s are few round trips, so that all of them are drawn."""


@pytest.fixture(scope="module", params=[entry.name for entry in figures.of("run")])
def figure(request):
    scenario, tables = synthetic_run.scenario(), synthetic_run.tables()
    if request.param in ("completions", "applications", "tails"):
        scenario["flows"][0] |= {"size_bytes": 20_000, "deadline_ns": 500_000_000}
        tables = {**tables, "completions": synthetic_run.one_transfer()}
    return figures.describe(request.param, scenario, tables)


@pytest.fixture
def stacks_of(figure):
    if figure.stack is None:
        pytest.skip("each panel is a separate plot")
    return figure


def test_pictures_are_the_same_bytes_every_time(figure, tmp_path):
    first = static.save(figure, tmp_path / "a", ["png", "svg", "pdf"])
    second = static.save(figure, tmp_path / "b", ["png", "svg", "pdf"])
    assert [path.name for path in first] == ["a.png", "a.svg", "a.pdf"]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_png_is_wide_enough_to_print(figure, tmp_path):
    (png,) = static.save(figure, tmp_path / "a", ["png"])
    width, _ = struct.unpack(">II", png.read_bytes()[16:24])
    assert width == static.WIDTH_IN * static.DPI == 1280


def test_a_figure_for_a_paper_is_as_wide_as_its_column_and_has_no_title(figure, tmp_path):
    made = figure.for_paper(3.4)
    png, svg = static.save(made, tmp_path / "a", ["png", "svg"])
    width, _ = struct.unpack(">II", png.read_bytes()[16:24])
    assert width == round(3.4 * static.DPI)
    assert figure.subtitle not in svg.read_text()
    assert made.columns <= 2


def test_svg_keeps_its_words_as_text_and_no_date(figure, tmp_path):
    (svg,) = static.save(figure, tmp_path / "a", ["svg"])
    root = ElementTree.parse(svg).getroot()
    words = {"".join(e.itertext()).strip() for e in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {figure.title, figure.subtitle, figure.panels[-1].x_label} <= words
    begins = tuple(word.partition("; ")[0] for word in words)  # then which lines coincide
    assert {panel.title for panel in figure.panels} <= {*begins, *words}
    assert "dc:date" not in svg.read_text()


def test_names_with_mathematics_in_them_are_words(tmp_path):
    line = Line("$x^$ & <b>", np.arange(2.0), np.arange(2.0), "bbr", group="$_{")
    panel = Panel("Time (s)", "%", (line,), "$")
    odd = Figure("$a$ <title> & $", "", (panel,), "", stack=Stack((0, 1)))
    static.save(odd, tmp_path / "a")
    assert ElementTree.parse(tmp_path / "a.svg") is not None
    for layout in (odd, replace(odd, stack=None)):
        static.save(layout, tmp_path / "b")


def test_an_unknown_format_is_refused(figure, tmp_path):
    with pytest.raises(ValueError, match="png, svg or pdf"):
        static.save(figure, tmp_path / "a", ["bmp"])


def test_drawing_loads_neither_pyplot_nor_plotly(tmp_path):
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import synthetic_run
from pathlib import Path
from narrows import figures
from narrows.figures import interactive
figure = figures.describe("timeline", synthetic_run.scenario(), synthetic_run.tables(2.0))
interactive.plots(figure)
assert "matplotlib" not in sys.modules
from narrows.figures import static
static.save(figure, Path({str(tmp_path)!r}) / "a")
print(sorted({{"matplotlib.pyplot", "plotly", "pandas", "scipy"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def plot_of(figure):
    (plot,) = interactive.plots(figure)
    return plot


def test_a_plot_is_strict_json_with_all_panels_on_one_x_axis(stacks_of):
    plot = json.loads(plot_of(stacks_of).json(), parse_constant=pytest.fail)
    assert {trace["xaxis"] for trace in plot["data"]} == {"x"}
    axes = {trace["yaxis"].replace("y", "yaxis") for trace in plot["data"]}
    assert axes <= set(plot["layout"])
    shown = [axis for axis in plot["layout"] if axis.startswith("yaxis")]
    assert len([axis for axis in shown if "title" in plot["layout"][axis]]) == len(stacks_of.panels)
    # Sequence numbers are looked at closely in both directions.
    fixed = {plot["layout"][axis]["fixedrange"] for axis in shown}
    assert fixed == {stacks_of.name != "sequence"}
    # A stroke of one packet is smaller than a pixel, and plotly.js leaves out what is.
    simplified = {trace.get("line", {}).get("simplify", True) for trace in plot["data"]}
    assert simplified == {stacks_of.name != "sequence"}


def test_panels_do_not_overlap(stacks_of):
    layout = plot_of(stacks_of).layout
    domains = sorted(layout[axis]["domain"] for axis in layout if axis.startswith("yaxis"))
    assert domains[0][0] >= 0
    assert domains[-1][1] <= 1
    assert all(lower[1] <= upper[0] for lower, upper in pairwise(domains))


def keys(thing):
    if isinstance(thing, dict):
        thing = list(thing.values())
    if isinstance(thing, list):
        return {key for inner in thing for key in keys(inner)}
    return {thing[1:].split("/")[0]} if isinstance(thing, str) and thing.startswith("@") else set()


def test_every_colour_of_a_plot_has_a_light_and_a_dark_value(figure):
    for made in interactive.plots(figure):
        plot = json.loads(made.json())
        wanted = keys(plot["data"]) | keys(plot["layout"])
        assert wanted - set(plot["colours"]) <= {"ink", "faint", "grid", "card", "ground"}
        assert all(len(pair) == 2 for pair in plot["colours"].values())


def wave(count):
    x = np.linspace(0.0, 100.0, count)
    return Line("wave", x, np.sin(x) + 0.001 * np.cos(900 * x), "bbr")


def test_short_series_are_not_thinned():
    series = wave(200)
    assert interactive.thin(series, 100) is series


def test_thinning_keeps_every_extreme_and_both_ends():
    series = wave(100_000)
    series.y[31_234] = 50.0
    series.y[77_777] = -50.0
    thin = interactive.thin(series, 100)
    assert len(thin.x) <= 400
    assert (thin.y.max(), thin.y.min()) == (50.0, -50.0)
    assert (thin.x[0], thin.x[-1]) == (0.0, 100.0)
    assert np.isin(thin.x, series.x).all()
    place = (series.x // 1).clip(max=99)
    thin_place = (thin.x // 1).clip(max=99)
    for column in range(100):
        assert thin.y[thin_place == column].max() == series.y[place == column].max()
        assert thin.y[thin_place == column].min() == series.y[place == column].min()


def test_thinning_keeps_gaps():
    series = wave(10_000)
    series.y[4_000:6_000] = np.nan
    thin = interactive.thin(series, 50)
    assert np.isnan(thin.y).any()
    assert not ((thin.x > 41) & (thin.x < 59) & np.isfinite(thin.y)).any()
    assert len(thin.x) < 250


def test_numbers_are_short_and_unknown_ones_null():
    assert numbers(np.array([1 / 3, np.nan, 1e7 + 1])) == [0.33333, None, 1e7]


def test_packets_that_follow_one_another_closely_are_one_line():
    rows = pl.DataFrame(
        {
            "flow": [0] * 5,
            "kind": ["data"] * 5,
            "time_s": [1.0, 1.001, 1.002, 5.0, 5.001],
            # The third leaves a hole, the fourth comes much later.
            "begin": [0, 1000, 3000, 4000, 5000],
            "end": [1000, 2000, 4000, 5000, 6000],
        }
    )
    scenario = {"name": "x", "path": LONG_PATH, "flows": [{"name": "a", "cca": "unknown"}]}
    samples = pl.DataFrame({"time_s": [10.0]})
    drawn = figures.describe("sequence", scenario, {"sequence": rows, "flow_samples": samples})
    (series,) = drawn.panels[0].lines
    assert list(np.flatnonzero(np.isnan(series.y))) == [4, 7, 12]
    assert list(series.y[:4] * 1e6) == pytest.approx([0, 1000, 1000, 2000])


def test_retransmissions_have_dots_and_are_drawn_last() -> None:
    kinds = ["retransmission", "data", "sack"]
    rows = pl.DataFrame(
        {"flow": [0] * 3, "kind": kinds, "time_s": [1.0] * 3, "begin": [0] * 3, "end": [1000] * 3}
    )
    scenario = {"name": "x", "path": LONG_PATH, "flows": [{"name": "a", "cca": "unknown"}]}
    tables = {"sequence": rows, "flow_samples": pl.DataFrame({"time_s": [10.0]})}
    lines = figures.describe("sequence", scenario, tables).panels[0].lines
    assert [(line.label, line.marker) for line in lines] == [
        ("sent", ""), ("SACK", ""), ("sent again", "o"),
    ]  # fmt: skip


def test_the_axis_of_completion_times_ends_near_them_and_has_ticks_apart() -> None:
    for times in ([0.317, 0.449], [0.181, 0.183], [0.2], [0.01, 70.0], [0.0, 3.0]):
        values = np.array(times)
        panel = distribution_panel([distribution("a", values, "bbr")], "", values)
        low, high = panel.x_range
        least, most = values[values > 0].min(), values.max()
        assert 0.5 * least < low < least <= most < high < 2 * most, times
        with static.style():
            canvas = static.draw(Figure("t", "s", (panel,) * 3, "alt", columns=3))
            canvas.canvas.draw()
        boxes = [text.get_window_extent() for text in canvas.axes[0].get_xticklabels()
                 if low <= text.get_position()[0] <= high]  # fmt: skip
        assert len(boxes) > 1, times
        assert all(one.x1 < other.x0 for one, other in pairwise(boxes)), times


def test_the_axis_of_completion_times_has_room_for_a_bound() -> None:
    times, bound = np.array([0.3, 0.4]), Guide(2.0, "p99 at most 2", upright=True)
    panel = distribution_panel([distribution("a", times, "bbr")], "", times, (bound,))
    assert panel.x_range[1] > 2.0
    (plot,) = interactive.plots(Figure("t", "s", (panel,), "alt"))
    assert plot.layout["xaxis"]["range"] == pytest.approx(np.log10(panel.x_range))
    with static.style():
        canvas = static.draw(Figure("t", "s", (panel,), "alt"))
        canvas.canvas.draw()
        (axes,) = canvas.axes
        (text,) = axes.texts
        assert text.get_window_extent().x1 < axes.get_window_extent().x1


def test_a_bar_may_be_rounded_beyond_its_interval(tmp_path: Path) -> None:
    values = [0.1] * 3
    mean = sum(values) / 3
    assert mean > max(values)
    bar = Bar("same", 0.0, mean, "bbr", (min(values), max(values)))
    figure = Figure("Bars", "", (Panel("x", "y", (bar,)),), "One bar.")
    assert all(path.stat().st_size for path in static.save(figure, tmp_path / "bars"))


X, ONES = np.array([0.0, 1.0]), np.array([1.0, 1.0])
MARKS_BELOW_ZERO = {
    "line": Line("a", X, np.array([1.0, -3.0]), "bbr"),
    "spread": Line("a", X, ONES, "bbr", low=ONES - 4.0, high=ONES),
    "bar": Bar("a", 0.0, 1.0, "bbr", (-3.0, 1.5)),
}


@pytest.mark.parametrize("kind", MARKS_BELOW_ZERO)
@pytest.mark.parametrize("high", [None, 2.0])
def test_values_below_zero_are_not_clipped(kind: str, high: float | None) -> None:
    panel = Panel("x", "y", (MARKS_BELOW_ZERO[kind],), y_range=(0.0, high))
    drawn = Figure("t", "s", (panel,), "alt")
    with static.style():
        assert static.draw(drawn).axes[0].get_ylim()[0] <= -3.0
    axis = interactive.plots(drawn)[0].layout["yaxis"]
    assert "range" not in axis
    assert axis.get("rangemode") != "tozero"


def test_values_above_zero_are_drawn_from_zero_on() -> None:
    panel = Panel("x", "y", (Line("a", np.array([0.0, 1.0]), np.array([5.0, 6.0]), "bbr"),))
    with static.style():
        assert static.draw(Figure("t", "s", (panel,), "alt")).axes[0].get_ylim()[0] == 0.0
    assert panel.limits()[0] == 0.0


def test_panels_that_share_an_axis_show_values_below_zero() -> None:
    def panel(low: float) -> Panel:
        return Panel("x", "y", (Line("a", np.array([0.0, 1.0]), np.array([low, 1.0]), "bbr"),))

    ends = {one.y_range for one in share_axes([panel(-2.0), panel(0.5)])}
    assert len(ends) == 1
    assert ends.pop() == pytest.approx((-2.12, 1.12))


@pytest.mark.parametrize(
    ("y", "end"),
    [
        ([90.0, 80.0, 70.0, 20.0], 1),
        ([90.0, 80.0, 70.0, 52.0], 0),
        ([48.0, 80.0, 70.0, 52.0], 1),
    ],
)
def test_the_label_of_a_guide_stands_where_no_curve_is(y: list[float], end: int) -> None:
    line = Line("share", np.array([0.5, 1.0, 2.0, 8.0]), np.array(y), "bbr", kind="points")
    panel = Panel("x", "y", (line,), y_range=(0.0, 100.0), x_scale="log")
    assert panel.clear_end(Guide(50.0, "fair")) == end


@pytest.mark.parametrize(("y", "end"), [([0.1, 0.2, 0.3], 1), ([0.9, 1.0, 1.0], 0)])
def test_the_label_of_an_upright_guide_is_at_the_foot_where_curves_are_at_the_top(
    y: list[float], end: int
) -> None:
    panel = Panel("x", "y", (Line("rate", np.array([1.0, 2.0, 3.0]), np.array(y), "bbr"),))
    assert panel.clear_end(Guide(2.0, "BDP", upright=True)) == end


@pytest.mark.parametrize(("high", "whole"), [(100.0, True), (99.0, False)])
def test_markers_at_the_end_of_an_axis_are_whole_and_others_stay_inside(
    high: float, whole: bool, tmp_path: Path
) -> None:
    line = Line("used", np.array([0.0, 8.0]), np.array([0.0, 100.0]), "bbr", marker="o")
    panel = Panel("x", "y", (line,), x_range=(0.0, 8.0), y_range=(0.0, high))
    figure = Figure("t", "s", (panel,), "a")
    (plot,) = interactive.plots(figure)
    assert plot.data[0].get("cliponaxis", True) != whole
    static.save(figure, tmp_path / "f", ["svg"])
    svg = "{http://www.w3.org/2000/svg}"
    groups = ElementTree.parse(tmp_path / "f.svg").iter(f"{svg}g")
    clipped = [
        use for group in groups if "clip-path" in group.attrib for use in group.iter(f"{svg}use")
    ]
    assert len(clipped) == (0 if whole else 2)


def test_cells_of_a_heat_map_have_plain_numbers() -> None:
    heat = Heat("", np.array([[100.0, 83_012.0], [158.0, 0.0512]]))
    drawn = static.draw(Figure("t", "s", (Panel("x", "y", (heat,)),), "alt"))
    words = {text.get_text() for text in drawn.axes[0].texts}
    assert words == {"100", "83,000", "160", "0.051"}


def test_no_warning_of_matplotlib_reaches_the_user(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    panel = Panel("x", "y", (Line("", np.array([1.0, 2.0]), np.array([1.0, 2.0]), "cubic"),))
    static.save(Figure("\u8def", "s", (panel,), "alt"), tmp_path / "figure", ["png"])
    assert not recwarn.list
