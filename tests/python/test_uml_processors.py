"""Each guest has its own processor while there are enough."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from narrows.backends.uml import processors
from narrows.backends.uml.processors import own_processor, starting_on


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


_SHOW = "import os; print(sorted(os.sched_getaffinity(0)))"
_START_ONE = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {_SHOW!r}])"


def _processors_behind(processor: int | None) -> str:
    """The processors of a process that was started by one that was started here."""
    with starting_on(processor):
        process = subprocess.Popen([sys.executable, "-c", _START_ONE], stdout=subprocess.PIPE)
    return process.communicate()[0].decode().strip()


def test_a_process_stays_on_its_processor_with_those_that_it_starts() -> None:
    allowed = os.sched_getaffinity(0)
    assert _processors_behind(max(allowed)) == f"[{max(allowed)}]"
    assert _processors_behind(None) == str(sorted(allowed))
    assert os.sched_getaffinity(0) == allowed


def test_a_processor_that_is_gone_is_no_error() -> None:
    allowed = os.sched_getaffinity(0)
    assert _processors_behind(max(allowed) + 1000) == str(sorted(allowed))
