"""Checks that links of the pages, files that they name, and those behind TCP's rules exist."""

from __future__ import annotations

import ast
import doctest
import re
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "experiments").rglob("*.md")),
]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
FILE = re.compile(r"`((?:crates|python|tests|tools|docs|experiments)/[\w./-]+\.\w+)`")
BLOCK = re.compile(r"^( *)```(toml|python)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
SIGNATURES = "docs/reference/python.md"
"""Its blocks hold signatures without bodies."""
HISTORY = ("CHANGELOG.md",)
"""Pages that speak of what was."""


def missing(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    for target in LINK.findall(text):
        if "://" not in target and not (page.parent / target).exists():
            yield target
    for target in FILE.findall(text):
        if "NAME" not in target and not (ROOT / target).exists():
            yield target


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_no_page_has_a_conflict_that_nobody_resolved() -> None:
    marks = re.compile("^(<{7}|>{7}) ", re.MULTILINE)
    assert [name(page) for page in PAGES if marks.search(page.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("page", [p for p in PAGES if name(p) not in HISTORY], ids=name)
def test_link_targets_of_a_page_exist(page: Path) -> None:
    assert list(missing(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_is_fenced_with_its_language(page: Path) -> None:
    opened, lost, before = "", [], ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        bare = line.strip()
        if bare.startswith("```"):
            if not opened and bare == "```":
                lost.append(f"line {number}: ``` found; ```bash, ```toml or ```text would be right")
            opened = "" if opened else bare
        elif not opened and line.startswith("    ") and not before and not in_list(page, number):
            lost.append(f"line {number}: indented code found; a fence would be right")
        before = bare
    assert lost == []


def in_list(page: Path, number: int) -> bool:
    """Returns True if a line belongs to an item of a list that begins above it."""
    above = page.read_text(encoding="utf-8").splitlines()[: number - 1]
    outer = next((line for line in reversed(above) if line and not line.startswith(" ")), "")
    return re.match(r"[-*] |\d+\. ", outer) is not None


@pytest.mark.parametrize("page", [p for p in PAGES if name(p) != SIGNATURES], ids=name)
def test_blocks_are_in_the_language_that_they_name(page: Path) -> None:
    for _, language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        read = tomllib.loads if language == "toml" else ast.parse
        read(textwrap.dedent(code))


def test_the_readme_sums_up_the_agreement_with_linux() -> None:
    scenarios, verdicts = 0, Counter[str]()
    for cells in sorted((ROOT / "experiments").glob("agreement*/cells.csv")):
        table = pl.read_csv(cells)
        scenarios += table["case"].n_unique()
        verdicts.update(table["verdict"])
    agree, differ, undecided = (verdicts[name] for name in ("agree", "differ", "undecided"))
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    apart = f"{differ} differ" if differ else "none differs"
    told = f"{agree} quantities agree, {apart}, and {undecided} are undecided"
    assert f"In {scenarios} scenarios {told}" in readme


def test_the_rules_of_tcp_name_the_files_that_build_them() -> None:
    text = (ROOT / "docs" / "reference" / "tcp.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line.count(" | ") == 3]
    named = {file for row in rows for file in re.findall(r"`([\w/]+\.rs)`", row[-2])}
    assert len(named) > 20
    homes = [ROOT / "crates" / crate / "src" for crate in ("tcp", "cc")]
    lost = [file for file in sorted(named) if not any((home / file).is_file() for home in homes)]
    assert lost == []


def test_the_examples_in_docstrings_give_what_they_say() -> None:
    package = ROOT / "python" / "narrows"
    files = [file for file in package.rglob("*.py") if ">>> " in file.read_text(encoding="utf-8")]
    names = [".".join(file.relative_to(package.parent).with_suffix("").parts) for file in files]
    modules = [import_module(name.removesuffix(".__init__")) for name in names]
    tried = [doctest.testmod(module) for module in modules]
    assert [result.failed for result in tried] == [0] * len(tried)
    assert sum(result.attempted for result in tried) > 0
