"""Pages promise `pip install narrows` exactly if this version is on the package index."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from narrows.version import PUBLISHED, __version__

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "experiments").rglob("*.md")),
]
FIRST = ("README.md", "docs/index.md", "docs/how-to/install.md")
"""Pages that say how to install narrows."""
INSTALL = re.compile(r"(?:uv )?pip install [^\n`#|]*|uvx [^\n`#|]*|uv tool [^\n`#|]*")
FOLDERS = ("--find-links", "--index-url", "--editable", "-e")
"""Options of pip that name where narrows comes from."""
NOT_YET = f"narrows {__version__} isn't on the package index yet"


def promises(text: str) -> list[str]:
    """The commands of a text that take narrows itself from the package index.

    A single extra by its name doesn't count: it is added to an installed narrows, which pip keeps.
    """
    return [one for one in INSTALL.findall(text) if _from_the_index(one)]


def _from_the_index(line: str) -> bool:
    try:
        words = shlex.split(line)
    except ValueError:  # a command inside a quotation
        words = line.split()
    if set(words) & set(FOLDERS):
        return False
    names = {word.strip("'\".,;)") for word in words[1:]}
    return bool(names & {"narrows", "narrows[all]"})


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("    pip install 'narrows[all]'", 1),
        ("    pip install narrows   # Linux", 1),
        ("with `uvx narrows run a.toml` or", 1),
        ("    uv pip install narrows", 1),
        ("    pip install --find-links dist narrows", 0),
        ("    pip install --find-links dist 'narrows[all]'", 0),
        ("    pip install 'narrows[gym]' cmaes", 0),
        ("    pip install dist/narrows-0.1.0.whl", 0),
        ("`pip install uv`", 0),
    ],
)
def test_a_promise_is_recognised(text: str, found: int) -> None:
    assert len(promises(text)) == found


@pytest.mark.skipif(PUBLISHED, reason="this version is on the package index")
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_page_promises_what_is_not_published(page: Path) -> None:
    assert promises(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", FIRST)
def test_the_pages_for_beginners_follow_the_constant(page: str) -> None:
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert (NOT_YET in text) != PUBLISHED
    assert bool(promises(text)) == PUBLISHED
    assert PUBLISHED or "make setup" in text


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_who_reads_of_an_extra_finds_how_to_install_narrows(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if re.search(r"pip install[^\n]*narrows\[", text) and page.name != "install.md":
        assert "install.md" in text
