"""The tool that finds circles between the modules of a crate, and forgotten tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Said = pytest.CaptureFixture[str]


def check(*arguments: str) -> int:
    """The exit status of the tool."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import check_modules
    finally:
        sys.path.pop(0)
    return check_modules.main(list(arguments))


def crate(place: Path, files: dict[str, str]) -> str:
    """Makes a crate of these files; gives the directory that it stands in."""
    sources = place / "crate" / "src"
    sources.mkdir(parents=True)
    (place / "crate" / "Cargo.toml").touch()
    for name, text in {"lib": "", **files}.items():
        file = sources / f"{name.replace('__', '/')}.rs"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return str(place)


def test_the_crates_have_no_circle(capsys: Said) -> None:
    status = check()
    assert (status, capsys.readouterr().out) == (0, "")


CIRCLES = {
    "of two": {"a": "use crate::b::B;", "b": "use super::a::A;"},
    "by a path in the code": {"a": "fn f() { crate::b::g() }", "b": "use crate::a::{self, A};"},
    "through what the root hands on": {
        "lib": "mod a; mod b; pub use a::A;\npub use b::{B as C};",
        "a": "use crate::C;",
        "b": "use crate::{A};",
    },
    "of a module and its child": {
        "a__mod": "mod b;\nuse b::B;\nstruct A;",
        "a__b": "use super::A;",
    },
    "of folders": {
        "a__x": "use crate::b::p::P;",
        "a__y": "struct Y;",
        "b__p": "struct P;",
        "b__q": "use crate::a::y::Y;",
    },
    "of three": {
        "a": "use crate::b::x;",
        "b": "use crate::c::{d, x as y};",
        "c": "use crate::a::*;",
    },
}

TREES = {
    "downwards": {"a": "use crate::b::B;", "b": "struct B;"},
    "only in a test": {
        "a": "use crate::b::B;",
        "b": "#[cfg(test)]\nmod tests {\nuse crate::a::A; }",
    },
    "only in a file of tests": {
        "a": "use crate::b::B;",
        "b__mod": "#[cfg(test)]\nmod tests;\nstruct B;",
        "b__tests": "use crate::a::A;",
    },
    "only in a comment": {
        "a": "use crate::b::B;",
        "b": '// use crate::a::A;\nconst X: &str = "a::b";',
    },
    "a child that is handed on": {
        "a__mod": "mod b;\npub use b::B;\nstruct A;",
        "a__b": "use super::A;",
    },
}


@pytest.mark.parametrize("case", CIRCLES)
def test_a_circle_is_found(case: str, tmp_path: Path, capsys: Said) -> None:
    assert check(crate(tmp_path, CIRCLES[case])) == 1
    assert capsys.readouterr().out.startswith("crate: a circle:\n  crate::a takes ")


@pytest.mark.parametrize("case", TREES)
def test_a_tree_is_none(case: str, tmp_path: Path, capsys: Said) -> None:
    status = check(crate(tmp_path, TREES[case]))
    assert (status, capsys.readouterr().out) == (0, "")


@pytest.mark.parametrize("path", ["crate::B", "super::B", "super::{B}", "crate::{B as C}"])
def test_an_import_through_a_module_above_is_reported(
    path: str, tmp_path: Path, capsys: Said
) -> None:
    files = {"lib": "mod a;\nmod b;\npub use b::B;", "a": f"use {path};", "b": "struct B;"}
    assert check(crate(tmp_path, files)) == 1
    assert capsys.readouterr().out == "crate: crate::a takes crate::B, which crate::b defines\n"


def test_a_file_of_tests_that_no_program_contains_is_reported(tmp_path: Path, capsys: Said) -> None:
    place = crate(tmp_path, {})
    tests = tmp_path / "crate" / "tests"
    (tests / "paths").mkdir(parents=True)
    (tests / "data").mkdir()
    for name in ("all.rs", "here.rs", "lost.rs", "paths/mod.rs", "data/table.txt"):
        (tests / name).touch()
    assert check(place) == 1
    (tests / "all.rs").write_text("mod here;\n")
    assert check(place) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[-2:] == [
        f"crate: mod {name}; is missing in tests/all.rs" for name in ("lost", "paths")
    ]
    (tests / "all.rs").write_text("mod here;\nmod lost;\nmod paths;\n")
    assert check(place) == 0
