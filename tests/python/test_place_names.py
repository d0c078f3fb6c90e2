"""Directories with names that other programs take for patterns, homes or columns."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest
from specimens import GOOD, write

from narrows.cli import main
from narrows.runner import run
from narrows.store import open_result, open_store
from narrows.sweeps import execute, export, prepare

NAMES = ["o*x", "o?x", "o[1]x", "o{1}x", "~x", "run=3", "study=1"]


def rows_of(place: Path, table: str) -> pl.DataFrame:
    stream = io.BytesIO()
    export(place, table, "csv", stream)
    return pl.read_csv(stream.getvalue())


@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_read_from_its_directory_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = write(tmp_path, GOOD)
    run(spec, out="o1x")
    run(spec, ["path.buffer=4bdp"], out=name)
    expected, other = (open_result(place).trials[0] for place in ("o1x", name))
    assert main(["open", "--no-show", "--rebuild", name]) == 0
    for table in ("flow_samples", "queue_samples", "distributions"):
        assert len(rows_of(Path(name), table)) == other.tables[table].height
    assert not other.tables["queue_samples"].equals(expected.tables["queue_samples"])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        {"o1x", name, Path(spec).name}
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_store_of_runs_may_be_called_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    study = write(tmp_path, GOOD)
    for place in ("o1x", name):
        job = prepare(study, ['path.buffer=["1bdp","2bdp"]'], out=place)
        assert execute(job).new == 2
    store = open_store(name)
    for table in ("summary", "flows", "flow_samples"):
        once = rows_of(Path("o1x"), table)
        assert rows_of(Path(name), table).equals(once)
    [key, _] = store.keys()
    assert "time_s" in store.schema(key, "flow_samples")
