"""In a checkout, a native module that is older than its sources is noticed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from narrows.cli import stale


@pytest.fixture
def checkout(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A package with a module, cargo's list of its sources, and one of them, all of one time."""
    package, listed, source = (tmp_path / name for name in ("narrows", "lib_native.d", "a b.rs"))
    package.mkdir()
    other = tmp_path / "c.rs"
    for file in (package / "_native.abi3.so", source, other):
        file.touch()
        os.utime(file, ns=(10**18, 10**18))
    escaped = str(source).replace(" ", "\\ ")
    gone = tmp_path / "gone.rs"
    listed.write_text(f"/target/lib_native.so: {other} {gone} {escaped}\n")
    return package, listed, source


def test_only_a_newer_source_is_noticed(checkout: tuple[Path, Path, Path]) -> None:
    package, listed, source = checkout
    assert stale.newer_source(package, listed) is None
    os.utime(source, ns=(10**18 + 1, 10**18 + 1))
    assert stale.newer_source(package, listed) == source


def test_without_a_list_or_a_module_nothing_is_noticed(checkout: tuple[Path, Path, Path]) -> None:
    package, listed, source = checkout
    os.utime(source, ns=(10**18 + 1, 10**18 + 1))
    assert stale.newer_source(package, listed.with_name("none.d")) is None
    assert stale.newer_source(listed.parent / "elsewhere", listed) is None


def test_it_is_said_with_the_remedy_in_one_line(
    checkout: tuple[Path, Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    package, listed, source = checkout
    monkeypatch.setattr(stale, "PACKAGE", package)
    monkeypatch.setattr(stale, "DEPENDENCIES", listed)
    stale.note_stale_module()
    assert capsys.readouterr().err == ""
    os.utime(source, ns=(10**18 + 1, 10**18 + 1))
    stale.note_stale_module()
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith(f"is older than {source}; `make setup` builds it again")
