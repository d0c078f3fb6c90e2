"""`narrows compare` from the outside, with a stand-in for the kernel."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from specimens import GOOD, run_cli, write

from narrows.backends import Progress, get_backend
from narrows.backends.sim import Simulator
from narrows.compare import Comparison
from narrows.compare import compare as compare_all
from narrows.compare import run as compare_run
from narrows.compare.table import COLUMNS
from narrows.errors import SpecError
from narrows.store import RunRecord, open_store

Capture = pytest.CaptureFixture[str]
LOSSY = GOOD.replace('buffer = "1bdp"', 'buffer = "1bdp"\nloss = 0.01').replace(
    'duration = "2s"', 'duration = "5s"'
)


def compare(*arguments: Any, **options: Any) -> Comparison:
    """The comparison of a plain specification."""
    (made,) = compare_all(*arguments, **options).made
    return made


class StandIn(Simulator):
    """The simulator as if it were a kernel: other seeds, and RTTs as many times as long."""

    name = "uml"
    factor = 1.0
    runs = 0
    late_seeds: tuple[int, ...] = ()
    """Runs with these seeds say that the machine didn't keep up."""

    def run(self, scenario: Mapping[str, Any], progress: Progress | None = None) -> RunRecord:
        type(self).runs += 1
        result = super().run({**scenario, "seed": scenario["seed"] + 1000}, progress)
        longer = pl.col("srtt_ms") * self.factor
        samples = result.tables["flow_samples"].with_columns(longer)
        late = "late packets" if scenario["seed"] in self.late_seeds else None
        info = replace(result.info, invalid=late)
        return RunRecord({**result.tables, "flow_samples": samples}, info)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> type[StandIn]:
    """A stand-in of this test alone, for `uml`."""

    class Own(StandIn):
        pass

    def find(name: str) -> Any:
        return Own() if name == "uml" else get_backend(name)

    monkeypatch.setattr(compare_run, "get_backend", find)
    return Own


def test_back_ends_that_agree(kernel: type[StandIn], tmp_path: Path, capsys: Capture) -> None:
    spec, out = write(tmp_path), tmp_path / "out"
    assert run_cli("compare", spec, "--trials", "3", "--out", str(out)) == 0
    said = capsys.readouterr().out
    assert "3 trials, buffer varied by 3 %, delay by 1 %" in said
    assert "agree: 6 agree, 0 differ, 0 undecided with uml" in said
    for name in ("compare.html", "compare.json", "figure.png", "figure.svg"):
        assert (out / name).stat().st_size > 0
    assert kernel.runs == 4  # two seeds that gave the same, and two more buffers


def test_a_refusal_by_one_back_end_is_reported_before_another_runs(
    kernel: type[StandIn], tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: StandIn, __: Mapping[str, Any]) -> None:
        raise SpecError.at("host.jitter", "100us", '"0s"')

    monkeypatch.setattr(kernel, "check", refuse)
    assert run_cli("compare", write(tmp_path), "--out", str(tmp_path / "out")) == 2
    assert "host.jitter" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_back_ends_that_differ(kernel: type[StandIn], tmp_path: Path, capsys: Capture) -> None:
    kernel.factor = 1.5
    arguments = ("--trials", "3", "--max-trials", "3", "--json", "--out", str(tmp_path / "out"))
    assert run_cli("compare", write(tmp_path), *arguments) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["agree"], found["differ"]) == ("differ", 5, 1)
    assert found["reference"] == "uml"
    verdicts = {cell["quantity"]: cell["verdict"] for cell in found["cells"]}
    assert verdicts.pop("rtt") == "differ"
    assert set(verdicts.values()) == {"agree"}
    rtt = next(cell for cell in found["cells"] if cell["quantity"] == "rtt")
    assert rtt["mean"] * 1.5 == pytest.approx(rtt["reference_mean"])
    assert rtt["difference"] == pytest.approx(rtt["mean"] - rtt["reference_mean"])
    page = (tmp_path / "out" / "compare.html").read_text(encoding="utf-8")
    assert "<b>differ</b>" in page
    assert "1 CUBIC, 8 Mbit/s, 20 ms" in page


@pytest.mark.usefixtures("kernel")
def test_trials_vary_the_path_as_well_where_seeds_make_a_difference(tmp_path: Path) -> None:
    made = compare(write(tmp_path, LOSSY), trials=3, max_trials=3, out=tmp_path / "out")
    assert (made.varied, made.seeded) == (True, True)
    assert not any(row.paired for row in made.rows)  # each back end draws its own losses
    found = json.loads((tmp_path / "out" / "compare.json").read_text())
    assert found["varied"] == ["seed", "path"]
    store = open_store(tmp_path / "out" / "runs")
    paths = {(one["seed"], one["path"]["rtt_ns"]) for one in map(store.scenario, store.keys())}
    # The second seed also runs on the given path, which tells whether seeds make a difference.
    assert {seed for seed, rtt in paths if rtt == 20_000_000} == {1, 2}
    assert sorted(seed for seed, rtt in paths if rtt != 20_000_000) == [2, 3]


def test_trials_are_added_until_the_means_are_known(kernel: type[StandIn], tmp_path: Path) -> None:
    spec = write(tmp_path, LOSSY)
    few = compare(spec, trials=2, max_trials=2, out=tmp_path / "few")
    assert few.seeded
    assert few.counts.undecided == len(few.rows)
    more = compare(spec, trials=2, max_trials=5, out=tmp_path / "few")
    assert more.trials == 5
    assert kernel.runs == 6  # two seeds that differ, and four more buffers
    assert more.measured["uml"][:2] == few.measured["uml"]


def test_invalid_runs_are_named_and_left_out(
    kernel: type[StandIn], tmp_path: Path, capsys: Capture
) -> None:
    spec, out = write(tmp_path, LOSSY), tmp_path / "out"
    arguments = ("compare", spec, "--trials", "4", "--max-trials", "4", "--out", str(out))
    kernel.late_seeds = (1, 3)
    run_cli(*arguments)
    said = capsys.readouterr().out
    assert "4 trials, seeds 1 to 4, buffer varied by 3 %, delay by 1 %" in said
    assert "Left out: uml, trial 1, seed 1: late packets\n" in said
    assert "Left out: uml, trial 3, seed 3: late packets\n" in said
    found = json.loads((out / "compare.json").read_text())
    assert [run["trial"] for run in found["left_out"]] == [1, 3]
    assert {len(cell["values"]) for cell in found["cells"]} == {4}
    assert {len(cell["reference_values"]) for cell in found["cells"]} == {2}
    assert "seed 3: late packets" in (out / "compare.html").read_text(encoding="utf-8")
    kernel.late_seeds = ()
    run_cli(*arguments)
    assert "Left out" not in capsys.readouterr().out
    assert kernel.runs == 7  # two on the given path, three more; the invalid ones once more


def test_where_no_run_is_valid_nothing_is_decided(kernel: type[StandIn], tmp_path: Path) -> None:
    kernel.late_seeds = tuple(range(1, 5))
    made = compare(write(tmp_path, LOSSY), trials=4, max_trials=4, out=tmp_path / "out")
    assert made.counts.undecided == len(made.rows) > 0
    assert made.more_trials == 3


@pytest.mark.usefixtures("kernel")
def test_a_trial_that_is_left_out_takes_its_partner_with_it(tmp_path: Path) -> None:
    spec, out = write(tmp_path), tmp_path / "out"
    whole = compare(spec, trials=4, max_trials=4, out=out)
    assert (whole.varied, whole.seeded) == (True, False)
    rtt = next(row for row in whole.rows if row.cell.quantity == "rtt")
    whole.measured["uml"] = [{} if i == 2 else run for i, run in enumerate(whole.measured["uml"])]
    fewer = next(row for row in whole.rows if row.cell.quantity == "rtt")
    assert fewer.values == tuple(value for i, value in enumerate(rtt.values) if i != 2)
    assert fewer.reference == tuple(value for i, value in enumerate(rtt.reference) if i != 2)


def test_until_decided_adds_trials(kernel: type[StandIn], tmp_path: Path, capsys: Capture) -> None:
    spec, out = write(tmp_path, LOSSY), tmp_path / "out"
    options = ("--trials", "3", "--json", "--out", str(out))
    assert run_cli("compare", spec, "--max-trials", "3", *options) == 1
    first = json.loads(capsys.readouterr().out)
    assert first["verdict"] == "undecided"
    assert first["more_trials"] > 0
    run_cli("compare", spec, "--until-decided", *options)
    found = json.loads(capsys.readouterr().out)
    assert 3 < found["trials"] <= 200
    assert found["more_trials"] in (0, None) or found["trials"] == 200
    assert kernel.runs == found["trials"] + 1  # one on the given path, to see what seeds do


def test_a_specification_may_want_more_trials(kernel: type[StandIn], tmp_path: Path) -> None:
    spec = write(tmp_path, LOSSY)
    more = compare(spec, ["run.trials=5"], max_trials=5, out=tmp_path / "more")
    assert (more.trials, kernel.runs) == (5, 6)  # one more to see what seeds do
    most = compare(spec, ["run.trials=5"], max_trials=3, out=tmp_path / "most")
    assert most.trials == 3
    given = compare(spec, ["run.trials=5"], trials=2, max_trials=2, out=tmp_path / "given")
    assert given.trials == 2


CASES = """
[[sweep.cases]]
name = "one"

[[sweep.cases]]
name = "other"
flows = [{ cca = "reno" }]
"""


def test_a_study_and_its_table(kernel: type[StandIn], tmp_path: Path, capsys: Capture) -> None:
    spec, table, out = write(tmp_path, GOOD + CASES), tmp_path / "cells.csv", tmp_path / "out"
    options = ("--trials", "3", "--max-trials", "3", "--out", str(out))
    assert run_cli("compare", spec, "--table", str(table), *options) == 0
    assert "12 cells: 12 agree, 0 differ, 0 undecided" in capsys.readouterr().out
    assert sorted(place.name for place in out.iterdir()) == ["01-one", "02-other"]
    text, made_by = table.read_text(encoding="utf-8"), table.with_suffix(".json")
    head, *lines = csv.reader(text.splitlines())
    assert head == list(COLUMNS)
    found = [dict(zip(head, line, strict=True)) for line in lines]
    assert [(row["case"], row["flows"]) for row in found[:2]] == [
        ("one", "cubic"),
        ("one", "cubic"),
    ]
    assert {row["case"] for row in found[6:]} == {"other"}
    assert {row["verdict"] for row in found} == {"agree"}
    assert json.loads(made_by.read_text(encoding="utf-8"))["reference"] == "uml"
    runs = kernel.runs
    assert run_cli("compare", spec, "--table", str(table), *options) == 0
    assert (table.read_text(encoding="utf-8"), kernel.runs) == (text, runs)


@pytest.mark.usefixtures("kernel")
def test_a_filter_chooses_combinations(tmp_path: Path, capsys: Capture) -> None:
    spec = write(tmp_path, GOOD.replace('buffer = "1bdp"', 'buffer = ["1bdp", "2bdp"]') + CASES)
    chosen = ("--filter", "case=other", "--filter", "path.buffer=2bdp")
    options = ("--trials", "2", "--max-trials", "2", "--json", "--out", str(tmp_path / "out"))
    run_cli("compare", spec, *chosen, *options)
    assert json.loads(capsys.readouterr().out)["name"] == "other, path.buffer=2bdp"
    assert run_cli("compare", spec, "--filter", "case=another", *options) == 2
    said = capsys.readouterr().err
    assert '--filter: found "another", which is not a value of case; "other"' in said


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--backends", "sim"], '--backends: found "sim"; two or three'),
        (["--backends", "sim,sim"], "--backends: found"),
        (["--backends", "sim,nonsense"], '--backends: found "nonsense", which is not a back end'),
        (["--trials", "1"], "--trials: found 1; 2 or more"),
        (["--trials", "5", "--max-trials", "3"], "--max-trials: found 3; 5"),
        (["--max-trials", "1000000"], "--max-trials: found 1000000; 2 or more, and at most"),
        (["--max-trials", "1"], "--max-trials: found 1; 2 or more"),
        (["--set", f"run.seed={2**64 - 3}"], "run.seed: found"),
        (["--set", "run.record=summary"], 'run.record: found "summary"; "samples"'),
    ],
)
def test_wrong_arguments_are_refused(
    tmp_path: Path,
    capsys: Capture,
    arguments: list[str],
    said: str,
) -> None:
    assert run_cli("compare", write(tmp_path), *arguments) == 2
    assert said in capsys.readouterr().err


def test_no_kernel_is_said_in_a_sentence(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert run_cli("compare", write(tmp_path)) == 2
    said = capsys.readouterr().err
    assert said.startswith('narrows: error: --backends: found "uml", for which no kernel')
    assert "narrows kernel build" in said


@pytest.mark.usefixtures("kernel")
def test_trials_are_pairs_where_both_back_ends_draw_the_same_losses(tmp_path: Path) -> None:
    impaired = GOOD.replace(
        "[[flows]]", '[[path.impairments]]\nkind = "loss"\nprobability = 0.01\n\n[[flows]]', 1
    )
    made = compare(write(tmp_path, impaired), trials=4, max_trials=4, out=tmp_path / "out")
    assert made.seeded
    assert all(row.paired for row in made.rows)
    made.measured["uml"] = [{} if i == 2 else run for i, run in enumerate(made.measured["uml"])]
    rtt = next(row for row in made.rows if row.cell.quantity == "rtt")
    assert (len(rtt.values), len(rtt.reference)) == (3, 3)
    # Linux's netem, which makes `loss`, draws by itself.
    lossy = compare(write(tmp_path, LOSSY), trials=4, max_trials=4, out=tmp_path / "lossy")
    assert not any(row.paired for row in lossy.rows)
