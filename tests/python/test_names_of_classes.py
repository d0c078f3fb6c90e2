"""`while` and `stop_when` by the name of an entry of several flows: a study can sweep them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from specimens import spec_of

import narrows as nw
from narrows.errors import SpecError

SPEC = """
name = "several"
[path]
rate = "20mbit"
rtt = "20ms"
buffer = "1bdp"
[[flows]]
name = "large"
cca = "cubic"
count = {count}
size = "1mb"
[[flows]]
name = "small"
cca = "reno"
count = 2
size = "20kb"
repeat_gap = "50ms"
while = "{waits}"
{more}
[host]
jitter = "50us"
[run]
duration = "30s"
{stop}
record = "summary"
"""
LAST = """
[[flows]]
name = "last"
cca = "cubic"
size = "30kb"
repeat_gap = "50ms"
while = "small"
"""


def text(count: object = 3, waits: str = "large", more: str = "", stop: str = "large") -> str:
    stop = f'stop_when = "{stop}"' if stop else ""
    return SPEC.format(count=count, waits=waits, more=more, stop=stop)


def transfers(written: str, out: Path) -> tuple[pl.DataFrame, float]:
    """Finished transfers with the flow's name as `name`, and the end of the run."""
    spec = out / "spec.toml"
    spec.write_text(written, encoding="utf-8")
    done = nw.run(spec, out=out / "run")
    names = [str(flow["name"]) for flow in spec_of(written).scenario["flows"]]
    named = pl.DataFrame({"flow": range(len(names)), "name": names})
    rows = done.table("completions").with_columns(pl.col("flow").cast(pl.Int64))
    return rows.join(named, on="flow"), float(done.table("flow_samples")["time_s"].max())


def ends(rows: pl.DataFrame, stem: str) -> list[float]:
    return sorted(rows.filter(pl.col("name").str.starts_with(stem))["end_s"].to_list())


@pytest.mark.parametrize("count", [1, 3])
def test_chains_go_on_until_all_flows_of_the_entry_are_done(count: int, tmp_path: Path) -> None:
    rows, _ = transfers(text(count, stop=""), tmp_path)
    large = ends(rows, "large")
    assert len(large) == count
    for chain in ("small-1", "small-2"):
        starts = rows.filter(pl.col("name") == chain)["start_s"].to_list()
        assert max(starts) < large[-1]
        assert max(starts) > large[-1] - 0.5, "it didn't end with the first of them"
    if count > 1:
        assert large[-1] - large[0] > 0.5, "they end at different times, or this shows nothing"


def test_a_run_stops_when_all_flows_of_the_entry_are_done(tmp_path: Path) -> None:
    rows, end = transfers(text(3), tmp_path)
    assert len(ends(rows, "large")) == 3
    assert end == pytest.approx(ends(rows, "large")[-1], abs=0.2)


def test_chains_beside_chains_end_with_them(tmp_path: Path) -> None:
    """Also if the chain that they run beside is between two transfers when it ends."""
    written = text(1, stop="all").replace('"50ms"', '"10s"') + LAST
    rows, end = transfers(written, tmp_path)
    assert end < 5
    assert ends(rows, "last")


def test_the_number_can_be_swept(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(text("[1, 2]"), encoding="utf-8")
    done = nw.sweep(study, out=tmp_path / "sweep", jobs=1)
    assert not done.failures
    assert len(done.table("summary")) == 2


def test_a_single_flow_of_that_name_comes_first() -> None:
    own = '[[flows]]\nname = "small-1-1"\ncca = "reno"\n'
    flows = spec_of(text(2, waits="large-2", more=own, stop="large-1")).scenario["flows"]
    assert [flow["while"] for flow in flows][2:4] == ["large-2", "large-2"]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        (text(waits="larg"), "which is not a flow"),
        (text(waits="large-4"), "which is not a flow"),
        (text(waits="small"), "the chain itself"),
        (text(waits="small-1"), "the chain itself"),
        (text().replace('size = "1mb"', ""), "which never ends"),
        (text(stop="small-3"), "which is not a flow"),
    ],
)
def test_names_that_mean_nothing_that_ends_are_refused(written: str, found: str) -> None:
    with pytest.raises(SpecError, match=found):
        spec_of(written)
