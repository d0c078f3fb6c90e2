"""Nobody has to see colours in one certain way to tell classes of flows apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from narrows.figures.looks import ALIKE, HUES, Look, looks, looks_of
from narrows.figures.palette import colour
from narrows.figures.sweeps.view import View, styles
from narrows.figures.vision import SIGHTS, distance, perceive
from narrows.spec import registry


def apart(one: Look, other: Look) -> bool:
    """Returns True if two classes differ in dashes, or in colours for all sights and grounds."""
    first, second = colour(one.hue), colour(other.hue)
    near = min(distance(first.light, second.light), distance(first.dark, second.dark))
    return one.dash != other.dash or near >= ALIKE


def test_the_distance_is_cielabs() -> None:
    # White, black and sRGB's red in CIELAB, as Lindbloom's calculator gives them.
    assert perceive("#ffffff", "trichromacy") == pytest.approx([100, 0, 0], abs=0.01)
    assert perceive("#000000", "trichromacy") == pytest.approx([0, 0, 0], abs=0.01)
    assert perceive("#ff0000", "trichromacy") == pytest.approx([53.24, 80.09, 67.20], abs=0.05)
    assert distance("#123456", "#123456") == 0


def test_simulated_sights_confuse_what_such_people_confuse() -> None:
    full = np.linalg.norm(perceive("#d55e00", "trichromacy") - perceive("#5b7a1a", "trichromacy"))
    assert full > 60
    for sight in ("protanopia", "deuteranopia"):
        assert np.linalg.norm(perceive("#d55e00", sight) - perceive("#5b7a1a", sight)) < full / 3
    for matrix in SIGHTS.values():  # grey stays grey
        assert matrix.sum(axis=1) == pytest.approx([1, 1, 1], abs=1e-5)


@pytest.mark.parametrize("count", [2, 3])
def test_controls_beside_each_other_are_told_apart(count: int) -> None:
    for controls in combinations(registry.ccas(), count):
        for one, other in combinations(looks(controls), 2):
            assert apart(one, other), (controls, one, other)


def test_the_usual_six_and_classes_that_are_no_controls_are_told_apart() -> None:
    for found in (
        looks(["bbr", "bbr2", "bbr3", "cubic", "reno", "vegas"]),
        looks(["cubic", "cubic", "cubic", "bbr", "bbr"]),
        *(looks([None] * count) for count in range(2, 8)),
    ):
        assert all(apart(one, other) for one, other in combinations(found, 2))


def test_no_class_is_grey_beside_queue_and_guides() -> None:
    for hue in HUES:
        for shade in (colour(hue).light, colour(hue).dark):
            _, a, b = perceive(shade, "trichromacy")
            assert np.hypot(a, b) > 20, hue


def test_classes_of_a_control_have_shades_of_its_colour() -> None:
    first, second, other = looks(["cubic", "cubic", "bbr"])
    assert (first.hue, second.hue, other.hue) == ("cubic", "cubic#1", "bbr")
    assert colour("cubic").light == "#0072b2"
    assert colour("cubic#1").light == "#7fb8d8"  # midway to white
    assert colour("cubic#2").light == "#003959"  # midway to black


def test_a_class_has_the_colour_of_its_control_whatever_its_name() -> None:
    found = looks_of(["download", "bbr", "lone"], {"download": "bbr", "bbr": "cubic"})
    assert [look.hue for look in found.values()] == ["bbr", "cubic", "flow:0"]


def test_hues_of_other_lines_are_none_of_the_usual_controls() -> None:
    for hue in HUES:
        for cca in ("bbr", "cubic", "reno"):
            for one, two in ((colour(hue).light, colour(cca).light),
                             (colour(hue).dark, colour(cca).dark)):  # fmt: skip
                seen = [perceive(c, "trichromacy") for c in (one, two)]
                assert np.linalg.norm(seen[0] - seen[1]) > 30, (hue, cca)


def test_events_of_a_capture_are_told_apart() -> None:
    strokes = ("neutral", "retransmission", "sack", "out_of_order")
    for one, other in combinations(strokes, 2):
        assert apart(Look(one, "solid"), Look(other, "solid")), (one, other)


def test_values_of_an_axis_are_told_apart_where_there_is_one_class() -> None:
    table = pl.DataFrame(
        {"flows[0].cca": ["bbr", "bbr3", "vegas", "reno"], "x": [1, 2, 3, 4], "y": [1.0] * 4}
    )
    view = View("y", ("x", "flows[0].cca"), "y", by="flows[0].cca")
    found = [styles(table, view, ["other"]).of(cca, "other")[1] for cca in table["flows[0].cca"]]
    assert [look.hue for look in found] == ["bbr", "bbr3", "vegas", "reno"]
    assert all(apart(one, other) for one, other in combinations(found, 2))
