"""The answer of an evaluation to "is my control safe?", from its verdicts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from narrows.evaluate.breaches import breaches, looks_at_harm, sharing_harm
from narrows.evaluate.runs import Contestant
from narrows.evaluate.sharing import shares_kept
from narrows.evaluate.verdicts import REFUSED, AttemptResult, of_contestant
from narrows.metrics.bounds import CheckVerdict
from narrows.words import count_of, join_words


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The answer for a control: True if it is safe by the suite, None if undecided; in words.

    `shares` says what other controls keep beside it, if the suite measures that.
    """

    control: str
    safe: bool | None
    sentence: str
    shares: str = ""


def conclude(
    contestants: Sequence[Contestant], judged: Sequence[AttemptResult], *, part: bool = False
) -> list[Conclusion]:
    """Returns the answer for each control under test.

    A control is safe if it meets every situation in which it can run, and not if it misses one,
    though it may do no more harm than the controls beside it; if `part` of the suite was asked for,
    meeting these leaves it open. The answer says what it does there, and which controls beside it
    do the same.
    """
    beside = [one for one in judged if not one.attempt.contestant.tested]
    tested = [one for one in contestants if one.tested]
    found = [(one, of_contestant(judged, one)) for one in tested]
    return [
        replace(_conclude(one, mine, beside, part), shares=shares_kept(one, mine, judged))
        for one, mine in found
    ]


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
        CheckVerdict.UNDECIDED: [one for one in undecided if not one.trouble],
        "without results": [one for one in undecided if one.trouble],
        REFUSED: refused,
    }
    parts = [f"{len(broken)} {CheckVerdict.NOT_MET}"] if broken else []
    parts += [_part(some, word, len(mine)) for word, some in kinds.items() if some]
    safe = False if broken else None if undecided or not met else True
    answer = {
        True: f"{control.title} is safe {'in these situations' if part else 'by this suite'}",
        False: f"{control.title} {_unsafe(mine, broken, beside)}: it {breaches(broken, beside)}",
        None: f"This suite leaves open whether {control.title} is safe",
    }[safe]
    number = f"{met} of {count_of(len(mine), 'situation')} met"
    known = None if safe and part else safe
    numbers = ", ".join([number, *parts])
    return Conclusion(control.key, known, f"{answer}{'. ' if broken else ': '}{numbers}.")


def _unsafe(
    mine: Sequence[AttemptResult],
    broken: Sequence[AttemptResult],
    beside: Sequence[AttemptResult],
) -> str:
    """Says if a control does more harm than those beside it, or only misses bounds as they do."""
    others = sharing_harm(broken, beside)
    if others is None:
        return "isn't safe by this suite"
    if not looks_at_harm(mine):
        return "doesn't meet this suite"
    harm = f"no harm beyond that of {join_words(others)}" if others else "no harm"
    return f"shows {harm}, but doesn't meet this suite"


def _part(some: Sequence[AttemptResult], word: str, total: int) -> str:
    """Returns the number of these verdicts, with their situations unless these are all."""
    names = "; ".join(one.attempt.situation.name for one in some)
    return f"all {word}" if len(some) == total else f"{len(some)} {word} ({names})"
