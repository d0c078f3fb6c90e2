"""Writes python/narrows/spec/scenario.py: a scenario as typed dictionaries.

They come from the declared keys of a specification (crates/spec/src/keys), which say what each key
becomes in a scenario. `make reference` runs this; a test compares.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from generate_tables import format_text

from narrows import _native

Section = Mapping[str, Any]
TARGET = Path(__file__).parents[1] / "python" / "narrows" / "spec" / "scenario.py"
HEAD = '''"""One run as plain data. Made by tools/generate_scenario.py.

Integers are in ns, bytes and bit/s; nothing has a default, so a scenario states exactly what ran.
The engine's side is crates/spec/src/scenario.rs.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

Choice = dict[str, Any]
"""An element by the name of its kind, with every parameter by its key."""
'''
KINDS = {
    **dict.fromkeys(("rate", "duration", "span", "volume", "whole"), "int"),
    **dict.fromkeys(("probability", "number"), "float"),
    **dict.fromkeys(("name", "word", "control"), "str"),
    "flag": "bool",
    "room": "dict[str, int]",
    "element": "Choice",
    "impairments": "list[Choice]",
    "workload": "dict[str, Any]",
    "names": "list[str]",
    "options": "dict[str, Any]",
    "sysctls": "dict[str, str]",
    "command": "list[str]",
}
"""The type of each kind of value in a scenario."""
MORE = {
    "Scenario": {
        "seed": "int",
        "controls": "NotRequired[dict[str, dict[str, str]]]",
        "changes": "NotRequired[list[Change]]",
    },
    "Reverse": {"name": "str"},
    "Path": {"capacity_known": "NotRequired[bool]", "delay_known": "NotRequired[bool]"},
}
"""Fields that a scenario has in addition."""

GIVEN = (
    *("stack", "deadline_ns", "notsent_lowat_bytes", "dscp", "profile", "fq", "kernel"),
    *("line_rate_bps", "sysctls"),
    *("server", "client", "sender", "syscall_time_ns", "date"),
)
"""Fields of a flow that exist only if they are given."""


def generate() -> str:
    """The text of the module."""
    whole = json.loads(_native.sections())[0]
    return HEAD + "".join(f"\n{_class(section)}" for section in _in_order(whole))


def _in_order(section: Section) -> Iterator[Section]:
    """The sections that a section is made of, before it."""
    for key in section["keys"]:
        if key["scenario"] and key["section"]:
            yield from _in_order(key["section"])
    yield section


def _class(section: Section) -> str:
    fields = {key["scenario"]: _type(key) for key in section["keys"] if key["scenario"]}
    if section["title"] == "Flow":
        fields |= {name: f"NotRequired[{fields[name].split(' |')[0]}]" for name in GIVEN}
    if section["title"] == "Change":
        kinds = {name: kind.split(" |")[0] for name, kind in fields.items()}
        fields = {n: k if n == "at_ns" else f"NotRequired[{k}]" for n, k in kinds.items()}
    fields |= MORE.get(section["title"], {})
    title, what = section["title"], f'"""{section["what"]}"""'
    if any(keyword.iskeyword(name) for name in fields):
        lines = "".join(f'    "{name}": {kind},\n' for name, kind in fields.items())
        return f'\n{title} = TypedDict("{title}", {{\n{lines}}})\n{what}\n'
    lines = "".join(f"    {name}: {kind}\n" for name, kind in fields.items())
    return f"\nclass {title}(TypedDict):\n    {what}\n\n{lines}"


def _type(key: Mapping[str, Any]) -> str:
    if key["section"]:
        kind = str(key["section"]["title"])
        kind = f"list[{kind}]" if key["kind"] == "tables" else kind
    else:
        kind = KINDS[key["kind"]]
    return f"{kind} | None" if key["nullable"] else kind


if __name__ == "__main__":
    TARGET.write_text(format_text(generate(), TARGET), encoding="utf-8")
