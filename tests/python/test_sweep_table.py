"""The table that `narrows run` prints of a study, and the word that trials are one run."""

from __future__ import annotations

from pathlib import Path

import pytest
from specimens import GOOD, write

from narrows.cli import main
from narrows.sweeps.overview import Overview
from narrows.sweeps.table import table

Capture = pytest.CaptureFixture[str]
ALIKE = "one and the same run, since nothing in it is random"
STUDY = GOOD.replace('"8mbit"', '["4mbit", "8mbit"]') + "trials = 2\n"


def run(directory: Path, text: str) -> None:
    main(["run", str(write(directory, text)), "--out", str(directory / "out")])


def test_a_study_ends_with_a_row_for_each_combination(tmp_path: Path, capsys: Capture) -> None:
    run(tmp_path, STUDY)
    printed = capsys.readouterr().out.splitlines()
    (head,) = (at for at, line in enumerate(printed) if line.startswith("Rate (Mbit/s)"))
    assert "(ms)" in printed[head]
    assert [line.split()[0] for line in printed[head + 1 : head + 3]] == ["4", "8"]
    assert printed[head + 1].count(" ± ") >= 2


def test_trials_without_anything_random_are_called_one_run(tmp_path: Path, capsys: Capture) -> None:
    run(tmp_path, STUDY)
    assert f"The trials of each combination are {ALIKE}" in capsys.readouterr().out
    assert ALIKE in (tmp_path / "out/good.html").read_text()
    (tmp_path / "one").mkdir()
    run(tmp_path / "one", GOOD + "trials = 2\n")
    assert f"The 2 trials are {ALIKE}" in capsys.readouterr().out
    assert ALIKE in (tmp_path / "one/out/report.html").read_text()


@pytest.mark.parametrize("text", [GOOD, GOOD + 'trials = 2\n[host]\njitter = "100us"\n'])
def test_other_trials_arent(text: str, tmp_path: Path, capsys: Capture) -> None:
    run(tmp_path, text)
    assert ALIKE not in capsys.readouterr().out
    assert ALIKE not in (tmp_path / "out/report.html").read_text()


def overview_of(cells: int, means: dict[str, list[list[float]]], combinations: int = 0) -> Overview:
    """Results of an axis with `cells` values, which have these `means`, or the first of them."""
    axes = [{"label": "Buffer (BDP)", "words": [str(at) for at in range(cells)]}]
    values = [
        {name: each[min(at, len(each) - 1)] for name, each in means.items()} for at in range(cells)
    ]
    rows = [{"at": [at], "values": value} for at, value in enumerate(values)]
    spans = {name: max(means[name])[0] - min(means[name])[0] for name in means}
    labels = {name: name for name in means}
    total = combinations or cells
    return Overview("x", axes, labels, list(means), rows, [], total, 0, 0, spans=spans)


def test_a_column_has_the_same_decimals_and_parts_are_in_percent() -> None:
    found = overview_of(
        2, {"utilization": [[0.5, 0.45, 0.55], [1, 0.98, 1]], "retransmits": [[1], [9e3]]}
    )
    assert list(table(found, "out")) == [
        "Buffer (BDP)  utilization (%)  retransmits",
        "0                  50.0 ± 5.0            1",
        "1                 100.0 ± 2.0        9,000",
        "means ± half of the 95 % interval",
    ]


def test_a_metric_that_doesnt_vary_and_the_second_of_two_shares_are_left_out() -> None:
    shares = {"a.share": [[0.2], [0.3]], "b.share": [[0.8], [0.7]]}
    head, *_ = table(overview_of(2, {**shares, "jain": [[1], [1]]}), "out")
    assert head.split() == ["Buffer", "(BDP)", "a.share", "(%)"]


def test_a_long_table_is_cut_with_a_note() -> None:
    lines = list(table(overview_of(30, {"jain": [[1], [0.5]]}, 40), "out"))
    assert len(lines) == 1 + 20 + 1
    assert lines[-1] == "and 20 more: on the page, or `narrows export out summary`"
