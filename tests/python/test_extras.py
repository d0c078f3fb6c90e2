"""A plain installation does everything but what its few extras say, and loads only what it uses."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from specimens import GOOD

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def packages(requirements: list[str]) -> set[str]:
    return {line.split(">")[0] for line in requirements}


def extras() -> dict[str, set[str]]:
    """The packages of each extra."""
    return {name: packages(lines) for name, lines in PROJECT["optional-dependencies"].items()}


def test_a_plain_installation_has_the_packages_of_most_commands() -> None:
    assert packages(PROJECT["dependencies"]) == {
        "jinja2", "matplotlib", "numpy", "polars", "rich", "typer",
    }  # fmt: skip
    known = extras()
    assert known.keys() == {"all", "cloud", "cluster", "dev", "gym", "search"}
    assert all(extra <= known["dev"] for extra in known.values())
    assert known["all"] == set().union(*(known[name] for name in known.keys() - {"all", "dev"}))


def test_the_page_on_installing_names_every_extra() -> None:
    page = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    assert set(re.findall(r"narrows\[(\w+)\]", page)) == extras().keys() - {"dev"}


def test_the_lock_of_a_plain_installation_is_a_part_of_the_developers_one() -> None:
    plain, developers = (
        dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / name).read_text("utf-8"), re.MULTILINE))
        for name in ("requirements.lock", "requirements-dev.lock")
    )
    assert packages(PROJECT["dependencies"]) <= plain.keys()
    assert plain.items() <= developers.items()


BLOCKED = """
import sys

for name in sys.argv[1].split(","):
    sys.modules[name] = None
from narrows.cli import main

sys.exit(main(sys.argv[2:]))
"""
"""A Python in which some packages can't be imported."""


WEB = """
[[flows]]
name = "web"
cca = "bbr"
workload = { kind = "requests", size = "20kb", think = "100ms" }
"""
EXPECT = """
[[check]]
series = "cubic.cwnd"
take = "mean"
at_least = 1
"""


def without(names: str, *words: str) -> None:
    """Runs a separate command, since others here have loaded the packages."""
    command = [sys.executable, "-c", BLOCKED, names, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_run_and_its_page_load_neither_polars_nor_matplotlib(tmp_path: Path) -> None:
    spec = tmp_path / "web.toml"
    spec.write_text(GOOD + WEB + EXPECT)
    heavy, result = "matplotlib,polars", str(tmp_path / "r")
    without(heavy, "run", str(spec), "--trials", "3", "--out", result)
    page = (tmp_path / "r" / "report.html").read_text()
    (tmp_path / "r" / "report.html").unlink()
    without(heavy, "open", "--no-show", "--rebuild", result)
    assert (tmp_path / "r" / "report.html").read_text() == page


def test_a_plain_installation_sweeps_draws_and_compares(tmp_path: Path) -> None:
    """Without the packages of any extra."""
    absent = ",".join(sorted(name.partition("[")[0] for name in extras()["all"]))
    spec, store, result = tmp_path / "good.toml", str(tmp_path / "s"), str(tmp_path / "r")
    spec.write_text(GOOD)
    without(absent, "run", str(spec), "--set", 'path.buffer=["1bdp", "2bdp"]', "--out", store)
    metric = ("--metric", "utilization")
    without(absent, "figure", store, "lines", *metric, "--out", str(tmp_path / "lines"))
    without(absent, "run", str(spec), "--out", result, "--png", "--pcap")
    without(absent, "diff", result, result, "--out", str(tmp_path / "d"))
    captures = sorted((tmp_path / "r").rglob("*.pcapng"))
    without(absent, "analyze", str(captures[0]), "--out", str(tmp_path / "a"))
    assert (tmp_path / "lines.png").is_file()
