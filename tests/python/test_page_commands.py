"""The commands on a sweep's pages repeat what the page shows."""

from __future__ import annotations

import html
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from specimens import GOOD

from narrows.api.running import sweep as sweep_in_python
from narrows.cli import main
from narrows.store import open_store
from narrows.sweeps.page import write_pages

Patch, Capture = pytest.MonkeyPatch, pytest.CaptureFixture[str]
SETS = ["--set", 'path.buffer=["0.5bdp", "1bdp", "2bdp"]', "--set", 'flows[0].cca=["bbr","reno"]']
FILTER = ["--filter", "path.buffer=0.5bdp,2bdp"]


def run_line(words: list[str], patch: Patch) -> None:
    """Runs a command line as if somebody had typed it."""
    patch.setattr(sys, "argv", ["/somewhere/bin/narrows", *words])
    assert main(words) == 0


def commands(page: Path) -> list[list[str]]:
    """The commands of a page, as words."""
    found = re.search(r"Reproduce it</h2>\s*<pre[^>]*><code>(.*?)</code>", page.read_text(), re.S)
    assert found is not None
    lines = html.unescape(found[1]).splitlines()
    return [shlex.split(line, comments=True) for line in lines]


def stored_runs(directory: Path, capsys: Capture, command: list[str], patch: Patch) -> set[str]:
    """The runs that a command of a page makes in a directory."""
    patch.chdir(directory)
    assert command[0] == "narrows"
    capsys.readouterr()
    assert main([*command[1:], "--out", str(directory / "again"), "--json"]) == 0
    return set(open_store(directory / "again").keys())


@pytest.fixture
def store(tmp_path: Path, monkeypatch: Patch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a study.toml").write_text(GOOD.replace('"good"', '"called otherwise"'))
    run_line(["run", "a study.toml", *SETS, *FILTER, "--out", "store"], monkeypatch)
    return tmp_path / "store"


def test_the_page_of_a_sweep_names_what_was_typed(
    store: Path, tmp_path: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    [page] = store.glob("*.html")
    first, second = commands(page)
    assert first == ["narrows", "run", "a study.toml", *SETS, *FILTER, "--out", "store"]
    first = first[: first.index("--out")]
    made = set(open_store(store).keys())
    assert len(made) == 4
    assert stored_runs(tmp_path, capsys, first, monkeypatch) == made
    assert stored_runs(store, capsys, second, monkeypatch) == made


def test_the_page_of_a_run_names_its_study(
    store: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    made = {}
    for page in (store / "pages").glob("*.html"):
        [command] = commands(page)
        monkeypatch.chdir(page.parent)
        capsys.readouterr()
        assert main([*command[1:], "--out", str(store / page.stem), "--json"]) == 0
        found: dict[str, Any] = json.loads((store / page.stem / "manifest.json").read_text())
        made[page.stem] = found["trials"][0]["scenario_hash"]
    assert made == {key: key for key in open_store(store).keys()}  # noqa: SIM118 (of a store)


@pytest.mark.parametrize("table", ['zip = [["flows[0].cca", "path.queue"]]', 'design = "grid"'])
def test_the_page_of_a_run_of_a_designed_study(
    table: str, tmp_path: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    spec = tmp_path / "good.toml"
    spec.write_text(f"{GOOD}\n[sweep]\n{table}\n")
    sets = ["--set", 'flows[0].cca=["bbr", "reno"]', "--set", 'path.queue=["codel", "pie"]']
    run_line(["run", str(spec), *sets, "--out", str(tmp_path / "store")], monkeypatch)
    pages = sorted((tmp_path / "store" / "pages").glob("*.html"))
    [command] = commands(pages[0])
    assert stored_runs(pages[0].parent, capsys, command, monkeypatch) == {pages[0].stem}


def test_a_sweep_from_python_names_the_file_beside_its_page(
    tmp_path: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    spec = tmp_path / "good.toml"
    spec.write_text(GOOD)
    sets = ['path.buffer=["0.5bdp", "1bdp"]']
    sweep_in_python(spec, sets, out=tmp_path / "store")
    [page] = write_pages(tmp_path / "store")
    [command] = commands(page)
    made = set(open_store(tmp_path / "store").keys())
    assert len(made) == 2
    assert stored_runs(page.parent, capsys, command, monkeypatch) == made


OWN = """
class Ten:
    def on_ack(self, sample): ...
    def on_congestion(self, event): ...
    def control(self): return 10.0
"""


def test_a_page_names_no_command_that_lacks_the_own_code(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ten.py").write_text(OWN)
    Path("own.toml").write_text(GOOD.replace('"cubic"', '"ten:Ten"'))
    typed = ["run", "own.toml", "--allow-code", "ten.py", *SETS[:2], "--out", "store"]
    run_line(typed, monkeypatch)
    [page] = Path("store").glob("*.html")
    assert commands(page) == [["narrows", *typed]]
