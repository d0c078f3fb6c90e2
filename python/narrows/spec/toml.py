"""Writes a specification back as TOML, for the record of what ran."""

from __future__ import annotations

import json
from typing import Any


def to_toml(document: dict[str, Any]) -> str:
    """`document` as TOML; `tomllib` reads the same values back.

    Takes what a specification is made of: tables, lists of tables, texts,
    finite numbers, booleans.
    """
    plain = {key: value for key, value in document.items() if not _is_section(value)}
    blocks = [_pairs(plain)] if plain else []
    for key, value in document.items():
        if isinstance(value, dict):
            blocks.append(f"[{_key(key)}]\n{_pairs(value)}")
        elif _is_section(value):
            blocks.extend(f"[[{_key(key)}]]\n{_pairs(entry)}" for entry in value)
    return "\n".join(blocks)


def inline(value: object) -> str:
    """A single value as TOML writes it."""
    return _value(value)


def _is_section(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)
    )


def _pairs(table: dict[str, Any]) -> str:
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _key(key: str) -> str:
    bare = key.isascii() and bool(key) and key.replace("_", "").replace("-", "").isalnum()
    return key if bare else json.dumps(key)


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
