"""The results directory: what is in it, and that it is complete or absent."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from specimens import GOOD, spec_of, write
from waiting import HANG_S

import narrows
from narrows.errors import StoreError
from narrows.execute import RunProgress
from narrows.plan import Plan, plan
from narrows.runner import RunOutcome, execute, prepare
from narrows.signals import defer_signals
from narrows.store import (
    Draft,
    Result,
    RunInfo,
    RunRecord,
    default_directory,
    find_result,
    new_result,
    open_result,
)

FLOW = {
    "name": "cubic-1",
    "cca": "cubic",
    "start_s": 0.0,
    "goodput_mbps": 1.5,
    "rtt_ms": {"min": 20.0, "mean": None},
    "share": 1.0,
}
SCENARIO = plan(spec_of(GOOD), "1").trials[0].scenario
LINK: dict[str, dict[str, float]] = {"queue_bdp": {}, "queue_ms": {}}
SUMMARY = {
    "runs": [
        {
            "scenario": SCENARIO,
            "backend": "sim",
            "seed": 1,
            "flows": [FLOW],
            "bottleneck": LINK,
            "perf": {},
        }
    ]
}
FRAME = pl.DataFrame({"time_s": [0.0, 1.0], "sent": [0, 9]})


def the_plan(*overrides: str) -> Plan:
    return plan(spec_of(GOOD, overrides), "1")


def fill(draft: Draft) -> Result:
    """Writes a run of one small table."""
    info = RunInfo("sim", "1", "ab12", 2.0, 1000, 0.25, 0.5)
    draft.add_trial(draft.plan.trials[0], RunRecord({"flow_samples": FRAME}, info))
    return draft.finish(GOOD, SUMMARY)


def publish(final: Path, made: Plan | None = None, force: bool = False) -> Result:
    with new_result(final, made or the_plan(), "0", ["narrows", "run"], force) as draft:
        fill(draft)
        return draft.publish()


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_everything_comes_back(tmp_path: Path) -> None:
    made = the_plan()
    published = publish(tmp_path / "results" / "a", made)
    result = open_result(tmp_path / "results" / "a")
    assert result.path == published.path
    assert (result.name, result.hash, result.groups) == ("good", made.hash, ["cubic"])
    assert result.spec == GOOD
    assert result.summary == SUMMARY
    [trial] = result.trials
    assert trial.scenario == made.trials[0].scenario
    assert trial.info == RunInfo("sim", "1", "ab12", 2.0, 1000, 0.25, 0.5)
    assert list(trial.tables) == ["flow_samples"]
    assert len(trial.tables) == 1
    assert trial.tables["flow_samples"].equals(FRAME)
    assert trial.tables["flow_samples"] is trial.tables["flow_samples"]
    with pytest.raises(KeyError):
        trial.tables["packets"]


def test_the_directory_is_readable_by_itself(tmp_path: Path) -> None:
    path = publish(tmp_path / "a").path
    assert names(path) == ["manifest.json", "spec.toml", "summary.csv", "summary.json", "trial-1"]
    manifest = json.loads((path / "manifest.json").read_text())
    assert manifest["command"] == ["narrows", "run"]
    assert manifest["trials"][0]["seed"] == 1
    assert {"version", "engine", "backend", "hash", "created", "provenance"} <= set(manifest)
    assert (path / "summary.csv").read_text() == (
        "trial,seed,name,cca,start_s,goodput_mbps,share,rtt_min_ms,rtt_mean_ms\n"
        "1,1,cubic-1,cubic,0.0,1.5,1.0,20.0,\n"
    )


def fail(final: Path) -> None:
    with new_result(final, the_plan(), "0", []) as draft:
        fill(draft)
        raise ZeroDivisionError


def test_nothing_stays_of_a_run_that_failed(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        fail(tmp_path / "a")
    assert names(tmp_path) == []


def test_nothing_appears_before_the_end(tmp_path: Path) -> None:
    with new_result(tmp_path / "a", the_plan(), "0", []) as draft:
        fill(draft)
        assert [name for name in names(tmp_path) if not name.startswith(".")] == []
        draft.publish()
        assert names(tmp_path) == ["a"]


def test_an_empty_directory_may_be_used(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert publish(tmp_path / "a").name == "good"


def test_something_else_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "thesis.tex").write_text("years of work")
    for force in (False, True):
        with pytest.raises(StoreError, match="something other than a result"):
            publish(tmp_path / "a", force=force)
    assert names(tmp_path / "a") == ["thesis.tex"]


def test_a_file_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("years of work")
    with pytest.raises(StoreError, match="something other than a result"):
        publish(tmp_path / "a", force=True)
    assert (tmp_path / "a").read_text() == "years of work"


def test_another_result_is_replaced_only_by_force(tmp_path: Path) -> None:
    publish(tmp_path / "a")
    other = the_plan("run.seed=2")
    with pytest.raises(StoreError, match="--force"):
        publish(tmp_path / "a", other)
    assert publish(tmp_path / "a", other, force=True).hash == other.hash
    assert names(tmp_path) == ["a"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="--out"):
        publish(tmp_path / "file" / "a")


def test_finding_needs_the_same_hash_and_version(tmp_path: Path) -> None:
    made = the_plan()
    publish(tmp_path / "a", made)
    assert find_result(tmp_path / "a", made.hash, "0") is not None
    assert find_result(tmp_path / "a", made.hash, "1") is None
    assert find_result(tmp_path / "a", "another", "0") is None
    assert find_result(tmp_path / "b", made.hash, "0") is None


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (None, "without manifest.json"),
        ("{", "unreadable"),
        ("[]", "version"),
        ('{"format": 99}', "version"),
    ],
)
def test_places_that_are_no_result(content: str | None, found: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(StoreError, match=found):
        open_result(tmp_path)


def test_a_missing_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such directory"):
        open_result(tmp_path / "a")


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("good", "good"),
        ("a b/../c", "a-b-..-c"),
        ("...", "run"),
        ("é" * 60, "é" * 40),
        ("x" * 80, "x" * 40),
    ],
)
def test_any_name_makes_a_directory(name: str, slug: str) -> None:
    made = the_plan(f'name="{name}"')
    directory = default_directory(made)
    assert directory.parent == Path("narrows-results")
    assert directory.name == f"{slug}-{made.hash[:8]}"


def hold_signals(steps: list[str]) -> None:
    with defer_signals():
        signal.raise_signal(signal.SIGINT)
        steps.append("still here")


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_waits_for_what_must_not_be_cut() -> None:
    steps: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        hold_signals(steps)
    assert steps == ["still here"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def run(directory: Path, *overrides: str, **options: Any) -> RunOutcome:
    job = prepare(write(directory), overrides)
    return execute(job, out=directory / "out", **options)


def test_a_run_is_found_again(tmp_path: Path) -> None:
    first, second = run(tmp_path), run(tmp_path)
    assert (first.cached, second.cached) == (False, True)
    assert second.result.manifest == first.result.manifest
    assert run(tmp_path, force=True).cached is False


def test_trials_are_the_same_in_any_number_and_order(tmp_path: Path) -> None:
    all_three = run(tmp_path, "run.trials=3", "flows.0.count=2", "path.loss=0.001").result
    digests = [trial.info.digest for trial in all_three.trials]
    assert len(set(digests)) == 3
    for number, digest in enumerate(digests, start=1):
        override = [f"run.seed={number}", "flows.0.count=2", "path.loss=0.001"]
        [alone] = run(tmp_path, *override, force=True).result.trials
        assert alone.info.digest == digest


def test_the_public_function(tmp_path: Path) -> None:
    result = narrows.run(write(tmp_path), ["run.seed=3"], out=tmp_path / "out")
    assert result.summary["runs"][0]["seed"] == 3
    assert result.trials[0].tables["flow_samples"].height > 10
    assert (tmp_path / "out" / "report.html").is_file()


def test_a_watcher_hears_of_progress_to_the_end(tmp_path: Path) -> None:
    heard: list[RunProgress] = []
    outcome = run(tmp_path, watcher=heard.append)
    packets = outcome.result.trials[0].info.packets
    assert heard[-1] == RunProgress(1, 0, 1, 2.0, 2.0, packets, 1.0)


def test_a_watcher_can_stop_everything(tmp_path: Path) -> None:
    def stop(_: RunProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "run.duration=100000s", "run.trials=3", "run.record=summary", watcher=stop)
    assert names(tmp_path) == ["good.toml"]


LONG = GOOD.replace('"2s"', '"60s"').replace("8mbit", "80mbit") + "trials = 3\n"
CHILD = """
import sys
from narrows.cli import main
print("ready", flush=True)
sys.exit(main())
"""


def interrupt_run(directory: Path, after_s: float) -> tuple[int, str]:
    """Status and errors of a run that gets Ctrl-C `after_s` seconds from its start."""
    command = [sys.executable, "-c", CHILD, "run", write(directory, LONG), "--out"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*command, str(directory / "out")], **pipes) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        time.sleep(after_s)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=HANG_S)
    return child.returncode, errors.decode()


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("after_ms", [20, 50, 100, 200, 300, 450, 600, 800, 1000, 1300, 1700, 2300])
def test_ctrl_c_leaves_a_complete_result_or_none(after_ms: int, tmp_path: Path) -> None:
    status, errors = interrupt_run(tmp_path, after_ms / 1000)
    left = names(tmp_path)
    assert "Traceback" not in errors, errors
    # A signal may also come when the interpreter is on its way out.
    assert status in (0, 130) or (status == -signal.SIGINT and "out" in left), errors
    if status == 0 or "out" in left:
        assert left == ["good.toml", "out"]
        result = open_result(tmp_path / "out")
        assert [trial.tables["flow_samples"].is_empty() for trial in result.trials] == [False] * 3
        assert len(result.summary["runs"]) == 3
        assert {"report.html", "summary.csv"} <= set(names(tmp_path / "out"))
    else:
        assert left == ["good.toml"]
