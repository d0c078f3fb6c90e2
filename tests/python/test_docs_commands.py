"""Every command of the documentation exists, and those of most pages are run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer
from documented import Command, File, command, run_command, shows, steps

from narrows.cli.app import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *sorted(set(DOCS.rglob("*.md")) - {DOCS / "reference" / "commands.md"}),
    *sorted((ROOT / "experiments").glob("*/README.md")),
]
TEACHING = "docs/teaching/"
RUN = {
    "docs/index.md": "README.md",
    "docs/how-to/coming-from.md": "README.md",
    "docs/how-to/first-tasks.md": "README.md",
    f"{TEACHING}buffers.md": "README.md",
    f"{TEACHING}buffers-solution.md": f"{TEACHING}buffers.md",
    f"{TEACHING}own-control.md": f"{TEACHING}own-control-solution.md",
    f"{TEACHING}own-control-solution.md": "README.md",
}
"""Pages whose commands are run one after the other, as short as they can be, and the page whose
files they use. test_readme.py runs those of the README as they are printed."""
NOT_RUN = re.compile(
    r"--backend|--cluster|--watch|^(compare|evaluate|kernel|open|reproduce|search)\b"
)
"""Real kernels, networks and browsers, and commands that have their own slow tests."""
ROOT_COMMAND: Any = typer.main.get_command(app)
LATE = ("docs/how-to/first-tasks.md", f"{TEACHING}own-control-solution.md")
"""Pages with flows that start after ten seconds."""


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands(page: Path) -> list[Command]:
    return [step for step in steps(page) if isinstance(step, Command)]


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=name)
def test_every_command_and_option_exists(page: Path) -> None:
    for one in commands(page):
        known, words = ROOT_COMMAND, [word for word in one.words if word != "--version"]
        while words and hasattr(known, "commands"):
            assert words[0] in known.commands, one.words
            known, words = known.commands[words[0]], words[1:]
        with known.make_context("narrows", list(words)):
            pass


@pytest.mark.parametrize("page", RUN)
def test_the_commands_of_a_page_work(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cell.trace").write_text("".join(f"{ms}\n" for ms in range(1, 1001)))
    for step in steps(ROOT / RUN[page]):
        if isinstance(step, File):
            Path(step.name).write_text(step.text)
    for step in steps(ROOT / page):
        if isinstance(step, File):
            Path(step.name).write_text(step.text)
        elif not NOT_RUN.search(" ".join(step.words)):
            assert run_command(shorten(step.words, page), step.to)[0] == 0, step.words


def shorten(words: list[str], page: str) -> list[str]:
    """A run as short as the flows' starts allow."""
    if words[0] != "run":
        return words
    duration = "12s" if page in LATE else "2s"
    short = {"run.duration": duration, "run.warmup": "1s"}
    if page not in LATE:
        short["run.trials"] = "1"
    longer = {at for at, word in enumerate(words) if word.partition("=")[0] in short}
    others = [word for at, word in enumerate(words) if not {at, at + 1} & longer]
    return [*others, *(w for place in short for w in ("--set", f"{place}={short[place]}"))]


def test_tutorial_shows_what_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    compared = 0
    for step in steps(DOCS / "tutorial.md"):
        if isinstance(step, File):
            Path(step.name).write_text(step.text)
        elif step.output is not None:
            status, printed = run_command(step.words)
            assert status == 0, step.words
            assert shows(step.output, printed), f"{' '.join(step.words)}\n{printed}"
            compared += 1
    assert compared > 10


@pytest.mark.parametrize(
    ("shown", "printed", "alike"),
    [
        ("a\nb", "a\n\n b", True),
        ("a", "a\nb", False),
        ("a\n...", "a\nb", True),
        ("...\nb", "a\nb", True),
        ("...\na", "a\nb", False),
        ("a\n...\nd", "a\nb\nc\nd", True),
        ("a\n...\nc\nd", "a\nb\nd", False),
        ("", "a", False),
    ],
)
def test_shown_output_is_compared_with_printed(shown: str, printed: str, alike: bool) -> None:
    assert shows(shown.splitlines(), printed) == alike


def test_command_lines_are_split_like_a_shell_does() -> None:
    assert command("$ narrows run 'a b.toml' --set x=[1] # c").words == [
        "run", "a b.toml", "--set", "x=[1]",
    ]  # fmt: skip
    read = command("narrows export DIR summary > table.csv")
    assert (read.words, read.to) == (["export", "DIR", "summary"], "table.csv")
    assert command("narrows list schema | head").words == ["list", "schema"]
