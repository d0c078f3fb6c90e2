"""A flow's kept share between two of its own PROBE_RTTs, on counters made by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from narrows.reproduce.study_code import load

between_probes = load("cs244", "keeps.py").between_probes

FAIR = 2_500_000
"""Bytes per second: a fifth of 100 Mbit/s."""


def sent_bytes(*pieces: tuple[float, float]) -> pl.DataFrame:
    """A flow's counter, from pieces of seconds and fair shares one after the other."""
    times = np.concatenate([[0.0], np.cumsum([length for length, _ in pieces])])
    counts = np.concatenate([[0.0], np.cumsum([length * share * FAIR for length, share in pieces])])
    fine = np.arange(0.0, times[-1] + 0.01, 0.05)
    return pl.DataFrame({"time_s": fine, "wire_bytes": np.interp(fine, times, counts)})


def test_shares_are_taken_after_a_probe_before_the_next_and_after_that() -> None:
    rows = sent_bytes((10.2, 1.0), (3.0, 2.0), (6.8, 1.5), (0.2, 0.0), (9.8, 0.5))
    (found,) = between_probes(rows, [(10.0, 10.2), (20.0, 20.2)], [])
    assert found["seen"] is None
    assert [found[part] for part in ("first", "last", "after")] == pytest.approx([2.0, 1.5, 0.5])


def test_the_first_probe_of_another_flow_counts_if_there_is_time_left() -> None:
    rows = sent_bytes((13.0, 1.0), (2.0, 3.0), (15.0, 1.0))
    (found,) = between_probes(rows, [(10.0, 10.2), (20.0, 20.2)], [9.0, 13.0, 13.5, 19.0])
    assert found["seen"] == pytest.approx(3.0)


def test_probes_too_near_each_other_or_before_all_have_started_are_left_out() -> None:
    rows = sent_bytes((40.0, 1.0))
    assert not between_probes(rows, [(2.0, 2.2), (12.0, 12.2)], [])
    assert not between_probes(rows, [(12.0, 12.2), (15.0, 15.2)], [])
    assert not between_probes(rows, [(12.0, 12.2), (39.0, 39.2)], [])
