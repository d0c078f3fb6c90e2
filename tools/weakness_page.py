"""The page of a survey: the known failures of each control."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from weakness_survey import ASKED, MOST_DEPARTURES, Weakness

from narrows.spec.reading import read_file
from narrows.spec.registry import title

PUBLISHED = Path(__file__).parent / "published_weaknesses.toml"
HEAD = """\
# Known failures

`narrows search` looked for conditions in which each control fails by {objectives} objectives,
with at least {tries} conditions each, the same for all controls. Each finding is reduced to the
fewest departures from a plain path (20 Mbit/s, 40 ms, 1 BDP of buffer, drop-tail, no random loss,
no jitter, one flow), at most {most}, and repeated with ten other seeds. A control fails only if
the others, named in the sentence, don't fail there. `python tools/survey_weaknesses.py STORE`
makes this page; nothing in it is written by hand.

An empty cell means that {tries} conditions showed no such failure, not that there is none.
[search.md](../how-to/search.md) says what each objective means.

"""


def page(found: Sequence[Weakness], tries: int, controls: int) -> str:
    """The whole page; a complete survey is of this many controls."""
    head = HEAD.format(objectives=len(ASKED), tries=tries, most=MOST_DEPARTURES)
    parts = [
        head,
        *_matrix(found),
        *_lacking(found, controls),
        "",
        *_published_rows(found),
        "",
        *_sentences(found),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _matrix(found: Sequence[Weakness]) -> Iterator[str]:
    """How many of the conditions each control failed in, by objective."""
    yield f"| Control | {' | '.join(ASKED)} |"
    yield "|---" * (len(ASKED) + 1) + "|"
    for control in dict.fromkeys(one.control for one in found):
        mine = {one.objective: one for one in found if one.control == control}
        cells = [_cell(mine.get(name)) for name in ASKED]
        yield f"| {title(control)} | {' | '.join(cells)} |"
    yield ""
    yield "The numbers are conditions in which the control failed with one seed."


def _lacking(found: Sequence[Weakness], controls: int) -> Iterator[str]:
    """How many searches the survey still lacks, if any."""
    whole = controls * len(ASKED)
    if len(found) < whole:
        yield f'{len(found)} of {whole} searches are done; a "?" is one that is not.'


def _cell(one: Weakness | None) -> str:
    if one is None:
        return "?"
    return f"{one.failing}" if one.failing else " "


def _sentences(found: Sequence[Weakness]) -> Iterator[str]:
    """Every finding, by control."""
    yield "## Findings"
    for control in dict.fromkeys(one.control for one in found):
        yield f"\n### {title(control)}\n"
        mine = [one for one in found if one.control == control]
        told = [f"- {one.objective}: {_sentence(one)}" for one in mine if one.failing]
        yield from told or ["None of the conditions showed a failure."]


def _sentence(one: Weakness) -> str:
    if one.found is None:
        return (
            f"fails in {one.failing} of {one.tries} conditions, but not with most seeds, or only "
            f"with more than {MOST_DEPARTURES} departures."
        )
    confirmed = f" On Linux: {one.found['confirmed']}." if one.found["confirmed"] else ""
    return f"{one.found['says']}{confirmed}"


def _published_rows(found: Sequence[Weakness]) -> Iterator[str]:
    """Published weaknesses, and what the search found of them."""
    yield "## Published weaknesses that the search found by itself\n"
    yield "| Control | Published | Found |"
    yield "|---|---|---|"
    for known in tomllib.loads(read_file(PUBLISHED))["weakness"]:
        match = find_published(known, found)
        says = "not found" if match is None or match.found is None else match.found["says"]
        yield f"| {title(known['control'])} | {known['words']} ({known['source']}) | {says} |"


def find_published(known: Mapping[str, Any], found: Sequence[Weakness]) -> Weakness | None:
    """The finding of a published weakness: the same control, objective and departures."""
    for one in found:
        same = (one.control, one.objective) == (known["control"], known["objective"])
        if (
            same
            and one.found is not None
            and set(known["departures"]) <= set(one.found["departures"])
        ):
            return one
    return None
