"""Long tables are in files while a run lasts, and are read where they are needed."""

from __future__ import annotations

import errno
import json
from dataclasses import asdict
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from specimens import GOOD, scenario_of

from narrows import _native, figures
from narrows.backends.sim import Simulator
from narrows.columns import Columns, columns
from narrows.figures import frames
from narrows.figures.frames import FlowClass
from narrows.figures.looks import Look
from narrows.metrics import summarise, windows
from narrows.store import RunInfo
from narrows.store.parquet import NativeTables, parquet_files

MANY = [
    "run.sample_interval=50us",
    "run.duration=1500ms",
    "run.warmup=500ms",
    "flows.0.cca=bbr3",
    "flows.0.count=2",
]
"""60,000 rows of flows, ten times as many internals, but few of anything else."""
LONG = {"flow_samples", "internals"}


@pytest.fixture(scope="module")
def scenario() -> str:
    return json.dumps(scenario_of(GOOD, MANY))


@pytest.fixture(scope="module")
def whole(scenario: str) -> _native.RunOutput:
    return _native.run(scenario)


@pytest.fixture(scope="module")
def spilled_run(scenario: str, tmp_path_factory: pytest.TempPathFactory) -> _native.RunOutput:
    return _native.run(scenario, spill=tmp_path_factory.mktemp("spill"))


def test_a_run_with_files_has_the_same_results(
    whole: _native.RunOutput, spilled_run: _native.RunOutput
) -> None:
    assert spilled_run.digest == whole.digest
    for name, table in whole.tables.items():
        other = spilled_run.tables[name]
        assert len(other) == len(table)
        assert other.columns() == table.columns()
        assert pl.DataFrame(other).equals(pl.DataFrame(table)), name
        for column, _ in table.columns():
            mine, other_values = columns(table)[column], columns(other)[column]
            np.testing.assert_array_equal(mine, other_values, strict=True)


def test_only_long_tables_are_in_files(
    whole: _native.RunOutput, spilled_run: _native.RunOutput
) -> None:
    assert {name for name, table in spilled_run.tables.items() if table.piece(0, 1)} == LONG
    assert all(table.piece(0, 1) is None for table in whole.tables.values())


def test_metrics_and_figures_are_those_of_whole_tables(
    scenario: str, whole: _native.RunOutput, spilled_run: _native.RunOutput
) -> None:
    assert all(len(spilled_run.tables[name].groups() or ()) > 1 for name in LONG)
    assert draw_all(scenario, spilled_run) == draw_all(scenario, whole)


def draw_all(scenario: str, output: _native.RunOutput) -> str:
    """The summary and all figures of a run, with digests of their lines."""
    trial, tables = json.loads(scenario), NativeTables(output.tables).columns
    info = RunInfo("sim", "", "", output.end_s, output.packets, 0.0, 0.0)
    described = [figures.describe(entry.name, trial, tables) for entry in figures.of("run")]
    found = [summarise(trial, tables, info), *(asdict(figure) for figure in described)]
    return json.dumps(found, default=lambda line: sha256(line.tobytes()).hexdigest())


def test_a_group_that_is_not_there_is_an_error(
    whole: _native.RunOutput, spilled_run: _native.RunOutput
) -> None:
    for output in (whole, spilled_run):
        with pytest.raises(IndexError):
            output.tables["internals"].column("value", 99)


def test_nothing_of_them_is_left(scenario: str, tmp_path: Path) -> None:
    output = _native.run(scenario, spill=tmp_path)
    assert not list(tmp_path.iterdir())
    assert output.tables["internals"].piece(0, 4) == b"PAR1"


def test_the_file_of_a_result_is_that_of_the_run(
    spilled_run: _native.RunOutput, tmp_path: Path
) -> None:
    for name, pieces in parquet_files(NativeTables(spilled_run.tables)):
        (tmp_path / name).write_bytes(b"".join(pieces))
    for name, table in spilled_run.tables.items():
        file = tmp_path / f"{name}.parquet"
        assert pl.read_parquet(file).equals(pl.DataFrame(table)), name
        assert pl.DataFrame(_native.read_parquet(file)).equals(pl.DataFrame(table)), name
        assert file.read_bytes() == table.parquet()


def test_a_directory_that_is_not_there_is_an_error(scenario: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        _native.run(scenario, spill=tmp_path / "missing")
    assert caught.value.errno == errno.ENOENT
    assert Path(caught.value.filename) == tmp_path / "missing"


def test_the_simulator_uses_the_directory_for_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    with pytest.raises(FileNotFoundError):
        Simulator().run(scenario_of(GOOD, MANY))


LOOK = Look("bbr", "solid")

NUMBERS = 4_300_000
"""More than 32 MB of them."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    numbers = np.arange(NUMBERS, dtype=np.float64).tolist()
    file = tmp_path_factory.mktemp("large") / "large.parquet"
    file.write_bytes(_native.table([("number", "float64", numbers)]).parquet())
    return file


def test_a_large_file_is_read_where_it_is_needed(large: Path) -> None:
    table = _native.read_parquet(large)
    assert table.piece(0, 4) == b"PAR1"
    np.testing.assert_array_equal(columns(table)["number"], np.arange(NUMBERS))


def test_a_small_file_is_read_at_once(tmp_path: Path) -> None:
    texts = ["one", None, "another of many letters"]
    few = _native.table([("text", "text", texts), ("count", "int64", [1, 2, None])])
    (tmp_path / "few.parquet").write_bytes(few.parquet())
    read = _native.read_parquet(tmp_path / "few.parquet")
    assert read.piece(0, 4) is None
    assert columns(read)["text"].tolist() == texts


def test_a_damaged_large_file_is_an_error_that_is_reported(large: Path, tmp_path: Path) -> None:
    content = bytearray(large.read_bytes())
    content[1_000_000:1_100_000] = bytes(100_000)
    (tmp_path / "damaged.parquet").write_bytes(content)
    damaged = _native.read_parquet(tmp_path / "damaged.parquet")
    with pytest.raises(OSError, match=r"."):
        columns(damaged)["number"]


def in_parts(table: Columns, borders: list[int]) -> Columns:
    """The same rows as a file in groups would give them."""
    spans = list(pairwise([0, *borders, len(table)]))
    return Columns(
        table.names,
        table.__getitem__,
        len(table),
        parts=lambda: (table.take(np.arange(start, end)) for start, end in spans),
    )


@pytest.mark.parametrize("borders", [[1], [7], [8, 13, 29], list(range(1, 40))])
def test_the_borders_of_parts_change_nothing(borders: list[int]) -> None:
    rows = np.arange(40)
    whole = Columns.of(
        {
            "time_s": rows // 4 * 0.3,
            "flow": (rows % 4).astype(np.uint32),
            "wire_bytes": (rows**2).astype(np.float64),
            "rtt_ms": np.sqrt(rows + 0.1),
            "cca_state": np.where(rows // 8 % 2 == 1, "probe_rtt", "probe_bw").astype(object),
        }
    )
    parted, grid = in_parts(whole, borders), np.linspace(0, 2.7, 12)
    classes = [FlowClass("a", "bbr", (0, 2), LOOK), FlowClass("b", "bbr", (1, 3), LOOK)]
    for one, other in zip(
        frames.class_means(parted, classes, "rtt_ms"),
        frames.class_means(whole, classes, "rtt_ms"),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    assert frames.probe_rtt_stays(parted) == frames.probe_rtt_stays(whole)
    mine, others = (
        windows.increments_by_key(t, "flow", "wire_bytes", grid) for t in (parted, whole)
    )
    assert list(mine) == list(others)
    np.testing.assert_array_equal(list(mine.values()), list(others.values()))
    for flow in range(4):
        own = whole.having("flow", [flow])
        expected = windows.increments(own["time_s"], own["wire_bytes"], grid)
        np.testing.assert_array_equal(mine[flow], expected)
    assert len(frames.class_means(parted, classes, "rtt_ms")[0][0]) == 10
