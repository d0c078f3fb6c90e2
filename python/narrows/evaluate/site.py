"""The pages of an evaluation: an overview, and a page for each situation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from narrows.evaluate.commands import EvaluateArguments
from narrows.evaluate.conclusion import conclude
from narrows.evaluate.failure import colour_of, over_time
from narrows.evaluate.runs import Contestant
from narrows.evaluate.suite import Situation, Suite
from narrows.evaluate.verdicts import (
    AttemptResult,
    CheckResult,
    by_situation,
    of_contestant,
    with_verdict,
)
from narrows.figures.model import HEADROOM, Figure, Guide, Line, Panel
from narrows.figures.network import svg
from narrows.figures.sweeps.view import interval_of
from narrows.metrics.bounds import CheckVerdict
from narrows.metrics.checks import CheckOutcome, RunMeasurements
from narrows.metrics.headings import heading_of_check
from narrows.metrics.intervals import half_width, mean
from narrows.plan import Plan, Trial
from narrows.report.page import environment
from narrows.spec.reading import read_file
from narrows.store.atomic import write_text
from narrows.words import count_of, join_words


@dataclass(frozen=True, slots=True)
class SiteRow:
    """A situation on the overview, with the verdict of each control."""

    situation: Situation
    page: str
    judged: Sequence[AttemptResult]


def write(
    folder: Path,
    suite: Suite,
    contestants: Sequence[Contestant],
    judged: Sequence[AttemptResult],
    asked: EvaluateArguments,
    found: Callable[[Plan, Trial], RunMeasurements | None],
) -> None:
    """Writes all pages into `folder`; `found` gives each run."""
    folder.mkdir(parents=True, exist_ok=True)
    command, rows = asked.command(), []
    for situation, mine in by_situation(judged):
        stem = situation.path.stem
        page = f"{stem}.html"
        rows.append(SiteRow(situation, page, mine))
        pictured = _draw(folder / stem, situation, mine)
        failed = _draw_failure(folder / f"{stem}-over-time", situation, mine, found)
        drawn = _draw_network(folder / f"{stem}-network.svg", mine)
        text = environment().get_template("evaluate-situation.html.jinja").render(
            suite=suite,
            situation=situation,
            judged=mine,
            pictured=pictured,
            alt=_alt(situation),
            failed=failed,
            quantity=heading_of_check,
            specification=read_file(situation.path),
            command=command,
            commands={one.key: asked.cell_command(one, situation) for one in contestants},
            drawn=drawn,
        )  # fmt: skip
        write_text(folder / page, text)
    mine_of = {one.title: of_contestant(judged, one) for one in contestants}
    overview = environment().get_template("evaluate-index.html.jinja").render(
        suite=suite,
        contestants=contestants,
        rows=rows,
        failures={name: failures(mine) for name, mine in mine_of.items()},
        undecided={name: open_questions(mine) for name, mine in mine_of.items()},
        strengths={name: situations_met(mine) for name, mine in mine_of.items()},
        compared=differences(contestants, mine_of),
        conclusions={
            one.control: one
            for one in conclude(contestants, judged, part=bool(asked.only))
        },
        pages={row.situation.name: row.page for row in rows},
        results="../../index.html" if asked.only else "../index.html",
        command=command,
        quantity=heading_of_check,
    )  # fmt: skip
    write_text(folder / "index.html", overview)


def failures(judged: Iterable[AttemptResult], beside: Iterable[AttemptResult] = ()) -> list[str]:
    """Returns a sentence for each check that isn't met, made from its rule.

    It names the controls in `beside` that don't meet the same check either.
    """
    others: dict[tuple[str, str], list[str]] = {}
    for one, result in with_verdict(beside, CheckVerdict.NOT_MET):
        key = (one.attempt.situation.name, result.outcome.check.name)
        others.setdefault(key, []).append(one.attempt.contestant.title)
    sentences = []
    for one, result in with_verdict(judged, CheckVerdict.NOT_MET):
        sentence = f"{_value_and_bounds(one, result)}. {result.because}"
        if also := others.get((one.attempt.situation.name, result.outcome.check.name)):
            sentence += f" {join_words(also)} {'fails' if len(also) == 1 else 'fail'} this, too."
        sentences.append(sentence)
    return sentences


def open_questions(judged: Iterable[AttemptResult]) -> list[str]:
    """Returns a sentence for each undecided check, with the reason and the remedy."""
    return [
        f"{_value_and_bounds(one, result)}: undecided, since {_because(result.outcome)}."
        for one, result in with_verdict(judged, CheckVerdict.UNDECIDED)
    ]


def _value_and_bounds(one: AttemptResult, result: CheckResult) -> str:
    """Describes the measured value of a check and the expectation."""
    found, what = (
        result.outcome,
        f"{one.attempt.situation.name}: {heading_of_check(result.outcome.check)}",
    )
    return f"{what} is {found.interval_text}, {found.bounds_text} expected"


def _because(result: CheckOutcome) -> str:
    """Says why a check is undecided, and how many trials may decide it.

    They are twice as many or more, since the mean changes with them, too. It moves toward the bound
    as often as away from it.
    """
    if result.more is None:
        return "it is at the bound: more than a thousand trials would be needed"
    count = len(result.values)
    total = f"--trials {count + max(result.more, count)} may decide"
    if not math.isfinite(half_width(result.values)):
        return f"{count_of(count, 'trial')} give no interval; {total}"
    return f"the interval is on both sides of the bound; {total}"


def situations_met(judged: Iterable[AttemptResult]) -> list[str]:
    """Returns the situations in which every check is met."""
    return [one.attempt.situation.name for one in judged if one.verdict == CheckVerdict.MET]


def differences(
    contestants: Sequence[Contestant], judged: Mapping[str, Sequence[AttemptResult]]
) -> dict[str, list[str]]:
    """Lists for each control under test where its verdicts differ from those for comparison."""
    told: dict[str, list[str]] = {one.title: [] for one in contestants}
    for tested in (one for one in contestants if one.tested):
        for beside in (one for one in contestants if not one.tested):
            pairs = list(zip(judged[tested.title], judged[beside.title], strict=True))
            better = [a.attempt.situation.name for a, b in pairs if _met_only_by_first(a, b)]
            worse = [a.attempt.situation.name for a, b in pairs if _met_only_by_first(b, a)]
            told[tested.title] += _against(beside.title, better, worse)
    return told


def _met_only_by_first(one: AttemptResult, other: AttemptResult) -> bool:
    """Returns True if the first is met where the other isn't."""
    return one.verdict == CheckVerdict.MET and other.verdict == CheckVerdict.NOT_MET


def _against(title: str, better: Sequence[str], worse: Sequence[str]) -> Iterator[str]:
    if better:
        yield f"It meets what {title} doesn't meet in: {', '.join(better)}."
    if worse:
        yield f"It doesn't meet what {title} meets in: {', '.join(worse)}."


def _alt(situation: Situation) -> str:
    return f"Results of each control in the situation {situation.name}, and the bounds."


def _draw(stem: Path, situation: Situation, judged: Sequence[AttemptResult]) -> bool:
    """Draws a panel for each check; returns False if nothing was measured."""
    measured = [one for one in judged if one.results]
    if not measured:
        return False
    from narrows.figures import static  # slow to load, so wrong input is reported first

    panels = tuple(_panel(at, judged) for at in range(len(measured[0].results)))
    title = f"{situation.section} {situation.name}"
    figure = Figure(
        title, situation.asks, panels, _alt(situation), columns=min(2, len(panels)), height=3.2
    )
    static.save(figure, stem, ["svg"])
    return True


def _draw_failure(
    stem: Path,
    situation: Situation,
    judged: Sequence[AttemptResult],
    found: Callable[[Plan, Trial], RunMeasurements | None],
) -> str:
    """Draws the failed checks over time.

    Returns a description, empty if there is nothing to draw.
    """
    figure = over_time(f"{situation.section} {situation.name}", judged, found)
    if figure is None:
        return ""
    from narrows.figures import static

    static.save(figure, stem, ["svg"])
    return figure.alt


def _draw_network(file: Path, judged: Sequence[AttemptResult]) -> str:
    """Draws the network of the first control that runs; returns its name, or nothing."""
    for one in judged:
        if one.attempt.cell is not None:
            write_text(file, svg(one.attempt.cell.plan.trials[0].scenario))
            return one.attempt.contestant.title
    return ""


def _panel(number: int, judged: Sequence[AttemptResult]) -> Panel:
    """Returns the panel of a check: the mean of each control with its interval, and the bounds."""
    lines, ticks, check, scale = [], [], None, 1
    for at, one in enumerate(judged):
        ticks.append((float(at), one.attempt.contestant.title))
        if number >= len(one.results) or not one.results[number].outcome.values:
            continue
        result = one.results[number].outcome
        check = result.check
        ends = interval_of(result.values, check.metric or "")
        scale, (low, high) = result.scale, (result.scale * end for end in ends)
        lines.append(
            Line(
                one.attempt.contestant.title,
                np.array([float(at)]),
                np.array([scale * mean(result.values)]),
                colour_of(one.attempt.contestant),
                low=np.array([low]),
                high=np.array([high]),
                marker="o",
                kind="points",
                group="",
            )
        )
    bounds = [] if check is None else [check.at_least, check.at_most]
    words = ("at least", "at most")
    guides = tuple(
        Guide(scale * value, f"{word} {scale * value:g}", below=word == "at most")
        for word, value in zip(words, bounds, strict=False)
        if value is not None
    )
    label = "" if check is None else heading_of_check(check)
    tops = [float(line.high[0]) for line in lines if line.high is not None]
    tops += [guide.value for guide in guides]
    top = max([0.0, *tops]) or 1.0
    return Panel(
        "", label, tuple(lines),
        x_range=(-0.5, len(judged) - 0.5), y_range=(0.0, HEADROOM * top),
        guides=guides, ticks=tuple(ticks),
    )  # fmt: skip
