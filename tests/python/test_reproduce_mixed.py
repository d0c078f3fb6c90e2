"""Measurements of a large flow beside smaller ones."""

from __future__ import annotations

from types import SimpleNamespace

import polars as pl
import pytest

from narrows.reproduce.study_code import load

testbed = load("mixed", "testbed.py")


def trial(*smaller_s: float) -> SimpleNamespace:
    """A run of a large flow of 30 MB in 60 s, and of smaller ones with these durations."""
    flows = [{"name": "large", "cca": "bbr"}, {"name": "small", "cca": "cubic"}]
    times = [60.0, *smaller_s]
    completions = pl.DataFrame(
        {
            "flow": [0, *(1 for _ in smaller_s)],
            "instance": range(len(times)),
            "start_s": [0.0] * len(times),
            "end_s": times,
            "size_bytes": [30_000_000, *(1_000_000 for _ in smaller_s)],
            "retransmitted": [0] * len(times),
        }
    )
    summary = pl.DataFrame({"utilization": [0.9]})
    tables = {"completions": completions, "summary": summary}
    return SimpleNamespace(scenario={"flows": flows}, tables=tables)


@pytest.mark.parametrize(("times", "mean"), [((1.0, 3.0), 2.0), ((), 60.0)])
def test_flows_that_are_never_done_take_as_long_as_the_large_one_at_least(times, mean) -> None:
    (row,) = testbed.outcome(trial(*times)).to_dicts()
    assert row["medium_s"] == mean
    assert row["fct_s"] == 60.0
    assert row["goodput_mbps"] == pytest.approx(4.0)
