"""Sweeps do every run once, whatever fails, also beside others and after a kill."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from exported import everything, export_csv
from specimens import GOOD, run_cli, write
from waiting import HANG_S

from narrows.backends import Progress
from narrows.backends.sim import Simulator
from narrows.errors import InputError, SpecError, StoreError
from narrows.execute import load
from narrows.execute.cost import RUN
from narrows.execute.watcher import RunProgress, clock, progress_line
from narrows.plan import Trial
from narrows.store import RunRecord, open_store
from narrows.sweeps import SweepJob, SweepOutcome, estimate, execute, prepare

SMALL = GOOD.replace('"8mbit"', '["4mbit", "8mbit"]').replace('"cubic"', '["cubic", "bbr"]')
SMALL += "trials = 2\n"
"""Eight runs of two seconds."""
Capture = pytest.CaptureFixture[str]


def job(directory: Path, text: str = SMALL, *filters: str) -> SweepJob:
    return prepare(write(directory, text), filters=filters, out=directory / "out")


def swept(directory: Path, text: str = SMALL, *filters: str) -> SweepOutcome:
    return execute(job(directory, text, *filters))


def frame(directory: Path, table: str = "summary") -> pl.DataFrame:
    return pl.read_csv(io.BytesIO(export_csv(directory, table)))


def test_every_run_is_done_once(tmp_path: Path) -> None:
    first = swept(tmp_path)
    assert (first.new, first.stored, first.failures) == (8, 0, ())
    assert first.packets == sum(frame(tmp_path / "out", "runs")["packets"])
    again = swept(tmp_path)
    assert (again.new, again.stored) == (0, 8)
    store = open_store(tmp_path / "out")
    assert store.keys() == {trial.hash for _, trial in job(tmp_path).runs}
    assert list((tmp_path / "out" / "tmp").iterdir()) == []
    assert list((tmp_path / "out" / "locks").iterdir()) == []


def test_one_thread_gives_what_two_give(tmp_path: Path) -> None:
    execute(prepare(write(tmp_path, SMALL), out=tmp_path / "one"), jobs=1)
    execute(prepare(write(tmp_path, SMALL), out=tmp_path / "two"), jobs=2)
    assert everything(tmp_path / "one") == everything(tmp_path / "two")


def test_a_larger_study_does_only_what_is_new(tmp_path: Path) -> None:
    swept(tmp_path)
    more = swept(tmp_path, SMALL.replace('"4mbit", ', '"2mbit", "4mbit", '))
    assert (more.new, more.stored) == (4, 8)
    assert frame(tmp_path / "out")["path.rate"].unique(maintain_order=True).to_list() == [
        "2mbit",
        "4mbit",
        "8mbit",
    ]


def test_a_filter_takes_some_and_the_study_stays_whole(tmp_path: Path) -> None:
    some = swept(tmp_path, SMALL, "path.rate=8mbit", "flows.0.cca=bbr")
    assert (some.new, some.stored) == (2, 0)
    assert frame(tmp_path / "out")["cell"].to_list() == [4, 4]
    rest = swept(tmp_path)
    assert (rest.new, rest.stored) == (6, 2)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("path.rate=8mbit", 4),
        ("path.rate=8000kbit", 4),
        ("path.rate=4mbit, 8mbit", 8),
        ("flows[0].cca=bbr", 4),
    ],
)
def test_filters_compare_what_values_mean(text: str, count: int, tmp_path: Path) -> None:
    assert len(job(tmp_path, SMALL, text).runs) == count


@pytest.mark.parametrize(
    ("text", "found", "remedy"),
    [
        ("path.rate", '"path.rate"', "AXIS=VALUE"),
        ("path.rtt=20ms", '"path.rtt", which is not an axis', '"path.rate"'),
        ("path.rate=9mbit", '"9mbit", which is not a value', '"4mbit"'),
    ],
)
def test_a_malformed_filter_is_refused(text: str, found: str, remedy: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        job(tmp_path, SMALL, text)
    assert caught.value.place == "--filter"
    assert found in caught.value.problems[0].found
    assert remedy in caught.value.remedy


def test_a_filter_of_a_study_without_axes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        job(tmp_path, GOOD, "path.rate=8mbit")
    assert caught.value.remedy == "no such option, since nothing varies,"


class Flaky(Simulator):
    """A simulator that fails at one rate, and counts what it is asked for."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error, self.asked = error, 0

    def run(self, scenario: Mapping[str, Any], progress: Progress | None = None) -> RunRecord:
        self.asked += 1
        if self.error is not None and scenario["path"]["rate_bps"] == 4_000_000:
            raise self.error
        return super().run(scenario, progress)


def flaky(directory: Path, error: Exception | None) -> SweepJob:
    made = job(directory)
    return SweepJob(made.grid, Flaky(error), made.directory, made.cells)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (RuntimeError("a bug"), "RuntimeError: a bug"),
        (OSError("a file"), "OSError: a file"),
        (SpecError.at("path", "3", "4"), "path: found 3; 4 would be right"),
    ],
)
def test_a_failure_is_recorded_and_stops_nobody(
    error: Exception, text: str, tmp_path: Path
) -> None:
    outcome = execute(flaky(tmp_path, error))
    assert (outcome.new, len(outcome.failures)) == (4, 4)
    assert [(f.cell.number, f.trial.number, f.error) for f in outcome.failures] == [
        (1, 1, text),
        (1, 2, text),
        (2, 1, text),
        (2, 2, text),
    ]
    records = open_store(tmp_path / "out").failures()
    assert {record["error"] for record in records.values()} == {text}
    assert records[outcome.failures[0].trial.hash]["cell"] == "path.rate=4mbit, flows[0].cca=cubic"
    assert frame(tmp_path / "out")["cell"].to_list() == [3, 3, 4, 4]


def test_failed_runs_are_tried_again(tmp_path: Path) -> None:
    execute(flaky(tmp_path, RuntimeError("a bug")))
    outcome = execute(flaky(tmp_path, None))
    assert (outcome.new, outcome.stored, outcome.failures) == (4, 4, ())
    assert open_store(tmp_path / "out").failures() == {}


def test_the_command_says_what_failed(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["narrows.sweeps.prepare"]
    monkeypatch.setattr(module, "get_backend", lambda _: Flaky(RuntimeError("a bug")))
    command = ("run", write(tmp_path, SMALL), "--out", str(tmp_path / "out"))
    assert run_cli(*command) == 1
    said = capsys.readouterr().out
    assert "8 runs of 4 combinations: 4 new, 0 stored before, 4 failed" in said
    assert "failed: path.rate=4mbit, flows[0].cca=bbr, seed 2: RuntimeError: a bug" in said
    assert run_cli(*command, "--json") == 1
    printed = json.loads(capsys.readouterr().out)
    assert (printed["new"], printed["stored"], printed["runs"]) == (0, 4, 8)
    assert printed["failed"][0] == {
        "cell": 1,
        "values": {"path.rate": "4mbit", "flows[0].cca": "cubic"},
        "trial": 1,
        "seed": 1,
        "error": "RuntimeError: a bug",
    }


def test_the_command_says_why_when_all_runs_fail(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["narrows.sweeps.prepare"]
    monkeypatch.setattr(module, "get_backend", lambda _: Flaky(RuntimeError("a bug")))
    spec = write(tmp_path, SMALL.replace("8mbit", "4mbit"))
    assert run_cli("run", spec, "--out", str(tmp_path / "out")) == 1
    told = capsys.readouterr()
    assert "RuntimeError: a bug" in told.out
    assert told.err == ""


def test_a_dry_run_writes_nothing(tmp_path: Path, capsys: Capture) -> None:
    command = ("run", write(tmp_path, SMALL), "--out", str(tmp_path / "out"), "--dry-run")
    assert run_cli(*command, "--jobs", "2") == 0
    said = capsys.readouterr().out
    assert "8 runs of 4 combinations: 0 already stored, 8 to do" in said
    assert "16 s to simulate, about 1 s with 2 at once" in said
    assert not (tmp_path / "out").exists()
    swept(tmp_path, SMALL, "path.rate=4mbit")
    assert run_cli(*command, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["runs"], printed["stored"], printed["simulated_s"]) == (8, 4, 8.0)


def engine_load(trials: Sequence[Trial]) -> float:
    return sum(load(trial.scenario) - RUN for trial in trials)


def test_an_estimate_uses_the_speed_of_stored_runs(tmp_path: Path) -> None:
    before = estimate(job(tmp_path), jobs=1)
    swept(tmp_path, SMALL, "path.rate=4mbit")
    trials = [trial for _, trial in job(tmp_path).runs]
    slow = [trial for trial in trials if trial.scenario["path"]["rate_bps"] == 4_000_000]
    rest = [trial for trial in trials if trial not in slow]
    runs = frame(tmp_path / "out", "runs")
    wall_s, cpu_s = runs["wall_s"].sum(), runs["cpu_s"].sum()
    engine_s = wall_s * engine_load(rest) / engine_load(slow)
    python_s = len(rest) * RUN / 1.5e6 * max(wall_s / cpu_s, 1)
    assert estimate(job(tmp_path), jobs=1).wall_s == pytest.approx(engine_s + python_s + 1)
    whole = sum(load(trial.scenario) for trial in trials)
    assert before.wall_s == pytest.approx(whole / 1.5e6 + 1)


def test_an_estimate_counts_pythons_part_which_threads_cannot_share(tmp_path: Path) -> None:
    """100 short runs are done by threads, 1,000 by processes."""
    short = SMALL.replace('"2s"', '"20ms"').replace('"500ms"', '"10ms"')
    threads, processes = (short.replace("trials = 2", f"trials = {n}") for n in (25, 250))
    python_s = RUN / 1.5e6
    for text, count, workers in ((threads, 100, 1), (processes, 1000, 4)):
        found = estimate(job(tmp_path, text), jobs=4)
        assert found.runs == count
        assert found.wall_s == pytest.approx(count * python_s / workers + 1, rel=0.1)


def test_another_directory_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(StoreError, match="no store of runs"):
        swept(tmp_path)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_a_watcher_hears_of_the_progress_and_can_stop(tmp_path: Path) -> None:
    heard: list[RunProgress] = []
    before = set(threading.enumerate())

    def stop(state: RunProgress) -> None:
        heard.append(state)
        if state.part > 0:
            raise KeyboardInterrupt

    endless = SMALL.replace('"2s"', '"100000s"').replace("trials", 'record = "summary"\ntrials')
    with pytest.raises(KeyboardInterrupt):
        execute(job(tmp_path, endless), watcher=stop)
    assert 0 < heard[-1].part < 1
    assert heard[-1].packets > 0
    assert heard[-1].total == 8
    assert open_store(tmp_path / "out").keys() == set()
    assert set(threading.enumerate()) <= before, "no thread of the sweep outlives it"


def test_progress_in_words() -> None:
    assert progress_line(RunProgress(3, 0, 8, 4.0, 16.0, 1000, 0.25), 10.0) == (
        "3 of 8 done, 100 packets/s, 30 s left"
    )
    over = progress_line(RunProgress(8, 0, 8, 16.0, 16.0, 1000, 1.0), 10.0)
    assert over == "8 of 8 done, 100 packets/s, judging and writing the results"
    assert "1 failed" in progress_line(RunProgress(3, 1, 8, 0.0, 16.0, 1000, 0.0), 10.0)
    assert [clock(s) for s in (0.1, 45, 720, 12600)] == ["1 s", "45 s", "12 min", "3.5 h"]


CHILD = "import sys; from narrows.cli import main; sys.exit(main(sys.argv[1:]))"
LONGER = SMALL.replace('"2s"', '"60s"').replace('"4mbit"', '"40mbit"').replace("8mbit", "80mbit")


def start(directory: Path, spec: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", CHILD, "run", spec, "--json", "--out", str(directory)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run_and_kill(directory: Path, spec: str, after_s: float) -> None:
    """Starts a sweep and kills it some time after its store is there."""
    with start(directory, spec) as child:
        while not (directory / "store.json").exists() and child.poll() is None:
            time.sleep(0.005)
        time.sleep(after_s)
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=HANG_S)


def test_a_sweep_killed_at_random_moments_ends_as_if_undisturbed(tmp_path: Path) -> None:
    spec, seed = write(tmp_path, LONGER), random.randrange(10**6)
    print(f"moments of seed {seed}")
    moments = random.Random(seed)
    for _ in range(5):
        run_and_kill(tmp_path / "killed", spec, moments.uniform(0, 0.5))
    last = execute(prepare(spec, out=tmp_path / "killed"))
    assert last.failures == ()
    execute(prepare(spec, out=tmp_path / "undisturbed"))
    assert everything(tmp_path / "killed") == everything(tmp_path / "undisturbed")
    assert run_cli("store", "check", str(tmp_path / "killed")) == 0
    run_cli("store", "gc", str(tmp_path / "killed"))
    for folder in ("tmp", "failures"):
        assert list((tmp_path / "killed" / folder).iterdir()) == []


def test_two_sweeps_at_once_do_every_run_once(tmp_path: Path) -> None:
    spec = write(tmp_path, LONGER)
    with start(tmp_path / "out", spec) as one, start(tmp_path / "out", spec) as other:
        said = [child.communicate(timeout=HANG_S) for child in (one, other)]
        assert [one.returncode, other.returncode] == [0, 0], said
    printed = [json.loads(output) for output, _ in said]
    assert sum(document["new"] for document in printed) == 8
    assert [document["new"] + document["stored"] for document in printed] == [8, 8]
    assert run_cli("store", "check", str(tmp_path / "out")) == 0
    execute(prepare(spec, out=tmp_path / "alone"))
    assert everything(tmp_path / "out") == everything(tmp_path / "alone")


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    spec = write(tmp_path, LONGER.replace('"60s"', '["60s", "100000s"]'))
    with start(tmp_path / "out", spec) as child:
        while not (tmp_path / "out" / "store.json").exists() and child.poll() is None:
            time.sleep(0.01)
        time.sleep(1.0)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=HANG_S)
    assert child.returncode == 130
    assert b"Traceback" not in errors
    assert run_cli("store", "check", str(tmp_path / "out")) == 0


def test_table_1_of_the_document_is_810_runs() -> None:
    root = Path(__file__).parents[2]
    made = prepare(root / "experiments" / "panaderia-table1" / "experiment.toml")
    assert (len(made.grid.cells), len(made.runs)) == (270, 810)
    assert len({trial.hash for _, trial in made.runs}) == 810
    flows = [len(cell.plan.groups) for cell in made.grid.cells]
    assert sorted(set(flows)) == [2, 4, 8]
    classes = {tuple(sorted(set(cell.plan.groups))) for cell in made.grid.cells}
    assert classes == {("bbr",), ("cubic",), ("bbr", "cubic")}


def test_a_study_with_other_classes_has_its_own_runs(tmp_path: Path) -> None:
    """The derived tables of a run depend on the classes, which two studies may choose otherwise."""
    counted = GOOD.replace('cca = "cubic"', 'cca = "cubic"\nname = "x"\ncount = 2')
    entries = GOOD.replace(
        'cca = "cubic"', 'cca = "cubic"\nname = "x-1"\n[[flows]]\ncca = "cubic"\nname = "x-2"'
    )
    kept = entries + '[[check]]\nmetric = "x-1.share"\nat_least = 0.01\n'
    for text in (counted, kept):
        words = ["run", write(tmp_path, text), "--jobs", "2", "--out", str(tmp_path / "s")]
        assert run_cli(*words) == 0
    names = open_store(tmp_path / "s").rows("summary").columns
    assert {"x.share", "x-1.share", "x-2.share"} <= set(names)
    assert run_cli("store", "check", str(tmp_path / "s")) == 0


FREED = """
import os, re
from pathlib import Path
from narrows.sweeps.polars_memory import load_polars

def resident_kb():
    return int(re.search(r"VmRSS:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])

load_polars()
import polars as pl
frames = [pl.select(pl.int_range(12_500) + number) for number in range(1000)]
before = resident_kb()
del frames
print(before - resident_kb(), os.environ["_RJEM_MALLOC_CONF"])
"""


def test_memory_of_tables_returns_to_the_system_at_once() -> None:
    """The process that writes the page of a sweep reads one table after the other."""
    setting = "dirty_decay_ms:400"
    done = subprocess.run(
        [sys.executable, "-c", FREED], capture_output=True, text=True, check=True,
        env=os.environ | {"_RJEM_MALLOC_CONF": setting},
    )  # fmt: skip
    freed_kb, variable = done.stdout.split()
    assert int(freed_kb) > 80_000, "of the 100 MB of 1,000 columns"
    assert variable == setting, "for the processes that it starts"
