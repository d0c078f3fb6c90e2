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
from collections.abc import Iterator, Mapping
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

from narrows.api.writing import Sweep, Table, Values
'''
TYPES = {
    "number": "Values[float]",
    "probability": "Values[float]",
    "flag": "Values[bool]",
    "whole": "Values[int]",
    "element": "Values[str | Mapping[str, object]]",
    "workload": "Values[str | Mapping[str, object]]",
    "impairments": "Sequence[Values[str | Mapping[str, object]]]",
    "names": "Sequence[Values[str]]",
    "options": "Mapping[str, object]",
    "sysctls": "Mapping[str, object]",
    "command": "Sequence[str]",
    "where": "Mapping[str, object]",
}
"""The type in which each kind of value is written; any other is a text with a unit, or a word."""


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
    keys = section["keys"]
    # A preset may supply any field.
    preset = any(key["name"] == "preset" for key in keys)
    required = [key for key in keys if key["required"] and not preset]
    others = [key for key in keys if key not in required]
    title = section["title"]
    head = "@dataclass(kw_only=True, repr=False)"
    lines = [f"{head}\nclass {title}(Table):\n{_wrapped(section['what'])}\n"]
    for key in (*required, *others):
        name = f"{key['name']}_" if keyword.iskeyword(key["name"]) else key["name"]
        optional = "" if key in required else " | None = None"
        lines.append(f"    {name}: {_type(key)}{optional}")
        lines.append(_wrapped(_words(key)))
    if title == "Scenario":
        lines.append("    sweep: Sweep | None = None")
        lines.append('    """Designs, zipped axes and further axes of a sweep."""')
    return "\n".join(lines) + "\n"


def _type(key: Key) -> str:
    """The type of a written value."""
    if key["section"]:
        title = str(key["section"]["title"])
        return f"Sequence[{title}]" if key["kind"] == "tables" else title
    return TYPES.get(key["kind"], "Values[str]")


def _words(key: Key) -> str:
    """A field's meaning, and its possible values."""
    silent = key["section"] or key["kind"] == "options"
    takes = "" if silent else f"Takes {key['expects'].rstrip(',')}."
    return " ".join(part for part in (key["what"], takes) if part)


def _wrapped(words: str) -> str:
    """A field's docstring, wrapped."""
    lines = textwrap.wrap(words.replace("\\", "\\\\"), 88)
    inner = "\n    ".join(lines)
    return f'    """{inner}"""' if len(lines) == 1 else f'    """{inner}\n    """'


def formatted(text: str, target: Path = TARGET) -> str:
    """The text formatted by `ruff format`."""
    ruff = Path(sys.executable).with_name("ruff")
    command = [str(ruff), "format", "--stdin-filename", str(target), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    TARGET.write_text(formatted(generate()), encoding="utf-8")
