"""The tool that measures a large sweep, on a small one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import measure_scale


def test_a_small_sweep_alone_and_with_a_worker_that_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    alone, dask = measure_scale.measure(1000, tmp_path)
    assert alone.runs == dask.runs == 1000
    assert (alone.killed, dask.killed) == (0, 1)
    assert (alone.failed, dask.failed) == (0, 0)
    assert 100 < alone.disk_bytes / alone.runs < 5000
    assert 0 < alone.runs_s < alone.whole_s
    assert 30 < alone.first_process_mb < 1000
    assert not list(tmp_path.iterdir())
    text = measure_scale.table(alone, dask)
    assert "| Dask: workers killed half-way |  | 1 | 1 |" in text
    page = measure_scale.PAGE.read_text(encoding="utf-8")
    assert measure_scale.REGION.search(page), "where the table goes"
