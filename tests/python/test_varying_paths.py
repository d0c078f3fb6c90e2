"""Numbers of runs whose rates and delays change: against what the path offered at each time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from specimens import scenario_of

import narrows as nw
from narrows.backends import get_backend
from narrows.cli import main
from narrows.figures import describe
from narrows.figures.frames import conditions
from narrows.metrics import summarise
from narrows.metrics.offered import bytes_until, offers
from narrows.metrics.series import RunSeries
from narrows.metrics.tables import summary_row, summary_tables
from narrows.plan import plan
from narrows.spec import load

BASE = """
[path]
rate = "10mbit"
rtt = "20ms"
buffer = "1bdp"
[[flows]]
cca = "cubic"
[run]
duration = "6s"
warmup = "500ms"
"""
FASTER = '[[changes]]\nat = "1s"\nrate = "40mbit"\n'
SLOWER = '[[changes]]\nat = "2s"\nrate = "2mbit"\n'
NEARER = '[[changes]]\nat = "2s"\nrtt = "2ms"\n'
TRACE = '[path.service]\nkind = "trace"\nfile = "link.trace"\n'
FARTHER = '[[changes]]\nat = "2s"\nrtt = "100ms"\n'


def numbers(text: str, *overrides: str) -> dict[str, Any]:
    """The row of `summary` of a run."""
    scenario = scenario_of(text, overrides)
    result = get_backend("sim").run(scenario)
    entry = summarise(scenario, result.tables, result.info)
    return summary_row(entry, [flow["cca"] for flow in scenario["flows"]])


def test_a_change_in_the_service_counts_from_its_instant_on() -> None:
    service = '{ kind = "steps", rates = { "1s" = "5mbit", "2s" = "20mbit" } }'
    text = BASE.replace("[[flows]]", f"service = {service}\n[[flows]]")
    at_1 = '[[changes]]\nat = "1s"\nrate = "40mbit"\n'
    offer = offers(scenario_of(text + at_1))[0]
    found = bytes_until(offer, np.array([1e9, 2e9, 3e9]))
    assert found.tolist() == [1.25e6, 6.25e6, 8.75e6]


@pytest.mark.parametrize("changes", [FASTER, SLOWER, FASTER + SLOWER, NEARER, FARTHER])
def test_utilisation_is_a_part_and_delays_are_not_negative(changes: str) -> None:
    row = numbers(BASE + changes)
    assert 0.5 < row["utilization"] <= 1.0
    for name in ("mean", "p50", "p95"):
        assert row[f"cubic.delay_{name}_ms"] >= 0
        assert row[f"queue_{name}_ms"] >= 0


def test_the_series_of_a_link_follow_changes_of_its_rate() -> None:
    scenario = scenario_of(BASE + FASTER + SLOWER)
    run = RunSeries(scenario, ["cubic"], get_backend("sim").run(scenario).tables)
    used = run.read("bottleneck", "utilization")[0].values
    assert np.nanmax(used) < 1.05


def test_a_link_that_is_half_idle_after_a_change_is_half_used() -> None:
    text = BASE.replace('rate = "10mbit"', 'rate = "20mbit"')
    text = text.replace('cca = "cubic"', 'cca = "none"\nworkload = {kind="udp", rate="9.66mbit"}')
    assert numbers(text + FASTER)["utilization"] == pytest.approx(10 / 37, rel=0.1)


def test_a_longer_path_is_no_queueing_delay() -> None:
    alone = numbers(BASE.replace('buffer = "1bdp"', 'buffer = "10pkt"'))["cubic.delay_p95_ms"]
    text = BASE.replace('buffer = "1bdp"', 'buffer = "10pkt"')
    assert numbers(text + FARTHER)["cubic.delay_p95_ms"] < 3 * alone


def test_queueing_delay_of_samples_is_that_of_the_histogram_where_nothing_changes() -> None:
    same = '[[changes]]\nat = "3s"\nrtt = "20ms"\n'
    texts = (BASE, BASE + same)
    one, other = (numbers(text, "run.sample_interval=2ms")["cubic.delay_mean_ms"] for text in texts)
    assert other == pytest.approx(one, rel=0.05)


def test_without_samples_a_varying_delay_is_unknown() -> None:
    row = numbers(BASE + FARTHER, 'run.record="summary"')
    assert row["cubic.delay_p95_ms"] is None
    row = numbers(BASE + FASTER, 'run.record="summary"')
    assert row["queue_p95_ms"] is None
    assert row["utilization"] <= 1.0


def test_no_transfer_is_faster_than_possible() -> None:
    text = BASE.replace('cca = "cubic"', 'cca = "cubic"\nsize = "3mb"\nrepeat_gap = "100ms"')
    scenario = scenario_of(text.replace("6s", "20s") + FASTER)
    result = get_backend("sim").run(scenario)
    entry = summarise(scenario, result.tables, result.info)
    flows = summary_tables(entry, ["cubic"])["flows"]["slowdown"].drop_nulls()
    assert len(flows) > 5
    assert flows.min() >= 1
    assert entry["completions"][0]["slowdown"]["p50"] >= 1


def test_a_saturated_trace_is_fully_used_and_its_queue_is_its_delay(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    times = np.cumsum(draw.choice([0, 1, 1, 2, 9], 5000)) + 1
    (tmp_path / "cell").write_text("\n".join(map(str, times)))
    spec = tmp_path / "cell.toml"
    service = 'service = { kind = "trace", file = "cell" }\n[[flows]]'
    text = BASE.replace("[[flows]]", service).replace('buffer = "1bdp"', 'buffer = "200pkt"')
    spec.write_text(text.replace("6s", "10s").replace("500ms", "3s"))
    scenario = plan(load(spec).spec, "test").trials[0].scenario
    result = get_backend("sim").run(scenario)
    row = summary_row(summarise(scenario, result.tables, result.info), ["cubic"])
    assert 0.98 < row["utilization"] <= 1.0
    assert row["queue_mean_ms"] == pytest.approx(row["cubic.delay_mean_ms"], rel=0.15)


CHAIN = BASE.replace('cca = "cubic"', 'cca = "cubic"\nsize = "3mb"\nrepeat_gap = "300ms"').replace(
    'rtt = "20ms"', 'rtt = "200ms"'
)


@pytest.mark.parametrize("warmup", ["0s", "1.5s", "3.1s"])
def test_a_chain_alone_has_all_of_what_arrives(warmup: str) -> None:
    row = numbers(CHAIN, f"run.warmup={warmup}", "run.duration=12s")
    assert row["cubic.share"] == pytest.approx(1.0)


def test_shares_of_chains_add_up_to_one() -> None:
    text = CHAIN + '[[flows]]\ncca = "bbr"\nsize = "1mb"\nrepeat_gap = "50ms"\n'
    row = numbers(text, "run.warmup=2.2s", "run.duration=12s")
    assert row["cubic.share"] + row["bbr.share"] == pytest.approx(1.0)


def test_losses_by_changes_alone_are_counted() -> None:
    row = numbers(BASE + '[[changes]]\nat = "1s"\nloss = 0.05\n')
    assert row["path_drops"] > 10
    assert 0.02 < row["path_loss_rate"] < 0.2


def test_events_at_time_0_count() -> None:
    many = BASE.replace('cca = "cubic"', 'cca = "cubic"\ncount = 300').replace("6s", "2s")
    text = many.replace('buffer = "1bdp"', 'buffer = "10pkt"')
    scenario = scenario_of(text, ["run.warmup=0s"])
    result = get_backend("sim").run(scenario)
    entry = summarise(scenario, result.tables, result.info)
    last = result.tables["queue_samples"].row(-1, named=True)
    assert entry["bottleneck"]["drops"] == last["dropped_packets"]


@pytest.mark.parametrize("interval", ["100ms", "1s", "2s", "10s"])
def test_convergence_is_known_only_from_rows_as_close_as_its_windows(interval: str) -> None:
    two = BASE + '[[flows]]\ncca = "cubic"\nstart = "1s"\n'
    changes = [f"run.sample_interval={interval}", "run.duration=30s"]
    found = numbers(two, *changes)["convergence_s"]
    assert (found is None) == (interval in ("2s", "10s"))
    assert numbers(two, 'run.record="summary"', "run.duration=30s")["convergence_s"] is None


def test_unfinished_transfers_of_a_chain_are_counted() -> None:
    assert numbers(CHAIN, "run.duration=1s")["cubic.unfinished"] == 1


OPEN = {
    "requests": 'size = "100mb"',
    "web": 'html = "100mb", size = "10kb"',
    "video": 'bitrate = "80mbit", chunk = "10s"',
    "arrivals": 'gap = "20s", size = "100mb"',
}


@pytest.mark.parametrize("kind", OPEN)
@pytest.mark.parametrize("stop", ["", 'stop = "5s"'])
def test_a_transfer_of_a_workload_that_hangs_is_unfinished_and_late(kind: str, stop: str) -> None:
    work = f'workload = {{ kind = "{kind}", {OPEN[kind]} }}\n'
    text = BASE.replace('cca = "cubic"', f'cca = "cubic"\n{work}deadline = "1s"\n{stop}')
    row = numbers(text, "run.duration=60s" if kind == "arrivals" else "run.duration=9s")
    begun = 3 if kind == "arrivals" and not stop else 1
    if kind == "arrivals" and stop:
        begun = 0
    assert (row["cubic.completed"], row["cubic.unfinished"]) == (0, begun)
    assert row["cubic.late"] == (1.0 if begun else None)


def test_requests_that_an_outage_cuts_off_are_late() -> None:
    work = 'workload = { kind = "requests", size = "10kb", think = "50ms" }\ndeadline = "200ms"\n'
    outage = '[[path.impairments]]\nkind = "outage"\noutages = { "1s" = "20s" }\n'
    text = BASE.replace('cca = "cubic"', f'cca = "cubic"\n{work}')
    text = text.replace("[[flows]]", f"{outage}[[flows]]", 1)
    row = numbers(text, "run.duration=9s")
    assert row["cubic.completed"] > 5
    assert row["cubic.unfinished"] == 1
    assert row["cubic.late"] == pytest.approx(1 / (row["cubic.completed"] + 1), rel=0.5)
    short = numbers(text, "run.duration=9s", 'run.record="summary"')
    assert (short["cubic.unfinished"], short["cubic.late"]) == (None, None)


def test_a_chain_that_connects_or_rests_at_the_end_is_counted_as_such() -> None:
    connecting = CHAIN.replace("repeat_gap", 'start = "1.9s"\nrepeat_gap')
    assert numbers(connecting, "run.duration=2s")["cubic.unfinished"] == 1
    resting = CHAIN.replace("300ms", "9s").replace("3mb", "10kb")
    assert numbers(resting, "run.duration=3s")["cubic.unfinished"] == 0


@pytest.mark.parametrize("gap", ["", 'repeat_gap = "10ms"'])
def test_a_transfer_that_is_beyond_its_deadline_at_the_end_is_late(gap: str) -> None:
    sized = BASE.replace('cca = "cubic"', f'cca = "cubic"\nsize = "90mb"\ndeadline = "1s"\n{gap}')
    assert numbers(sized)["cubic.late"] == 1.0
    assert numbers(sized.replace('"1s"', '"1min"'))["cubic.late"] is None


def test_percentiles_lie_between_the_extremes() -> None:
    text = BASE.replace('cca = "cubic"', 'cca = "none"\nworkload = {kind="ping"}')
    row = numbers(text.replace("20ms", "222ms"))
    assert row["none.rtt_mean_ms"] >= 222
    assert row["none.delay_mean_ms"] >= 0


@pytest.mark.parametrize("varying", [FASTER + SLOWER, TRACE])
def test_the_timeline_of_a_varying_link_shows_its_capacity(varying: str, tmp_path: Path) -> None:
    (tmp_path / "link.trace").write_text("1\n1\n9\n20\n")
    file = tmp_path / "spec.toml"
    file.write_text(f'name = "varying"\n{BASE.replace("[[flows]]", varying + "[[flows]]", 1)}')
    scenario = plan(load(file).spec, "").trials[0].scenario
    tables = get_backend("sim").run(scenario).tables
    throughput, queue, *_ = describe("timeline", scenario, tables).panels
    assert throughput.y_label == "Mbit/s"
    capacity, *flows = throughput.lines
    assert capacity.label == "capacity"
    assert capacity.fill
    sent = np.sum([line.y for line in flows], axis=0)
    assert (sent <= capacity.y * 1.05 + 0.2).all()  # a packet may end after the window
    assert sent[-5:].mean() > 0.8 * capacity.y[-5:].mean()
    assert (queue.y_label, queue.guides) == ("ms", ())
    wait_ms = summary_row(
        summarise(scenario, tables, get_backend("sim").run(scenario).info), ["cubic"]
    )
    assert queue.lines[0].y.max() >= wait_ms["queue_p95_ms"] > 0
    assert "on average" in conditions(scenario)
    assert "BDP" not in conditions(scenario)


def test_the_path_of_a_timeline_follows_changes_of_its_delay() -> None:
    scenario = scenario_of(BASE + FARTHER)
    rtt = describe("timeline", scenario, get_backend("sim").run(scenario).tables).panels[-1]
    (path,) = (line for line in rtt.lines if line.label == "path")
    assert (path.x.tolist(), path.y.tolist()) == ([0.0, 2.0, 6.0], [20.0, 100.0, 100.0])
    assert rtt.guides == ()


def test_the_queue_in_words_is_the_delay_of_its_packets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spec.toml"
    file.write_text(f'name = "varying"\n{BASE}{SLOWER}')
    assert main(["run", str(file), "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    delay_ms = nw.open_result(tmp_path / "out").summary_table["queue_p95_ms"][0]
    assert f"{delay_ms:.1f} ms (p95)" in said
    assert "BDP =" not in said


@pytest.mark.parametrize("service", ["htb", "tbf", "cellular", "wifi"])
def test_no_transfer_is_faster_than_the_least_time_of_a_service_with_bursts(service: str) -> None:
    services = {
        "htb": '"htb"',
        "tbf": '{ kind = "tbf", burst = "20kb" }',
        "cellular": '{ kind = "cellular", slot = "100ms" }',
        "wifi": '{ kind = "wifi", phy_rate = "200mbit" }',
    }
    for size, most in (("1400b", 6), ("200kb", 20)):
        row = numbers(BASE, f"path.service={services[service]}", f"flows.0.size={size}")
        assert 1 <= row["cubic.slowdown_p50"] < most


def test_utilization_follows_the_rate_of_a_token_bucket_and_of_batches() -> None:
    bucket = numbers(BASE, 'path.service={ kind = "tbf", rate = "30mbit", burst = "10kb" }')
    batches = numbers(
        BASE, 'path.service={ kind = "wifi", phy_rate = "50mbit" }', "path.buffer=8bdp"
    )
    assert 0.9 < bucket["utilization"] <= 1
    assert 0.9 < batches["utilization"] <= 1


def test_stalls_of_a_video_are_counted_whenever_samples_are_taken() -> None:
    video = 'flows.0.workload={ kind = "video", bitrate = "20mbit", chunk = "50ms" }'
    rows = [
        numbers(
            BASE, video, "flows.0.start=300ms", "run.warmup=0s", f"run.sample_interval={interval}"
        )
        for interval in ("10ms", "1s")
    ]
    assert rows[0]["cubic.stalls"] == rows[1]["cubic.stalls"] > 0
