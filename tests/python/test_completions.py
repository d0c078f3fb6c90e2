"""Completion times: percentiles and slowdown by size, wherever results are shown."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest
from specimens import GOOD, scenario_of, spec_of

import narrows as nw
from narrows.backends import get_backend
from narrows.cli import main
from narrows.columns import empty
from narrows.compare.quantities import ComparedQuantity, measure
from narrows.errors import InputError
from narrows.figures import describe
from narrows.metrics.completions import completing, transfers
from narrows.metrics.run import run_metrics
from narrows.plan import plan
from narrows.store.write import _flat

WEB = """
[[flows]]
name = "web"
cca = "cubic"
workload = { kind = "poisson", rate = "8/s", size = { kind = "exponential", mean = "20kb" } }
"""
ASK = """
[[flows]]
name = "ask"
cca = "reno"
workload = { kind = "requests", size = "8kb", think = "100ms" }
"""


def text(*more: str) -> str:
    return GOOD.replace("[[flows]]", "\n".join(more) + "\n[[flows]]", 1)


def completions(rows: list[tuple[int, float, float, int]]) -> pl.DataFrame:
    """A table `completions` of (flow, start, end, size)."""
    flows, starts, ends, sizes = zip(*rows, strict=True)
    known = {"flow": flows, "start_s": starts, "end_s": ends, "size_bytes": sizes}
    frame = empty("completions")
    columns = [
        pl.Series(name, known.get(name, [0] * len(rows))).cast(kind)
        for name, kind in frame.schema.items()
    ]
    return pl.DataFrame(columns)


def test_percentiles_and_slowdown_are_those_counted_by_hand() -> None:
    scenario = scenario_of(text(WEB).replace('warmup = "500ms"', 'warmup = "1s"'))
    path = scenario["path"]
    rtt_s, rate_bps = path["rtt_ns"] / 1e9, path["rate_bps"]
    rows = [(0, 0.5, 9.0, 10)]  # before the warm-up
    rows += [(0, 1.0 + i, 1.0 + i + 0.1 * (i + 1), 10_000) for i in range(10)]
    rows += [(0, 1.0, 3.0, 2_000_000)]
    made = completions(rows)
    groups = ["web", "cubic"]
    [found] = run_metrics(scenario, {"completions": made}, 0.0).completions(groups)
    assert (found["class"], found["completed"], found["unfinished"]) == ("web", 11, None)
    assert found["completion_s"]["p50"] == pytest.approx(0.6)
    assert found["completion_s"]["p95"] == pytest.approx(2.0)
    assert found["completion_s"]["mean"] == pytest.approx((5.5 + 2.0) / 11)
    small, large = found["by_size"]
    assert (small["size"], small["completed"]) == ("to_10kb", 10)
    assert (large["size"], large["completed"]) == ("above_1mb", 1)
    least = 2 * rtt_s + 10_000 * 1500 / 1448 * 8 / rate_bps
    assert small["slowdown"]["p50"] == pytest.approx(0.5 / least)
    assert small["slowdown"]["p99"] == pytest.approx(1.0 / least)
    most = 2 * rtt_s + 2_000_000 * 1500 / 1448 * 8 / rate_bps
    assert large["slowdown"]["p99"] == pytest.approx(2.0 / most)


def test_an_answer_on_an_open_connection_needs_one_round_trip() -> None:
    scenario = scenario_of(text(ASK))
    [one] = transfers(scenario, completions([(0, 9.0, 10.0, 8_000)]))["slowdown"]
    path = scenario["path"]
    least = path["rtt_ns"] / 1e9 + 8_000 * 1500 / 1448 * 8 / path["rate_bps"]
    assert one == pytest.approx(1.0 / least)


def test_only_what_can_end_completes() -> None:
    scenario = scenario_of(text(WEB, ASK))
    assert completing(scenario, ["web", "ask", "cubic"]) == ["web", "ask"]
    run = run_metrics(scenario_of(GOOD), {"completions": empty("completions")}, 0.0)
    assert run.completions(["cubic"]) == []


def test_flows_that_are_not_done_are_counted() -> None:
    sized = GOOD.replace('cca = "cubic"', 'cca = "cubic"\nsize = "1mb"\ncount = 3')
    tables = {"completions": completions([(1, 0.0, 1.0, 1_000_000)])}
    [found] = run_metrics(scenario_of(sized), tables, 0.0).completions(["cubic"] * 3)
    assert (found["completed"], found["unfinished"]) == (1, 2)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of web pages beside a flow that never ends."""
    folder = tmp_path_factory.mktemp("web")
    spec = folder / "web.toml"
    spec.write_text(text(WEB))
    assert main(["run", str(spec), "--out", str(folder / "out")]) == 0
    return folder / "out"


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of the same over two buffers."""
    folder = tmp_path_factory.mktemp("sweep")
    spec = folder / "web.toml"
    spec.write_text(text(WEB))
    axis = 'path.buffer=["1bdp", "4bdp"]'
    assert main(["run", str(spec), "--set", axis, "--out", str(folder / "out")]) == 0
    return folder / "out"


def test_the_terminal_shows_completion_times_by_size(
    web: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from narrows.console import print_summary
    from narrows.store import open_result

    print_summary(open_result(web))
    shown = capsys.readouterr().out
    assert "slowdown" in shown
    assert "up to 10 kB" in shown
    [row] = [line for line in shown.splitlines() if line.split()[:2] == ["web", "cubic"]]
    assert not row.rstrip().endswith("-")


def test_summary_csv_has_a_column_for_each_number(web: Path) -> None:
    with (web / "summary.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert not any("{" in str(cell) for row in rows for cell in row.values())
    [flow] = [row for row in rows if row["name"] == "web"]
    assert flow["workload"] == "arrivals"
    known = json.loads((web / "summary.json").read_text())["runs"][0]["flows"]
    seen = next(one["workload"] for one in known if one["name"] == "web")
    assert float(flow["completion_p99_s"]) == seen["completion_s"]["p99"]
    assert int(flow["completed"]) == seen["completed"]


def test_the_page_and_the_figure_have_them(web: Path) -> None:
    page = (web / "report.html").read_text()
    assert "Slowdown" in page
    assert 'id="completions-1-1"' in page
    result = nw.open_result(web)
    trial = result.trials[0]
    figure = describe("completions", trial.scenario, trial.tables, result.groups)
    [line] = figure.panels[0].lines
    assert line.y[-1] == 1.0
    assert line.x[-1] == pytest.approx(result.flows.filter(name="web")["completion_max_s"][0])


def test_a_run_without_transfers_has_no_such_figure() -> None:
    tables = {"completions": empty("completions")}
    assert describe("completions", scenario_of(GOOD), tables).panels == ()


def test_columns_of_a_sweep_can_be_drawn_and_expected(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = nw.open_result(sweep).summary_table
    assert table["web.completion_p99_s"].null_count() == 0
    assert (table["web.slowdown_p50"] >= 1).all()
    assert "cubic.completion_p99_s" not in table.columns
    moved = nw.open_result(sweep).table("transfers")
    assert moved.height == table["web.completed"].sum()
    for name in ("completion_times", "slowdown"):
        assert main(["figure", str(sweep), name, "--out", str(tmp_path / name)]) == 0
    spec = tmp_path / "expect.toml"
    held = '[[check]]\nmetric = "web.slowdown_p99"\nat_most = 0.5\n'
    spec.write_text(text(WEB) + held)
    assert main(["run", str(spec), "--out", str(tmp_path / "out")]) == 1
    assert "web.slowdown_p99 is" in capsys.readouterr().out


def test_a_metric_without_values_is_an_error_that_names_others(sweep: Path) -> None:
    result = nw.open_result(sweep)
    for name in ("lines", "box"):
        with pytest.raises(InputError, match="of which no run has a value") as caught:
            result.plot(name, metric="cubic.fct_s", x="path.buffer")
        assert "web.fct_s" in str(caught.value)
    with pytest.raises(InputError, match="of which no run has a value"):
        result.plot("cdf", metric="slowdown")


def test_compare_measures_the_completion_times_of_a_workload() -> None:
    made = plan(spec_of(text(WEB)), "test")
    scenario = made.trials[0].scenario
    result = get_backend("sim").run(scenario)
    found = measure(scenario, result.tables, result.info, made.groups)
    [web] = run_metrics(scenario, result.tables, 0.0).completions(list(made.groups))
    assert found[ComparedQuantity("completion_p95", "web")] == web["completion_s"]["p95"]
    assert found[ComparedQuantity("slowdown", "web")] == web["slowdown"]["p50"]
    assert ComparedQuantity("completion_p95", "cubic") not in found


def test_summary_csv_spreads_one_way_delays() -> None:
    flow = {"name": "mine", "rtt_ms": {"p95": None}, "one_way_ms": {"mean": 12.5, "p95": 20.0}}
    expected = {"name": "mine", "rtt_p95_ms": None, "owd_mean_ms": 12.5, "owd_p95_ms": 20.0}
    assert _flat(flow) == expected
