"""The checks of a release, in this repository and in one that isn't ready."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from narrows.spec import parse

ROOT = Path(__file__).parents[2]
FILES = (
    "Cargo.toml",
    "pyproject.toml",
    "python/narrows/version.py",
    "CITATION.cff",
    "CHANGELOG.md",
)


@pytest.fixture
def release() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "tools"))
    import release

    yield release
    sys.path.remove(str(ROOT / "tools"))


@pytest.fixture
def try_wheel() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "tools"))
    import try_wheel

    yield try_wheel
    sys.path.remove(str(ROOT / "tools"))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A repository with the files that name the version."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_every_place_has_the_same_version(release: ModuleType) -> None:
    assert list(release.versions(ROOT)) == []


@pytest.mark.parametrize("name", FILES[:4])
def test_another_version_is_found(name: str, release: ModuleType, copy: Path) -> None:
    version = release.workspace(ROOT)["package"]["version"]
    change(copy / name, version, "9.9.9")
    assert any(name in problem for problem in release.versions(copy)) or name == "Cargo.toml"
    assert list(release.versions(copy))


def test_a_release_says_that_it_is_published(release: ModuleType, copy: Path) -> None:
    file = copy / "python" / "narrows" / "version.py"
    for value, problems in (("False", 1), ("True", 0)):
        file.write_text(f'__version__ = "0.1.0"\n\nPUBLISHED = {value}\n')
        assert len(list(release.promise(copy))) == problems


def test_a_changelog_needs_a_date(release: ModuleType, copy: Path) -> None:
    (copy / "CHANGELOG.md").write_text("# Changelog\n\n## 0.1.0, unreleased\n")
    (problem,) = release.changelog(copy, "0.1.0", release.DATE)
    assert 'found "0.1.0, unreleased"' in problem
    (copy / "CHANGELOG.md").write_text(
        "# Changelog\n\n## 0.1.0, 2026-12-01\n\n## 0.0.9, unreleased\n"
    )
    assert list(release.changelog(copy, "0.1.0", release.DATE)) == []
    assert list(release.changelog(copy, "0.2.0", release.DATE))


def test_this_version_is_prepared(release: ModuleType) -> None:
    version = release.workspace(ROOT)["package"]["version"]
    assert list(release.changelog(ROOT, version, rf"unreleased|{release.DATE}")) == []


def test_a_tag_must_be_free_or_of_this_commit(release: ModuleType, copy: Path) -> None:
    def git(*words: str) -> None:
        person = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *person, *words], cwd=copy, check=True, capture_output=True)

    git("init")
    assert "uncommitted" in next(release.tags(copy, "0.1.0"))
    git("add", "--all")
    git("commit", "--message", "one")
    assert list(release.tags(copy, "0.1.0")) == []
    git("tag", "v0.1.0")
    assert list(release.tags(copy, "0.1.0")) == []
    git("commit", "--allow-empty", "--message", "two")
    assert "v0.1.0" in next(release.tags(copy, "0.1.0"))


def test_libraries_are_published_and_programs_are_not(release: ModuleType) -> None:
    for file in (ROOT / "crates").glob("*/Cargo.toml"):
        package = tomllib.loads(file.read_text())["package"]
        assert ("publish" not in package) == (file.parent.name in release.CRATES), file
        assert "publish" in package or package["description"].endswith("."), file


def test_a_wheel_is_tried_with_the_example_of_the_readme(try_wheel: ModuleType) -> None:
    example = try_wheel.example((ROOT / "README.md").read_text(encoding="utf-8"))
    assert parse(example, "README.md").spec.scenario["name"] == "bbr-and-cubic-take-turns"
    with pytest.raises(SystemExit, match="no fig9"):
        try_wheel.example("# narrows\n")
