"""Random valid specifications, drawn from the JSON Schema that narrows declares.

Nothing here lists keys: a new key, queue, service, impairment, workload, control or option is
drawn as soon as the schema has it. The schema doesn't know relations between values ("a warm-up
shorter than the run"), so what narrows refuses is drawn again, and then left out, until nothing
is refused. `HINTS` keeps runs short and gives names to what the schema calls a text.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from narrows import _native
from narrows.backends import get_backend
from narrows.errors import InputError
from narrows.plan import Trial, plan
from narrows.spec.reading import SpecificationText, read_written
from narrows.spec.registry import ccas

Node = Mapping[str, Any]
Place = tuple[str | int, ...]
Draw = Callable[[random.Random], Any]

SCENARIO = ("path", "flows", "host", "run", "changes")
"""The tables that decide what happens in a run; the others judge, repeat or vary it."""
ELSEWHERE = frozenset(
    {"kernel", "line_rate", "sysctls", "server", "client", "sender", "syscall_time", "date"}
)
"""Keys of flows that the simulator refuses or ignores, since they need a real kernel."""
TRACE, SIZES, GAPS = "link.trace", "sizes.txt", "gaps.txt"
FILES = {TRACE: "0\n1\n1\n2\n5\n", SIZES: "1kb 0.5\n90kb 1\n", GAPS: "1ms 0.5\n200ms 1\n"}
_UNITS = re.compile(r" \?\(([a-z|]+)\)")
_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_OPTIONAL = 0.2
"""The probability of a key that isn't required."""


def quantity(least: float, most: float, unit: str) -> Draw:
    """Draws a quantity of a unit, each order of magnitude equally often."""
    return lambda chance: f"{_round(logarithmic(chance, least, most))}{unit}"


def whole(least: int, most: int) -> Draw:
    """Draws a whole number."""
    return lambda chance: chance.randint(least, most)


def one_of(*values: str) -> Draw:
    """Draws one of these."""
    return lambda chance: chance.choice(values)


FLOW_NAMES, LINK_NAMES = one_of("a", "b"), one_of("bottleneck", "second", "reverse")
HINTS: Mapping[str, Draw] = {
    "name": one_of("a", "b"),
    "path.rate": quantity(0.5, 40, "mbit"),
    "path.rtt": quantity(1, 150, "ms"),
    "path.buffer": quantity(0.3, 4, "bdp"),
    "path.links.name": one_of("second"),
    "flows.name": FLOW_NAMES,
    "flows.cca": lambda chance: chance.choice(["none"] * 8 + list(ccas())),
    "flows.count": whole(1, 4),
    "flows.start": quantity(1, 700, "ms"),
    "flows.stop": quantity(700, 1500, "ms"),
    "flows.rtt": quantity(1, 150, "ms"),
    "flows.while": FLOW_NAMES,
    "flows.links": LINK_NAMES,
    "flows.workload.rate": one_of("2/s", "20/s", "50/s", "1mbit", "4mbit"),
    "flows.workload.objects": whole(1, 40),
    "run.duration": quantity(500, 2500, "ms"),
    "run.warmup": quantity(50, 400, "ms"),
    "run.trials": whole(1, 1),
    "run.stop_when": one_of("a", "b", "all"),
    "run.sample_interval": quantity(10, 300, "ms"),
    "changes.at": quantity(50, 2500, "ms"),
    "changes.link": LINK_NAMES,
    "changes.flow": FLOW_NAMES,
    "changes.window": whole(1, 300),
}
"""How values of a place are drawn where the schema leaves too much open."""
WORDS: Mapping[str, Draw] = {
    "file": one_of(*FILES),
    "links": LINK_NAMES,
    "points": lambda chance: [
        [quantity(1, 50, unit := chance.choice(["kb", "ms"]))(chance), 0.5],
        [quantity(50, 200, unit)(chance), 1],
    ],
}
"""How values are drawn for any place with this last key."""
ALWAYS = frozenset({"run.duration", "path.rate", "flows.name"})
"""Keys that are always there: other durations and rates take long, and other keys name flows."""
LONGEST = {"changes": 2, "impairments": 3, "links": 1, "flows": 3}
"""How many tables a list gets at most; 2 elsewhere."""


class Drawing:
    """A document as it is drawn, with the schema of each of its places.

    `wanted` is a key that it contains if narrows accepts it, in the notation of `declared`.
    """

    def __init__(self, seed: str, wanted: str) -> None:
        self.chance, self.wanted = random.Random(seed), wanted
        self.nodes: dict[Place, tuple[Node, str]] = {}
        self.document: dict[str, Any] = {"name": "random"}
        self.refusals: Counter[Place] = Counter()
        tables = schema()["properties"]
        for table in SCENARIO:
            needed = table in ("path", "flows", "run") or self._leads_on(table)
            if needed or self.chance.random() < 0.5:
                self.document[table] = self.draw(tables[table], (table,), table)

    def _leads_on(self, key: str) -> bool:
        """Returns True if the wanted key is this one or inside of it."""
        return self.wanted == key or self.wanted.startswith((f"{key}.", f"{key}="))

    def draw(self, node: Node, place: Place, key: str) -> Any:
        """Draws a value for a place, whose key with the kinds around it is `key`."""
        self.nodes[place] = (node, key)
        hint = hint_of(place)
        pairs = "prefixItems" in node.get("items", {})
        if hint is not None and (pairs or not node.keys() & {"items", "properties"}):
            return hint(self.chance)
        if "properties" in node:
            return self._table(node, place, key)
        if "anyOf" in node:
            values = alternatives(node)
            kinds = [one for one in values if inside(one, key) != key]
            leading = [one for one in kinds if self._leads_on(inside(one, key))]
            return self.draw(self.chance.choice(leading or values), place, key)
        if node.get("type") == "array":
            return self._list(node, place, key)
        if node.get("type") == "object":
            return self._map(node, place, key)
        return self._scalar(node)

    def _table(self, node: Node, place: Place, around: str) -> dict[str, Any]:
        needed = set(node.get("required", ()))
        needed |= set(self.chance.choice(node.get("anyOf", [{}])).get("required", ()))
        table: dict[str, Any] = {}
        for key, inner in node["properties"].items():
            full = f"{inside(node, around)}.{key}"
            likely = 0.0 if key in ELSEWHERE else _OPTIONAL
            needed |= {key} if full in ALWAYS or self._leads_on(full) else set()
            if key in needed or self.chance.random() < likely:
                table[key] = self.draw(inner, (*place, key), full)
        for rule in node.get("allOf", ()):
            if jsonschema.Draft202012Validator(rule["if"]).is_valid(table):
                for key, inner in rule["then"].get("properties", {}).items():
                    if key in table or self.chance.random() < 0.5:
                        table[key] = self.draw(inner, (*place, key), f"{around}.{key}")
        return table

    def _list(self, node: Node, place: Place, around: str) -> list[Any]:
        key = str(next(part for part in reversed(place) if isinstance(part, str)))
        needed = key in ("flows", "links") or self._leads_on(around)
        least = max(int(node.get("minItems", 0)), needed)
        count = self.chance.randint(least, max(LONGEST.get(key, 2), least))
        return [self.draw(node["items"], (*place, number), around) for number in range(count)]

    def _map(self, node: Node, place: Place, around: str) -> dict[str, Any]:
        """A table of times with values, or an empty one."""
        inner = node.get("additionalProperties")
        if not isinstance(inner, Mapping):
            return {}
        times = sorted(self.chance.sample(range(10, 1500), self.chance.randint(1, 3)))
        return {f"{at}ms": self.draw(inner, (*place, f"{at}ms"), around) for at in times}

    def _scalar(self, node: Node) -> Any:
        kind = node.get("type")
        if "const" in node or "enum" in node:
            return self.chance.choice(node.get("enum", [node.get("const")]))
        if kind == "boolean":
            return self.chance.random() < 0.5
        if kind == "integer":
            return self._whole(node)
        if kind == "number":
            return self._number(node)
        if units := units_of(node):
            return _quantity_of(self.chance, units)
        if kind == ["integer", "string"]:
            return f"{self.chance.randint(3, 400)}pkt"
        return self.chance.choice(["a", "b", "20/s"])

    def _whole(self, node: Node) -> int:
        least, most = node.get("minimum", 0), node.get("maximum", 2**31)
        most = max(min(most, 2000), least)
        return round(logarithmic(self.chance, max(least, 0.5), most)) if least < most else least

    def _number(self, node: Node) -> float:
        least, most = node.get("minimum", 0.0), node.get("maximum", 1.0)
        if "exclusiveMaximum" in node:
            most = 0.05
        most = min(most, 1000.0)
        if self.chance.random() < 0.5 and least == 0:
            return float(_round(logarithmic(self.chance, 0.0005, max(0.05, 0.05 * most))))
        return float(_round(self.chance.uniform(least, most)))

    def mend(self, place: Place) -> None:
        """Draws what was refused again; if it is refused again and again, leaves it out.

        What is missing is added. What can't be left out takes the table around it along.
        """
        while place and self._node(place) is None:
            place = place[:-1]
        found = self._node(place)
        if found is None:
            return
        self.refusals[place] += 1
        there, often = self.has(place), self.refusals[place]
        if often <= 2 or len(place) == 1:
            self.holder(place)[place[-1]] = self.draw(found[0], place, found[1])
        elif often <= 4 and there and not self._is_needed(place):
            del self.holder(place)[place[-1]]
        else:
            self.refusals[place] = 0
            self.mend(place[:-1])

    def has(self, place: Place) -> bool:
        """Returns True if the document has a value at a place."""
        holder = self.holder(place)
        inside = range(len(holder)) if isinstance(holder, list) else holder or ()
        return place[-1] in inside

    def _node(self, place: Place) -> tuple[Node, str] | None:
        """The schema and the key of a place; None for what isn't declared."""
        holder = self.holder(place)
        if not place or not isinstance(holder, (dict, list)):
            return None
        if isinstance(holder, list) or place[-1] in holder:
            return self.nodes.get(place) if self.has(place) else None
        around, key = self.nodes.get(place[:-1], ({}, ""))
        for node in (around, *alternatives(around)):
            kind = node.get("properties", {}).get("kind", {"const": holder.get("kind")})
            if place[-1] in node.get("properties", {}) and kind["const"] == holder.get("kind"):
                return node["properties"][place[-1]], f"{inside(node, key)}.{place[-1]}"
        return None

    def _is_needed(self, place: Place) -> bool:
        """Returns True if the table around a place isn't valid without it."""
        if isinstance(self.holder(place), list):
            return len(self.holder(place)) == 1
        node, _ = self.nodes[place[:-1]]
        return any(place[-1] in other.get("required", ()) for other in (node, *alternatives(node)))

    def holder(self, place: Place) -> Any:
        """The table or list around a place; None if there is none."""
        holder: Any = self.document
        for part in place[:-1]:
            there = isinstance(part, int) == isinstance(holder, list)
            try:
                holder = holder[part] if there else None
            except (KeyError, IndexError, TypeError):
                return None
        return holder


def hint_of(place: Place) -> Draw | None:
    """How values of a place are drawn, if the schema leaves too much open."""
    keys = [part for part in place if isinstance(part, str)]
    return HINTS.get(".".join(keys)) or WORDS.get(keys[-1])


def random_trial(seed: int, directory: Path, attempts: int = 12) -> tuple[dict[str, Any], Trial]:
    """A specification that narrows accepts, and its scenario; each key has its turn.

    `directory` holds the files of `FILES`. Raises ValueError if narrows refuses every attempt.
    """
    drawing, made = random_drawing(seed, directory, attempts)
    return drawing.document, made


def random_drawing(seed: int, directory: Path, attempts: int = 12) -> tuple[Drawing, Trial]:
    """The same, with the schema of each place."""
    wanted, refusal = declared_keys()[seed % len(declared_keys())], ""
    for attempt in range(attempts):
        drawing = Drawing(f"{seed}-{attempt}", wanted if attempt < attempts // 2 else "")
        for _ in range(40):
            try:
                return drawing, trial(drawing.document, directory)
            except InputError as error:
                refusal = str(error)
                for problem in error.problems:
                    drawing.mend(place_of(problem.place))
    raise ValueError(f"seed {seed} isn't accepted: {json.dumps(drawing.document)}: {refusal}")


def trial(document: Mapping[str, Any], directory: Path) -> Trial:
    """The first trial of a document; raises InputError."""
    engine = get_backend("sim")
    spec = read_written(
        SpecificationText.document(document), (), str(directory / "random.toml")
    ).spec()
    made = plan(spec, engine.engine).trials[0]
    engine.check(made.scenario)
    return made


def write_files(directory: Path) -> Path:
    """Writes the files that random specifications name."""
    for name, text in FILES.items():
        (directory / name).write_text(text, encoding="utf-8")
    return directory


def place_of(text: str) -> Place:
    """The parts of a place such as "flows[1].cca"."""
    return tuple(int(number) if number else key for key, number in _PART.findall(text))


def choices(value: Any, place: str = "") -> Iterator[str]:
    """The places of a document's keys, such as "path.queue=red.ecn" in a table of the kind red."""
    if isinstance(value, Mapping):
        kind = f"={value['kind']}" if "kind" in value else ""
        for key, inner in value.items():
            inside = f"{place}{kind}.{key}" if place else key
            yield inside
            yield from choices(inner, inside)
    elif isinstance(value, list):
        for inner in value:
            yield from choices(inner, place)


def inside(node: Node, key: str) -> str:
    """The key of a table with its kind, if it has one."""
    kind = node.get("properties", {}).get("kind", {}).get("const")
    return key if kind is None else f"{key}={kind}"


@cache
def declared_keys() -> tuple[str, ...]:
    """Every key that a scenario may have, in the notation of `choices`."""
    found: dict[str, None] = {}
    for table in SCENARIO:
        _collect(schema()["properties"][table], table, found)
    return tuple(found)


def _collect(node: Node, place: str, found: dict[str, None]) -> None:
    for key, inner in node.get("properties", {}).items():
        if key not in ELSEWHERE and key != "kind":
            full = f"{inside(node, place)}.{key}"
            found[full] = None
            _collect(inner, full, found)
    for inner in alternatives(node):
        _collect(inner, place, found)
    if isinstance(node.get("items"), Mapping):
        _collect(node["items"], place, found)


def logarithmic(chance: random.Random, least: float, most: float) -> float:
    """A number between two, each order of magnitude equally often."""
    return float(least * (most / least) ** chance.random())


def _round(value: float) -> str:
    return f"{float(f'{value:.3g}'):f}".rstrip("0").rstrip(".")


def _quantity_of(chance: random.Random, units: list[str]) -> str:
    if "gbit" in units:
        return str(quantity(0.3, 60, "mbit")(chance))
    if "ms" in units:
        return str(quantity(0.1, 1000, "ms")(chance))
    if "pkt" in units and chance.random() < 0.5:
        return f"{whole(2, 300)(chance)}pkt"
    return str(quantity(0.5, 300, "kb")(chance))


def alternatives(node: Node) -> list[Node]:
    """The alternatives of a value without axes of a study and names of files with own controls."""
    declared_here = node.get("anyOf", ())
    axes = [{"type": "array", "items": inner, "minItems": 1} for inner in declared_here]
    every: list[Node] = []
    for inner in declared_here:
        if "anyOf" in inner and "properties" not in inner:
            every += alternatives(inner)
        elif "$ref" not in inner and inner not in axes:
            every += [inner] if "pattern" not in inner or units_of(inner) else []
    return every


def units_of(node: Node) -> list[str]:
    """The units of a quantity; none for another text."""
    found = _UNITS.search(str(node.get("pattern", "")))
    return found[1].split("|") if found else []


@cache
def schema() -> Node:
    found: Node = json.loads(_native.schema())
    for name, needs in found["else"]["properties"].items():  # but for studies with cases
        found["properties"][name] |= needs
    return found
