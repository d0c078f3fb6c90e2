"""Advances several searches together, so that their runs share the machine's cores."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TypeAlias, TypeVar

from narrows.answer.judge import Replies, Request, Row, Value

Result = TypeVar("Result")
TrialRequest: TypeAlias = tuple[int, Value, int]
"""The number of a search, a value, and the number of trials to run at it."""
Run: TypeAlias = Callable[[Sequence[TrialRequest]], Sequence[Sequence[Row]]]
"""Runs the trials of each request, and returns a row for each trial."""


def run_searches(
    searches: Mapping[int, Generator[list[Request], Replies, Result]], run: Run
) -> dict[int, Result]:
    """Returns the results of all searches; each round runs the requests of all of them."""
    found: dict[int, Result] = {}
    waiting: dict[int, list[Request]] = {}

    def advance(number: int, replies: Replies | None) -> None:
        try:
            search = searches[number]
            waiting[number] = next(search) if replies is None else search.send(replies)
        except StopIteration as end:
            waiting.pop(number, None)
            found[number] = end.value

    for number in searches:
        advance(number, None)
    while waiting:
        asked = [(number, *one) for number, wanted in waiting.items() for one in wanted]
        replies = iter(run(asked))
        for number, wanted in list(waiting.items()):
            advance(number, [next(replies) for _ in wanted])
    return found
