"""Advances several searches together, so that their runs share the machine's cores."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TypeAlias, TypeVar

from narrows.answer.judge import Replies, Request, Row, Value

Found = TypeVar("Found")
Asked: TypeAlias = tuple[int, Value, int]
"""The number of a search, a value, and how many of its trials."""
Run: TypeAlias = Callable[[Sequence[Asked]], Sequence[Sequence[Row]]]
"""Does the trials that are asked for, and returns a row for each trial of each."""


def together(
    searches: Mapping[int, Generator[list[Request], Replies, Found]], run: Run
) -> dict[int, Found]:
    """The results of all searches; each round does what all of them ask for."""
    found: dict[int, Found] = {}
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
