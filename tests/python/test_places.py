"""Pages of many results: of sweeps and of directories, and diffs of two results."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from specimens import GOOD

from narrows.cli import main
from narrows.diff import Effect, diff
from narrows.diff.judge import exact, headline
from narrows.diff.side import changes, read, title
from narrows.errors import InputError
from narrows.metrics import equivalence
from narrows.report.shelf import items, write_index
from narrows.store import open_store
from narrows.sweeps.page import write_pages

AXES = ["--set", 'path.buffer=["0.5bdp", "2bdp"]', "--set", 'flows[0].cca=["cubic", "reno"]']


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with two runs and two sweeps."""
    folder = tmp_path_factory.mktemp("shelf")
    spec = folder / "good.toml"
    spec.write_text(GOOD)
    results = folder / "results"
    for name, more in (("a", []), ("b", ["--set", "flows[0].cca=reno"])):
        out = ["--trials", "3", "--out", str(results / name)]
        assert main(["run", str(spec), *out, *more]) == 0
    for name, more in (("s", []), ("t", ["--set", 'path.rate="4mbit"'])):
        assert main(["run", str(spec), *AXES, *more, "--out", str(results / name)]) == 0
    return results


def data_of(page: Path) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text())
    assert found is not None
    known: dict[str, Any] = json.loads(found[1])
    return known


def test_a_sweep_leaves_a_page_with_every_combination(shelf: Path) -> None:
    page = shelf / "s" / "good.html"
    data = data_of(page)
    assert [axis["place"] for axis in data["axes"]] == ["path.buffer", "flows[0].cca"]
    assert [axis["numeric"] for axis in data["axes"]] == [True, False]
    assert len(data["cells"]) == 4
    assert data["columns"][0] == "utilization"
    table = {name: cell["values"] for name, cell in enumerate(data["cells"])}
    assert all(0.5 < values["utilization"][0] <= 1.001 for values in table.values())
    for cell in data["cells"]:
        for run in cell["runs"]:
            assert (page.parent / run["page"]).is_file()
    assert "://" not in re.sub(r"<script nonce=.*?</script>", "", page.read_text(), flags=re.DOTALL)


def test_pages_of_runs_share_the_chart_library(shelf: Path) -> None:
    pages = sorted((shelf / "s" / "pages").glob("*.html"))
    assert len(pages) == 4
    html = pages[0].read_text()
    assert '<script src="plotly-basic.min.js" nonce="' in html
    assert (shelf / "s" / "pages" / "plotly-basic.min.js").is_file()
    assert pages[0].stat().st_size < 300_000
    assert 'href="../' not in html, "the files of a store change when parts are merged"


def test_failures_stand_on_the_page(shelf: Path, tmp_path: Path) -> None:
    place = tmp_path / "copy"
    shutil.copytree(shelf / "s", place)
    store = open_store(place)
    key = store.study_runs("good")["run"][0]
    store.discard(key)
    record = {"run": key, "seed": 1, "cell": "path.buffer=0.5bdp", "error": "<b>out of luck</b>"}
    (place / "failures" / f"{key}.json").write_text(json.dumps(record))
    [page] = write_pages(place)
    html = page.read_text()
    assert "1 run failed" in html
    assert "&lt;b&gt;out of luck&lt;/b&gt;" in html
    assert "3 of 4 runs" in html


def test_a_directory_is_listed_and_has_a_page(
    shelf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {item.path: item for item in items(shelf)}
    assert {path: item.kind for path, item in found.items() if path in "abst"} == {
        "a": "run", "b": "run", "s": "sweep", "t": "sweep",
    }  # fmt: skip
    assert found["a"].state == "3 runs on sim"
    assert found["s"].page == "s/good.html"
    page = write_index(shelf)
    addresses = re.findall(r'href="([^"]+)"', page.read_text())
    assert {"a/report.html", "s/good.html"} <= set(addresses)
    assert all((shelf / address).is_file() for address in addresses)
    assert main(["list", "results", str(shelf), "--json"]) == 0
    assert {item["path"] for item in json.loads(capsys.readouterr().out)} >= set("abst")
    assert main(["open", str(shelf / "a"), "--no-show"]) == 0
    assert capsys.readouterr().out.strip() == str(shelf / "a" / "report.html")


def test_results_themselves_are_listed(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (run,), (sweep,) = items(shelf / "a"), items(shelf / "s")
    assert (run.path, run.kind, run.page) == ("a", "run", "a/report.html")
    assert (sweep.path, sweep.kind) == ("s", "sweep")
    monkeypatch.chdir(shelf / "a")
    assert items(".") == [run]


def test_no_directory_of_results_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such directory"):
        items(tmp_path / "nothing")


def test_a_diff_of_runs_says_what_was_changed_and_what_became_of_it(
    shelf: Path, tmp_path: Path
) -> None:
    made = diff(shelf / "a", shelf / "b", tmp_path / "out")
    assert made.changes == [("flows[0].cca", "cubic", "reno")]
    rows = {row.metric: row for row in made.rows}
    # One class was renamed: the flows are the same.
    assert rows["cubic.goodput_mbps"].label.endswith("CUBIC \N{RIGHTWARDS ARROW} Reno")
    assert made.title == "CUBIC \N{RIGHTWARDS ARROW} Reno"
    assert [row.metric for row in headline(made.rows)] == [
        "cubic.goodput_mbps", "cubic.delay_mean_ms", "loss_rate", "utilization",
    ]  # fmt: skip
    told = list(made.lines())
    assert sum(line.endswith("too few values") for line in told) <= 6
    more = len(list(made.lines(whole=True))) - len(told)
    assert more > len(headline(made.rows))
    html = made.page.read_text()
    assert "flows[0].cca" in html
    assert 'id="compare-data"' in html
    assert json.loads((tmp_path / "out" / "diff.json").read_text())["kind"] == "run"
    assert any("cubic" in line for line in made.lines())


def test_a_title_says_what_differs(shelf: Path) -> None:
    first, second = read(shelf / "a", "A"), read(shelf / "b", "B")
    assert title(first, second, [("path.queue", "default", "fq_codel")]).startswith(
        "Queue: default"
    )
    assert "4 changes" in title(first, second, [("path.loss", "0", "1")] * 4)
    assert title(first, first, []).endswith("the same specification twice")


def test_a_change_is_told_if_the_interval_does_not_hold_zero(tmp_path: Path) -> None:
    spec = tmp_path / "noisy.toml"
    spec.write_text(GOOD + '[host]\njitter = "2ms"\n')
    for name, more in (("a", []), ("b", ["--set", "path.rate=4mbit"])):
        out = ["--trials", "4", "--out", str(tmp_path / name)]
        assert main(["run", str(spec), *out, *more]) == 0
    rows = diff(tmp_path / "a", tmp_path / "b", tmp_path / "out").rows
    told = {row.metric: row.change for row in rows}
    assert told["cubic.goodput_mbps"] is Effect.WORSE
    for row in rows:
        if row.interval is not None and row.interval[0] < 0 < row.interval[1]:
            assert row.change is Effect.UNCLEAR


def test_the_same_result_twice_has_no_difference(shelf: Path, tmp_path: Path) -> None:
    made = diff(shelf / "a", shelf / "a", tmp_path / "out")
    assert made.changes == []
    assert {row.change for row in made.rows} <= {
        Effect.SAME,
        Effect.UNCLEAR,
        Effect.UNKNOWN,
    }
    assert all(row.apart.mean == 0 for row in made.rows)


def test_trials_that_are_one_run_tell_nothing_about_chance(shelf: Path, tmp_path: Path) -> None:
    made = diff(shelf / "a", shelf / "b", tmp_path / "out")
    goodput = next(row for row in made.rows if row.metric == "cubic.goodput_mbps")
    assert goodput.apart.mean != 0  # yet no interval of no width is told as certainty
    assert goodput.interval is None
    assert goodput.change is Effect.UNKNOWN
    assert "jitter" in list(made.lines())[-2]


def test_a_diff_of_sweeps_goes_by_combination(shelf: Path, tmp_path: Path) -> None:
    made = diff(shelf / "s", shelf / "t", tmp_path / "out")
    assert ("path.rate", "8mbit", "4mbit") in made.changes
    [row] = [row for row in made.rows if row.metric == "cubic.goodput_mbps"]
    assert row.cells == 2  # the combinations with CUBIC
    assert row.second < row.first
    assert "grid" in made.page.read_text()


def test_a_run_and_a_sweep_cannot_be_compared(shelf: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a run and a sweep"):
        diff(shelf / "a", shelf / "s", tmp_path / "out")
    assert changes(read(shelf / "a", "A"), read(shelf / "a", "B")) == []


def test_what_only_rounding_parts_is_equal() -> None:
    noise = equivalence.of_means([1.0, 1.0 + 2e-16, 1.0], [1.0, 1.0, 1.0 - 1e-16])
    assert noise.half_width > 0
    settled = exact(noise, 1.0)
    assert (settled.mean, settled.half_width) == (0.0, 0.0)
    real = equivalence.of_means([1.0, 1.1, 1.0], [2.0, 2.1, 2.0])
    assert exact(real, 2.1) is real
