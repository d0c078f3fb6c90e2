"""Runs that reach the disk together: named once they are written, and locked until then."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_store_runs import FRAME, a_result, a_trial
from waiting import await_that

from narrows.store import Store, create_store
from narrows.store.batch import Batch
from narrows.store.parts import FinishedRun


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return create_store(tmp_path / "store")


class GatedStore:
    """A store whose writes wait until `go` is set."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go, self.batches = threading.Event(), []
        add_part = store.add_part

        def wait(entries: Sequence[FinishedRun]) -> None:
            self.batches.append([entry.key for entry in entries])
            assert self.go.wait(60)
            add_part(entries)

        monkeypatch.setattr(store, "add_part", wait)


def test_a_run_has_its_name_only_once_it_is_on_the_disk(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = GatedStore(store, monkeypatch)
    trials = [a_trial(f"run.seed={seed}") for seed in (1, 2, 3)]
    batch, freed = Batch(store), []
    for trial in trials:
        batch.add(FinishedRun(trial, a_result(), {"summary": FRAME}, {}))
    batch.call_when_done(trials[0].hash, lambda: freed.append("first"))
    batch.call_when_done("another", lambda: freed.append("another"))
    assert (store.keys(), freed) == (set(), ["another"])
    held.go.set()
    batch.close()
    assert store.keys() == {trial.hash for trial in trials}
    assert freed == ["another", "first"]
    assert len(held.batches) < len(trials)
    assert list((store.directory / "tmp").iterdir()) == []


def test_a_full_disk_is_reported_and_frees_what_waits(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "add_part", full)
    batch, freed = Batch(store), threading.Event()
    batch.add(FinishedRun(a_trial(), a_result(), {}, {}))
    batch.call_when_done(a_trial().hash, freed.set)
    assert freed.wait(60)
    with pytest.raises(OSError, match="No space"):
        batch.close()
    assert store.keys() == set()


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_while_the_disk_is_awaited_leaves_nothing_behind(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = GatedStore(store, monkeypatch)
    batch, freed = Batch(store), []
    batch.add(FinishedRun(a_trial(), a_result(), {"summary": FRAME}, {}))
    batch.call_when_done(a_trial().hash, lambda: freed.append("lock"))
    main = threading.main_thread().ident or 0
    interrupt = threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT))
    release = threading.Timer(0.6, held.go.set)
    interrupt.start()
    release.start()
    with pytest.raises(KeyboardInterrupt):
        batch.close()
    interrupt.join()
    release.join()
    assert (store.keys(), freed) == ({a_trial().hash}, ["lock"])
    assert list((store.directory / "tmp").iterdir()) == []


def test_a_run_reaches_the_disk_though_nobody_closes(store: Store) -> None:
    batch = Batch(store)
    batch.add(FinishedRun(a_trial(), a_result(), {"summary": FRAME}, {}))
    await_that(store.keys)
    assert store.keys() == {a_trial().hash}
    batch.close()
