"""The cookbook: its pages print what they show, and draw their pictures."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from documented import shows

ROOT = Path(__file__).parents[2]
try:
    sys.path.insert(0, str(ROOT / "tools"))
    import draw_cookbook as cookbook
finally:
    sys.path.remove(str(ROOT / "tools"))

PAGES = cookbook.pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_prints_and_draws_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    for command, status, printed in cookbook.follow(page):
        assert status <= (command.words[0] in cookbook.JUDGES), command.words
        if command.output is not None:
            assert shows(command.output, printed), f"{command.words}\n{printed}"
    for name in cookbook.PICTURE.findall(page.read_text(encoding="utf-8")):
        assert len(list(tmp_path.rglob(name))) == 1, name


def test_every_question_has_its_answer_and_its_line() -> None:
    index = (cookbook.COOKBOOK / "index.md").read_text(encoding="utf-8")
    assert len(PAGES) == 12
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        question = re.match("# (.+[?])\n", text)
        assert question is not None, page
        assert f"[{question[1]}]({page.name})" in index
        assert "\n**Answer.** " in text
        assert cookbook.PICTURE.search(text), page


def test_every_picture_is_on_a_page() -> None:
    shown = {name for page in PAGES for name in cookbook.PICTURE.findall(page.read_text())}
    kept = {file.name for file in (cookbook.COOKBOOK / "images").iterdir()}
    assert kept == shown
