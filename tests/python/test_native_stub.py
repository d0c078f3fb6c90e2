"""Checks that the stub of the native module matches it: names, parameters, defaults."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import narrows._native

MODULE = Path(narrows._native.__file__)
STUB = MODULE.with_name("_native.pyi")


def stubtest(folder: Path, stub: str) -> subprocess.CompletedProcess[str]:
    """Compares the module with a stub by mypy's stubtest, without the package around it."""
    (folder / MODULE.name).symlink_to(MODULE)
    (folder / "_native.pyi").write_text(stub)
    (folder / "allowed").write_text(r"_native\.__all__" + "\n")  # pyo3 makes it
    command = [sys.executable, "-m", "mypy.stubtest", "_native", "--concise"]
    return subprocess.run(
        [*command, "--allowlist", "allowed"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "MYPYPATH": str(folder)},
        capture_output=True,
        text=True,
    )


def test_the_stub_is_true(tmp_path: Path) -> None:
    result = stubtest(tmp_path, STUB.read_text())
    assert result.returncode == 0, result.stdout + result.stderr


WRONG = (
    ("def profiles()", "def kernels()", "_native.kernels is not present at runtime"),
    ("scenario_json: str,", "scenario: str,", "_native.run is inconsistent"),
    ("packets: bool = False,", "packets: bool = True,", "_native.analyze is inconsistent"),
    ("    def digest(self)", "    def hash(self)", "_native.RunOutput.digest is not present"),
)
"""A part of the stub, a wrong replacement, and the complaint about it."""


def test_a_stub_that_is_wrong_is_found(tmp_path: Path) -> None:
    stub = STUB.read_text()
    for true, wrong, _ in WRONG:
        assert true in stub
        stub = stub.replace(true, wrong)
    result = stubtest(tmp_path, stub)
    assert result.returncode == 1
    assert [complaint for *_, complaint in WRONG if complaint not in result.stdout] == []
