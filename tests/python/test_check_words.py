"""The tool that refuses names and phrases which tools/words.toml rules out."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Said = pytest.CaptureFixture[str]


def check(root: Path, *arguments: str) -> int:
    """The exit status of the tool."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import check_words
    finally:
        sys.path.pop(0)
    return check_words.main(list(arguments), root)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a participle and two types of a name, both recorded."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "words.toml", tmp_path / "tools")
    write(tmp_path, "crates/a/src/lib.rs", "pub struct Entry;\nfn kept() {}\nfn feed() {}\n")
    write(tmp_path, "crates/b/src/lib.rs", "pub struct Entry;\n")
    write(
        tmp_path,
        "tools/words_baseline.toml",
        "[participles]\nkept = 1\n[types]\n'rust Entry' = 2\n",
    )
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_the_project_has_no_more_than_its_baseline(capsys: Said) -> None:
    status = check(ROOT)
    assert (status, capsys.readouterr().out) == (0, "")


def test_recorded_names_pass(project: Path) -> None:
    assert check(project) == 0


NEW = {
    "a participle in Rust": ("crates/b/src/b.rs", "fn kept() {}", "participles: kept: found 2"),
    "a regular one in Python": ("python/narrows/b.py", "def _placed(): ...", "participles: placed"),
    "a shared name of a type": ("crates/b/src/b.rs", "pub enum Entry {}", "rust Entry: found 3"),
    "a coinage in a name": ("crates/b/src/b.rs", "struct SpillShelf;", "words: shelf"),
    "a coinage as a file": ("python/narrows/workshop.py", "", "words: workshop"),
    "a fraction in words": ("docs/a.md", "three twentieths either way", "phrases:"),
    "a participle in a test": ("crates/b/tests/b.rs", "fn kept() {}", "participles: kept: found 2"),
    "a participle in a tool": ("tools/b.py", "def placed(): ...", "participles: placed"),
    "a doc line of a test": ("tests/python/b.py", '"""What is known."""', "phrases:"),
    "a doc line": ("crates/b/src/b.rs", "/// What is known.\nfn know() {}", "phrases:"),
}


@pytest.mark.parametrize(("file", "text", "found"), NEW.values(), ids=NEW.keys())
def test_new_ones_are_refused(
    project: Path, file: str, text: str, found: str, capsys: Said
) -> None:
    write(project, file, text)
    assert check(project) == 1
    assert found in capsys.readouterr().out
    assert check(project, "--shrink") == 1, "the baseline never grows"


def test_ordinary_words_pass(project: Path) -> None:
    write(project, "crates/b/src/b.rs", "fn feed() {}\nfn keep_sent_packets() {}\nstruct Entry;\n")
    write(project, "tests/a.rs", "fn told() {}")
    write(project, "CHANGELOG.md", "three twentieths")
    assert check(project) == 0


def test_what_has_gone_leaves_the_baseline(project: Path, capsys: Said) -> None:
    write(project, "crates/a/src/lib.rs", "pub struct Entry;\nfn keep() {}\n")
    assert check(project) == 1
    assert "run `python tools/check_words.py --shrink`" in capsys.readouterr().out
    assert check(project, "--shrink") == 0
    assert check(project) == 0
    assert "kept" not in (project / "tools" / "words_baseline.toml").read_text()
