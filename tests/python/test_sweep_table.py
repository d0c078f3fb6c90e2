"""The table that `narrows run` prints of a study, and the word that trials are one run."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from specimens import GOOD, write

from narrows.cli import main
from narrows.figures.palette import colour
from narrows.metrics.leading import leading
from narrows.store import open_store
from narrows.sweeps.figure import default_name
from narrows.sweeps.overview import COLUMNS, Overview, overview
from narrows.sweeps.table import table

Capture = pytest.CaptureFixture[str]
ALIKE = "one and the same run, since nothing in it is random"
STUDY = GOOD.replace('"8mbit"', '["4mbit", "8mbit"]') + "trials = 2\n"

SIZED_RUN = GOOD.replace('cca = "cubic"\n', 'cca = "cubic"\nsize = "20kb"\n')


def run(directory: Path, text: str) -> None:
    main(["run", str(write(directory, text)), "--out", str(directory / "out")])


def test_a_study_ends_with_a_row_for_each_combination(tmp_path: Path, capsys: Capture) -> None:
    run(tmp_path, STUDY)
    printed = capsys.readouterr().out.splitlines()
    (head,) = (at for at, line in enumerate(printed) if line.startswith("Rate (Mbit/s)"))
    assert "(ms)" in printed[head]
    assert [line.split()[0] for line in printed[head + 1 : head + 3]] == ["4", "8"]
    assert printed[head + 1].count(" ± ") >= 2


def test_zipped_axes_show_equal_numbers_too(tmp_path: Path, capsys: Capture) -> None:
    rates = STUDY.replace('rtt = "20ms"', 'rtt = ["4ms", "20ms"]')
    run(tmp_path, f'{rates}[sweep]\nzip = [["path.rate", "path.rtt"]]\n')
    printed = capsys.readouterr().out.splitlines()
    (head,) = (at for at, line in enumerate(printed) if line.startswith("Rate (Mbit/s)"))
    assert [" ".join(line.split()[:2]) for line in printed[head + 1 : head + 3]] == [
        "4, 4",
        "8, 20",
    ]


def test_parts_are_in_percent_in_the_table_and_on_the_page(tmp_path: Path) -> None:
    bound = '[[check]]\nmetric = "utilization"\nat_least = 0.1\n'
    run(tmp_path, STUDY + bound)
    store = open_store(tmp_path / "out")
    [(stem, record)] = store.studies().items()
    found = overview(store, stem, record, {})
    assert found.metrics["utilization"] == "Utilization (%)"
    assert found.metrics["jain"] == "Fairness (Jain)"
    assert found.bounds["utilization"] == [10]
    assert all(20 < cell["values"]["utilization"][0] <= 100.1 for cell in found.cells)


def test_metrics_of_classes_have_their_controls_colours_and_a_fair_share(tmp_path: Path) -> None:
    named = STUDY.replace("[run]", '[[flows]]\nname = "slow"\ncca = "bbr"\ncount = 3\n\n[run]')
    run(tmp_path, named)
    store = open_store(tmp_path / "out")
    [(stem, record)] = store.studies().items()
    page = overview(store, stem, record, {}).document()
    for metric, cca in (("slow.share", "bbr"), ("cubic.goodput_mbps", "cubic")):
        assert page["shades"][metric] == [colour(cca).light, colour(cca).dark]
    assert "utilization" not in page["shades"]
    assert page["fair"] == {"slow.share": 75, "cubic.share": 25}


def test_trials_without_anything_random_are_called_one_run(tmp_path: Path, capsys: Capture) -> None:
    run(tmp_path, STUDY)
    assert f"The trials of each combination are {ALIKE}" in capsys.readouterr().out
    assert ALIKE in (tmp_path / "out/good.html").read_text()
    (tmp_path / "one").mkdir()
    run(tmp_path / "one", GOOD + "trials = 2\n")
    assert f"The 2 trials are {ALIKE}" in capsys.readouterr().out
    assert ALIKE in (tmp_path / "one/out/report.html").read_text()


def test_one_flow_s_share_and_fairness_give_way_to_its_goodput(
    tmp_path: Path, capsys: Capture
) -> None:
    spec, out = write(tmp_path, STUDY), str(tmp_path / "out")
    main(["run", str(spec), "--filter", "path.rate=4mbit", "--out", out])
    told = capsys.readouterr().out
    assert "Goodput of CUBIC (Mbit/s)" in told
    assert "Share" not in told
    assert "Fairness" not in told


TRACED = """
[path]
rate = "15mbit"
rtt = "50ms"
buffer = "300kb"
service = { kind = "trace", file = "link.trace" }

[[flows]]
cca = "cubic"

[host]
jitter = "200us"

[run]
duration = "2s"
"""
TRACE = "All trials replay the same trace, so their spread"


@pytest.mark.parametrize(
    ("text", "page"),
    [
        (TRACED, "report.html"),
        (TRACED.replace('cca = "cubic"', 'cca = ["cubic", "reno"]'), "good.html"),
    ],
)
def test_the_spread_of_trials_of_one_trace_is_said_not_to_cover_others(
    text: str, page: str, tmp_path: Path, capsys: Capture
) -> None:
    for trials in (1, 2):
        place = tmp_path / str(trials)
        place.mkdir()
        (place / "link.trace").write_text("".join(f"{ms}\n" for ms in range(1, 1000)))
        run(place, f"{text}trials = {trials}\n")
        several = trials > 1
        assert (TRACE in capsys.readouterr().out) is several
        assert (TRACE in (place / "out" / page).read_text()) is several


def test_completion_times_say_of_how_many_transfers_they_are(
    tmp_path: Path, capsys: Capture
) -> None:
    text = """
[path]
rate = "10mbit"
rtt = "20ms"
buffer = "1bdp"

[[flows]]
name = "web"
cca = "cubic"
count = 20
workload = { kind = "requests", size = "500kb" }

[run]
duration = "3s"
record = "summary"
"""
    run(tmp_path, text)
    told = capsys.readouterr().out
    done = re.search(r"^ web +(\d+) ", told, re.MULTILINE)
    assert done is not None
    assert re.search("not finished +-", told)
    assert f"web: completion times are those of {done[1]} finished transfers" in told
    (tmp_path / "samples").mkdir()
    run(tmp_path / "samples", text.replace('record = "summary"', ""))
    told = capsys.readouterr().out
    assert re.search(r"not finished +\d", told)
    assert "completion times are those" not in told


def test_values_of_a_single_trial_are_said_to_have_no_spread(
    tmp_path: Path, capsys: Capture
) -> None:
    for name, text in (("study", STUDY.replace("trials = 2\n", "")), ("users", SIZED_RUN)):
        (tmp_path / name).mkdir()
        run(tmp_path / name, text)
        assert "one trial shows no spread; --trials 5" in capsys.readouterr().out.lower()
    (tmp_path / "several").mkdir()
    run(tmp_path / "several", STUDY + '[host]\njitter = "100us"\n')
    assert "shows no spread" not in capsys.readouterr().out


@pytest.mark.parametrize("text", [GOOD, GOOD + 'trials = 2\n[host]\njitter = "100us"\n'])
def test_other_trials_arent(text: str, tmp_path: Path, capsys: Capture) -> None:
    run(tmp_path, text)
    assert ALIKE not in capsys.readouterr().out
    assert ALIKE not in (tmp_path / "out/report.html").read_text()


def overview_of(cells: int, means: dict[str, list[list[float]]], combinations: int = 0) -> Overview:
    """Results of an axis with `cells` values, which have these `means`, or the first of them."""
    axes = [{"label": "Buffer (BDP)", "words": [str(at) for at in range(cells)]}]
    values = [
        {name: each[min(at, len(each) - 1)] for name, each in means.items()} for at in range(cells)
    ]
    rows = [{"cell": at, "at": [at], "values": value} for at, value in enumerate(values)]
    spans = {name: max(means[name])[0] - min(means[name])[0] for name in means}
    labels = {name: name for name in means}
    total = combinations or cells
    return Overview("x", axes, labels, list(means), rows, [], total, 0, 0, spans=spans)


def test_a_column_has_the_same_decimals() -> None:
    found = overview_of(
        2, {"utilization": [[50, 45, 55], [100, 98, 100]], "retransmits": [[1], [9e3]]}
    )
    assert list(table(found, "out")) == [
        "Buffer (BDP)  utilization  retransmits",
        "0              50.0 ± 5.0            1",
        "1             100.0 ± 2.0        9,000",
        "means ± half of the 95 % interval",
    ]


def test_a_filter_leaves_rows_and_says_that_the_page_has_more() -> None:
    found = overview_of(3, {"goodput_mbps": [[5], [9], [7]]})
    _, row, *notes = table(found, "out", (), {1})
    assert row.split() == ["1", "9.00"]
    assert "2 combinations of earlier runs, also in the notes: on the page" in notes


def test_an_interval_that_leaves_everything_possible_isnt_shown() -> None:
    found = overview_of(2, {"a.share": [[77.8, 22.8, 100], [50, 40, 60]], "jain": [[1], [2]]})
    _, vague, *_, means, few = table(found, "out")
    assert vague.split() == ["0", "77.8", "±?", "1.00"]
    assert means.startswith("means")
    assert few.startswith("±?: too few trials")
    assert "--trials" in few
    rates = overview_of(2, {"goodput_mbps": [[77.8, 22.8, 100], [50, 40, 60]]})
    assert "77.8 ± 55.0" in list(table(rates, "out"))[1]


def test_values_that_have_not_settled_have_a_sign() -> None:
    found = overview_of(2, {"goodput_mbps": [[5, 4, 6], [9, 8, 10]], "loss_rate": [[1], [2]]})
    found.cells[1]["unsettled"] = ["goodput"]  # type: ignore[index]
    assert [line.split() for line in list(table(found, "out"))[1:3]] == [
        ["0", "5.00", "±", "1.00", "1.00"],
        ["1", "9.00", "±", "1.00~", "2.00~"],
    ]
    assert "~: no steady value, as the runs still drift or are too short" in list(
        table(found, "out")
    )
    found.cells[1]["unsettled"] = ["too short"]  # type: ignore[index]
    assert not any("~" in line for line in table(found, "out"))


def test_a_metric_that_doesnt_vary_and_the_second_of_two_shares_are_left_out() -> None:
    shares = {"a.share": [[0.2], [0.3]], "b.share": [[0.8], [0.7]]}
    head, *_ = table(overview_of(2, {**shares, "jain": [[1], [1]]}), "out")
    assert head.split() == ["Buffer", "(BDP)", "a.share"]


def test_a_metric_that_is_asked_for_has_a_column_too() -> None:
    found = overview_of(2, {"a.share": [[0.2], [0.3]], "jain": [[1], [1]]})
    head, first, *notes = table(found, "out", ["jain", "a.rtt_p95_ms"])
    assert head.split() == ["Buffer", "(BDP)", "a.share", "jain"]
    assert first.split() == ["0", "0.200", "1.00"]
    assert "a.rtt_p95_ms: no run has a value" in notes


def test_the_command_adds_the_column_by_its_heading_and_refuses_another_before_it_runs(
    tmp_path: Path, capsys: Capture
) -> None:
    words = ["run", str(write(tmp_path, STUDY)), "--out", str(tmp_path / "out"), "--metric"]
    assert main([*words, "queue p59"]) == 2
    assert 'found "queue p59", which is not a metric; "queue_p' in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main([*words, "queue p95 (ms)"]) == 0
    (head,) = (line for line in capsys.readouterr().out.splitlines() if "Rate" in line)
    assert head.endswith("  Queue p95 (ms)")
    both = STUDY.replace('cca = "cubic"', 'cca = ["cubic", "bbr"]')
    main(
        ["run", str(write(tmp_path, both)), "--out", str(tmp_path / "cc"), "--metric", "bbr.flows"]
    )
    assert "  Flows" in capsys.readouterr().out, "of classes that are never together"


def test_behind_a_varying_rate_the_delay_of_packets_is_shown(
    tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "link.trace").write_text("".join(f"{ms}\n" for ms in range(1, 1000)))
    service = 'service = { kind = "trace", file = "link.trace" }\n'
    steady = GOOD.replace('"8mbit"', '"12mbit"').replace('"1bdp"', '["9kb", "3kb"]')
    for text, is_shown in (
        (steady, False),
        (steady.replace("[[flows]]", f"{service}[[flows]]"), True),
    ):
        run(tmp_path, text)
        assert ("  Delay p95 of CUBIC (ms)" in capsys.readouterr().out) is is_shown


@pytest.mark.parametrize(
    ("of", "asked"),
    [
        ("freezes", ["frozen_s", "delay_p95_ms", "freezes", "media_mbps"]),
        ("stalls", ["stalls", "stalled_s", "startup_s"]),
        ("completed", ["completion_p50_s", "completion_p99_s"]),
    ],
)
def test_a_study_of_an_application_shows_its_metrics_first(of: str, asked: list[str]) -> None:
    has_call, has_video = of == "freezes", of == "stalls"
    own = [*asked, "completion_p50_s", "completion_p99_s", "delay_p95_ms"]
    other = ["utilization", "loss_rate", "down.share", "down.delay_p95_ms"]
    found = leading([*other, *(f"app.{name}" for name in dict.fromkeys(own))])
    assert found[: len(asked)] == [f"app.{name}" for name in asked]
    assert ("app.completion_p50_s" in found) == (not has_call and not has_video)


@pytest.mark.parametrize(
    ("flows", "name"),
    [
        ('cca = "cubic"', "lines"),
        ('cca = "cubic"\n[[flows]]\ncca = "bbr"', "share"),
        ('cca = "cubic"\nworkload = { kind = "poisson", rate = "20/s", size = "10kb" }',
         "completion_times"),
        ('cca = "cubic"\nworkload = { kind = "video", bitrate = "1mbit", chunk = "500ms" }',
         "lines"),
    ],
)  # fmt: skip
def test_a_figure_without_a_name_shows_what_the_study_is_about(
    flows: str, name: str, tmp_path: Path
) -> None:
    run(tmp_path, STUDY.replace('cca = "cubic"', flows))
    assert default_name(tmp_path / "out") == name


def test_the_metric_of_an_application_is_shown_even_if_it_never_varies() -> None:
    means = {"utilization": [[0.5], [1.0]], "film.stalls": [[0.0]], "film.startup_s": [[1.0]]}
    head, *_ = table(overview_of(2, means), "out")
    assert head.split()[2:4] == ["film.stalls", "film.startup_s"]


def test_transfers_that_completion_times_leave_out_are_mentioned() -> None:
    times = {"web.completion_p50_s": [[1.0], [2.0]], "web.completed": [[99.0], [60.0]]}
    many = {**times, "web.unfinished": [[1.0], [40.0]]}
    *_, last = table(overview_of(2, many), "out")
    assert last.startswith("web: up to 40 % of the transfers weren't finished at the end")
    *_, last = table(overview_of(2, times), "out")
    assert last.startswith("web: completion times are those of 60 to 99 finished transfers")
    few = {**times, "web.unfinished": [[1.0], [2.0]]}
    assert "weren't finished" not in "\n".join(table(overview_of(2, few), "out"))
    nothing = {**times, "web.completed": [[0.0], [0.0]], "web.unfinished": [[0.0], [0.0]]}
    assert "weren't finished" not in "\n".join(table(overview_of(2, nothing), "out"))


def test_a_call_that_stands_still_at_the_end_is_mentioned() -> None:
    dead = {"call.frozen_s": [[0.0], [0.2]], "call.still_s": [[0.0], [41.0]]}
    *_, last = table(overview_of(2, dead), "out")
    assert last.startswith("call: the picture stood still for up to 41 s at the end")
    alive = {**dead, "call.still_s": [[0.0], [0.2]]}
    assert "stood still" not in "\n".join(table(overview_of(2, alive), "out"))


def test_a_study_of_shares_shows_all_of_them() -> None:
    means = {f"{name}.share": [[20.0], [30.0 + at]] for at, name in enumerate("abc")}
    found = overview_of(2, {"utilization": [[90.0], [99.0]], **means})
    head, *_ = table(replace(found, opens="c.share"), "out")
    assert head.split()[2:] == ["a.share", "b.share", "c.share", "utilization"]


def test_a_long_table_is_cut_with_a_note() -> None:
    lines = list(table(overview_of(35, {"jain": [[1], [0.5]]}, 40), "out"))
    assert len(lines) == 1 + 30 + 2
    assert lines[-1] == "and 10 more: on the page, or `narrows export out summary`"


SIZED = STUDY.replace('cca = "cubic"', 'cca = ["cubic", "bbr"]\nsize = "20kb"')


def test_classes_that_are_never_together_have_one_metric(tmp_path: Path, capsys: Capture) -> None:
    run(tmp_path, SIZED)
    (head,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("Rate ("))
    assert "Control of flow 1  Completion p50 (s)  Completion p95 (s)" in head
    store = open_store(tmp_path / "out")
    [(stem, record)] = store.studies().items()
    found = overview(store, stem, record, {})
    assert found.metrics["completion_p50_s"] == "Completion p50 (s)"
    apart = [name for name in found.metrics if name.startswith(("cubic.", "bbr."))]
    assert {name.rpartition(".")[2] for name in apart} <= set(found.metrics)  # as of all flows
    assert all("completion_p50_s" in cell["values"] for cell in found.cells)
    assert found.opens == "completion_p50_s"


def test_such_classes_are_named_beside_others(tmp_path: Path) -> None:
    run(tmp_path, SIZED.replace("[run]", '[[flows]]\nname = "other"\ncca = "reno"\n\n[run]'))
    store = open_store(tmp_path / "out")
    [(stem, record)] = store.studies().items()
    labels = overview(store, stem, record, {}).metrics
    assert labels["CUBIC or BBR.completion_p50_s"] == "Completion p50 of CUBIC or BBR (s)"
    assert labels["other.share"] == "Share of other (%)"


def test_an_expected_bound_keeps_its_class(tmp_path: Path) -> None:
    bound = '[[check]]\nmetric = "cubic.completion_p50_s"\nat_most = 9\n'
    run(tmp_path, SIZED + bound)
    store = open_store(tmp_path / "out")
    [(stem, record)] = store.studies().items()
    found = overview(store, stem, record, {})
    assert found.bounds["cubic.completion_p50_s"] == [9]
    assert "cubic.completion_p50_s" in found.metrics


def test_the_completion_of_a_web_page_is_its_load(tmp_path: Path) -> None:
    web = (
        '[[flows]]\nname = "readers"\ncca = "cubic"\n'
        'workload = { kind = "web", html = "5kb", size = "2kb" }\n\n[run]'
    )
    run(tmp_path, STUDY.replace("[run]", web))
    store = open_store(tmp_path / "out")
    [(stem, record)] = store.studies().items()
    labels = overview(store, stem, record, {}).metrics
    assert labels["readers.completion_p50_s"] == "Page load p50 of readers (s)"


def test_the_page_reads_some_columns_of_a_summary_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path, STUDY)
    store, widths = open_store(tmp_path / "out"), []
    read_rows = store.rows

    def rows(name: str, columns: Collection[str] | None = None) -> pl.DataFrame:
        found = read_rows(name, columns)
        widths.append(found.width)
        return found

    monkeypatch.setattr(store, "rows", rows)
    [(stem, record)] = store.studies().items()
    assert len(overview(store, stem, record, {}).metrics) > 2 * COLUMNS
    assert max(widths) <= COLUMNS + 1, "with the hash of the run"
