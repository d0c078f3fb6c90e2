"""Finds the text of a specification, which the native module reads and checks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from narrows.errors import SpecError
from narrows.files import read_limited
from narrows.late import _native
from narrows.spec.inputs import inputs, translate_errors
from narrows.spec.override import Override
from narrows.spec.spec import Spec
from narrows.spec.suggest import as_unicode, nearest, quote

if TYPE_CHECKING:
    from narrows._native import SpecSource

MAX_FILE_BYTES = 10_000_000
"""Larger files are refused."""
MAX_PATH = 4096


@dataclass(frozen=True)
class CheckedSpecification:
    """A checked specification, and equivalent TOML text."""

    spec: Spec
    text: str


@dataclass(frozen=True)
class SpecificationText:
    """A specification that isn't a file but a text, which is JSON if a program wrote it."""

    text: str
    name: str = "scenario"
    """Replaces a missing `name` in the specification."""
    json: bool = False

    @classmethod
    def document(cls, document: Mapping[str, Any]) -> Self:
        """Returns the specification that a program wrote as a mapping."""
        return cls(json.dumps(document), json=True)


@dataclass(frozen=True)
class Text:
    """The text of a specification or a study, with the context for reading it."""

    source: SpecSource
    text: str
    """Equivalent TOML text."""
    file: str | None

    def spec(self, controls: Iterable[str] = (), folders: Iterable[Path] = ()) -> Spec:
        """Returns the checked specification; raises SpecError with every problem found.

        `controls` and `folders` are those of `inputs`.
        """
        files: dict[str, str] = {}
        with translate_errors():
            needed = inputs(self.file, controls, folders, files)
            return Spec(self.source.specification(*needed), files)


def load(
    path: str | Path | SpecificationText,
    overrides: Iterable[str | Override] = (),
    controls: Iterable[str] = (),
    folders: Iterable[Path] = (),
) -> CheckedSpecification:
    """Reads and checks the file at `path`, or a text, with overrides, as `PLACE=VALUE` or parsed.

    `controls` are the controls that a back end has and the simulator lacks. Programs of own
    controls are also searched in `folders`. Raises SpecError with every problem found.
    """
    text = open_text(path, overrides)
    return CheckedSpecification(text.spec(controls, folders), text.text)


def parse(
    text: str,
    name: str,
    overrides: Iterable[str | Override] = (),
    file: str | None = None,
    controls: Iterable[str] = (),
) -> CheckedSpecification:
    """Checks a specification given as TOML text; `name` replaces a missing `name`.

    Raises SpecError with every problem found.
    """
    made = read_written(SpecificationText(text, name), overrides, file)
    return CheckedSpecification(made.spec(controls), made.text)


def open_text(path: str | Path | SpecificationText, overrides: Iterable[str | Override]) -> Text:
    """Returns the text at `path`, or a text itself, with overrides; raises SpecError."""
    if isinstance(path, SpecificationText):
        return read_written(path, overrides, None)
    file = Path(path)
    return read_written(SpecificationText(read_file(file), file.stem), overrides, str(path))


def read_written(
    given: SpecificationText, overrides: Iterable[str | Override], file: str | None
) -> Text:
    """Applies overrides to a text; raises SpecError for bad TOML or an override without a place."""
    changes = [
        (as_unicode(change), "--set")
        if isinstance(change, str)
        else (as_unicode(change.text), change.origin)
        for change in overrides
    ]
    with translate_errors():
        source = _native.SpecSource(
            given.text, _name(given.name), file and as_unicode(file), changes, given.json
        )
    return Text(source, source.renewed_text() or given.text, file)


def _name(stem: str) -> str:
    """Returns the file's name as the specification's name; None if it isn't Unicode."""
    return stem if as_unicode(stem) == stem else "\0"


def read_file(path: Path) -> str:
    """Returns the text of a specification; raises SpecError if there is none."""
    try:
        return read_limited(path, MAX_FILE_BYTES).decode("utf-8")
    except FileNotFoundError:
        remedy = _neighbour(path) or "the path of a specification, such as fig9.toml,"
        raise SpecError.at(str(path), "no such file", remedy) from None
    except (IsADirectoryError, NotADirectoryError):
        remedy = "a file, such as fig9.toml (`narrows.open_result` reads a directory of results),"
        raise SpecError.at(str(path), "a directory", remedy) from None
    except UnicodeDecodeError as error:
        found = f"byte {error.start}, which is not UTF-8"
        raise SpecError.at(str(path), found, "TOML text in UTF-8") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        found = f"a file that can't be read ({reason})"
        raise SpecError.at(str(path), found, "a specification in TOML") from None


def _neighbour(path: Path) -> str | None:
    """Returns a file near the missing one that may have been meant."""
    try:
        names = [other.name for other in path.parent.iterdir() if other.suffix == ".toml"]
    except OSError:
        return None
    close = nearest(path.name, names)
    return quote(str(path.parent / close), MAX_PATH) if close else None
