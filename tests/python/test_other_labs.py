"""The page about other laboratories: conditions become specifications, and errors are told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from narrows.spec import parse

ROOT = Path(__file__).parents[2]
ROWS = """\
kernel,buffer_kB,bw_Mbps,rtt_ms,cc,n,goodput_mean,goodput_sd,goodput_min,goodput_max,retx_mean,retx_min,retx_max
415,100,10,5,cubic,5,9.57,0.0,9.5,9.6,165,136,188
513,10000,20,100,bbr2,5,18.0,0.5,17.5,18.9,0,0,0
515,100,500,5,bbr,5,400,0.5,399,401,10,1,20
"""


@pytest.fixture(autouse=True)
def tools() -> Iterator[None]:
    sys.path.insert(0, str(ROOT / "tools"))
    yield
    sys.path.remove(str(ROOT / "tools"))


def test_conditions_become_specifications_that_count_ip_packets(tmp_path: Path) -> None:
    import measure_other_labs as labs

    (tmp_path / "cells.csv").write_text(ROWS, encoding="utf-8")
    known = labs.cells(tmp_path / "cells.csv", 250)
    assert [cell.cca for cell in known] == ["cubic", "bbr2"]
    scenario = parse(known[0].specification("gso = true"), "cell").spec.scenario
    assert scenario["path"]["rate_bps"] == round(10e6 * 1500 / 1514)
    assert scenario["path"]["buffer"] == {"bytes": round(102_400 * 1500 / 1514)}
    assert (scenario["host"]["gso"], scenario["host"]["profile"]) == (True, "linux-4.17")
    assert known[0].buffer_bdp == pytest.approx(16.384)


def test_errors_are_reported_by_region_and_condition(tmp_path: Path) -> None:
    import measure_other_labs as labs

    (tmp_path / "cells.csv").write_text(ROWS, encoding="utf-8")
    known = labs.cells(tmp_path / "cells.csv", 250)
    found = {"plain": [labs.Prediction(9.57 * 1.02, 33.0), labs.Prediction(18.0 * 0.95, 7.0)]}
    text = labs.page(known, found, 250)
    # 2 % too much is within 3 %; 5 % too little is outside of the range of the runs as well.
    assert "| 0.5 BDP and more | cubic | plain | 1 | 2 % | 2 % | +2.0 % | 1 of 1 | 0.20 |" in text
    assert "| 0.5 BDP and more | bbr2 | plain | 1 | 5 % | 5 % | -5.0 % | 0 of 1 | - |" in text
    assert "| 5.13 | bbr2 | 20 | 100 | 10000 | 40.96 | 18 | 17.1 | 0 | 7 |" in text


def test_a_condition_is_predicted(tmp_path: Path) -> None:
    import measure_other_labs as labs

    (tmp_path / "cells.csv").write_text(ROWS, encoding="utf-8")
    cell = labs.cells(tmp_path / "cells.csv", 250)[0]
    assert labs.within(cell, labs.predict(cell, ""))
