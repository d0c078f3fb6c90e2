"""Chooses combinations of a study by the values of its axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from narrows.errors import InputError
from narrows.spec import Study, spell
from narrows.spec.suggest import one_of, quote
from narrows.spec.values import exact_value

_EXAMPLE = "AXIS=VALUE, such as path.buffer=1bdp,"


class Selection:
    """A filter such as `path.buffer=1bdp,2bdp`: one of these values; all filters must be met.

    Raises InputError if a filter names no axis or no value; `asked` is the name of the option.
    """

    def __init__(self, study: Study, texts: Iterable[str], asked: str = "--filter") -> None:
        self._study, self._asked = study, asked
        self._wanted = [self._read(text) for text in texts]

    def takes(self, values: Mapping[str, object]) -> bool:
        """Returns True if a combination meets every filter."""
        return all(exact_value(values[place]) in wanted for place, wanted in self._wanted)

    def none(self) -> InputError:
        """Returns the error for a selection without combinations."""
        remedy = "a filter that some combination meets"
        return InputError.at(self._asked, "no combination that meets all", remedy)

    def _read(self, text: str) -> tuple[str, set[object]]:
        written, equals, values = text.partition("=")
        if not equals:
            raise InputError.at(self._asked, quote(text), _EXAMPLE)
        place = spell(written)
        axes = [axis.place for axis in self._study.axes]
        if place is None or place not in axes:
            found = f"{quote(written)}, which is not an axis of the study"
            remedy = one_of(written, axes) if axes else "no such option, since nothing varies,"
            raise InputError.at(self._asked, found, remedy)
        points = self._study.points()
        known = {exact_value(point[place]): str(point[place]) for point in points}
        wanted = [value.strip() for value in values.split(",")]
        for value in wanted:
            if exact_value(value) not in known:
                found = f"{quote(value)}, which is not a value of {place}"
                raise InputError.at(self._asked, found, one_of(value, list(known.values())[:20]))
        return place, {exact_value(value) for value in wanted}
