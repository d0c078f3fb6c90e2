"""A check that is not met, over time, on the page of its situation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_evaluate import INDEX, SPECIFICATION, suite

from narrows.evaluate import evaluate
from narrows.evaluate.failure import over_time
from narrows.evaluate.make import Evaluation
from narrows.evaluate.verdicts import judge
from narrows.figures.model import Figure, Panel
from narrows.metrics.bounds import CheckVerdict
from narrows.metrics.stored import StoreMeasurements
from narrows.spec import Condition, ResultCheck, SeriesNumber
from narrows.store import open_store

QUEUE = ResultCheck("queue_mean_ms", None, 5.0, {})


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """CUBIC breaks one of two checks, Reno too."""
    folder = tmp_path_factory.mktemp("suite")
    more = '[[check]]\nmetric = "queue_mean_ms"\nat_most = 5.0\n'
    index = INDEX.replace('["It is alone."]', '["It is alone.", "The queue must be short."]')
    mine = suite(folder, index, SPECIFICATION + more)
    return evaluate(["cubic"], suite=mine, beside=["reno"], out=folder / "out")


def failure_figure(evaluation: Evaluation, *checks: ResultCheck) -> Figure | None:
    """The figure for other checks about the same runs."""
    found = StoreMeasurements(open_store(evaluation.out.parents[1] / "runs"))
    because = replace(evaluation.judged[0].attempt.situation, because=tuple("x" for _ in checks))
    tried = [replace(one.attempt, checks=checks, situation=because) for one in evaluation.judged]
    return over_time("t", [judge(one, found.of) for one in tried], found.of)


def only(figure: Figure | None) -> Panel:
    assert figure is not None
    [panel] = figure.panels
    return panel


def take_of(
    take: str, condition: Condition, at_most: float, window_s: float | None = None
) -> ResultCheck:
    return ResultCheck(None, None, at_most, {}, SeriesNumber(condition, take, window_s=window_s))


def test_the_page_shows_what_is_not_met_and_not_what_is_met(evaluation: Evaluation) -> None:
    page = (evaluation.out / "alone.html").read_text()
    assert 'src="alone-over-time.svg"' in page
    text = (evaluation.out / "alone-over-time.svg").read_text()
    assert "Queue mean (ms): at most 5 expected" in text
    assert "CUBIC" in text
    assert "Reno" in text
    assert "counts from here" in text
    assert "Utilization" not in text


def test_a_page_without_a_failure_shows_none(tmp_path: Path) -> None:
    kept = evaluate(["cubic"], suite=suite(tmp_path), beside=[], out=tmp_path / "out")
    assert kept.judged[0].verdict == CheckVerdict.MET
    assert "over-time" not in (kept.out / "alone.html").read_text()


def test_the_line_has_the_mean_of_the_metric_and_the_bound(evaluation: Evaluation) -> None:
    panel = only(failure_figure(evaluation, QUEUE))
    [bound, begin] = panel.guides
    assert (bound.value, bound.label) == (5.0, "at most 5")
    assert (begin.value, begin.upright) == (1.0, True)
    [cubic, _] = evaluation.judged
    measured = cubic.results[1].outcome.values
    line = panel.lines[0]
    counted = line.y[line.x >= 1.0]
    assert (line.label, line.colour, line.band) == ("CUBIC", "cubic", True)
    assert np.nanmean(counted) == pytest.approx(sum(measured) / len(measured), rel=0.05)
    low, high = panel.y_ends
    assert low == 0
    assert high is not None
    assert high > 5.0


def test_a_bdp_is_the_scale_of_a_queue_in_bdp(evaluation: Evaluation) -> None:
    ms, bdp = (
        only(failure_figure(evaluation, replace(QUEUE, metric=f"queue_p50_{unit}", at_most=0.001)))
        .lines[0]
        .y
        for unit in ("ms", "bdp")
    )
    np.testing.assert_allclose(bdp * 20.0, ms)


def test_goodput_and_fairness_are_those_of_the_windows(evaluation: Evaluation) -> None:
    rate = (
        only(failure_figure(evaluation, ResultCheck("subject.goodput_mbps", None, 1.0, {})))
        .lines[0]
        .y
    )
    assert np.nanmean(rate[15:]) == pytest.approx(7.7, rel=0.05)
    fair = only(failure_figure(evaluation, ResultCheck("jain", None, 0.5, {}))).lines[0].y
    np.testing.assert_allclose(fair[15:], 1.0)


def test_a_series_has_its_own_windows_and_a_condition_its_own_bound(evaluation: Evaluation) -> None:
    cwnd = Condition("subject.cwnd")
    panel = only(failure_figure(evaluation, take_of("max", cwnd, 2.0, window_s=0.5)))
    assert panel.lines[0].x.tolist() == [0.5 * at for at in range(8)]
    assert panel.guides[0].value == 2.0
    above = replace(cwnd, above=3.0)
    panel = only(failure_figure(evaluation, take_of("share", above, 0.1)))
    assert (panel.guides[0].value, panel.guides[0].label) == (3.0, "above 3")
    growth = only(failure_figure(evaluation, take_of("growth", cwnd, 0.1)))
    assert [guide.upright for guide in growth.guides] == [True]


def test_states_are_steps_through_their_names(evaluation: Evaluation) -> None:
    state = Condition("subject.state", is_=("open",))
    panel = only(failure_figure(evaluation, take_of("share", state, 0.01)))
    names = [word for _, word in panel.y_ticks]
    assert "open" in names
    values = {value for line in panel.lines for value in line.y}
    assert values <= {float(at) for at in range(len(names))}


def test_a_metric_without_a_series_has_no_panel(evaluation: Evaluation) -> None:
    assert failure_figure(evaluation, ResultCheck("subject.retransmits", None, -1.0, {})) is None
