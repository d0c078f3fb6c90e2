"""The contents of a wheel; nothing is compiled here."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The build back end of a repository of its own, whose cargo makes empty programs."""
    file = REPOSITORY / "tools" / "build_backend.py"
    specification = importlib.util.spec_from_file_location("build_backend", file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    package = Path("python", "narrows")
    (tmp_path / package).mkdir(parents=True)
    shutil.copy(REPOSITORY / package / "provenance.py", tmp_path / package)
    (tmp_path / "studies" / "panaderia").mkdir(parents=True)
    for name in ("document.toml", "fig9.py", "__pycache__/fig9.pyc"):
        file = tmp_path / "studies" / "panaderia" / name
        file.parent.mkdir(exist_ok=True)
        file.touch()
    (tmp_path / "Cargo.lock").write_text("version = 4\n")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.delenv("CARGO_TARGET_DIR", raising=False)

    def compile_nothing(command: list[str], **_options: object) -> None:
        assert command[:2] == ["cargo", "build"]
        (tmp_path / "target" / "release").mkdir(parents=True)
        for name in module.PROGRAMS:
            assert name in command
            (tmp_path / "target" / "release" / name).touch()

    monkeypatch.setattr(subprocess, "run", compile_nothing)
    return module


def test_the_programs_stand_in_the_package_while_the_wheel_is_made(
    backend: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for crate in ("drill", "router", "traffic"):
        (tmp_path / "crates" / crate).mkdir(parents=True)
    place, seen = tmp_path / backend.PLACE, []

    def make(*_arguments: object) -> str:
        seen.extend(sorted(file.name for file in place.iterdir()))
        studies = tmp_path / backend.STUDIES
        files = [file for file in studies.rglob("*") if file.is_file()]
        seen.extend(sorted(str(file.relative_to(studies)) for file in files))
        return "narrows.whl"

    monkeypatch.setattr(backend.maturin, "build_wheel", make)
    assert backend.build_wheel("dist") == "narrows.whl"
    assert seen == [
        "build.json", "narrows-drill", "narrows-router", "narrows-traffic",
        "panaderia/document.toml", "panaderia/fig9.py",
    ]  # fmt: skip
    assert not place.exists()
    assert not (tmp_path / backend.STUDIES).exists()


def test_an_archive_of_the_sources_gives_a_wheel_without_programs(
    backend: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[dict[str, object]] = []

    def make(*_arguments: object) -> str:
        written.append(json.loads((tmp_path / backend.PLACE / "build.json").read_text()))
        return "narrows.whl"

    monkeypatch.setattr(backend.maturin, "build_wheel", make)
    assert backend.build_wheel("dist") == "narrows.whl"
    assert not (tmp_path / "target").exists()
    (sources,) = written
    assert sources["commit"] is None
    assert isinstance(sources["locks"], dict)
    assert list(sources["locks"]) == ["Cargo.lock"]


def test_the_wheel_includes_the_place_where_the_package_looks(backend: ModuleType) -> None:
    import tomllib

    from narrows.backends.linux import tools

    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = [i["path"] for i in project["tool"]["maturin"]["include"] if i["format"] == "wheel"]
    assert wheel == [f"{tools.INSTALLED.relative_to(REPOSITORY)}/*", f"{backend.STUDIES}/**/*"]


def test_an_installed_package_reads_the_studies_in_it(tmp_path: Path) -> None:
    place = tmp_path / "narrows"
    place.mkdir()
    for file in (REPOSITORY / "python" / "narrows").iterdir():
        (place / file.name).symlink_to(file)
    shutil.copytree(REPOSITORY / "studies", place / "studies")
    code = "from narrows.reproduce import library as l; print(l.STUDIES, *l.OURS.files('cs244'))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found, *figures = done.stdout.split()
    assert found == str(place / "studies")
    assert figures[:2] == ["cs244/fig5", "cs244/fig6"]
