"""Names combinations of a sweep: one by its values, several by what they share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from narrows.figures.names import quantity, setting, uncapitalize
from narrows.late import pl
from narrows.sweeps.verdicts import varying_places
from narrows.words import join_words

MOST_VALUES, MOST_NAMED = 3, 5
"""More values and more combinations than these aren't listed."""


def combinations_in(runs: pl.DataFrame, places: Sequence[str]) -> dict[int, dict[str, object]]:
    """Returns the values of each combination of a study by place."""
    once = runs.unique("cell", maintain_order=True).iter_rows(named=True)
    return {int(row["cell"]): {place: row[place] for place in places} for row in once}


@dataclass(frozen=True)
class CombinationNames:
    """The names of combinations, whose values are given by place."""

    values: Mapping[int, Mapping[str, object]]

    @cached_property
    def _varying(self) -> Mapping[str, Sequence[object]]:
        return varying_places(list(self.values.values()))

    def of_one(self, number: int) -> str:
        """Returns the values of a combination: "Buffer 8 BDP, BBR"."""
        its = self.values[number]
        return ", ".join(setting(place, its[place]) for place in self._varying)

    def of_several(self, numbers: Collection[int]) -> str:
        """Returns what combinations share that others lack: "from buffer 4 BDP on".

        If others share it, too, a few are listed, and of many the words begin with "all"; empty if
        many share nothing.
        """
        found = []
        for place, values in self._varying.items():
            theirs = {str(self.values[one][place]) for one in numbers}
            if len(theirs) < len(values) and (shared := _common_words(place, values, theirs)):
                many = sum(str(its[place]) in theirs for its in self.values.values())
                found.append((many, shared))
        many, shared = min(found, default=(len(self.values), ""))
        if many == len(numbers):
            return shared
        if len(numbers) <= MOST_NAMED:
            return "; ".join(map(self.of_one, numbers))
        return shared and f"all {shared}"


def _common_words(place: str, values: Sequence[object], theirs: Collection[str]) -> str:
    """Returns words for some of the values at a place, by their order if they are numbers."""
    sizes = {str(value): quantity(value) for value in values}
    known = {value: size[0] for value, size in sizes.items() if size is not None}
    if len(known) == len(sizes):
        ordered = sorted(known, key=lambda value: known[value])
        if set(ordered[-len(theirs) :]) == theirs:
            return f"from {_within_sentence(place, ordered[-len(theirs)])} on"
        if set(ordered[: len(theirs)]) == theirs:
            return f"up to {_within_sentence(place, ordered[len(theirs) - 1])}"
    if len(theirs) > MOST_VALUES:
        return ""
    return join_words(_within_sentence(place, one) for one in sizes if one in theirs)


def _within_sentence(place: str, value: str) -> str:
    """Returns a value in the middle of a sentence, where controls keep their capitals."""
    words = setting(place, value)
    return words if place.endswith("cca") else uncapitalize(words)
