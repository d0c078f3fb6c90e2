"""Studies: specifications in which some places have several values.

The native module defines the axes and combinations: crates/spec/src/study.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.errors import SpecError
from narrows.spec.inputs import inputs, translate_errors
from narrows.spec.override import Override
from narrows.spec.reading import SpecificationText, Text, open_text, read_written
from narrows.spec.spec import Spec, Until

if TYPE_CHECKING:
    from narrows._native import StudyOutput


@dataclass(frozen=True)
class Axis:
    """A place, such as `flows[0].cca`, with its values; without values, they are drawn."""

    place: str
    values: tuple[object, ...]


@dataclass(frozen=True)
class Study:
    """A specification with axes; `groups` holds zipped axes together."""

    name: str
    groups: tuple[tuple[Axis, ...], ...]
    design: str
    text: str
    until: Until | None
    files: dict[str, str]
    """The texts of the files that combinations refer to, by name, once the combinations are made.
    """
    _output: StudyOutput
    _file: str | None

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All axes in order."""
        return tuple(axis for group in self.groups for axis in group)

    def points(self) -> list[Mapping[str, object]]:
        """Returns the combinations in a fixed order, as values by place.

        Raises SpecError if there are too many.
        """
        with translate_errors():
            return [dict(json.loads(point)) for point in self._output.points()]

    def specs(
        self, controls: Iterable[str] = ()
    ) -> Iterator[tuple[Mapping[str, object], Spec | SpecError]]:
        """Yields every combination with its specification, or the reason why it can't run.

        `controls` are the controls that a back end has and the simulator lacks.
        """
        needed = inputs(self._file, controls, files=self.files)
        for number, point in enumerate(self.points()):
            made: Spec | SpecError
            try:
                with translate_errors():
                    made = Spec(self._output.specification(number, *needed), self.files)
            except SpecError as error:
                made = error
            yield point, made


def load_study(
    path: str | Path | SpecificationText, overrides: Iterable[str | Override] = ()
) -> Study:
    """Reads the study in the file at `path`, or in a text; raises SpecError with every problem.

    The values themselves are checked when combinations are made.
    """
    return _study(open_text(path, overrides))


def parse_study(text: str, name: str, overrides: Iterable[str | Override] = ()) -> Study:
    """Reads a study given as TOML text; `name` replaces a missing `name`."""
    return _study(read_written(SpecificationText(text, name), overrides, None))


def _study(text: Text) -> Study:
    with translate_errors():
        output = text.source.study()
    groups: dict[int, list[Axis]] = {}
    for place, values, group in output.axes:
        groups.setdefault(group, []).append(Axis(place, tuple(json.loads(values))))
    return Study(
        output.name,
        tuple(tuple(axes) for axes in groups.values()),
        output.design,
        text.text,
        Until(*output.until) if output.until else None,
        {},
        output,
        text.file,
    )
