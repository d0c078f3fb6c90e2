"""The documents' proposals beside plain BBR: rules on made-up data, and one of them run."""

from __future__ import annotations

import polars as pl
import pytest

from narrows.reproduce import make, proposals
from narrows.reproduce.exhibit import Data, Scope
from narrows.reproduce.panaderia import fig12
from narrows.reproduce.proposals import PLAIN


def made_up(plain, new, value="loss", mix="4 BBR"):
    """An `outcome` with two trials a little apart, from values by buffer."""
    rows = [
        {"variant": variant, "mix": mix, "buffer_bdp": room, "trial": trial, value: number + off}
        for variant, numbers in ((PLAIN, plain), ("new", new))
        for room, number in numbers.items()
        for trial, off in ((1, -0.1), (2, 0.1))
    ]
    return Data({"outcome": pl.DataFrame(rows)}, Scope("linux-4.17"))


@pytest.mark.parametrize(
    ("new", "passed"),
    [({0.5: 4.0, 1.0: 2.0}, True), ({0.5: 4.0, 1.0: 6.0}, False), ({0.5: 9.0, 1.0: 5.0}, False)],
)
def test_less_in_every_buffer(new, passed):
    data = made_up({0.5: 9.0, 1.0: 5.0}, new)
    check = proposals.less(data, "Less.", "loss", " %", "new", "4 BBR", [0.5, 1.0])
    assert check.passed is passed
    assert check.measured.startswith(f"{new[0.5]:g} ± ")


def test_no_less_but_for_some_points():
    data = made_up({1.0: 98.0}, {1.0: 96.5}, "utilization")
    arguments = (data, "No less.", "utilization", " %", "new", "4 BBR", [1.0])
    assert proposals.not_less(*arguments, points=2.0).passed
    assert not proposals.not_less(*arguments, points=1.0).passed


@pytest.mark.parametrize(("share", "passed"), [(60.0, True), (5.0, False), (97.0, False)])
def test_fairer_is_nearer_to_one_half(share, passed):
    data = made_up({1.0: 90.0}, {1.0: share}, "share")
    assert proposals.fairer(data, "Fairer.", "new", "4 BBR", [1.0]).passed is passed


def test_the_fair_point_lies_where_the_share_falls_through_one_half():
    shares = {1.0: 90.0, 2.0: 60.0, 4.0: 40.0}
    data = made_up(shares, shares, "share", fig12.MIX)
    assert fig12.fair_point(data, PLAIN) == pytest.approx(3.0)
    never = made_up({1.0: 90.0, 2.0: 80.0, 4.0: 60.0}, shares, "share", fig12.MIX)
    assert fig12.fair_point(never, PLAIN) is None


def test_bbr_shallow_loses_less(tmp_path):
    done = make.reproduce("panaderia/fig11", quick=True, out=tmp_path)
    assert done.passed
    (item,) = done.made
    assert [finding.verdict for finding in item.findings] == ["confirmed"]
    assert item.plates.pictures
