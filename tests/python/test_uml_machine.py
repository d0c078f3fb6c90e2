"""A guest's process, which needs no kernel to be tested."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from narrows.backends.uml import machine


@pytest.mark.skipif(shutil.which("setarch") is None, reason="no setarch")
def test_the_end_of_a_guest_is_noticed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "linux"
    program.write_text("#!/bin/sh\nsleep 0.2\n")
    program.chmod(0o700)
    monkeypatch.setattr(machine, "POLL_S", 30.0)
    began = time.monotonic()
    machine.boot(machine.Program(program, Path("/dev/null")), tmp_path, seed=1)
    assert 0.2 <= time.monotonic() - began < 20
