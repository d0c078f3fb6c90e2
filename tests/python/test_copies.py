"""The files that a specification refers to are beside the pages, so that their commands work."""

from __future__ import annotations

from pathlib import Path

import pytest
from specimens import run_cli

import narrows
from narrows.spec.copies import names_of_copies, refer_to_copies

SPEC = """
name = "replay"
path = { rate = "12mbit", rtt = "20ms", buffer = "1bdp", service = { kind = "trace", file = "../link.up" } }
flows = [{ cca = "cubic" }]
run = { duration = "2s" }
"""  # noqa: E501


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "specs").mkdir()
    (tmp_path / "link.up").write_text("".join(f"{time}\n" for time in range(1, 1000, 2)))
    (tmp_path / "specs" / "other.up").write_text("1\n10\n")
    file = tmp_path / "specs" / "replay.toml"
    file.write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return file


def test_files_of_one_name_have_different_copies() -> None:
    copies = names_of_copies(["a/link.up", "/b/link.up", "LINK.up"], "inputs")
    assert list(copies.values()) == ["inputs/link.up", "inputs/link-2.up", "inputs/LINK-3.up"]


def test_only_references_are_renamed() -> None:
    text = 'name = "x"\nsize = { file = "x" }\n"path.service.file" = [\n"x", \'y\']\n'
    copies = {"x": "inputs/x", "y": "inputs/y"}
    named, size, *axis = refer_to_copies(text, copies).splitlines()
    assert named == 'name = "x"'
    assert size == 'size = { file = "inputs/x" }'
    assert axis == ['"path.service.file" = [', '"inputs/x", "inputs/y"]']


def test_a_result_elsewhere_is_run_from_the_copies(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = narrows.run(spec, out="made")
    moved = tmp_path / "far" / "away"
    moved.parent.mkdir()
    Path("made").rename(moved)
    (tmp_path / "link.up").unlink()
    monkeypatch.chdir(moved)
    again = narrows.run("spec.toml", out=tmp_path / "again")
    assert again.trials[0].info.digest == made.trials[0].info.digest
    assert 'href="inputs/link.up"' in Path("report.html").read_text()


def test_a_study_elsewhere_is_run_from_the_copies(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    axis = 'path.service.file=["../link.up", "other.up"]'
    filtered = ["--set", axis, "--filter", "path.service.file=../link.up"]
    assert run_cli("run", str(spec), *filtered, "--out", "made") == 0
    moved = tmp_path / "far" / "away"
    moved.parent.mkdir()
    Path("made").rename(moved)
    monkeypatch.chdir(moved)
    assert "path.service.file=replay-inputs/link.up" in Path("replay.html").read_text()
    again = ["--filter", "path.service.file=replay-inputs/link.up", "--out", "again"]
    assert run_cli("run", "replay.toml", *again) == 0
    page = next(Path("pages").glob("*.html")).read_text()
    assert "--set path.service.file=replay-inputs/link.up" in page
