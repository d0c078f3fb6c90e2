"""The first contact: `narrows demo`, `narrows` alone, and the first screen of the help."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from specimens import run_cli

from narrows import demo
from narrows.cli import places
from narrows.cli.app import app
from narrows.cli.help import SECTIONS
from narrows.errors import NarrowsError
from narrows.reproduce.exhibit import Finding

Capture = pytest.CaptureFixture[str]
START = "import sys; from narrows.start import main; sys.exit(main())"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a demo that has run."""
    place: Path = tmp_path_factory.mktemp("demo")
    demo.compute(place)
    return place


def run_demo(out: Path, *options: str, **environment: str) -> str:
    """The output of the command in a separate process without a display."""
    command = [sys.executable, "-c", START, "demo", "--out", str(out), *options]
    done = subprocess.run(
        command, capture_output=True, check=True, env=os.environ | environment, timeout=120
    )
    return done.stdout.decode(environment.get("PYTHONIOENCODING", "utf-8"))


def test_it_shows_the_cycle_the_verdicts_and_the_page_on_one_screen(out: Path) -> None:
    lines = run_demo(out).splitlines()
    assert len(lines) <= 20
    assert max(map(len, lines[:-1])) <= 84
    assert lines[0].endswith("they take turns every 20 s.")
    assert lines[-1] == f"page: {out / 'site' / 'panaderia-fig9.html'}"
    assert (out / "site" / "panaderia-fig9.html").is_file()
    verdicts = [line for line in lines if line[:2] in ("✓ ", "✗ ", "? ")]
    assert 3 <= len(verdicts) <= 5
    assert all(re.search(r": \d", line) for line in verdicts)
    assert "Changed" not in " ".join(lines)


def test_the_sparklines_are_shares_of_one_link_and_swing(out: Path) -> None:
    bbr, cubic = (line.split()[1] for line in run_demo(out).splitlines() if "% to" in line)
    assert len(bbr) == len(cubic) == demo.COLUMNS
    heights = [[demo.LEVELS.index(block) for block in line] for line in (bbr, cubic)]
    top = len(demo.LEVELS) - 1
    assert all(abs(a + b - top) <= 1 for a, b in zip(*heights, strict=True))
    assert max(heights[0]) == top
    assert min(heights[0]) <= top / 2


def test_the_verdicts_are_those_of_the_checks(out: Path) -> None:
    made = demo.compute(out)
    findings = {f.claim: f for item in made.reproduction.made for f in item.findings}
    lines = list(demo.lines(made))
    for claim, number in demo.SHOWN:
        check = findings[claim].checks[number]
        [line] = [line for line in lines if check.statement.removesuffix(".") in line]
        assert line.startswith(demo.MARKS[check.passed])
        told = line.rpartition(": ")[2]
        assert check.measured.startswith(told.partition(" %, of")[0])
        wide = "78 ± 55" in check.measured
        assert ("of too few runs" in told) == wide
    used = {line[:2] for line in lines} & {"✗ ", "? "}
    assert used
    assert {line[1:3] for line in lines if line.startswith(("(✗", "(?"))} == used
    assert ("± 0 " in " ".join(lines)) == any(line.startswith("(± 0: ") for line in lines)


def test_without_a_cycle_it_says_so(out: Path) -> None:
    made = demo.compute(out)
    [item] = made.reproduction.made
    findings = [
        Finding(f.claim, [replace(check, passed=None) for check in f.checks]) for f in item.findings
    ]
    without = replace(made.reproduction, made=(replace(item, findings=tuple(findings)),))
    lines = list(demo.lines(replace(made, reproduction=without)))
    assert lines[0].endswith("no regular cycle was found.")
    assert sum(line.startswith("? ") for line in lines) == len(demo.SHOWN)
    assert not any("✗" in line for line in lines)


def test_earlier_runs_are_not_timed(out: Path) -> None:
    assert "9 minutes of traffic, computed earlier." in run_demo(out)


def test_a_run_that_fails_is_no_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from narrows.backends import sim

    def broken(*_: object, **__: object) -> None:
        raise NarrowsError("it broke")

    monkeypatch.setattr(sim.Simulator, "run", broken)
    assert run_cli("demo", "--out", str(tmp_path)) == 1


@pytest.mark.parametrize(
    ("words", "terminal", "display", "shown"),
    [([], True, ":0", True), ([], True, "", False), ([], False, ":0", False),
     (["--no-show"], True, ":0", False)],
)  # fmt: skip
def test_a_browser_opens_only_where_somebody_could_see_it(
    words: list[str], terminal: bool, display: str, shown: bool,
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture,
) -> None:  # fmt: skip
    opened: list[Path] = []
    monkeypatch.setattr("narrows.cli.begin.show_page", opened.append)
    monkeypatch.setattr(places.sys.stdout, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(places.sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert run_cli("demo", "--out", str(out), *words) == 0
    assert bool(opened) == shown
    assert "page: " in capsys.readouterr().out


def test_a_terminal_without_blocks_gets_question_marks(out: Path) -> None:
    assert "BBR   ????" in run_demo(out, PYTHONIOENCODING="ascii")


def test_the_command_alone_leads_to_the_first_three(capsys: Capture) -> None:
    assert run_cli() == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert max(map(len, lines)) <= 80
    for command in ("narrows demo", "narrows init fair", "narrows run fair.toml"):
        assert sum(line.startswith(f"  {command} ") for line in lines) == 1


def test_the_help_has_every_command_once_in_one_line(capsys: Capture) -> None:
    import typer

    names = [name for section in SECTIONS.values() for name in section]
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert sorted(names) == sorted(name for name, one in known.items() if not one.hidden)
    assert run_cli("--help") == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    for name in names:
        [line] = [line for line in lines if line.startswith(f"  {name} ")]
        assert line.endswith("."), line
        assert not line.endswith("...")
