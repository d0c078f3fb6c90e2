"""The answer of an evaluation to "is my control safe?", from its verdicts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from narrows.evaluate.runs import Contestant
from narrows.evaluate.verdicts import REFUSED, AttemptResult, of_contestant
from narrows.metrics.bounds import CheckVerdict
from narrows.words import count_of, join_words


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The answer for a control: True if it is safe by the suite, None if undecided; in words."""

    control: str
    safe: bool | None
    sentence: str


def conclude(
    contestants: Sequence[Contestant], judged: Sequence[AttemptResult], *, part: bool = False
) -> list[Conclusion]:
    """Returns the answer for each control under test.

    A control is safe if it meets every situation in which it can run, and not safe if it misses
    one; if `part` of the suite was asked for, meeting these leaves it open. The answer says which
    situations the controls beside it miss, too.
    """
    beside = [one for one in judged if not one.attempt.contestant.tested]
    tested = [one for one in contestants if one.tested]
    return [_conclude(one, of_contestant(judged, one), beside, part) for one in tested]


def _conclude(
    control: Contestant,
    mine: Sequence[AttemptResult],
    beside: Sequence[AttemptResult],
    part: bool,
) -> Conclusion:
    broken = [one for one in mine if one.verdict == CheckVerdict.NOT_MET]
    undecided = [one for one in mine if one.verdict == CheckVerdict.UNDECIDED]
    refused = [one for one in mine if one.verdict == REFUSED]
    met = len(mine) - len(broken) - len(undecided) - len(refused)
    kinds = {
        CheckVerdict.NOT_MET: broken,
        CheckVerdict.UNDECIDED: [one for one in undecided if not one.trouble],
        "without results": [one for one in undecided if one.trouble],
        REFUSED: refused,
    }
    parts = [_part(some, word, len(mine), beside) for word, some in kinds.items() if some]
    safe = False if broken else None if undecided or not met else True
    answer = {
        True: f"{control.title} is safe {'in these situations' if part else 'by this suite'}",
        False: f"{control.title} isn't safe by this suite",
        None: f"This suite leaves open whether {control.title} is safe",
    }[safe]
    number = f"{met} of {count_of(len(mine), 'situation')} met"
    known = None if safe and part else safe
    return Conclusion(control.key, known, f"{answer}: {', '.join([number, *parts])}.")


def _part(
    some: Sequence[AttemptResult], word: str, total: int, beside: Sequence[AttemptResult]
) -> str:
    """Returns the number of these verdicts, with their situations unless these are all."""
    names = "; ".join(_name(one, beside) for one in some)
    return f"all {word}" if len(some) == total else f"{len(some)} {word} ({names})"


def _name(one: AttemptResult, beside: Sequence[AttemptResult]) -> str:
    """Returns the name of a situation, with the controls that don't meet it either."""
    name = one.attempt.situation.name
    same = [
        other.attempt.contestant.title
        for other in beside
        if other.attempt.situation.name == name and other.verdict == one.verdict
    ]
    shared = same and one.verdict == CheckVerdict.NOT_MET
    return f"{name} as with {join_words(same)}" if shared else name
