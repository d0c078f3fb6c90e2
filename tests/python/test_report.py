"""The page of a results directory."""

from __future__ import annotations

import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import synthetic_result
import synthetic_run
from required import needs

from narrows import figures
from narrows.errors import StoreError
from narrows.figures.model import Figure, Line, Panel, Stack
from narrows.report import page, single, write_report
from narrows.report.conditions import conditions
from narrows.store.intact import seal


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    path = synthetic_result.write(tmp_path_factory.mktemp("results") / "run", trials=2)
    write_report(path, pictures=True)
    return path


class Reader(HTMLParser):
    """Collects what a browser would fetch, the visible words, and the embedded data."""

    def __init__(self, html):
        super().__init__()
        self.addresses, self.words, self.data, self.policy, self._where = [], [], {}, "", []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.addresses += [
            named[key] for key in ("src", "href", "data", "poster") if named.get(key)
        ]
        if named.get("http-equiv") == "Content-Security-Policy":
            self.policy = named["content"]
        if tag in ("script", "style"):
            self._where = [tag, named.get("id", "")]

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self._where = []

    def handle_data(self, data):
        if not self._where:
            self.words.append(data.strip())
        elif self._where[1].endswith("-data"):
            self.data[self._where[1]] = json.loads(data)

    @property
    def text(self):
        return " ".join(word for word in self.words if word)


@pytest.fixture(scope="module")
def reader(directory):
    return Reader((directory / "report.html").read_text())


def test_the_page_needs_nothing_but_itself(reader, directory):
    assert reader.policy.startswith("default-src 'none'")
    assert "http" not in reader.policy
    assert reader.addresses
    assert all((directory / address).is_file() for address in reader.addresses)


def test_the_page_brings_plotly_along(directory):
    assert page.plotly_js() in (directory / "report.html").read_text()


def test_the_page_stays_small(directory):
    html = (directory / "report.html").read_text()
    assert len(html) - len(page.plotly_js()) < 1_500_000


def test_the_page_says_what_ran_and_how_to_run_it_again(reader):
    for words in (
        "bbr-and-cubic-take-turns",
        "2 BBR + 2 CUBIC, 80 Mbit/s, 25 ms, buffer 1.75 BDP",
        "437\N{THIN SPACE}500 bytes = 1.75 BDP",
        "narrows 0.1.0",
        "narrows run fig9.toml --set path.buffer=1.75bdp",
        'rate = "80mbit"',
        "trial 2, seed 2",
    ):
        assert words in reader.text


def test_the_page_links_every_table(reader):
    assert {"trial-1/flow_samples.parquet", "trial-2/queue_samples.parquet"} <= set(
        reader.addresses
    )
    assert {"figure.png", "figure.svg", "spec.toml", "summary.json"} <= set(reader.addresses)


WITHOUT = {"completions", "applications", "tails"}
"""Figures of which the run has nothing: no flow of it ends or has an application."""


def test_the_page_holds_the_figures_of_every_trial(reader):
    drawn = [entry.name for entry in figures.of("run") if entry.name not in WITHOUT]
    assert {"timeline", "cwnd", "sequence", "internals"} <= set(drawn)
    each = {f"{name}-{trial}-data" for name in drawn for trial in (1, 2)}
    assert set(reader.data) == {*each, "timeline-all-data"}
    throughput = next(t for t in reader.data["timeline-1-data"]["data"] if t.get("name") == "BBR")
    assert len(throughput["x"]) == len(throughput["y"]) == 121


def test_the_summary_stands_in_the_page_as_in_the_file(reader, directory):
    run = json.loads((directory / "summary.json").read_text())["runs"][0]
    for flow in run["flows"]:
        assert f"{flow['name']} " in reader.text
        assert page.number(flow["goodput_mbps"]) in reader.words
        assert page.percent(flow["share"]) in reader.words
    assert page.percent(run["bottleneck"]["loss_rate"]) in reader.words


def test_a_figure_with_many_panels_is_folded(tmp_path, monkeypatch):
    path = synthetic_result.write(tmp_path / "run", duration_s=2.0)
    monkeypatch.setattr(page, "MOST_PANELS", 2)
    html = write_report(path).page.read_text()
    folded = html.count('<details class="more">')
    assert 4 <= folded <= html.count("<figure>") == len(figures.of("run")) - len(WITHOUT)


def test_parameters_of_a_queue_are_in_words_and_units():
    scenario = synthetic_run.scenario(20.0, synthetic_result.CCAS)
    scenario["path"]["queue"] = {"kind": "pie", "ecn": False, "target_ns": 15_000_000, "alpha": 2}
    rows = dict(conditions(scenario, synthetic_result.CCAS))
    assert rows["Queue discipline"] == "pie (ecn off, target 15 ms, alpha 2)"


def test_names_cannot_break_the_page(tmp_path):
    name = "</script><script>alert(1)</script>"
    path = synthetic_result.write(tmp_path / "run", duration_s=2.0, name=name)
    write_report(path)
    html = (path / "report.html").read_text()
    assert "<script>alert" not in html
    assert name in Reader(html).words


def test_only_scripts_of_the_page_itself_may_run(tmp_path):
    nonces = []
    for name in ("one", "two", "two"):
        path = synthetic_result.write(tmp_path / f"run{len(nonces)}", duration_s=2.0, name=name)
        write_report(path)
        html = (path / "report.html").read_text()
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
        (allowed,) = re.findall(r"script-src ([^;]*);", policy)
        scripts = re.findall(r"<script\b([^>]*)>", html)
        running = [script for script in scripts if "application/json" not in script]
        (nonce,) = set(re.findall(r'nonce="(\w{32})"', " ".join(running)))
        assert len(running) == len(re.findall("nonce=", html))
        assert allowed == f"'nonce-{nonce}'"
        nonces.append(nonce)
    assert nonces[0] != nonces[1] == nonces[2]


def test_a_run_without_samples_has_a_page_without_figures(tmp_path):
    path = synthetic_result.write(tmp_path / "run", duration_s=2.0, record="summary")
    written = write_report(path)
    assert written.pictures == ()
    reader = Reader(written.page.read_text())
    assert "No figures" in reader.text
    assert reader.data == {}
    assert written.page.stat().st_size < 50_000


def test_a_long_chain_is_cut_and_says_so(tmp_path):
    path = synthetic_result.write(tmp_path / "run", duration_s=2.0, record="summary")
    summary = json.loads((path / "summary.json").read_text())
    flow = summary["runs"][0]["flows"][0]
    summary["runs"][0]["flows"] = [flow | {"name": f"chain-{i:03}"} for i in range(120)]
    (path / "summary.json").write_text(json.dumps(summary))
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps(seal(manifest, path)))
    text = Reader(write_report(path).page.read_text()).text
    assert "chain-049" in text
    assert "chain-050" not in text
    assert "The first 50 of 120 flows; summary.csv holds them all." in text


def test_a_directory_without_a_result_is_refused(tmp_path):
    with pytest.raises(StoreError, match="results directory"):
        write_report(tmp_path)


def test_writing_again_leaves_nothing_else_behind(directory):
    before = sorted(directory.iterdir())
    write_report(directory)
    assert sorted(directory.iterdir()) == before


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "\N{EN DASH}"),
        (float("nan"), "\N{EN DASH}"),
        (0, "0"),
        (0.0, "0.00"),
        (1.5, "1.50"),
        (25.04, "25.0"),
        (123.4, "123"),
        (437500, "437\N{THIN SPACE}500"),
        (1234.5, "1\N{THIN SPACE}234"),
        (0.00123, "0.00123"),
    ],
)
def test_numbers_in_tables(value, shown):
    assert page.number(value) == shown


STAGE = """
const fs = require("fs");
const html = fs.readFileSync(process.argv[1], "utf8");
const kept = /<script type="application\\/json" id="([^"]+)-data">(.*?)<\\/script>/gs;
const scripts = [...html.matchAll(kept)];
const texts = Object.fromEntries(scripts.map((m) => [`${m[1]}-data`, m[2]]));
const div = { dataset: { run: "1" }, on() {}, closest: () => null };
const divs = scripts.map((m) => ({ ...div, id: m[1] }));
const matchMedia = () => ({ matches: false, addEventListener() {} });
globalThis.window = { matchMedia, innerWidth: 1200, addEventListener() {} };
globalThis.document = {
  documentElement: null,
  getElementById: (id) => ({ textContent: texts[id] }),
  querySelectorAll: (wanted) => (wanted === ".plot" ? divs : []),
};
globalThis.getComputedStyle = () => ({ getPropertyValue: (name) => `style of ${name}` });
globalThis.IntersectionObserver = class {
  constructor(seen) { this.seen = seen; }
  observe(target) { this.seen([{ isIntersecting: true, target }]); }
};
const drawn = [];
globalThis.Plotly = { react: (div, data, layout) => {
  drawn.push({ id: div.id, data, layout });
  return Promise.resolve();
} };
eval([...html.matchAll(/<script nonce="\\w+">(.*?)<\\/script>/gs)].at(-1)[1]);
console.log(JSON.stringify(drawn));
"""
"""A browser as far as the page's own script needs one: it prints what plotly.js would get."""


@needs("node")
@pytest.mark.parametrize("stack", [Stack((0.0, 1.0)), None], ids=["stack", "grid"])
def test_the_script_of_a_page_draws_every_plot_in_colours(tmp_path, stack):
    line = Line("@ink", np.arange(2.0), np.arange(2.0), "bbr", fill=True)
    figure = Figure("x", "", (Panel("", "", (line,)),) * 2, "", name="made-up", stack=stack)
    written = single.save_page(figure, tmp_path / "figure")
    done = subprocess.run(
        ["node", "-e", STAGE, written], capture_output=True, text=True, check=True, timeout=60
    )
    drawn = json.loads(done.stdout)
    assert len(drawn) == (1 if stack else 2)
    for plot in drawn:
        assert plot["data"]
        for trace in plot["data"]:
            assert trace["name"] == "@ink"
            assert trace["line"]["color"] == "#d55e00"
            assert trace["fillcolor"] == "#d55e0021"
        assert plot["layout"]["font"]["color"] == "style of --ink"


def test_scrollable_parts_can_be_reached_by_keyboard():
    folder = Path(page.__file__).parent / "templates"
    pages = {file.name: file.read_text() for file in folder.glob("*.jinja")}
    assert len(pages) > 5
    assert [name for name, text in pages.items() if "<pre>" in text] == []


def test_a_compiled_template_gives_the_same_page(tmp_path, monkeypatch):
    """The first page compiles its templates into the cache, the next one finds them there."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def render(name):
        page.environment.cache_clear()
        written = write_report(synthetic_result.write(tmp_path / name, trials=1))
        return written.page.read_text(encoding="utf-8")

    def list_compiled():
        return {file: file.stat().st_mtime_ns for file in tmp_path.glob("narrows/templates/*")}

    first, compiled = render("run-0"), list_compiled()
    second = render("run-1")
    page.environment.cache_clear()
    assert compiled
    assert list_compiled() == compiled
    assert first.replace("run-0", "run-1") == second


def test_a_page_needs_no_cache(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    page.environment.cache_clear()
    assert write_report(synthetic_result.write(tmp_path / "run", trials=1)).page.is_file()
    page.environment.cache_clear()
