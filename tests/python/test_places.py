"""Pages of many results: of sweeps and of directories, and diffs of two results."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from specimens import GOOD, run_cli

from narrows.cli import main
from narrows.diff import Effect, diff
from narrows.diff.judge import documents, exact, headline, judge, pairing
from narrows.diff.side import Side, changes, read, title
from narrows.diff.text import table
from narrows.errors import InputError
from narrows.metrics import equivalence
from narrows.report.results_index import items, write_index
from narrows.store import open_store
from narrows.sweeps.page import write_pages

AXES = ["--set", 'path.buffer=["0.5bdp", "2bdp"]', "--set", 'flows[0].cca=["cubic", "reno"]']


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with two runs and two sweeps."""
    folder = tmp_path_factory.mktemp("results")
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


def test_a_sweep_leaves_a_page_with_every_combination(results: Path) -> None:
    page = results / "s" / "good.html"
    data = data_of(page)
    assert [axis["place"] for axis in data["axes"]] == ["path.buffer", "flows[0].cca"]
    assert [axis["numeric"] for axis in data["axes"]] == [True, False]
    assert len(data["cells"]) == 4
    assert data["columns"][0] == "utilization"
    table = {name: cell["values"] for name, cell in enumerate(data["cells"])}
    assert all(50 < values["utilization"][0] <= 100.1 for values in table.values())
    for cell in data["cells"]:
        for run in cell["runs"]:
            assert (page.parent / run["page"]).is_file()
    assert "://" not in re.sub(r"<script nonce=.*?</script>", "", page.read_text(), flags=re.DOTALL)


def test_pages_of_runs_share_the_chart_library(results: Path) -> None:
    pages = sorted((results / "s" / "pages").glob("*.html"))
    assert len(pages) == 4
    html = pages[0].read_text()
    assert '<script src="plotly-basic.min.js" nonce="' in html
    assert (results / "s" / "pages" / "plotly-basic.min.js").is_file()
    assert pages[0].stat().st_size < 300_000
    assert 'href="../' not in html, "the files of a store change when parts are merged"


def test_failures_stand_on_the_page(results: Path, tmp_path: Path) -> None:
    place = tmp_path / "copy"
    shutil.copytree(results / "s", place)
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
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {item.path: item for item in items(results)}
    assert {path: item.kind for path, item in found.items() if path in "abst"} == {
        "a": "run", "b": "run", "s": "sweep", "t": "sweep",
    }  # fmt: skip
    assert found["a"].state == "3 runs on sim"
    assert found["s"].page == "s/good.html"
    page = write_index(results)
    addresses = re.findall(r'href="([^"]+)"', page.read_text())
    assert {"a/report.html", "s/good.html"} <= set(addresses)
    assert all((results / address).is_file() for address in addresses)
    assert main(["list", "results", str(results), "--json"]) == 0
    assert {item["path"] for item in json.loads(capsys.readouterr().out)} >= set("abst")
    assert main(["open", str(results / "a"), "--no-show"]) == 0
    assert capsys.readouterr().out.strip() == str(results / "a" / "report.html")


def test_results_themselves_are_listed(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (run,), (sweep,) = items(results / "a"), items(results / "s")
    assert (run.path, run.kind, run.page) == ("a", "run", "a/report.html")
    assert (sweep.path, sweep.kind) == ("s", "sweep")
    assert sweep.what == "4 combinations of Buffer, Control of flow 1"
    monkeypatch.chdir(results / "a")
    assert items(".") == [run]


def test_no_directory_of_results_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such directory"):
        items(tmp_path / "nothing")


def test_a_directory_without_results_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "results", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"no results in {tmp_path}\n"


def test_a_diff_of_runs_says_what_was_changed_and_what_became_of_it(
    results: Path, tmp_path: Path
) -> None:
    made = diff(results / "a", results / "b", tmp_path / "out")
    assert made.changes == [("flows[0].cca", "cubic", "reno")]
    rows = {row.metric: row for row in made.rows}
    # One class was renamed: the flows are the same.
    label = rows["cubic.goodput_mbps"].label
    assert label == "Goodput of CUBIC \N{RIGHTWARDS ARROW} Reno (Mbit/s)"
    assert made.title == "CUBIC \N{RIGHTWARDS ARROW} Reno"
    assert [row.metric for row in headline(made.rows)] == [
        "cubic.goodput_mbps", "cubic.delay_mean_ms", "cubic.retransmits",
        "loss_rate", "drops", "utilization",
    ]  # fmt: skip
    told = list(made.lines())
    assert sum(line.endswith("too few values") for line in told) <= 8
    more = len(list(made.lines(whole=True))) - len(told)
    assert more > len(headline(made.rows))
    html = made.page.read_text()
    assert "flows[0].cca" in html
    assert 'id="compare-data"' in html
    assert json.loads((tmp_path / "out" / "diff.json").read_text())["kind"] == "run"
    assert any("cubic" in line for line in made.lines())


def test_a_missing_option_is_shown_by_the_name_of_its_default(results: Path) -> None:
    first = read(results / "a", "A")
    options = {"path.queue": "fq_codel", "flows[0].options.hystart": "off", "flows[0].ecn": True}
    found = changes(first, replace(first, spec={**first.spec, **options}))
    assert set(found) == {
        ("path.queue", "droptail (default)", "fq_codel"),
        ("flows[0].options.hystart", "hystart (default)", "off"),
        ("flows[0].ecn", "default", "True"),
    }
    assert title(first, first, found[:1]) == "Queue: Drop-tail \N{RIGHTWARDS ARROW} FQ-CoDel"


def test_shares_are_shown_in_percent(results: Path, tmp_path: Path) -> None:
    made = diff(results / "a", results / "b", tmp_path / "out")
    row = next(row for row in made.rows if row.metric == "utilization")
    assert (row.label, row.display.label) == ("Utilization", "Utilization (%)")
    assert row.display.first == 100 * row.first <= 100.1
    assert row.display.apart.mean == 100 * row.apart.mean
    assert any(line.startswith("Utilization (%)") for line in made.lines())


def test_a_diff_begins_with_what_each_class_gained_or_lost(tmp_path: Path) -> None:
    two = GOOD.replace("[run]", '[[flows]]\ncca = "bbr"\n\n[run]')
    (tmp_path / "two.toml").write_text(two)
    for queue in ("droptail", "fq_codel"):
        changed = ("--set", f"path.queue={queue}", "--set", "run.trials=2")
        out = str(tmp_path / queue)
        assert run_cli("run", str(tmp_path / "two.toml"), *changed, "--out", out) == 0
    made = diff(tmp_path / "droptail", tmp_path / "fq_codel", tmp_path / "out")
    metrics = [row.metric for row in headline(made.rows)]
    assert {*metrics[:2]} == {"bbr.goodput_mbps", "cubic.goodput_mbps"}
    assert metrics[2] == f"{metrics[0].partition('.')[0]}.share"


def test_a_diff_begins_with_what_became_of_a_call(tmp_path: Path) -> None:
    call = '[[flows]]\nname = "call"\ncca = "none"\nworkload = { kind = "media" }\n'
    spec = tmp_path / "call.toml"
    spec.write_text(GOOD.replace("[[flows]]", f"{call}[[flows]]", 1))
    for name, queue in (("plain", "droptail"), ("managed", "fq_codel")):
        changed = ("--set", f"path.queue={queue}", "--out", str(tmp_path / name))
        assert run_cli("run", str(spec), *changed) == 0
    made = diff(tmp_path / "plain", tmp_path / "managed", tmp_path / "out")
    first = [row.metric for row in headline(made.rows)]
    assert first[:3] == ["call.frozen_s", "call.delay_p95_ms", "call.freezes"]
    assert "call.retransmits" not in first


def test_a_title_says_what_differs(results: Path) -> None:
    first, second = read(results / "a", "A"), read(results / "b", "B")
    assert title(first, second, [("path.queue", "default", "fq_codel")]).startswith(
        "Queue: default"
    )
    assert "4 changes" in title(first, second, [("path.loss", "0", "1")] * 4)
    assert title(first, first, []).endswith("the same specification twice")


def test_a_change_is_reported_if_the_interval_does_not_hold_zero(tmp_path: Path) -> None:
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


def noisy_side(label: str, more: float, seeds: Sequence[int], **changes: Any) -> Side:
    """A side whose trials differ by their seeds much more than by what was changed."""
    rows = [
        {"study": "s", "cell": 1, "trial": trial, "seed": seed,
         "loss_rate": 0.01 * seed + (1 + 0.01 * seed) * more}
        for trial, seed in enumerate(seeds, start=1)
    ]  # fmt: skip
    spec = {"flows[0].workload.kind": "poisson"}
    made = Side(label, label, "run", "s", "sim 1", spec, pl.DataFrame(rows), (), ())
    return replace(made, **changes)


def test_trials_with_the_same_transfers_are_paired() -> None:
    seeds = (1, 2, 3, 4)
    first = noisy_side("A", 0.0, seeds)
    for order in (seeds, seeds[::-1]):
        second = noisy_side("B", 0.005, order)
        [row] = judge(first, second)
        assert row.change is Effect.WORSE
        assert "paired" in pairing(first, second)
    others = (
        noisy_side("B", 0.005, (2, 3, 4, 5)),
        noisy_side("B", 0.005, seeds, engine="uml 6.12"),
        noisy_side("B", 0.005, seeds, spec={}),
    )
    for other in others:
        [row] = judge(first, other)
        assert row.change is Effect.UNCLEAR
        assert pairing(first, other) == ""


def test_a_diff_says_that_trials_are_paired(tmp_path: Path) -> None:
    spec = tmp_path / "web.toml"
    spec.write_text(
        GOOD.replace(
            "[run]", 'workload = { kind = "poisson", rate = "5/s", size = "20kb" }\n\n[run]'
        )
    )
    for name, rate in (("a", "8mbit"), ("b", "7mbit")):
        out = ["--trials", "3", "--set", f"path.rate={rate}", "--out", str(tmp_path / name)]
        assert main(["run", str(spec), *out]) == 0
    made = diff(tmp_path / "a", tmp_path / "b", tmp_path / "out")
    assert made.pairing.startswith("Trials with equal seeds have the same transfers")
    assert made.pairing in made.page.read_text()
    assert made.pairing in list(made.lines())


def test_the_same_result_twice_has_no_difference(results: Path, tmp_path: Path) -> None:
    made = diff(results / "a", results / "a", tmp_path / "out")
    assert made.changes == []
    assert {row.change for row in made.rows} == {Effect.SAME}
    assert "chance" not in " ".join(made.lines())
    seeds = (1, 2, 3)
    [row] = judge(*(noisy_side(name, 0.0, seeds, spec={}) for name in "AB"))
    assert row.change is Effect.SAME


def test_trials_that_are_one_run_tell_nothing_about_chance(results: Path, tmp_path: Path) -> None:
    made = diff(results / "a", results / "b", tmp_path / "out")
    goodput = next(row for row in made.rows if row.metric == "cubic.goodput_mbps")
    assert goodput.apart.mean != 0  # yet no interval of no width is told as certainty
    assert goodput.interval is None
    assert goodput.change is Effect.UNKNOWN
    assert "jitter" in list(made.lines())[-2]


def test_a_diff_of_sweeps_goes_by_combination(results: Path, tmp_path: Path) -> None:
    made = diff(results / "s", results / "t", tmp_path / "out")
    assert ("path.rate", "8mbit", "4mbit") in made.changes
    [row] = [row for row in made.rows if row.metric == "cubic.goodput_mbps"]
    assert row.cells == 2  # the combinations with CUBIC
    assert row.second < row.first
    assert "grid" in made.page.read_text()


def sweep_side(label: str, **changes: float) -> Side:
    """A side of a made-up sweep over four buffers, whose values change at some of them."""
    rows = [
        {
            "study": "s", "cell": cell, "trial": trial, "path.buffer": buffer,
            "loss_rate": 0.04 + changes.get(buffer, 0.0) + 0.0001 * trial,
            "bbr.flows": 1, "bbr.share": 0.5 + changes.get(buffer, 0.0) + 0.001 * trial,
        }
        for cell, buffer in enumerate(("1bdp", "2bdp", "4bdp", "8bdp"), start=1)
        for trial in (1, 2, 3)
    ]  # fmt: skip
    axes = ("path.buffer",)
    return Side(label, label, "sweep", "s", "sim", {}, pl.DataFrame(rows), axes, ("bbr",))


def test_a_diff_of_sweeps_says_where_better_and_worse_meet() -> None:
    moved = sweep_side("B", **{"1bdp": -0.03, "4bdp": 0.01, "8bdp": 0.02})
    rows = {row.metric: row for row in judge(sweep_side("A"), moved)}
    loss, share = rows["loss_rate"], rows["bbr.share"]
    assert loss.split == "better in 1, worse in 2 of 4 combinations (worst: Buffer 8 BDP)"
    assert (loss.change, loss.has_changed) == (Effect.UNCLEAR, True)
    assert share.split in (
        "better in 2, worse in 1 of 4 combinations (worst: Buffer 1 BDP)",
        "higher in 2, lower in 1 of 4 combinations",
    )
    told = "\n".join(table([loss]))
    assert f"no difference shown on average: {loss.split}" in told
    assert [one["split"] for one in documents([loss])] == [loss.split]


def test_a_diff_of_sweeps_that_agree_says_nothing_more() -> None:
    moved = sweep_side("B", **{"1bdp": 0.03, "4bdp": 0.01})
    [loss] = [row for row in judge(sweep_side("A"), moved) if row.metric == "loss_rate"]
    assert (loss.better, loss.worse, loss.split) == (0, 2, "")
    assert "over 4 combinations (0 better, 2 worse)" in "\n".join(table([loss]))


def test_a_run_and_a_sweep_cannot_be_compared(results: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a run and a sweep"):
        diff(results / "a", results / "s", tmp_path / "out")
    assert changes(read(results / "a", "A"), read(results / "a", "B")) == []


def test_values_that_differ_by_rounding_are_equal() -> None:
    noise = equivalence.of_means([1.0, 1.0 + 2e-16, 1.0], [1.0, 1.0, 1.0 - 1e-16])
    assert noise.half_width > 0
    settled = exact(noise, 1.0)
    assert (settled.mean, settled.half_width) == (0.0, 0.0)
    real = equivalence.of_means([1.0, 1.1, 1.0], [2.0, 2.1, 2.0])
    assert exact(real, 2.1) is real
