"""Names from somebody's specification stay names: in tables, in pages and as files."""

from __future__ import annotations

import csv
import json
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from specimens import GOOD, run_cli, scenario_of, write

from narrows.compare.judge import Comparison
from narrows.compare.quantities import ComparedQuantity
from narrows.compare.table import write_cells
from narrows.exchange import export_run, table
from narrows.figures import interactive
from narrows.figures.model import Figure, Guide, Line, Panel, Stack
from narrows.report.single import page
from narrows.store.cells import as_written, harmless, harmless_frame
from narrows.store.intact import seal
from narrows.store.slug import slug, slugs

FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "-", "\t=1", '=HYPERLINK("x")')
NUMBERS = ("-5", "+3", "-1.5e-3", "1e9", "-.5")
TAGS = "</script><!--<script>alert(1)</script>"
FLOWS = f"""
[[flows]]
name = "../../f"
cca = "cubic"

[[flows]]
name = "=1+1"
cca = "reno"

[[flows]]
name = "{TAGS}"
cca = "bbr"
"""


@pytest.fixture(scope="module")
def hostile_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result of a run whose flows have such names."""
    place = tmp_path_factory.mktemp("deep") / "within"
    place.mkdir()
    text = GOOD[: GOOD.index("[[flows]]")] + FLOWS + GOOD[GOOD.index("[run]") :]
    assert run_cli("run", write(place, text), "--out", str(place / "out")) == 0
    return place / "out"


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_becomes_text(text: str) -> None:
    assert harmless(text) == f"'{text}"
    frame = harmless_frame(pl.DataFrame({text: [text, None]}))
    assert frame.to_dict(as_series=False) == {f"'{text}": [f"'{text}", None]}
    assert as_written(frame)[f"'{text}"].to_list() == [text, None]


@pytest.mark.parametrize("text", [*NUMBERS, "bbr", "", "a=b", "'quoted"])
def test_numbers_and_plain_words_stay_as_they_are(text: str) -> None:
    assert harmless(text) == text
    frame = pl.DataFrame({"a": [text], "b": [-5], "c": [-0.5]})
    assert harmless_frame(frame).equals(frame)
    assert as_written(frame).equals(frame)


@pytest.mark.parametrize("name", ["summary", "flows"])
def test_no_cell_of_an_export_is_a_formula(hostile_result: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / "table.csv"
    assert run_cli("export", str(hostile_result), name, "--out", str(file)) == 0
    for rows in (file, hostile_result / "summary.csv"):
        cells = [
            cell
            for row in csv.reader(rows.read_text(encoding="utf-8").splitlines())
            for cell in row
        ]
        assert any(cell.startswith("'=1+1") for cell in cells)
        assert [c for c in cells if c[:1] in "=+-@" and c and not _number(c)] == []


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_names_come_back_when_an_export_is_imported() -> None:
    columns = {"name": ["=1+1", "bbr"], "time_s": [1.0, 1.0], "received_bytes": [10, 20]}
    content = harmless_frame(pl.DataFrame(columns)).write_csv().encode()
    assert b"'=1+1" in content
    assert {flow.name for flow in table.read(content, "x").flows} == {"=1+1", "bbr"}


def test_a_flow_is_no_path(hostile_result: Path, tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    paths = export_run(hostile_result, "iperf3", inner / "run")
    assert {path.parent for path in paths} == {inner}
    assert {path.name for path in paths} == {path.name for path in inner.iterdir()}
    assert sorted(tmp_path.iterdir()) == [tmp_path / "a"]
    assert "run-f.json" in {path.name for path in paths}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("../../f", "f"),
        ("..", "study"),
        ("/etc/passwd", "etc-passwd"),
        (".hidden", "hidden"),
        ("a b", "a-b"),
        ("x" * 99, "x" * 80),
        ("bbr-1", "bbr-1"),
    ],
)
def test_file_names_from_texts(text: str, name: str) -> None:
    assert slug(text) == name


def test_file_names_fit_and_differ() -> None:
    assert len(slug("\N{GRINNING FACE}\N{CJK UNIFIED IDEOGRAPH-4E2D}" * 90).encode()) <= 200
    assert slugs(["a/b", "a-b", "A-B", "c"], "flow") == [
        "a-b-flow0",
        "a-b-flow1",
        "A-B-flow2",
        "c",
    ]


class Tags(HTMLParser):
    """The tags of a page outside its scripts, and the contents of its script elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.append(tag)


def line(name: str) -> Line:
    return Line(name, np.arange(3.0), np.arange(3.0), "bbr")


@pytest.mark.parametrize("stack", [Stack((0.0, 2.0)), None], ids=["stack", "grid"])
def test_a_name_cannot_swallow_the_page_of_a_figure(stack: Stack | None) -> None:
    def html(name: str) -> str:
        guides = (Guide(1.0, name),)
        panel = Panel(name, name, (line(name),), name, guides=guides, ticks=((1.0, name),))
        return page(Figure(name, name, (panel, panel), name, name="f", stack=stack))

    attack, plain = html(TAGS), html("plain")
    assert attack.count("<!--") == plain.count("<!--")
    assert attack.count("<script") == plain.count("<script")
    assert Tags(attack).tags == Tags(plain).tags


def test_markup_in_a_name_means_nothing_to_plotly() -> None:
    name = '<a href="https://example.org">here</a>'
    (plot,) = interactive.plots(Figure("", "", (Panel(name, name, (line(name),), name),), ""))
    assert plot.data[0]["name"].startswith("&lt;a href")
    assert plot.layout["title"]["text"].startswith("&lt;a href")
    assert "<" not in plot.json()


@pytest.mark.parametrize("name", FORMULAS)
def test_a_name_is_no_formula_in_the_cells_of_a_comparison(name: str, tmp_path: Path) -> None:
    measured = dict.fromkeys(("sim", "uml"), [{ComparedQuantity("share", name): 0.5}] * 3)
    engines = {"sim": "1", "uml": "2"}
    made = Comparison(name, "a path", scenario_of(), (name,), engines, measured)
    write_cells([made], tmp_path / "cells.csv")
    with (tmp_path / "cells.csv").open(encoding="utf-8", newline="") as file:
        _, (case, *rest) = csv.reader(file)
    assert (case, rest[4]) == ("'" + name, "'" + name)


def test_a_name_cannot_swallow_the_page_of_a_result(hostile_result: Path) -> None:
    html = (hostile_result / "report.html").read_text(encoding="utf-8")
    assert "<!--<script>alert" not in html
    assert "&lt;!--&lt;script&gt;alert(1)" in html
    assert Tags(html).tags.count("main") == 1


def test_no_escape_of_a_terminal_reaches_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    attack = "\x1b]0;pwned\x07\x1b[2J"
    unknown = GOOD.replace("[run]", f"[run]\n{json.dumps(attack)} = 1")
    assert run_cli("validate", write(tmp_path, unknown, "unknown.toml")) == 2
    assert is_harmless(capsys.readouterr())
    place = tmp_path / "shelf" / attack
    place.mkdir(parents=True)
    short = ["--set", "run.duration=1s", "--set", "run.warmup=0.2s"]
    assert run_cli("run", write(tmp_path, GOOD), *short, "--out", str(place / "result")) == 0
    shutil.move(place / "result", place.parent / f"{attack}result")
    manifest = place.parent / f"{attack}result" / "manifest.json"
    document = json.loads(manifest.read_text())
    document["groups"] = [attack]
    manifest.write_text(json.dumps(seal(document, manifest.parent)))
    capsys.readouterr()
    for command in ("ls", "verify"):
        run_cli(command, str(place.parent))
        assert is_harmless(capsys.readouterr()), command


def is_harmless(said: Any) -> bool:
    """Returns True if something was said, without a character that a terminal obeys."""
    text = said.out + said.err
    return bool(text) and all(char.isprintable() or char == "\n" for char in text)
