"""Answers to questions about a study: the right value, as sure as it says, in a sentence."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from specimens import run_cli, write

from narrows.answer.best import Ranking
from narrows.answer.bound import Bracket
from narrows.answer.figure import chart
from narrows.answer.judge import Limits, Row
from narrows.answer.make import find
from narrows.answer.question import BestQuestion, BoundQuestion, parse
from narrows.answer.rounds import TrialRequest
from narrows.answer.scale import Scale, scale_of
from narrows.answer.study import AskedStudy, ask
from narrows.answer.text import sentence
from narrows.errors import InputError
from narrows.figures.model import entry_of
from narrows.metrics.catalogue import CLASS, RUN
from narrows.metrics.headings import column_of
from narrows.spec import SpecificationText
from narrows.store import open_store

STUDY = """
[path]
rate = "8mbit"
rtt = "20ms"
buffer = ["0.1bdp", "10bdp"]

[[flows]]
cca = "cubic"

[[flows]]
cca = "bbr"

[run]
duration = "2s"
"""
Metrics = Callable[[float], dict[str, float | None]]


class Synthetic:
    """Runs whose metrics are functions of the value, more or less in turn by `noise`."""

    def __init__(self, metrics: Metrics, noise: float = 0.0) -> None:
        self.metrics, self.noise = metrics, noise
        self.trials: dict[Any, int] = {}

    def __call__(self, asked: Sequence[TrialRequest]) -> list[list[Row]]:
        return [self._rows(value, count) for _, value, count in asked]

    def _rows(self, value: Any, count: int) -> list[Row]:
        self.trials[value] = max(count, self.trials.get(value, 0))
        rows: list[Row] = []
        for trial in range(count):
            draw = self.noise if trial % 2 else -self.noise
            known = self.metrics(value).items()
            rows.append({name: None if v is None else v + draw for name, v in known})
        return rows


def metric_column(metric: str) -> str:
    columns = [metric.name for metric in (*RUN, *CLASS)]
    return column_of(metric, [*columns, *(f"bbr.{name}" for name in columns)], "--for")


def study_of(question: str, text: str = STUDY, *changes: str) -> AskedStudy:
    return ask(SpecificationText(text, "s"), changes, question)


def bracket_of(question: str, run: Synthetic, limits: Limits | None = None) -> Bracket:
    found = find(study_of(question), run, limits or Limits(3, 20))[()]
    assert isinstance(found, Bracket)
    return found


def says(question: str, run: Synthetic) -> str:
    study = study_of(question)
    return sentence(study, (), find(study, run, Limits(3, 20))[()])


def value_of(found: Bracket) -> float:
    assert found.answer is not None
    return float(found.answer.value)


@pytest.mark.parametrize("bound", [0.15, 0.5, 1.0, 3.3, 9.0])
@pytest.mark.parametrize(
    ("form", "rising", "just_above"),
    [
        ("smallest path.buffer with utilization >= 0.5", True, True),
        ("path.buffer from which utilization >= 0.5", True, True),
        ("largest path.buffer with utilization >= 0.5", False, False),
        ("path.buffer up to which utilization >= 0.5", False, False),
    ],
)
def test_a_bound_is_bracketed_within_the_precision(
    form: str, rising: bool, just_above: bool, bound: float
) -> None:
    run = Synthetic(lambda v: {"utilization": float((v >= bound) == rising)})
    found = bracket_of(form, run)
    assert found.beyond is not None
    ends = sorted((value_of(found), float(found.beyond.value)))
    assert ends[0] <= bound <= ends[1]
    assert ends[1] - ends[0] <= 0.05 * ends[1]
    assert value_of(found) == ends[just_above]
    assert found.is_decided


@pytest.mark.parametrize("where", [0.15, 1.0, 9.0])
@pytest.mark.parametrize("rising", [True, False])
def test_equal_metrics_are_bracketed_whichever_is_larger_first(where: float, rising: bool) -> None:
    sign = 1 if rising else -1
    run = Synthetic(lambda v: {"bbr.share": 0.5 + sign * 0.01 * (v - where), "cubic.share": 0.5})
    found = bracket_of("path.buffer at which bbr.share = cubic.share", run)
    assert found.beyond is not None
    assert found.is_decided
    low, high = float(found.beyond.value), value_of(found)
    assert low <= where <= high
    assert high - low <= 0.05 * high


def test_a_difference_is_taken_run_by_run() -> None:
    run = Synthetic(lambda v: {"bbr.share": 0.1 * v, "cubic.share": 0.2}, noise=0.1)
    found = bracket_of("smallest path.buffer with bbr.share > cubic.share", run)
    assert found.is_decided  # the noise is the same in both, so it cancels
    assert 2.0 < value_of(found) < 2.2


def test_equality_is_reported_as_both_ends_with_the_buffer_in_kb_and_packets() -> None:
    run = Synthetic(lambda v: {"bbr.share": 0.1 * v})
    told = says("path.buffer at which bbr.share = 25%", run)
    assert told.startswith("the path.buffer at which bbr.share = 0.25 is between 2.")
    kilobytes = 8e6 * 0.02 / 8 / 1000  # a BDP
    low = float(told.partition("between ")[2].partition("bdp")[0])
    assert f"{low:g}bdp = {low * kilobytes:.4g} kB = {low * kilobytes / 1.5:.4g} packets" in told


def test_metrics_that_never_are_equal_are_reported_with_where_they_come_closest() -> None:
    run = Synthetic(lambda v: {"bbr.share": 0.9 - 0.01 * v, "cubic.share": 0.1})
    told = says("path.buffer at which bbr.share = cubic.share", run)
    assert "no path.buffer from 0.1bdp to 10bdp has bbr.share = cubic.share" in told
    assert "closest at 10bdp (bbr.share 0.8 ± 0, cubic.share 0.1 ± 0)" in told


def test_noise_gets_more_trials_only_near_the_bound() -> None:
    run = Synthetic(lambda v: {"utilization": 0.1 * v}, noise=0.02)
    found = bracket_of("smallest path.buffer with utilization >= 0.3", run)
    assert max(run.trials[0.1], run.trials[10.0]) == 6
    assert max(run.trials.values()) > 6
    assert 2.8 < value_of(found) < 3.6


def test_all_looks_at_all_values_err_as_one_interval_would() -> None:
    """With 3, 6, 12 and 20 trials, at about ten values."""
    assert Limits(3, 20).level == pytest.approx(1 - 0.05 / 40)
    assert Limits(5, 5).level == pytest.approx(1 - 0.05 / 10)


@pytest.mark.parametrize(("noise", "more"), [(0.065, 0), (0.05, 8)])
def test_no_value_is_run_that_would_only_be_undecided(noise: float, more: int) -> None:
    """20 trials only just decide 0.316 and 3.16, or also values nearer to 1."""
    run = Synthetic(lambda v: {"utilization": 0.5 + 0.05 * math.log(v)}, noise=noise)
    found = bracket_of("smallest path.buffer with utilization >= 0.5", run)
    assert [point.value for point in found.between if point.value == 1] == [1]
    assert len(run.trials) >= 5 + more
    assert (more > 0) == (set(run.trials) > {0.1, 0.316, 1, 3.16, 10})
    assert (more > 0) == (value_of(found) < 3)


def test_values_that_trials_cannot_decide_are_reported() -> None:
    run = Synthetic(lambda v: {"utilization": 0.5 + 0.1 * (v > 1) - 0.1 * (v < 0.5)}, noise=0.05)
    found = bracket_of("smallest path.buffer with utilization >= 0.5", run, Limits(3, 12))
    assert not found.is_decided
    assert found.beyond is not None
    assert float(found.beyond.value) < 0.52 < 0.95 < value_of(found)
    assert max(run.trials.values()) == 12
    study = study_of("smallest path.buffer with utilization >= 0.5")
    told = re.sub(r" = [^(]+", " ", sentence(study, (), found))
    fails, holds = (study.spelling(one.value) for one in (found.beyond, found.answer))
    assert told.startswith(f"the smallest path.buffer with utilization >= 0.5 is between {fails} (")
    assert re.search(rf" \(fails: utilization 0\.4.+\) and {holds} \(holds: utilization 0", told)
    ends = [study.spelling(found.between[at].value) for at in (0, -1)]
    assert f"; 12 trials don't decide {ends[0]} to {ends[1]}" in told
    [panel] = chart(study, {(): found}, 1).panels
    marked = {guide.label.split(":")[0]: guide.value for guide in panel.guides if guide.upright}
    assert marked == {"fails": found.beyond.value, "holds": found.answer.value}


def test_a_bound_between_whole_numbers_is_exact_and_one_without_a_failing_value_is_a_limit() -> (
    None
):
    question = "smallest flows[0].count with utilization >= 0.5"
    study = study_of(question, STUDY, "flows[0].count=1,9", "path.buffer=1bdp")
    run = Synthetic(lambda v: {"utilization": 0.1 * v})
    said = sentence(study, (), find(study, run, Limits(3, 4))[()])
    assert f"the {question} is 5 (holds: utilization 0.5 ± 0; 3 trials); 4 fails: util" in said
    open_ = Synthetic(lambda v: {"utilization": 0.5 + (v > 3)}, noise=0.05)
    said = sentence(study, (), find(study, open_, Limits(3, 4))[()])
    assert f"the {question} is at most 4 (holds: " in said
    assert "; 4 trials don't decide 1 to 3, and nothing below fails for sure" in said


def test_a_range_narrower_than_the_grid_is_found() -> None:
    """Between two values of the grid one condition ends as the other begins."""
    run = Synthetic(lambda v: {"utilization": float(v >= 1.2), "loss_rate": float(v > 1.5)})
    words = "smallest path.buffer with utilization > 0.5 and loss_rate < 0.5"
    found = bracket_of(words, run)
    assert 1.2 <= value_of(found) <= 1.27
    assert len(found.ranges) == 1


def test_conditions_that_never_hold_together_have_no_answer() -> None:
    run = Synthetic(lambda v: {"utilization": float(v >= 2), "loss_rate": float(v > 1.8)})
    words = "smallest path.buffer with utilization > 0.5 and loss_rate < 0.5"
    found = bracket_of(words, run)
    assert found.answer is None
    said = says(words, run)
    assert said.startswith("no path.buffer from 0.1bdp to 10bdp has utilization > 0.5 and")
    assert "utilization > 0.5 from" in said
    assert "loss_rate < 0.5 from 0.1bdp to" in said


def test_the_closest_value_is_judged_by_all_conditions() -> None:
    """10 BDP has the highest utilization, and breaks the bound of the queue by a factor of 5."""
    run = Synthetic(lambda v: {"utilization": 0.9 + 0.008 * v, "queue_p95_ms": 10 * v})
    said = says("smallest path.buffer with utilization >= 0.99 and queue_p95_ms < 20", run)
    assert said.startswith("no path.buffer from 0.1bdp to 10bdp has utilization >= 0.99 and")
    assert "utilization >= 0.99 nowhere; queue_p95_ms < 20 from 0.1bdp to" in said
    at = float(re.search(r"closest at ([\d.]+)bdp", said)[1])  # type: ignore[index]
    assert at < 3, said


def test_none_and_undecided_are_told_apart() -> None:
    question = "smallest path.buffer with utilization >= 0.5"
    open_ = Synthetic(lambda v: {"utilization": 0.5 - 0.1 * (v < 5)}, noise=0.02)
    said = says(question, open_)
    assert said.startswith("it is undecided whether any path.buffer from 0.1bdp to 10bdp has")
    assert "utilization >= 0.5 nowhere for sure; 20 trials don't decide 10bdp" in said
    assert "no path.buffer" not in said
    none = says(question, Synthetic(lambda v: {"utilization": 0.01 * v}, noise=0.001))
    assert none.startswith("no path.buffer from 0.1bdp to 10bdp has")
    assert "decide" not in none
    assert "has utilization >= 0.5; closest at 10bdp" in none


def test_several_ranges_are_reported() -> None:
    run = Synthetic(lambda v: {"utilization": float(0.2 < v < 0.5 or v > 5)})
    first = bracket_of("smallest path.buffer with utilization > 0.5", run)
    assert 0.2 < value_of(first) < 0.22
    said = says("smallest path.buffer with utilization > 0.5", run)
    assert "it also holds from 10bdp to 10bdp" in said
    assert re.search(r"; it holds at least up to 0\.\d+bdp and fails again at 1bdp: utiliz", said)
    alone = Synthetic(lambda v: {"utilization": float(v > 0.2)})
    assert "fails again" not in says("smallest path.buffer with utilization > 0.5", alone)
    last = bracket_of("path.buffer from which utilization > 0.5", run)
    assert 5 < value_of(last) < 5.3


def test_from_which_needs_the_end_of_the_range() -> None:
    run = Synthetic(lambda v: {"utilization": float(0.2 < v < 5)})
    found = bracket_of("path.buffer from which utilization > 0.5", run)
    assert found.answer is None
    assert "up to the end of the range: it holds from" in says(
        "path.buffer from which utilization > 0.5", run
    )


def test_a_bound_beyond_the_range_is_not_made_up() -> None:
    run = Synthetic(lambda _: {"utilization": 1.0})
    found = bracket_of("smallest path.buffer with utilization > 0.5", run)
    assert (value_of(found), found.beyond) == (0.1, None)
    assert "the true bound may lie below it" in says(
        "smallest path.buffer with utilization > 0.5", run
    )


def test_a_metric_without_a_value_does_not_hold() -> None:
    run = Synthetic(lambda v: {"utilization": 1.0 if v > 2 else None})
    found = bracket_of("smallest path.buffer with utilization > 0.5", run)
    assert 2 < value_of(found) < 2.2
    assert "utilization has no value" in says("smallest path.buffer with utilization > 0.5", run)


@pytest.mark.parametrize("highest", [True, False])
def test_the_best_value_is_ranked_with_intervals(highest: bool) -> None:
    means = {"droptail": 0.5, "codel": 0.9, "pie": 0.9001, "fq_codel": 0.1}
    study = study_of(
        f"the path.queue with the {'highest' if highest else 'lowest'} jain", STUDY,
        'path.queue=["droptail", "codel", "pie", "fq_codel"]', "path.buffer=1bdp",
    )  # fmt: skip
    run = Synthetic(lambda v: {"jain": means[str(v)]}, noise=0.01)
    found = find(study, run, Limits(3, 8))[()]
    assert isinstance(found, Ranking)
    assert found.answer is not None
    if highest:
        assert found.answer.value in ("codel", "pie")
        assert len(found.beside) == 1
        assert run.trials == {"droptail": 3, "codel": 8, "pie": 8, "fq_codel": 3}
        assert "it can't be told apart from" in sentence(study, (), found)
    else:
        assert (found.answer.value, found.is_decided) == ("fq_codel", True)
        assert set(run.trials.values()) == {3}


def test_every_combination_of_the_other_axes_has_its_answer() -> None:
    study = study_of(
        "smallest path.buffer with utilization > 0.5", STUDY,
        'path.queue=["droptail", "codel"]',
    )  # fmt: skip

    def run(asked: Sequence[TrialRequest]) -> list[list[Row]]:
        bounds = (0.3, 3.0)
        return [[{"utilization": float(v >= bounds[n])}] * c for n, v, c in asked]  # type: ignore[operator]

    found = find(study, run, Limits(2, 4))
    assert [dict(case)["path.queue"] for case in found] == ["droptail", "codel"]
    assert [round(value_of(one), 1) for one in found.values() if isinstance(one, Bracket)] == [
        0.3, 3.0,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "change", "lines"),
    [
        ("utilization", 'flows[0].cca=["cubic", "reno"]', {"CUBIC": "cubic", "Reno": "reno"}),
        ("bbr.share", 'path.queue=["droptail", "codel"]',
         {"Queue: Drop-tail": "bbr", "Queue: CoDel": "bbr#1"}),
        ("utilization", 'path.queue=["droptail", "codel"]',
         {"Queue: Drop-tail": "flow:0", "Queue: CoDel": "flow:1"}),
    ],
)  # fmt: skip
def test_lines_of_the_chart_have_the_colours_of_their_controls(
    metric: str, change: str, lines: dict[str, str]
) -> None:
    question = f"smallest path.buffer with {metric} > 0.5"
    study = study_of(question, STUDY, change)
    run = Synthetic(lambda value: {metric: float(value > 1)})
    (panel,) = chart(study, find(study, run, Limits(2, 4)), 0).panels
    assert {line.label: line.colour for line in panel.lines} == lines
    assert all(entry_of(line) for line in panel.lines)


@pytest.mark.parametrize(
    ("second", "legend"),
    [("cubic", {"CUBIC": "cubic"}), ("bbr", {"CUBIC and BBR": "flow:0"})],
)
def test_a_chart_of_one_line_names_its_controls_the_answer_and_what_was_asked(
    second: str, legend: dict[str, str]
) -> None:
    text = STUDY.replace('cca = "bbr"', f'cca = "{second}"')
    study = study_of("smallest path.buffer with utilization > 0.5", text)
    run = Synthetic(lambda value: {"utilization": float(value > 1)})
    made = chart(study, find(study, run, Limits(2, 4)), 0)
    assert {line.label: line.colour for line in made.panels[0].lines} == legend
    assert list(made.legend()) == list(legend)
    assert made.subtitle.endswith("means with intervals that hold together with 95 %")
    asked, answer = sorted(made.panels[0].guides, key=lambda guide: guide.upright)
    assert asked.label == "asked: > 50"
    assert answer.label.startswith("answer: ")
    assert answer.label.endswith(" BDP")


def test_a_chart_names_its_answer_in_the_first_panel_only() -> None:
    study = study_of("smallest path.buffer with utilization > 0.5 and queue_p95_ms < 20")
    run = Synthetic(lambda value: {"utilization": float(value > 1), "queue_p95_ms": value})
    panels = chart(study, find(study, run, Limits(2, 4)), 0).panels
    first, second = ([g.label for g in panel.guides if g.upright] for panel in panels)
    assert [name.split(":")[0] for name in first] == ["answer"]
    assert second == [""]


@pytest.mark.parametrize(("begin", "marked"), [(1, 2), (1000, 0)])
def test_a_chart_marks_both_ends_around_a_crossing_and_nothing_without_one(
    begin: float, marked: int
) -> None:
    study = study_of("path.buffer at which bbr.share = cubic.share")
    run = Synthetic(lambda value: {"bbr.share": float(value < begin), "cubic.share": 0.5})
    (panel,) = chart(study, find(study, run, Limits(2, 4)), 0).panels
    assert sum(guide.upright for guide in panel.guides) == marked


def test_a_bound_and_values_beside_a_heading_in_per_cent_are_in_per_cent() -> None:
    run = Synthetic(lambda value: {"utilization": min(float(value), 10.0) / 10})
    told = says("smallest path.buffer with Utilization (%) >= 50", run)
    assert "with Utilization (%) >= 50 is between 4.86bdp" in told
    assert "(fails: Utilization (%) 48.6 ± 0; 3 trials)" in told
    assert "(holds: Utilization (%) 50.4 ± 0; 3 trials)" in told


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("the largest flows.0.count with bbr.share < 25%",
         "largest flows[0].count with bbr.share < 0.25"),
        ("smallest path.buffer with queue_p95_ms<20ms and goodput_mbps >= 5mbit",
         "smallest path.buffer with queue_p95_ms < 20 and goodput_mbps >= 5"),
        ("The  path.rtt up to which utilization > .9?", "path.rtt up to which utilization > 0.9"),
        ("path.buffer from which share of BBR (%) < 25%",
         "path.buffer from which share of BBR (%) < 25"),
        ("path.buffer from which share of BBR < 0.25", "path.buffer from which bbr.share < 0.25"),
        ("smallest path.buffer with queue p95 (ms) < 20ms and Utilization (%) >= 99%",
         "smallest path.buffer with queue_p95_ms < 20 and Utilization (%) >= 99"),
        ("path.queue with lowest Loss rate (%)", "path.queue with the lowest Loss rate (%)"),
        ("path.queue with lowest delay_p95_ms", "path.queue with the lowest delay_p95_ms"),
    ],
)  # fmt: skip
def test_a_question_is_read(text: str, question: str) -> None:
    read = parse(text, metric_column)
    assert isinstance(read, BoundQuestion | BestQuestion)
    assert str(read) == question
    assert parse(str(read), metric_column) == read


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the best queue", '"the best queue"'),
        ("", '""'),
        ("smallest a..b with jain > 1", '"a..b", which is not a place'),
        ("smallest path.buffer with utilization = 1", '"utilization = 1"'),
        ("smallest path.buffer with utilization >= high", '"high", which is not a metric'),
        ("smallest path.buffer with utilization >= nan", '"nan"'),
        ("smallest path.buffer with queue_p95_ms < 20mbit", '"20mbit"'),
        ("smallest path.buffer with utilization > 1 or jain > 1", '"utilization > 1 or jain > 1"'),
        (
            "smallest path.buffer with Share of BBR < 25",
            '25 for "Share of BBR", which is a part of 1 without its unit',
        ),
    ],
)
def test_a_question_that_is_none_is_refused(text: str, found: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text, metric_column)
    assert caught.value.place == "--for"
    assert caught.value.problems[0].found == found


@pytest.mark.parametrize(
    ("text", "changes", "found"),
    [
        ("path.queue with the highest fairnes", ['path.queue=["pie", "codel"]'],
         '"fairnes", which is not a metric'),
        ("path.rtt with the highest jain", [], "path.rtt, which has no list of values"),
        ("buffer with the highest jain", [], '"buffer"'),
        ("smallest path.buffer with jain > 1", ['sweep.zip=[["path.buffer", "path.rtt"]]',
         'path.rtt=["1ms", "2ms"]'], "path.buffer, zipped with path.rtt"),
        ("smallest path.buffer with jain > 1", ['path.buffer=["1bdp", "1bdp"]'], ""),
        ("smallest path.queue with jain > 1", ['path.queue=["pie", "codel"]'], "words"),
    ],
)  # fmt: skip
def test_a_study_that_does_not_fit_is_refused(text: str, changes: list[str], found: str) -> None:
    with pytest.raises(InputError) as caught:
        find(study_of(text, STUDY, *changes), Synthetic(lambda _: {}), Limits())
    assert found in caught.value.problems[0].found


@pytest.mark.parametrize(
    ("values", "unit", "numbers"),
    [
        (["0.5bdp", "8bdp"], "bdp", (0.5, 1.0, 2.0, 4.0, 8.0)),
        (["500kbit", "2mbit"], "kbit", (500, 707, 1000, 1410, 2000)),
        ([1, 3], "", (1, 2, 3)),
        ([0, 0.1], "", (0, 0.0125, 0.025, 0.05, 0.1)),
        (["10pkt", "12pkt"], "pkt", (10, 11, 12)),
    ],
)
def test_a_grid_is_in_the_units_of_the_place(
    values: list[object], unit: str, numbers: tuple[float, ...]
) -> None:
    scale = scale_of("path.buffer", values)
    assert scale is not None
    assert (scale.unit, scale.numbers) == (unit, numbers)


def test_words_and_mixed_kinds_have_no_scale() -> None:
    assert scale_of("path.queue", ["pie", "codel"]) is None
    assert scale_of("path.buffer", ["1bdp", "10pkt"]) is None
    assert scale_of("x", [True, False]) is None


def test_the_middle_lies_between() -> None:
    scale = Scale("bdp", False, (), ())
    assert scale.between(1.001, 1.002) == 1.0015
    assert scale.between(1.0, 1.0000001) is None


def test_a_real_study_is_answered_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = Path(write(tmp_path, STUDY)), tmp_path / "out"
    words = ["search", str(file), "--for", "smallest path.buffer with queue_p95_ms > 15"]
    status = run_cli(*words, "--trials", "2", "--out", str(out), "--json")
    said = json.loads(capsys.readouterr().out)
    assert status == 0
    [found] = said["answers"]
    assert found["decided"]
    low, high = (float(str(found[key]).removesuffix("bdp")) for key in ("beyond", "found"))
    assert 0 < high - low <= 0.05 * high
    tried = {one["value"]: one["mean"]["queue_p95_ms"] for one in found["values"]}
    assert tried[found["beyond"]] <= 15 < tried[found["found"]]
    assert sorted(path.name for path in out.glob("*answer*")) == [
        f"{file.stem}-answer.{kind}" for kind in ("html", "json", "png", "svg")
    ]
    stored = len(open_store(out).keys())
    assert stored == said["runs"]
    assert run_cli(*words, "--trials", "2", "--out", str(out)) == 0
    assert len(open_store(out).keys()) == stored, "a second answer needs no new run"
    assert run_cli("export", str(out), "summary") == 0
    assert len(capsys.readouterr().out.splitlines()) >= stored + 1


def test_options_of_the_other_search_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, STUDY)
    assert run_cli("search", str(file), "--for", "x", "--objective", "loss") == 2
    assert "--objective with --for" in capsys.readouterr().err
    assert run_cli("search", "cubic", "--max-trials", "9") == 2
    assert "--max-trials without --for" in capsys.readouterr().err
