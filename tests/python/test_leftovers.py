"""The next process removes what killed processes leave, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from specimens import GOOD, write
from waiting import await_that

from narrows.runner import execute, prepare
from narrows.store import Draft, create_store, new_result, open_result, open_store, owned
from narrows.store.atomic import write_text
from narrows.store.locks import claim
from narrows.sweeps import execute as sweep
from narrows.sweeps import prepare as prepare_sweep

LONG = GOOD.replace('"2s"', '"100000s"').replace("[run]", '[run]\nrecord = "summary"')
AT_WORK = """
import sys, time
from pathlib import Path
from narrows.store.owned import owned_directory, owned_file
with {manager}(Path(sys.argv[1])) as work:
    print(work, flush=True)
    time.sleep(600)
"""


@contextmanager
def at_work(final: Path, manager: str = "owned_directory") -> Iterator[tuple[Path, int]]:
    """Another process that works on `final`: its hidden path, and its process id."""
    code = AT_WORK.format(manager=manager)
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(final)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    try:
        yield Path(child.stdout.readline().strip()), child.pid
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def everything(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


@pytest.mark.parametrize("manager", ["owned_directory", "owned_file"])
def test_only_what_has_no_owner_is_removed(tmp_path: Path, manager: str) -> None:
    with at_work(tmp_path / "a", manager) as (work, process):
        assert owned.remove_abandoned(tmp_path) == []
        assert work.exists()
        os.kill(process, signal.SIGKILL)
        await_that(lambda: owned.remove_abandoned(tmp_path, remove=False) == [work])
        assert owned.remove_abandoned(tmp_path) == [work]
    assert everything(tmp_path) == []


def test_the_id_of_a_living_process_protects_nothing(tmp_path: Path) -> None:
    """A process id that is used again isn't the owner: only the lock says who is."""
    left = owned.hidden_path(tmp_path / "a")
    left.mkdir()
    assert owned.remove_abandoned(tmp_path) == [left]


def test_work_of_another_host_is_left_until_it_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owned, "host_mark", lambda: "0123abcd")
    left = owned.hidden_path(tmp_path / "a")
    left.mkdir()
    monkeypatch.undo()
    assert owned.remove_abandoned(tmp_path) == []
    long_ago = time.time() - owned.OLD_S - 1
    os.utime(left, (long_ago, long_ago))
    assert owned.remove_abandoned(tmp_path) == [left]


def test_hidden_files_of_other_programs_and_links_are_left_alone(tmp_path: Path) -> None:
    for name in (".partial", ".a.partial", ".a.0123.partial", "a.0123abcd-0123abcd.partial"):
        (tmp_path / name).mkdir()
    kept = everything(tmp_path)
    target = tmp_path / "thesis"
    target.mkdir()
    owned.hidden_path(tmp_path / "a").symlink_to(target)
    assert owned.remove_abandoned(tmp_path) == []
    assert target.is_dir()
    assert set(kept) < set(everything(tmp_path))


def test_a_pipe_of_that_name_stops_nobody(tmp_path: Path) -> None:
    os.mkfifo(owned.hidden_path(tmp_path / "a"))
    assert len(owned.remove_abandoned(tmp_path)) == 1


def test_a_name_of_255_bytes_can_be_written(tmp_path: Path) -> None:
    for name in ("x" * 255, "ä" * 127):
        write_text(tmp_path / name, "whole")
        with owned.owned_directory(tmp_path / name[::-1]):
            pass
    assert len(everything(tmp_path)) == 2


def test_a_result_that_was_about_to_be_replaced_comes_back(tmp_path: Path) -> None:
    """The process was killed between the two renames."""
    job = prepare(write(tmp_path))
    place = tmp_path / "results" / "a"
    digest = execute(job, out=place).result.trials[0].info.digest
    place.rename(owned.hidden_path(place, owned.REPLACED))
    again = execute(job, out=place)
    assert again.cached
    assert again.result.trials[0].info.digest == digest
    assert everything(tmp_path / "results") == everything(place.parent)
    assert [path.name for path in place.parent.iterdir()] == ["a"]


def test_a_run_that_was_killed_is_cleaned_up_by_the_next(tmp_path: Path) -> None:
    write(tmp_path, LONG, name="long.toml")
    out = tmp_path / "out"
    arguments = [sys.executable, "-m", "narrows.cli", "run", "long.toml", "--out", "out/a"]
    code = "import sys; from narrows.cli import main; sys.exit(main(sys.argv[1:]))"
    child = subprocess.Popen([sys.executable, "-c", code, *arguments[3:]], cwd=tmp_path)
    await_that(lambda: out.is_dir() and any(out.iterdir()))
    child.kill()
    child.wait()
    assert [path.name.endswith(".partial") for path in out.iterdir()] == [True]
    execute(prepare(write(tmp_path)), out=out / "b")
    assert [path.name for path in out.iterdir()] == ["b"]


def test_a_sweep_that_was_killed_is_cleaned_up_by_the_next(tmp_path: Path) -> None:
    write(tmp_path, LONG, name="long.toml")
    out = tmp_path / "out"
    code = "import sys; from narrows.cli import main; sys.exit(main(sys.argv[1:]))"
    arguments = ["run", "long.toml", "--set", "run.trials=2", "--jobs", "2", "--out", "out"]
    child = subprocess.Popen([sys.executable, "-c", code, *arguments], cwd=tmp_path)
    await_that(lambda: (out / "locks").is_dir() and any((out / "locks").iterdir()))
    child.kill()
    child.wait()
    assert any((out / "locks").iterdir())
    store = open_store(out)
    assert store.leftovers() == [path.name for path in sorted((out / "tmp").iterdir())] + [
        path.name for path in sorted((out / "locks").iterdir())
    ]
    assert sweep(prepare_sweep(write(tmp_path), out=out)).new == 1
    for folder in ("locks", "tmp"):
        assert everything(out / folder) == []


def test_locks_that_are_held_stay(tmp_path: Path) -> None:
    create_store(tmp_path / "s")
    held = tmp_path / "s" / "locks" / ("1f" * 16)
    with claim(held) as ours:
        assert ours
        create_store(tmp_path / "s")
        assert held.exists()
    held.touch()
    create_store(tmp_path / "s")
    assert not held.exists()


def test_a_draft_is_safe_from_others(tmp_path: Path) -> None:
    made = prepare(write(tmp_path)).plan
    with new_result(tmp_path / "a", made, "0", []) as draft:
        assert isinstance(draft, Draft)
        owned.remove_abandoned(tmp_path)
        assert draft.path.is_dir()
        execute(prepare(write(tmp_path)), out=tmp_path / "b")
        assert draft.path.is_dir()
    assert open_result(tmp_path / "b").name == "good"
