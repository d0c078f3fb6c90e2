"""Writes python/narrows/api/queues.py and its siblings: the elements as Python classes.

They come from the registries in Rust, so that classes and specifications always have the same
parameters. `make reference` runs this; a test compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from generate_tables import Field, class_text, format_text

from narrows.spec import registry

Entry = Mapping[str, Any]
PLACE = Path(__file__).parents[1] / "python" / "narrows" / "api"
KINDS = {
    "queues": ("Queue", "Queue disciplines", 'nw.Path(queue=nw.queues.FqCodel(target="3ms"))'),
    "services": ("Service", "Services of links", "nw.Path(service=nw.services.Wifi())"),
    "impairments": (
        "Impairment",
        "Impairments of a path",
        "nw.Path(impairments=[nw.impairments.Loss(probability=0.01)])",
    ),
    "workloads": (
        "Workload",
        "Workloads of a flow",
        'nw.Flow(cca="cubic", workload=nw.workloads.Poisson(rate="5/s", size="1mb"))',
    ),
    "distributions": (
        "Distribution",
        "Distributions of sizes and durations",
        'nw.workloads.Poisson(rate="5/s", size=nw.distributions.Exponential(mean="1mb"))',
    ),
}
"""The base class of each registry's entries, a title and an example."""
TIMED = "Mapping[str, str]"
TYPES = {
    "packets": "Values[str | int]",
    "bytes": "Values[str | int]",
    "share": "Values[float]",
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
"""The type in which each unit is written; any other is a text."""
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


def generate(kind: str) -> str:
    """The text of the module with the entries of a registry."""
    base, title, example = KINDS[kind]
    entries = getattr(registry, kind)().values()
    classes = [text for entry in entries for text in _classes(entry, base)]
    body = "".join(f"\n\n{text}" for text in classes)
    return f"{_head(title, example)}\n{_imports(base, body)}{body}"


def _head(title: str, example: str) -> str:
    return f'"""{title}. Made by tools/generate_elements.py.\n\n    {example}\n"""\n'


def _imports(base: str, body: str) -> str:
    """The imports that the classes need."""
    used = [name for name in ("Mapping", "Sequence") if f"{name}[" in body]
    lines = ["from __future__ import annotations\n"]
    if used:
        lines.append(f"from collections.abc import {', '.join(used)}")
    lines.append("from dataclasses import dataclass")
    lines.append(f"from typing import ClassVar{', Literal' if 'Literal[' in body else ''}\n")
    parts = sorted({base, *(["Distribution"] if "| Distribution" in body else [])})
    lines.append(f"from narrows.api.element import {', '.join(parts)}")
    written = [name for name in ("Table", "Values") if f"({name})" in body or f"{name}[" in body]
    if written:
        lines.append(f"from narrows.api.writing import {', '.join(written)}")
    return "\n".join(lines) + "\n"


def _classes(entry: Entry, base: str) -> Iterator[str]:
    """The class of an entry, after those of the tables that it holds."""
    name = class_name(entry["name"])
    for parameter in entry["parameters"]:
        if "parameters" in parameter:
            what = f"One of the {parameter['name']} of `{name}`."
            fields = [_field(own, name) for own in parameter["parameters"]]
            yield class_text(_table(name, parameter), "Table", what, fields)
    source = f"\n\nSource: {entry['source']}." if entry["source"] else ""
    what = f"{entry['title']}.\n\n{_sentence(entry['summary'])}{source}"
    fields = [_field(parameter, name) for parameter in entry["parameters"]]
    constant = f'    kind: ClassVar[str] = "{entry["name"]}"\n'
    yield class_text(name, base, what, fields, constant)


def class_name(name: str) -> str:
    """The class of an entry: `FqCodel` for "fq_codel"."""
    return "".join(part.capitalize() for part in name.split("_"))


def _table(name: str, parameter: Entry) -> str:
    """The class of the tables of a parameter: `HtbClass` for `classes` of `Htb`."""
    return name + parameter["name"].removesuffix("es").capitalize()


def _field(parameter: Entry, owner: str) -> Field:
    kind = TYPES.get(parameter["unit"], "Values[str]")
    if parameter["words"]:
        kind = f"Values[Literal[{', '.join(repr(word) for word in parameter['words'])}]]"
    if "parameters" in parameter:
        kind = f"Sequence[{_table(owner, parameter)} | Mapping[str, object]]"
    return Field(parameter["name"], kind, parameter["required"], _meaning(parameter))


def _meaning(parameter: Entry) -> str:
    """The meaning of a parameter, its values and its default."""
    takes = f"Takes {_takes(parameter)}"
    silent = parameter["required"] or parameter["shown"] == "none"
    default = "" if silent else f"; {parameter['shown']} by default"
    return f"{_sentence(parameter['what'])} {takes}{default}."


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _takes(parameter: Entry) -> str:
    if parameter["words"]:
        return f"one of {', '.join(parameter['words'])}"
    unit, most = parameter["unit"], parameter["most"]
    if unit not in ("share", "number", "whole", "packets"):
        return EXAMPLES.get(unit, f"a {unit}")
    what = "a number" if unit in ("share", "number") else "a whole number"
    if most > UNBOUNDED or most >= 2**64 - 1:
        return f"{what} from {parameter['least']:g} on"
    return f"{what} from {parameter['least']} to {parameter['most']}"


if __name__ == "__main__":
    for kind in KINDS:
        target = PLACE / f"{kind}.py"
        target.write_text(format_text(generate(kind), target), encoding="utf-8")
