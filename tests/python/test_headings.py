"""The headings of tables and figures, by which people name a metric."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from specimens import GOOD, run_cli, write

from narrows import console
from narrows.errors import InputError
from narrows.figures.sweeps.view import View, controls_of, numbers
from narrows.metrics.catalogue import APPLICATION, CLASS, COMPLETION, FLOW, PACKETS, RUN, WORKLOAD
from narrows.metrics.headings import column_of, columns_named, heading_of, legend_words
from narrows.runner import prepare as prepare_run
from narrows.store import open_store
from narrows.sweeps import prepare
from narrows.sweeps.export import frame
from narrows.sweeps.figure import describe
from narrows.sweeps.overview import overview

Capture = pytest.CaptureFixture[str]
SEVERAL = GOOD.replace(
    "[run]",
    '[[flows]]\nname = "users"\ncca = "cubic"\n'
    'workload = { kind = "web", html = "5kb", size = "2kb" }\n\n'
    '[[flows]]\nname = "backup"\ncca = "reno"\nsize = "20kb"\n\n[run]',
)
LOSING = GOOD.replace('"1bdp"', '"0.1bdp"').replace('"good"', '"losing"') + "\n"
"""CUBIC beside a buffer so small that its loss rate is near 1.3 %."""
STUDY = SEVERAL.replace('"8mbit"', '["4mbit", "8mbit"]', 1).replace(
    '"cubic"', '["cubic", "bbr3"]', 1
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("headings")
    assert run_cli("run", write(place, STUDY), "--out", str(place / "out")) == 0
    return place / "out"


def columns(groups: tuple[str, ...] = ("cubic-80ms", "users")) -> list[str]:
    of_classes = (*CLASS, *COMPLETION, *(m for its in APPLICATION.values() for m in its))
    every = {f"{group}.{metric.name}" for group in groups for metric in of_classes}
    return [*(metric.name for metric in (*RUN, PACKETS)), *sorted(every)]


def spellings(heading: str) -> Iterator[str]:
    yield from (heading, heading.upper(), heading.replace(", ", " of "))


@pytest.mark.parametrize("known", [columns(), [metric.name for metric in (*FLOW, *WORKLOAD)]])
def test_every_column_is_found_by_its_heading(known: list[str]) -> None:
    for column in known:
        for written in (column, *spellings(heading_of(column))):
            assert column_of(written, known, "--metric") == column


def test_every_heading_of_a_study_is_accepted(study: Path) -> None:
    store = open_store(study)
    [(stem, record)] = store.studies().items()
    known, controls = numbers(frame(study, "summary")), controls_of(frame(study, "flows"))
    headings = overview(store, stem, record, {}).metrics
    assert headings["users.completion_p95_s"] == "Page load p95 of users (s)"
    assert headings["CUBIC or BBRv3.share"] == "Share of CUBIC or BBRv3 (%)"
    for name, heading in headings.items():
        wanted = (
            [name]
            if name in known
            else [f"{c}.{name.partition('.')[2]}" for c in ("cubic", "bbr3")]
        )
        for written in spellings(heading):
            assert columns_named(written, known, controls) == wanted


def test_every_heading_of_a_run_is_accepted(tmp_path: Path) -> None:
    assert run_cli("run", write(tmp_path, SEVERAL), "--out", str(tmp_path / "out")) == 0
    runs = json.loads((tmp_path / "out/summary.json").read_text())["runs"]
    known = dict.fromkeys(metric.name for metric in (*FLOW, *WORKLOAD, *COMPLETION))
    found = [
        columns_named(heading, known)
        for table in (console._flow_table(runs), console._completion_table(runs))
        for heading in _headings(table)
    ]
    names = [name for [name] in found]
    assert names == [
        "goodput_mbps", "share", "retransmits", "rtt_mean_ms", "rtt_p95_ms", "fct_s", "completed",
        "completion_mean_s", "completion_p50_s", "completion_p95_s", "completion_p99_s",
        "slowdown_p50", "slowdown_p95", "slowdown_p99",
    ]  # fmt: skip


def _headings(table: Any) -> Iterator[str]:
    """The headings of numbers; one without a first line has that of the one before."""
    above = ""
    for column in table.columns:
        first, _, second = str(column.header).replace("-\n", "").partition("\n")
        above = first or above
        if column.justify == "right":
            yield f"{above} {second}"


def test_figures_of_a_sweep_take_their_own_headings(study: Path) -> None:
    for name in ("lines", "box"):
        for written in ("Share of the goodput (%)", "Queueing delay, mean over RTT samples (ms)"):
            panel = describe(study, name, metric=written).panels[0]
            assert any("users" in mark.label for mark in panel.marks)
            assert describe(study, name, metric=panel.y_label).panels[0].y_label == panel.y_label
    heat = describe(
        study, "heatmap", metric="Page load p95, users", y="path.rate", x="flows[0].cca"
    )
    assert heat.title.startswith("Completion p95 of users")
    assert View("", ()).label("users.share") == "Share of users (%)"


def test_checks_and_rules_take_headings(tmp_path: Path, capsys: Capture) -> None:
    bound = '\n[[check]]\nmetric = "Page load p95 of users (s)"\nat_most = 0.0001\n'
    assert run_cli("run", write(tmp_path, SEVERAL + bound), "--out", str(tmp_path / "one")) == 1
    assert "not met: headings" not in (told := capsys.readouterr().out)
    assert "users.completion_p95_s is" in told
    until = (
        "trials = 2\n\n[sweep]\n"
        'until = { metric = "share (%), users", within = 90, max_trials = 3 }\n'
    )
    assert (
        run_cli("run", write(tmp_path, STUDY + until + bound), "--out", str(tmp_path / "all")) == 1
    )
    assert "users.completion_p95_s is" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("metric", "bound", "message"),
    [
        ("Loss rate (%)", "at_most = 0.5", "losing: Loss rate (%) is 1"),
        ("Loss rate (%)", "at_most = 99", ""),
        ("loss_rate", "at_most = 0.005", "losing: loss_rate is 0.1"),
        ("Utilization (%)", "at_least = 101", "; at least 101 expected"),
    ],
)
def test_bounds_of_a_heading_in_per_cent_are_in_per_cent(
    metric: str, bound: str, message: str, tmp_path: Path, capsys: Capture
) -> None:
    text = f'{LOSING}[[check]]\nmetric = "{metric}"\n{bound}\n'
    status = run_cli("run", write(tmp_path, text), "--out", str(tmp_path / "out"))
    assert status == (1 if message else 0)
    assert message in capsys.readouterr().out


def test_a_bound_of_a_heading_without_its_unit_is_a_part_of_1(tmp_path: Path) -> None:
    text = f'{LOSING}[[check]]\nmetric = "Loss rate"\nat_most = 5\n'
    with pytest.raises(InputError) as caught:
        prepare_run(write(tmp_path, text))
    assert caught.value.place == "check[0].at_most"
    assert caught.value.remedy == '0.05, or the metric "Loss rate (%)",'


def test_trials_continue_until_an_interval_in_per_cent_is_narrow(tmp_path: Path) -> None:
    for metric, within in (("Utilization (%)", 1.5), ("utilization", 0.015)):
        until = f'{{ metric = "{metric}", within = {within}, max_trials = 3 }}'
        text = f"{GOOD}trials = 2\n\n[sweep]\nuntil = {until}\n"
        rule = prepare(write(tmp_path, text), out=tmp_path / "out").grid.study.until
        assert rule is not None
        assert (rule.metric, rule.within) == ("utilization", 0.015)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("page lod p95", '"users.completion_p95_s" ("Completion p95 of users (s)")'),
        ("usres.share", '"users.share" ("Share of users (%)")'),
        (
            "queue mean",
            '"queue_mean_bdp" ("Queue mean (BDP)") or "queue_mean_ms" ("Queue mean (ms)")',
        ),
        ("xyz", "narrows list metrics"),
    ],
)
def test_an_unknown_metric_leads_to_the_nearest(written: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        column_of(written, columns(), "--metric")
    assert words in caught.value.remedy


def test_a_legend_names_the_control_of_a_class_that_has_one() -> None:
    controls = {"web": "cubic", "call": "none", "mixed": None, "bbr": "bbr"}
    assert [legend_words(group, controls) for group in controls] == [
        "web (CUBIC)", "call", "mixed", "BBR"
    ]  # fmt: skip
