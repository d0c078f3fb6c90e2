"""Disjoint sets of seeds: how many verdicts change when only the seeds do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from narrows.reproduce.changes import ConditionChange, seeds
from narrows.reproduce.judgements import AS_WRITTEN, Judgement
from narrows.words import join_words

OPPOSITE = {"confirmed", "refuted"}
MOST = 100
"""The most sets of seeds that can be asked for."""


def sets(count: int) -> list[ConditionChange]:
    """Returns sets of seeds beside the first one, which the figures use; `count` in all."""
    return [seeds(number) for number in range(1, count)]


def is_set(change: str) -> bool:
    """Returns True if a change is another set of seeds and nothing else."""
    return change in {one.name for one in sets(MOST)}


def verdicts(judged: Iterable[Judgement]) -> dict[str, list[str]]:
    """Returns the verdicts on each claim by set of seeds, for claims with more than one set."""
    names = [AS_WRITTEN, *(one.name for one in sets(MOST))]
    found: dict[str, dict[str, str]] = {}
    for one in judged:
        if one.change in names:
            found.setdefault(one.claim, {})[one.change] = one.verdict
    return {
        claim: [mine[name] for name in names if name in mine]
        for claim, mine in found.items()
        if len(mine) > 1
    }


def changed_verdicts(found: dict[str, list[str]]) -> dict[str, list[str]]:
    """Returns the verdicts that aren't the same for all seeds."""
    return {claim: verdicts for claim, verdicts in found.items() if len(set(verdicts)) > 1}


def describe(judged: Sequence[Judgement]) -> Iterator[str]:
    """Yields lines of Markdown: claims whose verdict changes, the others, and the count."""
    found = verdicts(judged)
    unlike = changed_verdicts(found)
    if unlike:
        yield "| Claim | verdict with each set of seeds |\n|---|---|"
        yield from (f"| `{claim}` | {', '.join(told)} |" for claim, told in unlike.items())
        yield ""
    alike: dict[str, list[str]] = {}
    for claim, told in found.items():
        if claim not in unlike:
            alike.setdefault(told[0], []).append(f"`{claim}`")
    if alike:
        yield "These verdicts are the same with every set:\n"
        yield from (f"- {verdict}: {join_words(claims)}" for verdict, claims in alike.items())
        yield ""
    opposite = sum(set(told) >= OPPOSITE for told in unlike.values())
    left_open = " Where they change otherwise, the trials of some sets leave a check open."
    differ = "changes" if len(unlike) == 1 else "change"
    yield (
        f"{len(unlike)} of {len(found)} verdicts {differ} with the seeds; {opposite} of them from "
        f"confirmed to refuted or back.{left_open if len(unlike) > opposite else ''}"
    )
