"""The pages of several evaluations with a suite, and the commands on them."""

from __future__ import annotations

import html
import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from test_evaluate import LAZY, suite

from narrows.cli import main
from narrows.evaluate import evaluate
from narrows.evaluate.index import folder_of
from narrows.spec.permission import allowing


def commands(page: Path) -> list[list[str]]:
    """The commands of a page, as words."""
    found = re.findall(r"<pre[^>]*>(narrows [^<]*)</pre>", page.read_text(encoding="utf-8"))
    return [shlex.split(html.unescape(one)) for one in found]


def test_another_control_leaves_the_first_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lazy.py").write_text(LAZY, encoding="utf-8")
    folder = suite(tmp_path)
    with allowing(controls=["lazy:Lazy"]):
        first = evaluate(["lazy:Lazy"], suite=folder, beside=[], out="out")
    before = {file: file.read_bytes() for file in first.out.iterdir()}
    second = evaluate(["reno"], suite=folder, beside=[], out="out")
    part = evaluate(["reno"], suite=folder, beside=[], only=["alone"], out="out")
    assert {file: file.read_bytes() for file in first.out.iterdir()} == before
    assert len({first.page, second.page, part.page}) == 3
    index = Path("out/site/index.html")
    rows = re.findall(r'<tr>\s*<td><a href="([^"]*)">(.*?)</tr>', index.read_text(), re.S)
    assert [(index.parent / page).resolve() for page, _ in rows] == [
        one.page.resolve() for one in (first, second, part)
    ]
    labelled = r'<td>(?:<span class="who">[a-z ]+: </span>)?(\d*)</td>'
    counts = [re.findall(labelled, words) for _, words in rows]
    assert counts == [["", "1", "", ""], ["1", "", "", ""], ["1", "", "", ""]]
    for made in (first, second, part):
        (link,) = re.findall(r'href="([^"]*)">All controls', made.page.read_text())
        assert (made.page.parent / link).resolve() == index.resolve()


def test_controls_with_like_names_have_folders_of_their_own(tmp_path: Path) -> None:
    def record(folder: Path, *controls: str) -> None:
        folder.mkdir(parents=True)
        document = {"controls": controls, "backend": "sim", "situations": []}
        (folder / "evaluation.json").write_text(json.dumps(document))

    first = folder_of(tmp_path, ["a:B"], "sim")
    record(first, "a:B")
    assert folder_of(tmp_path, ["a:B"], "sim") == first
    second = folder_of(tmp_path, ["a-B"], "sim")
    record(second / "only", "a-B")
    assert folder_of(tmp_path, ["a-B"], "sim") == second
    assert len({first, second, folder_of(tmp_path, ["a", "B"], "sim")}) == 3
    assert folder_of(tmp_path, ["reno"], "sim") != folder_of(tmp_path, ["reno"], "uml")


@pytest.mark.parametrize("record", ["", "[]", "{}", '{"controls": 1, "situations": []}', "[[[["])
def test_a_record_that_is_none_is_left_out(record: str, tmp_path: Path) -> None:
    folder = suite(tmp_path)
    other = tmp_path / "out" / "site" / "other"
    other.mkdir(parents=True)
    (other / "evaluation.json").write_text(record)
    evaluate(["reno"], suite=folder, beside=[], out=tmp_path / "out")
    assert (tmp_path / "out" / "site" / "index.html").read_text().count("<tr>") == 2


def test_the_commands_of_the_pages_repeat_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = suite(tmp_path)
    typed = ["evaluate", "reno", "--suite", str(folder), "--beside", "", "--trials", "4"]
    monkeypatch.setattr(sys, "argv", ["/bin/narrows", *typed])
    place = ["--out", str(tmp_path / "out"), "--json"]
    assert main([*typed, *place]) == 0
    document = json.loads(capsys.readouterr().out)
    page = Path(document["page"])
    assert commands(page) == [["narrows", *typed]]
    from_python = evaluate(
        ["reno"], suite=folder, beside=[], trials=4, out=tmp_path / "out", only=["alone"]
    )
    assert commands(from_python.page) == [["narrows", *typed[:4], "--only", "alone", *typed[4:]]]
    assert len(commands(page.with_name("alone.html"))) == 2
    for command in commands(page.with_name("alone.html")):
        assert main([*command[1:], *place]) == 0
        again = json.loads(capsys.readouterr().out)
        assert again["situations"] == document["situations"]
