"""Says in words what a control does that a suite doesn't allow, and which others do the same.

Harm to other flows comes first, then the loss and the queue that all flows share, then the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from narrows.evaluate.suite import is_subject
from narrows.evaluate.verdicts import AttemptResult, CheckResult, with_verdict
from narrows.metrics.bounds import CheckVerdict
from narrows.metrics.headings import controls_in
from narrows.metrics.intervals import mean
from narrows.metrics.series import flows_of
from narrows.plan import Plan
from narrows.spec.registry import title
from narrows.words import join_words

_LEAVES, _HARMS = "leaves {} a share of", "harms other flows in"
_LOSES, _FILLS = "causes a loss of", "keeps a long queue in"
_MISSES = "misses the bounds of"
_ORDER = (_LEAVES, _HARMS, _LOSES, _FILLS, _MISSES)


def breaches(mine: Sequence[AttemptResult], beside: Sequence[AttemptResult]) -> str:
    """Describes the checks that a control doesn't meet: "keeps a long queue in deep".

    Each clause ends with the controls in `beside` that don't meet the same checks: "as CUBIC does".
    """
    found: dict[tuple[int, str, tuple[str, ...]], list[str]] = {}
    for one, result in with_verdict(mine, CheckVerdict.NOT_MET):
        kind, verb, where = _clause(one, result)
        key = (_ORDER.index(kind), verb, _same(one, result, beside))
        found.setdefault(key, []).append(where)
    return "; ".join(
        f"{verb} {join_words(dict.fromkeys(places))}{_as_others(others)}"
        for (_, verb, others), places in sorted(found.items(), key=lambda item: item[0][0])
    )


def sharing_harm(
    mine: Sequence[AttemptResult], beside: Sequence[AttemptResult]
) -> list[str] | None:
    """Returns the controls that do what a control does to others or to all flows.

    None if it does something that no control in `beside` does.
    """
    shared = [
        _same(one, result, beside)
        for one, result in with_verdict(mine, CheckVerdict.NOT_MET)
        if _clause(one, result)[0] != _MISSES
    ]
    return list(dict.fromkeys(chain.from_iterable(shared))) if all(shared) else None


def looks_at_harm(judged: Sequence[AttemptResult]) -> bool:
    """Returns True if a check is about other flows, or the loss or queue that all flows share."""
    return any(_clause(one, result)[0] != _MISSES for one in judged for result in one.results)


def _same(
    one: AttemptResult, result: CheckResult, beside: Sequence[AttemptResult]
) -> tuple[str, ...]:
    """Returns the controls that don't meet the same check."""
    situation, check = one.attempt.situation.name, result.outcome.check.name
    return tuple(
        other.attempt.contestant.title
        for other, its in with_verdict(beside, CheckVerdict.NOT_MET)
        if (other.attempt.situation.name, its.outcome.check.name) == (situation, check)
    )


def _as_others(others: Sequence[str]) -> str:
    return f", as {join_words(others)} {'do' if len(others) > 1 else 'does'}" if others else ""


def _clause(one: AttemptResult, result: CheckResult) -> tuple[str, str, str]:
    """Returns what a check shows, as a kind of `_ORDER`, its words, and the value and place."""
    outcome, place = result.outcome, one.attempt.situation.name
    check, plan = outcome.check, one.attempt.cell.plan if one.attempt.cell else None
    series = check.metric if check.taken is None else check.taken.condition.series
    owner, _, name = str(series).rpartition(".")
    valued = f"{100 * mean(outcome.values):.3g} % in {place}" if outcome.values else ""
    if plan is not None and _is_other(plan, owner):
        if check.metric is not None and name == "share" and valued and check.at_most is None:
            return _LEAVES, _LEAVES.format(_control(plan, owner)), valued
        return _HARMS, _HARMS, place
    if check.metric == "loss_rate" and valued:
        return _LOSES, _LOSES, valued
    if name.startswith(("queue_", "delay_")) and check.at_least is None:
        return _FILLS, _FILLS, place
    return _MISSES, _MISSES, place


def _is_other(plan: Plan, owner: str) -> bool:
    """Returns True for a class or flow that doesn't get the control under test."""
    scenario = plan.trials[0].scenario
    return not is_subject(owner) and bool(flows_of(scenario, plan.groups, owner))


def _control(plan: Plan, owner: str) -> str:
    """Returns the title of a class's control, or the name of a class with several or none."""
    control = controls_in([(plan.groups, plan.trials[0].scenario)]).get(owner)
    return owner if control in (None, "none") else title(control)
