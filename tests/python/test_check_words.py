"""The tool that refuses names and phrases which tools/words.toml rules out."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Said = pytest.CaptureFixture[str]


def check(root: Path) -> int:
    """The exit status of the tool."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import check_words
    finally:
        sys.path.pop(0)
    return check_words.main(root)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a type that an adapter presents under its name."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "words.toml", tmp_path / "tools")
    write(tmp_path, "crates/a/src/lib.rs", "pub struct Entry;\nfn feed() {}\n")
    write(tmp_path, "crates/python/src/lib.rs", "pub struct Entry;\n")
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_the_project_has_none(capsys: Said) -> None:
    status = check(ROOT)
    assert (status, capsys.readouterr().out) == (0, "")


def test_a_presented_type_passes(project: Path) -> None:
    assert check(project) == 0


NEW = {
    "a participle in Rust": ("crates/b/src/b.rs", "fn kept() {}", "participles: kept: found 1"),
    "a regular one in Python": ("python/narrows/b.py", "def _placed(): ...", "participles: placed"),
    "a class": ("python/narrows/b.py", "class Kept:\n    pass", "participles: Kept"),
    "a regular class": ("python/narrows/b.py", "class _Placed: ...", "participles: Placed"),
    "a type in Rust": ("crates/b/src/b.rs", "pub(crate) struct Kept(u8);", "participles: Kept"),
    "a regular type": ("crates/b/src/b.rs", "    type Placed = u8;", "participles: Placed"),
    "a type of a test in Rust": ("crates/b/tests/b.rs", "enum Kept {}", "participles: Kept"),
    "a class of a test": ("tests/python/b.py", "class Kept:\n    pass", "participles: Kept"),
    "a shared name of a type": ("crates/b/src/b.rs", "pub enum Entry {}", "rust Entry: found 2"),
    "a name twice in an adapter": ("crates/python/src/b.rs", "pub enum Entry {}", "rust Entry"),
    "a coinage in a name": ("crates/b/src/b.rs", "struct SpillShelf;", "words: shelf"),
    "a coinage as a file": ("python/narrows/workshop.py", "", "words: workshop"),
    "a fraction in words": ("docs/a.md", "three twentieths either way", "phrases:"),
    "a participle in a test": ("crates/b/tests/b.rs", "fn kept() {}", "participles: kept: found 1"),
    "a participle in a tool": ("tools/b.py", "def placed(): ...", "participles: placed"),
    "a participle in JavaScript": ("playground/b.js", "function kept() {}", "participles: kept"),
    "an arrow function": (
        "tools/site/b.js",
        "  const kept = (a) => a;",
        "participles: kept: found 1",
    ),
    "a participle in tests": (
        "crates/b/src/b/tests.rs",
        "fn kept() {}",
        "participles: kept: found 1",
    ),
    "a participle in an example": ("experiments/a/b.py", "def kept(): ...", "participles: kept"),
    "a test named by its subject": ("tests/python/b.py", "def test_jain() -> None:", "phrases:"),
    "a test in Rust": ("crates/b/src/b.rs", "    #[test]\n    fn cube_roots() {", "phrases:"),
    "a doc line of a test": ("tests/python/b.py", '"""What is known."""', "phrases:"),
    "a doc line of a field": ("crates/b/src/b.rs", "/// Whether it is.\na: bool,", "phrases:"),
    "a doc line of a function": ("python/narrows/b.py", '    """Whether it is."""', "phrases:"),
    "a doc line": ("crates/b/src/b.rs", "/// What is known.\nfn know() {}", "phrases:"),
}


@pytest.mark.parametrize(("file", "text", "found"), NEW.values(), ids=NEW.keys())
def test_names_and_phrases_are_refused(
    project: Path, file: str, text: str, found: str, capsys: Said
) -> None:
    write(project, file, text)
    assert check(project) == 1
    assert found in capsys.readouterr().out


def test_ordinary_words_pass(project: Path) -> None:
    write(project, "crates/b/src/b.rs", "fn feed() {}\nfn keep_sent_packets() {}\nstruct Entry;\n")
    write(project, "tests/a.rs", "fn told() {}")
    write(project, "tests/python/b.py", "def test_a_sum_is_exact() -> None: ...\n")
    write(project, "playground/b.js", "const kept = find(a => a.b);\n")
    write(project, "playground/vendor/b.min.js", "function kept() {}\n")
    write(project, "CHANGELOG.md", "three twentieths")
    assert check(project) == 0
