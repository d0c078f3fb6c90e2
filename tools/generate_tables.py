"""Writes python/narrows/api/tables.py: the tables of a specification as Python classes.

The classes come from the declared keys of a specification (crates/spec/src/keys), so that
both always have the same fields. `make reference` runs this; a test compares.
"""

from __future__ import annotations

import json
import keyword
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narrows import _native

Section = Mapping[str, Any]
Key = Mapping[str, Any]
TARGET = Path(__file__).parents[1] / "python" / "narrows" / "api" / "tables.py"
HEAD = '''"""The tables of a specification as classes. Made by tools/generate_tables.py.

Values are written as in TOML: "80mbit", "25ms", "1.75bdp". None leaves a field to
its default. In a sweep, a list or a `Range` in place of a value is an axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from narrows.api.element import Impairment, Queue, Service, Workload
from narrows.api.writing import Sweep, Table, Values
'''
TYPES = {
    "number": "Values[float]",
    "probability": "Values[float]",
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
"""The type in which each kind of value is written; any other is a text with a unit, or a word."""


@dataclass(frozen=True)
class Field:
    """A field of a class that is written."""

    name: str
    type: str
    required: bool
    meaning: str


def generate() -> str:
    """The text of the module."""
    whole = json.loads(_native.sections())[0]
    made = {section["title"]: section for section in _in_order(whole)}
    return HEAD + "".join(f"\n\n{_class(section)}" for section in made.values())


def _in_order(section: Section) -> Iterator[Section]:
    """The sections that a section is made of, before it."""
    for key in section["keys"]:
        if key["section"]:
            yield from _in_order(key["section"])
    yield section


def _class(section: Section) -> str:
    """One section as a dataclass."""
    # A preset may supply any field.
    preset = any(key["name"] == "preset" for key in section["keys"])
    fields = [
        Field(key["name"], _type(key), key["required"] and not preset, _words(key))
        for key in section["keys"]
    ]
    title = section["title"]
    if title == "Scenario":
        meaning = "Designs, zipped axes and further axes of a sweep."
        fields.append(Field("sweep", "Sweep", False, meaning))
    return class_text(title, "Table", section["what"], fields)


def _type(key: Key) -> str:
    """The type of a written value."""
    if key["section"]:
        title = str(key["section"]["title"])
        return f"Sequence[{title}]" if key["kind"] == "tables" else title
    if key["kind"] == "element":
        return f"Values[str | {key['name'].capitalize()} | Mapping[str, object]]"
    return TYPES.get(key["kind"], "Values[str]")


def _words(key: Key) -> str:
    """A field's meaning, and its possible values."""
    silent = key["section"] or key["kind"] == "options"
    takes = "" if silent else f"Takes {key['expects'].rstrip(',')}."
    return " ".join(part for part in (key["what"], takes) if part)


def class_text(
    name: str, base: str, what: str, fields: Sequence[Field], constant: str | None = None
) -> str:
    """A dataclass; its docstring lists the fields for `help`, theirs are for editors."""
    ordered = sorted(fields, key=lambda field: not field.required)
    lines = ["@dataclass(kw_only=True, repr=False)", f"class {name}({base}):"]
    listed = [_summary_lines(field) for field in ordered]
    lines.append(docstring([*_paragraphs(what), *(["", "Attributes:", *listed] if listed else [])]))
    lines += ["", *([constant] if constant else [])]
    for field in ordered:
        optional = "" if field.required else " | None = None"
        lines.append(f"    {_attribute(field)}: {field.type}{optional}")
        lines.append(docstring(textwrap.wrap(field.meaning, 88)))
    return "\n".join(lines) + "\n"


def _attribute(field: Field) -> str:
    return f"{field.name}_" if keyword.iskeyword(field.name) else field.name


def _summary_lines(field: Field) -> str:
    text = f"{_attribute(field)}: {field.meaning}"
    return textwrap.fill(text, 90, initial_indent=" " * 4, subsequent_indent=" " * 8)


def _paragraphs(what: str) -> list[str]:
    """A summary's lines, with an empty one between paragraphs."""
    parts = [textwrap.wrap(part, 90) for part in what.split("\n\n")]
    return [line for part in parts for line in ("", *part)][1:]


def docstring(lines: Sequence[str]) -> str:
    """Lines as the docstring of a class or a field."""
    text = "\n".join(lines).replace("\\", "\\\\")
    inner = textwrap.indent(text, " " * 4).strip()
    return f'    """{inner}"""' if len(lines) == 1 else f'    """{inner}\n    """'


def format_text(text: str, target: Path = TARGET) -> str:
    """The text formatted by `ruff format`."""
    ruff = Path(sys.executable).with_name("ruff")
    command = [str(ruff), "format", "--stdin-filename", str(target), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    TARGET.write_text(format_text(generate()), encoding="utf-8")
