"""From a file to a checked specification; every error says where and what would be right."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from narrows.errors import Problem, SpecError
from narrows.files import read_limited
from narrows.spec import models, python_control
from narrows.spec.checks import relations
from narrows.spec.fields import Kind, describe
from narrows.spec.overrides import Key, Override, apply_overrides, dotted, parse_override
from narrows.spec.presets import expanded
from narrows.spec.suggest import nearest, one_of
from narrows.spec.toml import to_toml
from narrows.spec.traces import beside
from narrows.spec.units import quote

MAX_FILE_BYTES = 10_000_000
MAX_DEPTH = 20
"""Of tables in a document; a specification needs five."""
"""A larger file is no specification."""
MAX_PATH = 4096


@dataclass(frozen=True)
class Loaded:
    """A checked specification, and the TOML text that gives it again."""

    spec: models.Spec
    text: str


@dataclass(frozen=True)
class Written:
    """A specification that is no file: its TOML text."""

    text: str
    name: str = "scenario"
    """Stands in for a missing `name`."""


def load(path: str | Path | Written, overrides: Iterable[str | Override] = ()) -> Loaded:
    """Reads and checks the file at `path`, or a text, with overrides, as `PLACE=VALUE` or parsed.

    Raises SpecError with every problem found.
    """
    if isinstance(path, Written):
        return parse(path.text, path.name, overrides)
    file = Path(path)
    text = read_file(file)
    return parse(text, file.stem, overrides, file=str(path))


def parse(
    text: str, name: str, overrides: Iterable[str | Override] = (), file: str | None = None
) -> Loaded:
    """Checks a specification given as TOML text; `name` stands in for a missing `name`.

    Raises SpecError with every problem found.
    """
    original = parse_toml(text, file)
    changes = [
        parse_override(override) if isinstance(override, str) else override
        for override in overrides
    ]
    raw = apply_overrides(original, changes)
    raw = raw if "name" in raw else {"name": name, **raw}
    spec = validate(raw, file, changes)
    return Loaded(spec, text if raw == original else to_toml(raw))


def read_file(path: Path) -> str:
    """The text of a specification; raises SpecError if there is none."""
    try:
        return read_limited(path, MAX_FILE_BYTES).decode("utf-8")
    except FileNotFoundError:
        remedy = _neighbour(path) or "the path of a specification, such as fig9.toml,"
        raise SpecError.at(str(path), "no such file", remedy) from None
    except (IsADirectoryError, NotADirectoryError):
        remedy = "a file, such as fig9.toml,"
        raise SpecError.at(str(path), "a directory", remedy) from None
    except UnicodeDecodeError as error:
        found = f"byte {error.start}, which is not UTF-8"
        raise SpecError.at(str(path), found, "TOML text in UTF-8") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        found = f"a file that can't be read ({reason})"
        raise SpecError.at(str(path), found, "a specification in TOML") from None


def _neighbour(path: Path) -> str | None:
    """The file next to a missing one that may have been meant."""
    try:
        names = [other.name for other in path.parent.iterdir() if other.suffix == ".toml"]
    except OSError:
        return None
    close = nearest(path.name, names)
    return quote(str(path.parent / close), MAX_PATH) if close else None


def parse_toml(text: str, file: str | None) -> dict[str, Any]:
    """The document in `text`; raises SpecError with the line and a hint."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, line = str(error), ""
        position = re.fullmatch(r"(.*) \(at (.*)\)", what, re.DOTALL)
        if position:
            what, line = position.groups()
        found = what[:1].lower() + what[1:]
        raise SpecError.at(line, f"no TOML ({found})", _toml_hint(text, line), file) from None
    except (RecursionError, ValueError) as error:
        raise SpecError.at("", f"no TOML ({error})", 'lines like rate = "80mbit"', file) from None
    if _deeper(document, MAX_DEPTH):
        found = f"tables in each other, more than {MAX_DEPTH} deep"
        raise SpecError.at("", found, 'lines like rate = "80mbit"', file)
    return document


def _deeper(document: object, most: int) -> bool:
    """Whether tables and arrays lie in each other more than `most` deep."""
    level = [document]
    for _ in range(most):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return False
    return True


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _toml_hint(text: str, place: str) -> str:
    """The commonest slip: a quantity without quotes."""
    number = re.search(r"line (\d+)", place)
    lines = text.splitlines()
    line = lines[int(number[1]) - 1] if number and int(number[1]) <= len(lines) else ""
    pair = re.fullmatch(r"\s*([\w-]+)\s*=\s*([\w.+-]+)\s*(?:#.*)?", line)
    return f'{pair[1]} = "{pair[2]}"' if pair else 'a line like rate = "80mbit"'


def validate(raw: dict[str, Any], file: str | None, changes: list[Override]) -> models.Spec:
    """The checked specification in a document; raises SpecError with every problem found."""
    near = Path(file).parent if file else Path()
    try:
        with beside(near):
            spec = models.Spec.model_validate(expanded(raw))
    except SpecError as error:
        raise SpecError(_locate(list(error.problems), file, changes)) from None
    except ValidationError as error:
        problems = [_translate(detail) for detail in error.errors(include_url=False)]
        raise SpecError(_locate(problems, file, changes)) from None
    places = ((f"flows[{i}].cca", flow.cca) for i, flow in enumerate(spec.flows))
    controls, problems = python_control.sources(places, near)
    spec.controls.update(controls)
    problems += relations(spec)
    if problems:
        raise SpecError(_locate(problems, file, changes))
    return spec


def _locate(
    problems: list[Problem], file: str | None, changes: list[Override]
) -> Iterable[Problem]:
    """Names the file, or the option that the value came from."""
    for problem in problems:
        origin = file
        for change in changes:
            if _within(problem.place, dotted(change.key)):
                origin = change.origin
        yield Problem(problem.place, problem.found, problem.remedy, origin)


def _within(place: str, changed: str) -> bool:
    """Whether a change at `changed` can cause a problem at `place`: one holds the other."""
    outer, inner = sorted((place, changed), key=len)
    return inner == outer or inner.startswith((f"{outer}.", f"{outer}["))


def _translate(detail: ErrorDetails) -> Problem:
    """A validation error of pydantic in our own words."""
    key: Key = detail["loc"]
    found = describe(detail.get("input"))
    match detail["type"]:
        case "narrows":
            context = detail["ctx"]
            place = dotted((*key, *context["key"]))
            return Problem(place, context["found"], context["remedy"])
        case "missing":
            return Problem(dotted(key), "nothing", _expectation(key))
        case "extra_forbidden" if key == ("sweep",):
            found = "a table that makes a sweep (`run` takes one combination)"
            return Problem("sweep", found, "`narrows sweep`")
        case "extra_forbidden":
            return Problem(dotted(key), "an unknown key", _known_key(key))
        case "too_short":
            return Problem(dotted(key), "no flow", "at least one [[flows]] table")
        case _:
            return Problem(dotted(key), found, _expectation(key))


def _expectation(key: Key) -> str:
    """What the field at `key` should hold, in words."""
    *way, last = key
    if isinstance(last, int):
        *way, last = way
        if _listed(way, last) is not None:
            return f"a table, [[{dotted((*way, last))}]],"
    if _listed(way, last) is not None:
        return f"a list of tables, [[{dotted((*way, last))}]],"
    field = _field(way, last)
    for kind in field.metadata if field else ():
        if isinstance(kind, Kind):
            return kind.expects
    return _EXAMPLES.get(str(last), f"a table, [{last}],")


_EXAMPLES = {
    "links": 'a list of names of links, such as ["bottleneck"],',
    "where": 'a table of places with their values, such as { "path.buffer" = "1bdp" },',
}
"""What a field without a kind of its own should hold."""


def _field(way: Iterable[str | int], name: str | int) -> Any:  # noqa: ANN401 (of pydantic)
    model = _model(way)
    return _fields(model).get(str(name)) if model else None


def _listed(way: Iterable[str | int], name: str | int) -> type[BaseModel] | None:
    """The model of the tables in the list `name`; None if it is no list of tables."""
    field = _field(way, name)
    annotation = field.annotation if field else None
    return _table(annotation) if get_origin(annotation) in (list, tuple) else None


def _known_key(key: Key) -> str:
    """The key that may have been meant, or all that there are."""
    *way, last = key
    model = _model(way)
    known = list(_fields(model)) if model else []
    if model and nearest(str(last), known) is None:
        for name, section in _fields(models.Spec).items():
            inner = _table(section.annotation)
            if inner and inner is not model and last in _fields(inner):
                return f"`{name}.{last}`"
    return one_of(str(last), known)


def _model(way: Iterable[str | int]) -> type[BaseModel] | None:
    """The table at the end of `way`."""
    model: type[BaseModel] | None = models.Spec
    for step in way:
        if isinstance(step, str) and model is not None:
            field = _fields(model).get(step)
            model = _table(field.annotation) if field else None
    return model


def _fields(model: type[BaseModel]) -> Mapping[str, Any]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _table(annotation: object) -> type[BaseModel] | None:
    """The model in `Path` or `list[Flow]`."""
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None
