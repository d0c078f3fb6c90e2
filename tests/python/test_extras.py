"""Without an extra, what needs it names it before it runs anything, and the rest works."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from specimens import GOOD

import narrows
from narrows import extras
from narrows.cli import main
from narrows.errors import InputError

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
REMEDY = "pip install 'narrows[figures]'"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A specification, in a Python without matplotlib."""
    monkeypatch.setattr(extras, "has", lambda name: name != "matplotlib")
    monkeypatch.chdir(tmp_path)
    Path("good.toml").write_text(GOOD)
    return "good.toml"


@pytest.mark.parametrize(
    "command",
    ["run good.toml --png", "compare good.toml", "evaluate cubic", "reproduce panaderia/fig9"],
)
def test_images_are_refused_before_anything_runs(
    command: str, spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == 2
    assert REMEDY in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == [spec]


def test_a_run_and_its_pages_need_no_extra(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", spec, "--out", "r"]) == 0
    assert Path("r", "report.html").is_file()
    page = ["figure", "r", "timeline", "--format"]
    assert main([*page, "html"]) == 0
    assert Path("timeline.html").is_file()
    assert main([*page, "png"]) == 2
    assert REMEDY in capsys.readouterr().err
    with pytest.raises(InputError, match="narrows\\[figures\\]"):
        narrows.open_result("r").plot()


def packages(requirements: list[str]) -> set[str]:
    return {line.split(">")[0] for line in requirements}


def test_what_is_heavy_is_an_extra_and_developers_have_it() -> None:
    project = tomllib.loads(PROJECT.read_text())["project"]
    assert packages(project["dependencies"]) <= {"jinja2", "numpy", "rich", "typer"}
    known = {name: packages(lines) for name, lines in project["optional-dependencies"].items()}
    assert {"frames", "figures", "search", "cluster", "cloud"} <= known.keys()
    assert all(extra <= known["dev"] for extra in known.values())
    assert known["all"] == set().union(*(known[name] for name in known.keys() - {"all", "dev"}))
    page = (PROJECT.parent / "docs" / "how-to" / "install.md").read_text()
    assert set(re.findall(r"narrows\[(\w+)\]", page)) == known.keys() - {"dev"}


BLOCKED = """
import sys

sys.modules["polars"] = None
from narrows.cli import main

sys.exit(main(sys.argv[1:]))
"""
"""A Python in which polars can't be imported."""


WEB = """
[[flows]]
name = "web"
cca = "bbr"
workload = { kind = "requests", size = "20kb", think = "100ms" }
"""
EXPECT = """
[[expect]]
series = "cubic.cwnd"
take = "mean"
at_least = 1
"""


def without_polars(*words: str) -> subprocess.CompletedProcess[str]:
    """A command of its own, since others here have loaded polars."""
    command = [sys.executable, "-c", BLOCKED, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_run_and_its_page_do_without_polars(tmp_path: Path) -> None:
    spec = tmp_path / "web.toml"
    spec.write_text(GOOD + WEB + EXPECT)
    done = without_polars("run", str(spec), "--trials", "2", "--out", str(tmp_path / "r"))
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "r" / "report.html").read_text()
    (tmp_path / "r" / "report.html").unlink()
    done = without_polars("report", str(tmp_path / "r"))
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "r" / "report.html").read_text() == page


@pytest.mark.parametrize(
    "command",
    [
        "sweep good.toml",
        "compare good.toml",
        "evaluate cubic",
        "search cubic",
        "reproduce panaderia/fig9",
        "still-true",
        "claims",
        "verify r",
        "diff r r",
        "export r flows",
        "figure r timeline --format html",
        "import r/summary.csv",
        "analyze r.pcap",
        "run good.toml --backend uml",
        "run good.toml --backend kernel",
        "kernel list",
        "store ls r",
    ],
)
def test_frames_are_refused_before_anything_runs(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(extras, "has", lambda name: name != "polars")
    monkeypatch.chdir(tmp_path)
    Path("good.toml").write_text(GOOD)
    assert main(command.split()) == 2
    assert "pip install 'narrows[frames]'" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["good.toml"]


def test_frames_are_refused_in_python_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "has", lambda name: name != "polars")
    monkeypatch.chdir(tmp_path)
    Path("good.toml").write_text(GOOD)
    result = narrows.run("good.toml", out="r")
    assert result.explore("timeline")
    for use in (
        lambda: result.trials[0].tables["flow_samples"],
        lambda: result.flows,
        lambda: narrows.sweep("good.toml"),
    ):
        with pytest.raises(InputError, match="narrows\\[frames\\]"):
            use()
