"""The JSON Schema and the reader agree on every key: on types, units, words and bounds.

Only the reader knows relations between values, files, names and the magnitudes of quantities. So
the reader refuses what the schema refuses; and of each form that the schema allows (a unit, a word,
a whole number) it takes at least one value. `make fuzz` draws other values and other documents.
"""

from __future__ import annotations

import os
import random
import tomllib
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from random_specifications import (
    Drawing,
    Node,
    Place,
    alternatives,
    declared_keys,
    hint_of,
    logarithmic,
    random_drawing,
    schema,
    units_of,
    write_files,
)
from specimens import GOOD

from narrows.errors import InputError
from narrows.spec.reading import SpecificationText, read_written
from narrows.spec.registry import ccas

FIRST = int(os.environ.get("NARROWS_FUZZ_FIRST", "1")) % 2**31
KEYS = declared_keys()
BATCHES = [range(begin, min(begin + 60, len(KEYS))) for begin in range(0, len(KEYS), 60)]
DRAWS = 20
"""Values of each form."""
DOCUMENTS = 200
"""Documents in which a form is tried, until one of its values is taken."""
SCALES: Mapping[str, float] = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "b": 1.0,
    "kb": 1e3,
    "mb": 1e6,
    "gb": 1e9,
    "bit": 1.0,
    "kbit": 1e3,
    "mbit": 1e6,
    "gbit": 1e9,
}
BINARY = {"kib": 10, "mib": 20, "gib": 30}
ODD = (
    *(-1, 0, 1, 7, 300, 10**6, 2**31, 2**53, 2**63, 2**64),
    *(-0.5, 0.25, 1.5, 1e300, True, False),
    *("", "x", "5", "\x07", "y" * 300, "5%", "5/s", "5 / h", "5/d", "1e3/s", "-5/s"),
    *("5bit", "5mbit", "5ns", "5ms", " 5 ms ", "5  ms", ".5ms", "5.ms", "1e3ms", "-5ms", "5MS"),
    *("5min", "5b", "5kb", "5gib", "5pkt", "0.5bdp", "5ms/s", "5ms 5ms", "5ms\n"),
    *([], {}, {"kind": "x"}, {"1s": "5ms"}, {"x": "5ms"}, [{}], [["5kb", 2]], [[1]], [[0.5, 1]]),
)
"""Values that most keys refuse."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with the files that specifications name."""
    return write_files(tmp_path_factory.mktemp("agree"))


def is_read(document: dict[str, Any], files: Path) -> bool:
    """Returns True if the reader takes a document."""
    try:
        read_written(SpecificationText.document(document), (), str(files / "random.toml")).spec()
    except InputError:
        return False
    return True


@pytest.mark.parametrize("batch", BATCHES, ids=lambda batch: KEYS[batch[0]])
def test_the_reader_refuses_what_the_schema_refuses(files: Path, batch: range) -> None:
    for number in batch:
        found = draw(number, FIRST, files)
        if found is None:
            continue
        drawing, place, node = found
        for value in wrongly_taken(node, taker(drawing, place, files)):
            pytest.fail(f"{KEYS[number]} = {value!r}: the reader takes it\n{drawing.document}")


@pytest.mark.parametrize("batch", BATCHES, ids=lambda batch: KEYS[batch[0]])
def test_of_every_form_in_the_schema_a_value_is_taken(files: Path, batch: range) -> None:
    missing, refused = 0, dict[str, Any]()
    for number in batch:
        left: dict[str, list[Any]] | None = None
        for attempt in range(DOCUMENTS):
            if left == {} or is_related(KEYS[number]):
                break
            found = draw(number, FIRST + attempt, files)
            if found is not None:
                drawing, place, node = found
                chance = random.Random(f"{FIRST} {number} {attempt}")
                takes = taker(drawing, place, files)
                left = {
                    form: values
                    for form, values in forms(node, chance, drawing, place)
                    if (left is None or form in left) and not any(map(takes, values))
                }
        missing += left is None and not is_related(KEYS[number])
        refused |= {KEYS[number]: left} if left else {}
    assert not refused, "the reader takes none of these values"
    assert missing < len(batch) / 4


def is_related(key: str) -> bool:
    """Returns True if other keys decide which forms of a key are valid.

    Some workloads have no control, RED's thresholds are below its limit, and a change that only
    doesn't stop a flow is none.
    """
    return key in ("flows.cca", "flows.workload", "changes.stop") or key.endswith("=red.limit")


def draw(number: int, seed: int, files: Path) -> tuple[Drawing, Place, Node] | None:
    """A document with a key, the key's place in it and its schema; None if it didn't come up."""
    drawing, _ = random_drawing(number + len(KEYS) * seed, files)
    for place, (_, key) in drawing.nodes.items():
        if key == KEYS[number] and isinstance(place[-1], str) and drawing.has(place):
            around = drawing.nodes.get(place[:-1])
            node = (around[0] if around else schema()).get("properties", {}).get(place[-1])
            if node is not None:
                return drawing, place, node
    return None


def taker(drawing: Drawing, place: Place, files: Path) -> Callable[[Any], bool]:
    """Tells whether the reader takes a value at a place; the document stays as it is."""

    def takes(value: Any) -> bool:
        holder = drawing.holder(place)
        before, holder[place[-1]] = holder[place[-1]], value
        try:
            return is_read(drawing.document, files)
        finally:
            holder[place[-1]] = before

    return takes


def wrongly_taken(node: Node, takes: Callable[[Any], bool]) -> Iterator[Any]:
    """The odd values that the reader takes, but not the schema."""
    validator = jsonschema.Draft202012Validator(dict(schema())).evolve(schema=node)
    return (value for value in ODD if not validator.is_valid(value) and takes(value))


def forms(
    node: Node, chance: random.Random, drawing: Drawing | None, place: Place
) -> Iterator[tuple[str, list[Any]]]:
    """The forms that a schema allows, each with some values."""
    for one in alternatives(node) or [node]:
        kind, hint = one.get("type"), hint_of(place)
        if "const" in one or "enum" in one:
            yield from ((str(word), [word]) for word in one.get("enum", [one.get("const")]))
        elif units := units_of(one):
            yield from ((unit, [quantity(chance, unit, n) for n in range(DRAWS)]) for unit in units)
        elif kind == "boolean":
            yield from (("true", [True]), ("false", [False]))
        elif kind in ("integer", "number"):
            yield kind, numbers(one, chance)
        elif kind == "string" and "/" in one.get("pattern", ""):
            yield from ((unit, [f"7/{unit}", f"900 / {unit}"]) for unit in ("s", "min", "h"))
        elif drawing is not None and ("properties" in one or kind in ("object", "array")):
            key = drawing.nodes[place][1]
            name = str(one.get("properties", {}).get("kind", kind))
            kept = dict(drawing.nodes)
            yield name, [drawing.draw(one, place, key) for _ in range(DRAWS)]
            drawing.nodes = kept
        elif hint is not None:
            yield "text", [hint(chance) for _ in range(DRAWS)]


def numbers(node: Node, chance: random.Random) -> list[float]:
    """Numbers between the bounds of a schema; the bounds come first."""
    least, most = node.get("minimum", 0), node.get("maximum", 1e6)
    most = node.get("exclusiveMaximum", most)
    few = [logarithmic(chance, max(least, 0.001), max(min(most, 1e6), 0.002)) for _ in range(DRAWS)]
    if node["type"] == "integer":
        return [least, *(max(round(one), least) for one in few)]
    return [float(least), *few]


def quantity(chance: random.Random, unit: str, number: int) -> str:
    """A usual quantity in a unit: up to a few minutes, a megabyte, 30 Mbit/s, a few packets.

    Durations are short, shorter than a second, seconds and whole minutes in turn, by `number`.
    """
    if unit in BINARY:
        power = Decimal(2) ** (chance.randint(0, 20) - BINARY[unit])
        return f"{power:f}{unit}"
    if unit in ("pkt", "bdp"):
        return f"{chance.randint(1, 300 if unit == 'pkt' else 6)}{unit}"
    minutes = 60.0 * chance.randint(1, 9)
    spans = [(1e-6, 1e-2), (1e-3, 1.0), (1.0, 60.0), (minutes, minutes)]
    least, most = (1e4, 3e7) if "bit" in unit else (1.0, 1e6) if "b" in unit else spans[number % 4]
    whole = least == most
    value = (least if whole else logarithmic(chance, least, most)) / SCALES[unit]
    return f"{Decimal(f'{value:.2e}' if whole else f'{value:.0e}'):f}{unit}"


@pytest.mark.parametrize("cca", ccas())
def test_schema_and_reader_agree_on_the_options_of_a_control(cca: str, files: Path) -> None:
    rules = schema()["properties"]["flows"]["items"]["allOf"]
    (rule,) = (one for one in rules if one["if"]["properties"]["cca"]["const"] == cca)
    document: dict[str, Any] = tomllib.loads(GOOD)
    document["flows"][0] = {"cca": cca, "options": {}}
    for name, node in rule["then"]["properties"]["options"]["properties"].items():
        chance = random.Random(f"{FIRST} {cca} {name}")

        def takes(value: Any, name: str = name) -> bool:
            document["flows"][0]["options"] = {name: value}
            return is_read(document, files)

        assert list(wrongly_taken(node, takes)) == [], name
        for form, values in forms(node, chance, None, ("flows", 0, "options", name)):
            assert any(map(takes, values)), (name, form, values)
