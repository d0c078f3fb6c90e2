"""Makes classes from the declarations in Rust: elements, and the tables of a specification.

Editors and type checkers read the stubs beside the modules (queues.pyi and others), which `make
reference` writes from the same fields.
"""

from __future__ import annotations

import json
import keyword
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from typing import Any

from narrows import _native
from narrows.api.element import Distribution, Element, Impairment, Queue, Service, Workload
from narrows.api.writing import Table
from narrows.spec import registry

Declaration = Mapping[str, Any]
TIMED = "Mapping[str, str]"
TABLE_TYPES = {
    "number": "Values[float]",
    "probability": "Values[float | str]",
    "flag": "Values[bool]",
    "whole": "Values[int]",
    "workload": "Values[Workload | Mapping[str, object]]",
    "impairments": "Sequence[Values[Impairment | Mapping[str, object]]]",
    "names": "Sequence[Values[str]]",
    "options": "Mapping[str, object]",
    "sysctls": "Mapping[str, object]",
    "command": "Sequence[str]",
    "where": "Mapping[str, object]",
}
"""The Python type of each kind of value; any other kind is a text with a unit, or a word."""
ELEMENT_TYPES = {
    "packets": "Values[str | int]",
    "bytes": "Values[str | int]",
    "share": "Values[float | str]",
    "number": "Values[float]",
    "whole": "Values[int]",
    "flag": "Values[bool]",
    "rates": TIMED,
    "delays": TIMED,
    "spans": TIMED,
    "list of rates": "Sequence[str]",
    "duration or distribution": "Values[str | Distribution | Mapping[str, object]]",
    "size or distribution": "Values[str | Distribution | Mapping[str, object]]",
    "pairs": "Sequence[tuple[str, float]]",
}
"""The Python type of each unit; any other unit is written as a text."""
EXAMPLES = {
    "duration": 'a duration such as "25ms"',
    "rate": 'a rate such as "80mbit"',
    "bytes": 'a size such as "30kb"',
    "size or distribution": 'a size such as "1mb", or a distribution',
    "duration or distribution": 'a duration such as "2s", or a distribution',
    "duration or size": 'a duration or a size, such as "2s" or "1mb"',
    "rates": 'times with rates, such as {"10s": "5mbit"}',
    "delays": 'times with delays, such as {"10s": "40ms"}',
    "spans": 'times with durations, such as {"5s": "500ms"}',
    "list of rates": "a list of rates",
    "flag": "true or false",
    "pairs": "pairs of a value and a share",
    "tables": "a list of tables",
    "opportunities": "a file",
}
UNBOUNDED = 1e300
BASES: Mapping[str, type[Element]] = {
    "queues": Queue,
    "services": Service,
    "impairments": Impairment,
    "workloads": Workload,
    "distributions": Distribution,
}
"""The registries of elements, each with the base of its classes."""


@dataclass(frozen=True)
class Field:
    """A field of a class."""

    key: str
    type: str
    required: bool
    meaning: str

    @property
    def name(self) -> str:
        """The key, followed by an underscore if it is a Python keyword."""
        return f"{self.key}_" if keyword.iskeyword(self.key) else self.key

    @property
    def annotation(self) -> str:
        """The type, with None if the field can be left out."""
        return self.type if self.required else f"{self.type} | None"


@dataclass(frozen=True)
class ClassDeclaration:
    """The declaration of a class; `kind` is set for an element."""

    name: str
    base: type[Table]
    what: str
    fields: Sequence[Field]
    kind: str | None = None

    @property
    def sorted_fields(self) -> list[Field]:
        """The fields, required ones first."""
        return sorted(self.fields, key=lambda field: not field.required)

    @property
    def summary(self) -> list[str]:
        """The description as wrapped lines, with an empty line between paragraphs."""
        parts = [textwrap.wrap(part, 90) for part in self.what.split("\n\n")]
        return [line for part in parts for line in ("", *part)][1:]

    def make(self, module: str) -> type[Table]:
        """Makes the class, whose docstring lists the fields for `help`."""
        listed = [
            textwrap.fill(f"{one.name}: {one.meaning}", 90, initial_indent=" " * 4,
                          subsequent_indent=" " * 8)
            for one in self.sorted_fields
        ]  # fmt: skip
        text = "\n".join([*self.summary, *(["", "Attributes:", *listed] if listed else [])])
        own = {"__module__": module, "__doc__": text}
        fields: list[Any] = [
            (one.name, one.annotation) if one.required else (one.name, one.annotation, None)
            for one in self.sorted_fields
        ]
        return make_dataclass(
            self.name,
            fields,
            bases=(self.base,),
            namespace=own if self.kind is None else {**own, "kind": self.kind},
            kw_only=True,
            repr=False,
        )


def classes_of(module: str) -> dict[str, type[Table]]:
    """Returns the classes of a module, such as "narrows.api.queues", by name."""
    return {one.name: one.make(module) for one in declared_in(module.rpartition(".")[2])}


def declared_in(name: str) -> Iterator[ClassDeclaration]:
    """Yields the classes for the tables of a specification, or for a registry of elements."""
    return _tables() if name == "tables" else _elements(name, BASES[name])


def _elements(kind: str, base: type[Table]) -> Iterator[ClassDeclaration]:
    """Yields the classes of a registry, each after the classes of the tables that it holds."""
    for entry in registry.elements(kind).values():
        name = class_name(entry["name"])
        for parameter in entry["parameters"]:
            if "parameters" in parameter:
                what = f"One of the {parameter['name']} of `{name}`."
                inner = [_field(own, name) for own in parameter["parameters"]]
                yield ClassDeclaration(_inner_name(name, parameter), Table, what, inner)
        source = f"\n\nSource: {entry['source']}." if entry["source"] else ""
        what = f"{entry['title']}.\n\n{_sentence(entry['summary'])}{source}"
        fields = [_field(parameter, name) for parameter in entry["parameters"]]
        yield ClassDeclaration(name, base, what, fields, entry["name"])


def _tables() -> Iterator[ClassDeclaration]:
    """Yields the class of each section of a specification, once and after its parts."""
    made = {section["title"]: section for section in _in_order(json.loads(_native.sections())[0])}
    return (_table(section) for section in made.values())


def _in_order(section: Declaration) -> Iterator[Declaration]:
    """Yields the sections within a section, then the section itself."""
    for key in section["keys"]:
        if key["section"]:
            yield from _in_order(key["section"])
    yield section


def _table(section: Declaration) -> ClassDeclaration:
    # A preset may supply any field.
    preset = any(key["name"] == "preset" for key in section["keys"])
    fields = [
        Field(key["name"], _type(key), key["required"] and not preset, _words(key))
        for key in section["keys"]
    ]
    title = section["title"]
    if title == "Scenario":
        meaning = "Designs, zipped axes and further axes of a sweep."
        fields.append(Field("sweep", "Sweep", required=False, meaning=meaning))
    return ClassDeclaration(title, Table, section["what"], fields)


def _type(key: Declaration) -> str:
    """Returns the Python type of a key's value."""
    if key["section"]:
        title = str(key["section"]["title"])
        return f"Sequence[{title}]" if key["kind"] == "tables" else title
    if key["kind"] == "element":
        return f"Values[str | {key['name'].capitalize()} | Mapping[str, object]]"
    return TABLE_TYPES.get(key["kind"], "Values[str]")


def _words(key: Declaration) -> str:
    """Describes a field: its meaning and its possible values."""
    silent = key["section"] or key["kind"] == "options"
    takes = "" if silent else f"Takes {key['expects'].rstrip(',')}."
    return " ".join(part for part in (key["what"], takes) if part)


def class_name(name: str) -> str:
    """Returns the class name of an entry: `FqCodel` for "fq_codel"."""
    return "".join(part.capitalize() for part in name.split("_"))


def _inner_name(name: str, parameter: Declaration) -> str:
    """Returns the class name for the tables of a parameter: `HtbClass` for `classes` of `Htb`."""
    return f"{name}{parameter['name'].removesuffix('es').capitalize()}"


def _field(parameter: Declaration, owner: str) -> Field:
    kind = ELEMENT_TYPES.get(parameter["unit"], "Values[str]")
    if parameter["words"]:
        words = ", ".join(repr(word) for word in parameter["words"])
        kind = f"Values[Literal[{words}]]"
    if "parameters" in parameter:
        kind = f"Sequence[{_inner_name(owner, parameter)} | Mapping[str, object]]"
    return Field(parameter["name"], kind, parameter["required"], _meaning(parameter))


def _meaning(parameter: Declaration) -> str:
    """Describes a parameter: its meaning, its possible values and its default."""
    takes = f"Takes {_takes(parameter)}"
    silent = parameter["required"] or parameter["shown"] == "none"
    default = "" if silent else f"; {parameter['shown']} by default"
    return f"{_sentence(parameter['what'])} {takes}{default}."


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _takes(parameter: Declaration) -> str:
    if parameter["words"]:
        return f"one of {', '.join(parameter['words'])}"
    unit, most = parameter["unit"], parameter["most"]
    if unit not in ("share", "number", "whole", "packets"):
        return EXAMPLES.get(unit, f"a {unit}")
    what = "a number" if unit in ("share", "number") else "a whole number"
    if most > UNBOUNDED or most >= 2**64 - 1:
        return f"{what} from {parameter['least']:g} on"
    in_percent = ', or a text such as "1%"' if unit == "share" else ""
    return f"{what} from {parameter['least']} to {parameter['most']}{in_percent}"
