"""The documents' proposals beside plain BBR: rules on made-up data, and one of them run."""

from __future__ import annotations

import polars as pl
import pytest

from narrows.reproduce import make, proposals
from narrows.reproduce.exhibit import Data, Scope
from narrows.reproduce.proposals import PLAIN
from narrows.reproduce.study_code import load

fig11 = load("panaderia", "fig11.py")
fig12 = load("panaderia", "fig12.py")


def made_up(plain, new, value="loss", mix="4 BBR"):
    """An `outcome` with two trials a little apart, from values by buffer."""
    rows = [
        {"variant": variant, "mix": mix, "buffer_bdp": room, "trial": trial, value: number + off}
        for variant, numbers in ((PLAIN, plain), ("new", new))
        for room, number in numbers.items()
        for trial, off in ((1, -0.1), (2, 0.1))
    ]
    return Data({"outcome": pl.DataFrame(rows)}, Scope("linux-4.17"))


ARGUMENTS = ("new", "4 BBR", [0.5, 1.0])


def test_a_variant_is_held_against_plain_bbr_in_every_buffer_and_trial():
    data = made_up({0.5: 10.0, 1.0: 5.0}, {0.5: 5.0, 1.0: 10.0})
    found = proposals.against_plain(data, "loss", *ARGUMENTS)
    assert found["0.5 BDP"] == pytest.approx([4.9 / 9.9, 5.1 / 10.1])
    assert min(found["1 BDP"]) > 1.9
    more = proposals.more_than_plain(data, "loss", *ARGUMENTS)
    assert more["0.5 BDP"] == pytest.approx([-5.0, -5.0])
    told = proposals.as_measured(data, "loss", " %", *ARGUMENTS)
    assert told.startswith(" (5.0 ± 6.4 % instead of 10.0 ± 6.4 %, 0.5 BDP;")


@pytest.mark.parametrize(("share", "factor"), [(60.0, 0.25), (11.0, 0.975), (97.0, 1.175)])
def test_fairer_is_nearer_to_one_half(share, factor):
    data = made_up({1.0: 90.0}, {1.0: share}, "share")
    (found,) = proposals.off_half(data, "new", "4 BBR", [1.0]).values()
    assert found == pytest.approx([factor, factor], abs=0.01)


def test_the_fair_point_lies_where_the_share_falls_through_one_half():
    shares = {1.0: 90.0, 2.0: 60.0, 4.0: 40.0}
    data = made_up(shares, shares, "share", fig12.MIX)
    assert fig12.fair_point(data, PLAIN) == pytest.approx(3.0)
    never = made_up({1.0: 90.0, 2.0: 80.0, 4.0: 60.0}, shares, "share", fig12.MIX)
    assert fig12.fair_point(never, PLAIN) == float("inf")


def test_bbr_shallow_loses_less(tmp_path, monkeypatch):
    monkeypatch.setattr(fig11, "QUICK_BUFFERS", (1.0,))
    done = make.reproduce("panaderia/fig11", quick=True, out=tmp_path)
    assert done.none_refuted
    (item,) = done.made
    (finding,) = item.findings
    assert finding.verdict == "confirmed"
    assert item.stored.pictures
