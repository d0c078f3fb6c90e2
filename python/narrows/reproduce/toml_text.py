"""Writes studies as TOML text: a section for each table, a line for each value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

SECTIONS = ("axes", "measures", "testbeds")
"""Tables in which each entry gets a section."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def study_text(study: Mapping[str, Any]) -> str:
    """Returns the text of a study."""
    plain = {key: value for key, value in study.items() if not _is_section(value)}
    lines = list(_entries(plain))
    for key, value in study.items():
        if isinstance(value, Mapping):
            lines += ["", *_section(key, value)]
        elif _is_section(value):
            for one in value:
                lines += ["", *_listed_table(key, one)]
    return "\n".join(lines) + "\n"


def _is_section(value: object) -> bool:
    several = isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)
    return isinstance(value, Mapping) or several


def _section(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    """Yields a table; for those in `SECTIONS`, a section for each table in it."""
    deep = name in SECTIONS
    below = {key: value for key, value in table.items() if deep and isinstance(value, Mapping)}
    rest = {key: value for key, value in table.items() if key not in below}
    if rest or not below:
        yield f"[{name}]"
        yield from _entries(rest)
    for number, (key, value) in enumerate(below.items()):
        if rest or number:
            yield ""
        yield f"[{name}.{_key(key)}]"
        yield from _entries(value)


def _listed_table(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    """Yields an entry of a list of tables, with the lists below it."""
    below = {key: value for key, value in table.items() if key in ("check", "note", "control")}
    yield f"[[{name}]]"
    yield from _entries({key: value for key, value in table.items() if key not in below})
    for key, several in below.items():
        for one in several:
            yield ""
            yield f"  [[{name}.{key}]]"
            yield from (f"  {line}" for line in _entries(one))


def _entries(table: Mapping[str, Any]) -> Iterator[str]:
    """Yields a line for each value, and for each table of a list."""
    for key, value in table.items():
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            yield f"{_key(key)} = ["
            yield from (f"  {_value(one)}," for one in value)
            yield "]"
        else:
            yield f"{_key(key)} = {_value(value)}"


def _key(key: object) -> str:
    text = str(key)
    return text if _BARE.fullmatch(text) else _value(text)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items())
        return f"{{ {inside} }}" if inside else "{ }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)
