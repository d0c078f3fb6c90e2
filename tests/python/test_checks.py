"""Checks of a specification, and trials until an interval is narrow."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import polars as pl
import pytest
from specimens import GOOD, run_cli, spec_of, write

from narrows.errors import InputError, SpecError
from narrows.figures.palette import colour
from narrows.metrics.intervals import half_width, interval, mean
from narrows.store import open_store
from narrows.sweeps import execute, export, prepare
from narrows.sweeps.checks import counts
from narrows.sweeps.overview import overview

TWO = GOOD.replace('"8mbit"', '["4mbit", "8mbit"]').replace('"cubic"', '["cubic", "bbr"]')
Capture = pytest.CaptureFixture[str]


def checking(text: str, base: str = GOOD) -> str:
    return f"{base}\n[[check]]\n{text}\n"


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ('metric = "utilization"\nat_least = 0.5', 0, ""),
        ('metric = "utilization"\nat_most = 0.5', 1, "good: utilization is 1; at most 0.5"),
        ('metric = "cubic.share"\nat_least = 1\nat_most = 1', 0, ""),
        ('metric = "cubic.fct_s"\nat_most = 9', 1, "cubic.fct_s has no value; at most 9 expected"),
        ('metric = "jain"\nat_least = 2\nwhere = { "path.rate" = "8000kbit" }', 1, "jain is 1"),
    ],
)
def test_a_run_meets_its_checks_or_fails(
    text: str, status: int, message: str, tmp_path: Path, capsys: Capture
) -> None:
    spec, out = write(tmp_path, checking(text)), str(tmp_path / "out")
    assert run_cli("run", spec, "--out", out) == status
    printed = capsys.readouterr().out
    assert ("not met: " in printed) == bool(status)
    assert message in printed
    assert run_cli("run", spec, "--out", out, "--json") == status
    assert len(json.loads(capsys.readouterr().out)["unmet"]) == status


def test_a_check_of_several_trials_is_judged_by_their_interval(
    tmp_path: Path, capsys: Capture
) -> None:
    noisy = GOOD.replace("[[flows]]", "loss = 0.02\n\n[[flows]]")
    noisy = checking('metric = "utilization"\nat_least = BOUND', f"{noisy}trials = 4\n")
    values = _utilizations(noisy.replace("BOUND", "0"), tmp_path / "first")
    middle, reach = mean(values), half_width(values)
    assert reach > 0
    told = {
        "": middle - 1.1 * reach,
        "undecided: ": middle - 0.1 * reach,
        "not met: ": middle + 1.1 * reach,
    }
    for word, bound in told.items():
        spec = write(tmp_path, noisy.replace("BOUND", f"{bound:.9f}"))
        assert run_cli("run", spec, "--out", str(tmp_path / "out")) == bool(word)
        said = capsys.readouterr().out
        assert word in said
        assert ("more trial" in said) == (word == "undecided: ")


def test_two_trials_decide_nothing_but_a_single_run_has_its_value(
    tmp_path: Path, capsys: Capture
) -> None:
    text = checking('metric = "utilization"\nat_least = 0.5', f"{GOOD}trials = 2\n")
    spec, out = write(tmp_path, text), str(tmp_path / "out")
    assert run_cli("run", spec, "--out", out, "--json") == 1
    (unmet,) = json.loads(capsys.readouterr().out)["unmet"]
    assert (unmet["verdict"], unmet["more_trials"]) == ("undecided", 1)
    assert run_cli("run", spec, "--out", f"{out}-1", "--trials", "1") == 0


def _utilizations(text: str, out: Path) -> list[float]:
    job = prepare(write(out.parent, text), out=out)
    execute(job)
    return list(open_store(out).rows("summary")["utilization"])


def test_the_smallest_value_that_meets_all_is_printed_and_on_the_page(
    tmp_path: Path, capsys: Capture
) -> None:
    text = TWO.replace('buffer = "1bdp"', 'buffer = ["0.2bdp", "2bdp", "0.5bdp"]')
    assert text != TWO
    text = checking('metric = "queue_max_bdp"\nat_least = 0.3', text)
    out = tmp_path / "out"
    assert run_cli("run", write(tmp_path, text), "--out", str(out)) == 1
    told = capsys.readouterr().out
    assert "8 of 12 combinations met all checks" in told
    assert "Rate 8 Mbit/s, CUBIC: the smallest buffer that meets all checks is 0.5 BDP" in told
    store = open_store(out)
    ((stem, record),) = store.studies().items()
    assert record["checks"]["bounds"] == [["queue_max_bdp", "at least", 0.3]]
    found = overview(store, stem, record, {})
    assert (found.judged_count, found.met_count) == (12, 8)
    assert len(found.smallest) == 4
    assert (found.opens, found.bounds) == ("queue_max_bdp", {"queue_max_bdp": [0.3]})
    unmet = next(cell["unmet"] for cell in found.cells if cell["unmet"])
    assert unmet[0].startswith("Queue max (BDP): 0.")
    assert unmet[0].endswith(", at least 0.3 expected")


def test_a_page_opens_on_what_varies(tmp_path: Path) -> None:
    alone = GOOD.replace('"1bdp"', '["0.1bdp", "2bdp"]')
    execute(prepare(write(tmp_path, alone), out=tmp_path / "one"))
    several = alone.replace("[run]", '[[flows]]\ncca = "bbr"\n\n[run]')
    execute(prepare(write(tmp_path, several), out=tmp_path / "two"))
    opens = {}
    for name in ("one", "two"):
        store = open_store(tmp_path / name)
        ((stem, record),) = store.studies().items()
        opens[name] = overview(store, stem, record, {}).opens
    assert opens["one"] not in (None, "cubic.share")
    assert opens["two"] in ("cubic.share", "bbr.share")


def test_the_page_shows_zipped_axes_as_one_in_the_controls_colours(tmp_path: Path) -> None:
    two = GOOD.replace('"cubic"', '["cubic", "bbr"]').replace(
        "[run]", '[[flows]]\ncca = ["reno", "vegas"]\n\n[run]'
    )
    two += '\n[sweep]\nzip = [["flows[0].cca", "flows[1].cca"]]\n'
    execute(prepare(write(tmp_path, two), out=tmp_path / "out"))
    store = open_store(tmp_path / "out")
    ((stem, record),) = store.studies().items()
    (axis,) = overview(store, stem, record, {}).axes
    assert axis["label"] == "Control of flows 1, 2"
    assert axis["words"] == ["CUBIC, Reno", "BBR, Vegas"]
    assert axis["hues"] == [[colour(c).light, colour(c).dark] for c in ("cubic", "bbr")]


def test_checks_do_not_change_the_run(tmp_path: Path) -> None:
    checked = prepare(write(tmp_path, checking('metric = "jain"\nat_least = 0')))
    assert checked.runs[0][1].hash == prepare(write(tmp_path, GOOD)).runs[0][1].hash


def test_a_sweep_names_the_combinations_that_fail(tmp_path: Path, capsys: Capture) -> None:
    text = checking(
        'metric = "queue_max_bdp"\nat_most = 0.1\nwhere = { "path.rate" = "8mbit" }', TWO
    )
    text += '[[check]]\nmetric = "bbr.goodput_mbps"\nat_least = 100\n'
    spec, out = write(tmp_path, text), str(tmp_path / "out")
    assert run_cli("run", spec, "--out", out, "--json") == 1
    unmet = json.loads(capsys.readouterr().out)["unmet"]
    assert [(one["cell"], one["check"]) for one in unmet] == [
        (2, "bbr.goodput_mbps"),
        (3, "queue_max_bdp"),
        (4, "queue_max_bdp"),
        (4, "bbr.goodput_mbps"),
    ]
    assert unmet[0]["values"] == {"path.rate": "4mbit", "flows[0].cca": "bbr"}
    assert run_cli("run", spec, "--out", out, "--filter", "flows[0].cca=cubic") == 1
    printed = capsys.readouterr().out
    assert "not met: path.rate=8mbit, flows[0].cca=cubic: queue_max_bdp is" in printed
    assert printed.count("not met") == 1


@pytest.mark.parametrize(
    ("text", "place", "remedy"),
    [
        ('metric = "utilization"', "check[0]", "`at_least`, `at_most` or both"),
        ("at_least = 1", "check[0]", "`metric` or `series`"),
        ('metric = "jain"\nat_least = 2\nat_most = 1', "check[0]", "no higher"),
        ('metric = "jain"\nat_least = "2"', "check[0].at_least", "a finite number"),
        ('metric = "jain"\nat_leest = 2', "check[0].at_leest", '"at_least"'),
        ('metric = "jain"\nat_most = 2\nwhere = { "a b" = 1 }', "check[0].where", "a place"),
    ],
)
def test_a_malformed_check_is_refused_at_its_place(text: str, place: str, remedy: str) -> None:
    with pytest.raises(SpecError) as caught:
        spec_of(checking(text))
    assert caught.value.place == place
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("text", "place", "remedy"),
    [
        ('metric = "bbr.shore"\nat_least = 1', "check[0].metric", '"bbr.share"'),
        ('metric = "reno.share"\nat_least = 1', "check[0].metric", "share"),
        (
            'metric = "jain"\nat_most = 1\nwhere = { "path.rat" = "1mbit" }',
            "check[0].where",
            '"path.rate"',
        ),
        (
            'metric = "jain"\nat_most = 1\nwhere = { "path.rate" = "1mbit" }',
            "check[0].where",
            "occur",
        ),
    ],
)
def test_checks_of_what_does_not_occur(text: str, place: str, remedy: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        prepare(write(tmp_path, checking(text, TWO)))
    assert caught.value.place == place
    assert remedy in caught.value.remedy


LOSSY = TWO.replace("[[flows]]", "loss = 0.02\n\n[[flows]]")


def until(within: object, most: int = 8, trials: int = 2, metric: str = "utilization") -> str:
    rule = f'until = {{ metric = "{metric}", within = {within}, max_trials = {most} }}'
    return f"{LOSSY}trials = {trials}\n\n[sweep]\n{rule}\n"


def summary(directory: Path) -> pl.DataFrame:
    stream = io.BytesIO()
    export(directory, "summary", "csv", stream)
    return pl.read_csv(io.BytesIO(stream.getvalue()))


def test_trials_go_on_until_the_interval_is_narrow(tmp_path: Path) -> None:
    job = prepare(write(tmp_path, until(0.02)), out=tmp_path / "out")
    done = execute(job)
    table = summary(tmp_path / "out")
    cells = table.group_by("cell", maintain_order=True).agg(pl.col("utilization"), pl.col("seed"))
    sizes = [len(values) for values in cells["utilization"]]
    assert len(set(sizes)) > 1, "cells that need different numbers"
    assert done.new >= table.height
    for values, seeds in zip(cells["utilization"], cells["seed"], strict=True):
        known = values.to_list()
        assert seeds.to_list() == list(range(1, len(known) + 1))
        assert len(known) == 8 or half_width(known) <= 0.02
        for fewer in range(2, len(known)):
            assert half_width(known[:fewer]) > 0.02
    again = execute(prepare(write(tmp_path, until(0.02)), out=tmp_path / "out"))
    assert again.new == 0
    assert summary(tmp_path / "out").equals(table)


def test_a_dry_run_says_how_many_may_follow(tmp_path: Path, capsys: Capture) -> None:
    command = ("run", write(tmp_path, until(0.02)), "--out", str(tmp_path / "out"), "--dry-run")
    assert run_cli(*command) == 0
    assert "then up to 24 more, until the interval is narrow enough" in capsys.readouterr().out


def test_the_number_of_trials_does_not_depend_on_the_order(tmp_path: Path) -> None:
    text = until('"3%"')
    for name, jobs in (("one", 1), ("two", 7)):
        execute(prepare(write(tmp_path, text), out=tmp_path / name), jobs=jobs)
    assert summary(tmp_path / "one").equals(summary(tmp_path / "two"))
    part = prepare(write(tmp_path, text), out=tmp_path / "part", filters=["path.rate=4mbit"])
    execute(part)
    known = counts(part.grid, open_store(tmp_path / "part"))
    assert known[3] == known[4] == 2
    execute(prepare(write(tmp_path, text), out=tmp_path / "part"))
    assert summary(tmp_path / "part").equals(summary(tmp_path / "one"))


def test_more_trials_than_needed_are_left_out(tmp_path: Path) -> None:
    """There may be more if several were started at once: the least number that suffices counts."""
    execute(
        prepare(write(tmp_path, until(1e-9, most=4, metric="queue_mean_bdp")), out=tmp_path / "out")
    )
    assert summary(tmp_path / "out").height == 16
    loose = execute(prepare(write(tmp_path, until(10.0, most=4)), out=tmp_path / "out"))
    assert loose.new == 0
    assert summary(tmp_path / "out").height == 8


@pytest.mark.parametrize(
    ("rule", "place"),
    [
        ("3", "sweep.until"),
        ('{ metric = "jain", within = 0, max_trials = 5 }', "sweep.until.within"),
        ('{ metric = "jain", within = "x%", max_trials = 5 }', "sweep.until.within"),
        ('{ metric = "jain", within = 1 }', "sweep.until.max_trials"),
        ("{ within = 1, max_trials = 5 }", "sweep.until.metric"),
        ('{ metric = "jain", within = 1, max_trials = 5, more = 1 }', "sweep.until.more"),
        ('{ metric = "jane", within = 1, max_trials = 5 }', "sweep.until.metric"),
    ],
)
def test_a_malformed_rule_for_trials_is_refused(rule: str, place: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        prepare(write(tmp_path, f"{TWO}\n[sweep]\nuntil = {rule}\n"))
    assert caught.value.place == place


def test_half_the_width_follows_students_t() -> None:
    assert half_width([1.0, 2.0, 3.0]) == pytest.approx(4.30265 / math.sqrt(3), rel=1e-4)


def test_a_mean_is_printed_with_its_interval() -> None:
    assert interval([]) == interval([math.inf]) == "nothing"
    assert interval([2.5], unit=" s") == "2.5 s"
    assert interval([10.1, 10.3, 10.5], unit=" %") == "10.30 ± 0.50 %"
    assert interval([0.1 + 0.2, 0.3, 0.3]) == "0.3 ± 0"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([2350, 2400, 2453], "2,400 ± 130"),
        ([24698, 24712, 24728.4], "24,713 ± 38"),
        ([750, 844, 925], "840 ± 220"),
        ([844], "844"),
        ([83_012], "83,012"),
        ([83_012, 83_012], "83,012 ± 0"),
        ([5.0, 10.0], "8 ± 32"),
        ([-20.0, 20.1], "0 ± 250"),
        ([0.5, 0.5004, 0.5009], "0.5004 ± 0.0011"),
        ([0.5, 0.50001], "0.500005 ± 6.4e-05"),
        ([0.0001, 0.00011, 0.00012], "0.00011 ± 2.5e-05"),
        ([9.6, 10.4, 11.2], "10.4 ± 2.0"),
    ],
)
def test_a_mean_ends_at_the_place_of_its_interval(values: list[float], words: str) -> None:
    assert interval(values) == words
