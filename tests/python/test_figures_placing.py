"""Labels of guides cover no mark, hidden lines show, and panels of one quantity share an axis."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from narrows.figures import interactive, static
from narrows.figures.hiding import has_rims, name_coinciding, show_hidden
from narrows.figures.model import Bar, Cloud, Figure, Guide, Line, Panel
from narrows.figures.noting import note_places
from narrows.figures.placing import LabelPlace, comparable, label_places, places_across
from narrows.figures.static.grid import plain
from narrows.figures.transfers import distribution, distribution_panel


def line(y: list[float], label: str = "a", marker: str = "o", x: list[float] | None = None) -> Line:
    at = np.arange(len(y), dtype=float) if x is None else np.array(x)
    return Line(label, at, np.array(y), "bbr", marker=marker)


def panel(*marks: Line | Bar | Cloud, **more: object) -> Panel:
    return Panel("x", "y (s)", marks, **more)  # type: ignore[arg-type]


def places(drawn: Panel, *guides: Guide) -> list[LabelPlace | float]:
    """Where the labels of guides are, whose letters take 2.5 % of the axis."""
    return [place for _, place in places_across(replace(drawn, guides=guides), 0.025)]


@pytest.mark.parametrize(
    ("y", "place"),
    [
        ([90.0, 90.0, 90.0, 90.0], LabelPlace(right=True, below=False)),
        ([90.0, 90.0, 90.0, 52.0], LabelPlace(right=True, below=True)),  # ends just above it
        ([50.0, 50.0, 50.0, 50.0], LabelPlace(right=True, below=False)),
        ([90.0, 45.0, 55.0, 45.0], LabelPlace(right=False, below=False)),
        ([52.0, 45.0, 55.0, 45.0], LabelPlace(right=False, below=True)),
    ],
)
def test_the_label_of_a_guide_stands_beside_curves(y: list[float], place: LabelPlace) -> None:
    curve = line(y, x=[0.0, 9.0, 9.5, 10.0])
    assert places(panel(curve, y_range=(0.0, 100.0)), Guide(50.0, "fair")) == [place]


def test_labels_over_time_cover_neither_curves_in_sight_nor_each_other() -> None:
    curve = line([50.0, 50.0, 90.0, 50.0], x=[0.0, 9.0, 10.0, 99.0])  # only the first 10 are shown
    guides = (Guide(52.0, "path"), Guide(52.0, "the paper's", below=True))
    shown = panel(curve, y_range=(0.0, 100.0), guides=guides)
    (_, first), (_, second) = label_places(shown, (0.0, 8.0), 0.01)
    assert first == LabelPlace(right=True, below=False)
    assert second == LabelPlace(right=False, below=False)


def test_a_label_over_time_stands_between_the_ends_if_both_cover_a_curve() -> None:
    curve = line([50.0, 90.0, 90.0, 50.0], x=[0.0, 2.0, 8.0, 10.0])
    low = line([55.0, 10.0, 10.0, 45.0], x=[0.0, 2.0, 8.0, 10.0])
    shown = panel(curve, low, y_range=(0.0, 100.0), guides=(Guide(50.0, "half"),))
    ((_, place),) = label_places(shown, (0.0, 10.0), 0.05)
    assert place.left is not None
    assert 0.05 < place.left < 0.95 - 4 * 0.05


def test_points_between_two_values_of_a_curve_are_covered_too() -> None:
    sparse = panel(line([0.1, 4.0], x=[1.0, 1000.0]), x_scale="log", y_scale="log")
    assert places(sparse, Guide(3.0, "at least")) == [LabelPlace(right=False, below=False)]


def test_a_label_without_a_free_place_is_outside() -> None:
    crowded = panel(line([45.0, 55.0] * 10), y_range=(0.0, 100.0))
    guide = Guide(50.0, "the fair share")
    assert places(crowded, guide) == [0.0]
    bars = panel(Bar("a", 0.0, 60.0, "bbr", width=2.0), y_range=(0.0, 100.0), x_range=(-1.0, 1.0))
    assert places(bars, Guide(30.0, "fair")) == [0.0]
    figure = Figure("t", "s", (panel(*crowded.marks, y_range=(0.0, 100.0), guides=(guide,)),), "a")
    with static.style():
        canvas = static.draw(figure)
        canvas.canvas.draw()
        (axes,) = canvas.axes
        (text,) = (one for one in axes.texts if one.get_text() == guide.label)
        assert text.get_window_extent().x0 > axes.get_window_extent().x1


def test_labels_cover_neither_error_bars_nor_each_other() -> None:
    bars = replace(line([90.0, 90.0, 80.0]), low=np.array([80.0] * 3), high=np.array([99.0] * 3))
    free = LabelPlace(right=True, below=False)
    assert places(panel(bars, y_range=(0.0, 100.0)), Guide(50.0, "fair")) == [free]
    long = replace(bars, low=np.array([80.0, 80.0, 20.0]))
    (left,) = places(panel(long, y_range=(0.0, 100.0)), Guide(50.0, "fair"))
    assert left == LabelPlace(right=False, below=False)
    near = (
        Guide(50.0, "fair for CUBIC"),
        Guide(54.0, "fair for BBR"),
        Guide(45.0, "fair for Reno"),
    )
    found = places(panel(bars, y_range=(0.0, 100.0)), *near)
    assert found == [free, LabelPlace(right=False, below=False), LabelPlace(right=True, below=True)]


def test_labels_outside_the_axes_stand_apart_in_the_order_of_their_guides() -> None:
    crowded = panel(line([15.0, 55.0] * 40), y_range=(0.0, 100.0))
    levels = (50.0, 23.0, 31.0, 27.0, 19.0)
    guides = tuple(Guide(level, f"fair for {level:g}") for level in levels)
    shown = list(places_across(replace(crowded, guides=guides), 0.02))
    assert [guide.value for guide, _ in shown] == sorted(levels)
    heights = [guide.value / 100 + shift for guide, shift in shown if isinstance(shift, float)]
    assert np.diff(heights) == pytest.approx([0.09] * 3 + [0.5 - heights[3]])
    assert np.mean(heights[:4]) == pytest.approx(0.25)  # moved as little as possible
    figure = Figure("t", "s", (replace(crowded, guides=guides),) * 3, "a", columns=3, height=2.1)
    with static.style():
        canvas = static.draw(figure)
        canvas.canvas.draw()
        texts = [one.get_window_extent() for one in canvas.axes[0].texts]
    assert len(texts) == len(levels)
    assert not any(one.overlaps(other) for one, other in combinations(texts, 2))


def test_notes_of_near_points_stand_apart() -> None:
    def cloud(x: float, y: float, note: str = "0.5 BDP") -> Cloud:
        return Cloud("a", np.array([x, x + 1.0]), np.array([y, y]), "bbr", note)

    ends = {"x_range": (100.0, 0.0), "y_range": (0.0, 100.0)}
    alone = panel(cloud(50.0, 50.0), line([50.0, 20.0], x=[50.5, 90.0], marker=""), **ends)
    assert [place for _, place in note_places(alone, (4.0, 2.0), 0.068)] == [(5.0, 5.0)]
    joined = panel(cloud(50.0, 50.0), line([50.0, 80.0], x=[50.5, 10.0], marker=""), **ends)
    assert [place for _, place in note_places(joined, (4.0, 2.0), 0.068)] == [(-5.0, 5.0)]
    near = panel(*(cloud(x, y) for x, y in ((5, 1), (6, 2), (5, 3), (4, 1), (6, 0))), **ends)
    lost = panel(Cloud("a", np.array([np.nan]), np.array([1.0]), "bbr", "lost"), **ends)
    figure = Figure("t", "s", (near, near, lost), "a", columns=3, height=2.1)
    with static.style():
        canvas = static.draw(figure)
        canvas.canvas.draw()
        notes = [one.get_window_extent() for one in canvas.axes[0].texts]
        assert not canvas.axes[2].texts
    assert len(notes) == 5
    assert not any(one.overlaps(other) for one, other in combinations(notes, 2))


def test_a_line_under_another_one_gets_a_rim() -> None:
    below, above, apart = line([5.0, 6.0, 7.0]), line([5.0, 6.0, 9.0], "b"), line([1.0] * 3, "c")
    drawn = show_hidden(panel(below, above, apart)).lines
    assert [one.width > below.width for one in drawn] == [True, False, False]
    assert [one.label for one in drawn] == ["a", "b", "c"]
    assert has_rims(panel(below, above, apart))
    assert not has_rims(panel(below, apart))
    (plot,) = interactive.plots(Figure("t", "s", (panel(below, above, apart),), "a"))
    widths = [trace["line"]["width"] for trace in plot.data if "line" in trace]
    assert widths == [one.width for one in drawn]
    unmarked = [line([5.0, 6.0, 7.0], name, marker="") for name in "abc"]
    two, three = (show_hidden(panel(*unmarked[:count])).lines for count in (2, 3))
    assert [one.width > below.width for one in two] == [True, False]
    assert three[0].width > three[1].width > three[2].width == below.width
    met = [line([end, 6.0, 7.0, 7.0], "a", marker="") for end in (1.0, 5.0, 9.0)]
    assert [one.width for one in show_hidden(panel(*met)).lines] == [below.width] * 3
    crossing = show_hidden(panel(line([0.0, 10.0]), line([10.0, 0.0], "b"))).lines
    assert [one.width for one in crossing] == [below.width] * 2


def test_distributions_that_look_like_one_are_named_and_have_rims() -> None:
    times = np.geomspace(0.2, 0.4, 900)
    made = {"all": times, "half": times[::2], "late": times * 1.05, "again": times}
    lines = [distribution(name, values, "bbr") for name, values in made.items()]
    shown = distribution_panel(lines, "", times)
    assert name_coinciding(shown).title == "all, half and again coincide"
    widths = [one.width for one in show_hidden(shown).lines]
    assert widths[0] > widths[1] > widths[2] == widths[3]


def test_a_distribution_that_is_hidden_at_its_foot_has_a_rim() -> None:
    foot = [0.2] * 60
    first, second = (
        distribution(name, np.array([*foot, *tail]), "bbr")
        for name, tail in (("a", np.geomspace(0.2, 0.4, 40)), ("b", np.full(40, 0.21)))
    )
    shown = distribution_panel([first, second], "", first.x)
    assert [one.width > first.width for one in show_hidden(shown).lines] == [True, False]


def test_panels_of_one_quantity_share_their_y_axis() -> None:
    def ends(*tops: float, label: str = "Loss (%)") -> list[float | None]:
        panels = tuple(Panel("x", label, (line([0.0, top]),)) for top in tops)
        return [one.y_range[1] for one in comparable(Figure("t", "s", panels, "a")).panels]

    assert ends(40.0, 45.0) == [pytest.approx(1.05 * 45)] * 2
    assert ends(40.0, 1.0) == [None, None]  # nothing would be seen of the second
    assert ends(40.0, 45.0, label="%") == [None, None]  # the labels don't say of what
    below_zero = Panel("x", "Loss (%)", (line([-1.0, 40.0]),))
    both = comparable(Figure("t", "s", (below_zero, below_zero), "a")).panels
    assert [one.y_range for one in both] == [(0.0, None)] * 2


@pytest.mark.parametrize(
    ("value", "words"),
    [(1e-6, "10⁻⁶"), (1e-5, "10⁻⁵"), (1e-3, "0.001"), (2e-6, "2e-06"), (1e4, "10000"),
     (1e6, "10⁶"), (0.0, "0")],
)  # fmt: skip
def test_a_logarithmic_axis_has_words_for_its_values(value: float, words: str) -> None:
    assert plain(value) == words
