"""Says what part of its share another control keeps beside a control under test.

A control's share beside its own flows is measured if it runs for comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from narrows.evaluate.runs import Contestant
from narrows.evaluate.suite import Situation, is_subject
from narrows.evaluate.verdicts import AttemptResult
from narrows.metrics.headings import controls_in
from narrows.metrics.intervals import mean
from narrows.spec.registry import title
from narrows.words import join_words


def shares_kept(
    control: Contestant, mine: Sequence[AttemptResult], judged: Sequence[AttemptResult]
) -> str:
    """Says what others keep of the share that they have beside themselves; empty if not measured.

    "Beside Vegas, CUBIC keeps 95 % (beside-cubic-small) to 160 % (beside-cubic-large) of ...".
    """
    found: dict[str, list[tuple[float, str]]] = {}
    for one in mine:
        for number, cca, share in _other_shares(one):
            alone = _share_beside_itself(judged, one.attempt.situation, cca, number)
            if alone:
                part = (100 * share / alone, one.attempt.situation.name)
                found.setdefault(cca, []).append(part)
    if not found:
        return ""
    parts = join_words(f"{title(cca)} keeps {_range(parts)}" for cca, parts in found.items())
    who = "it has" if len(found) == 1 else "each has"
    return f"Beside {control.title}, {parts} of the share that {who} beside itself."


def _other_shares(one: AttemptResult) -> Iterator[tuple[int, str, float]]:
    """Yields the checks on the share of a class of another control: number, control, mean."""
    if one.attempt.cell is None:
        return
    plan = one.attempt.cell.plan
    controls = controls_in([(plan.groups, plan.trials[0].scenario)])
    for number, result in enumerate(one.results):
        owner, _, name = str(result.outcome.check.metric).rpartition(".")
        cca, values = controls.get(owner), result.outcome.values
        is_other = not is_subject(owner) and cca not in (None, "none", one.attempt.contestant.name)
        if name == "share" and is_other and values:
            yield number, str(cca), mean(values)


def _share_beside_itself(
    judged: Sequence[AttemptResult], situation: Situation, cca: str, number: int
) -> float | None:
    """Returns the mean of this check in a situation with this control under test."""
    for one in judged:
        attempt = one.attempt
        if attempt.situation == situation and attempt.contestant.key == cca and one.results:
            values = one.results[number].outcome.values
            return mean(values) if values else None
    return None


def _range(found: Sequence[tuple[float, str]]) -> str:
    """Words the least and the largest part, each with its situation."""
    ends = dict.fromkeys((min(found), max(found)))
    return " to ".join(f"{part:.0f} % ({place})" for part, place in ends)
