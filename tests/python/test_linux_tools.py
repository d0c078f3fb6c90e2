"""The programs of the back ends with real kernels, built from their sources."""

from __future__ import annotations

from pathlib import Path

import pytest
from specimens import run_cli

from narrows.backends.linux import tools
from narrows.errors import InputError

CARGO = """#!/bin/sh
while [ "$1" != -p ]; do shift; done
mkdir -p "{target}/release" && echo built > "{target}/release/$2"
"""


def test_the_first_build_makes_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, cache = tmp_path / "workspace", tmp_path / "cache"
    target = workspace / "target"
    target.mkdir(parents=True)
    cargo = tmp_path / "bin" / "cargo"
    cargo.parent.mkdir()
    cargo.write_text(CARGO.format(target=target))
    cargo.chmod(0o755)
    monkeypatch.setenv("PATH", f"{cargo.parent}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setattr(tools, "rust_sources", lambda: workspace)
    monkeypatch.setattr(tools, "fingerprint", lambda *_: "0")
    assert tools.router_tool().read_text() == "built\n"
    assert tools.router_tool() == cache / "narrows" / "tools" / "narrows-router-0"
    (cache / "narrows" / "tools" / "narrows-router-0").chmod(0o777)
    (target / "release" / "narrows-router").write_text("somebody else's\n")
    assert tools.router_tool().read_text() == "built\n", "it isn't ours alone"
    assert tools.router_tool().stat().st_mode & 0o777 == 0o700


def test_a_listing_builds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))  # without cargo
    monkeypatch.setattr(tools, "rust_sources", lambda: tmp_path)
    monkeypatch.setattr(tools, "fingerprint", lambda *_: "0")
    assert run_cli("list", "backends") == 0
    assert "`make setup`, which builds it, would be right" in capsys.readouterr().out
    with pytest.raises(InputError, match="no cargo"):
        tools.router_tool()
