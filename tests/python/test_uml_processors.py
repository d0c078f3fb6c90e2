"""Each guest has its own processor while there are enough."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from narrows.backends.uml import processors
from narrows.backends.uml.processors import keep_on, own_processor


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guests of other tests don't count."""
    monkeypatch.setattr(processors, "cache_directory", lambda: tmp_path)


def test_guests_share_no_processor_until_all_are_taken() -> None:
    allowed = os.sched_getaffinity(0)
    with ExitStack() as guests:
        taken = [guests.enter_context(own_processor()) for _ in allowed]
        assert set(taken) == allowed
        assert guests.enter_context(own_processor()) is None
    with own_processor() as again:
        assert again == taken[0]


def test_without_a_place_for_locks_a_guest_runs_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setattr(processors, "cache_directory", lambda: file)
    with own_processor() as processor:
        assert processor is None


def test_a_process_stays_on_its_processor_with_those_that_it_starts() -> None:
    allowed = os.sched_getaffinity(0)
    chosen = max(allowed)
    pipe = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(pipe[0], 1)
        grandchild = os.fork()
        own = os.sched_getaffinity(0) == {chosen}
        if grandchild == 0:
            os._exit(0 if own else 1)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]) if own else 1)
    keep_on(child, None)
    assert os.sched_getaffinity(child) == allowed
    keep_on(child, chosen)
    os.write(pipe[1], b"!")
    assert os.waitpid(child, 0)[1] == 0
    keep_on(child, chosen)  # it has ended, which is no error
