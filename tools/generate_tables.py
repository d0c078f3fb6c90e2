"""Writes python/narrows/api/tables.py: what a person writes in TOML, as Python classes.

The classes come from the models of narrows.spec, so that both always have the
same fields. `make reference` runs this; a test compares.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import textwrap
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from narrows.spec import models
from narrows.spec.fields import Kind

TARGET = Path(__file__).parents[1] / "python" / "narrows" / "api" / "tables.py"
NAMES = {"Spec": "Scenario"}
NAMED = {
    "path": "The bottleneck and the delay around it.",
    "flows": "The flows that share the path, or entries that stand for several.",
    "run": "How long, how often, and what to keep.",
    "host": "TCP of the end hosts.",
}
"""Words for fields that speak for themselves in TOML."""
HEAD = '''"""What a person writes in a specification, as classes. Made by tools/generate_tables.py.

Values are written as in TOML: "80mbit", "25ms", "1.75bdp". None leaves a field to
its default. In a sweep, a list or a `Range` in place of a value is an axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from narrows.api.writing import Range, Sweep, Table, Values
'''


def models_in_order(model: type[BaseModel], seen: list[type[BaseModel]]) -> list[type[BaseModel]]:
    """The models that a model is made of, before it."""
    for entry in model.model_fields.values():
        for inner in inner_models(entry.annotation):
            if inner not in seen:
                models_in_order(inner, seen)
    if model not in seen:
        seen.append(model)
    return seen


def inner_models(annotation: object) -> Iterator[type[BaseModel]]:
    """The models in `Path`, `list[Flow]` or a union."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in typing.get_args(annotation):
        yield from inner_models(part)


def class_text(model: type[BaseModel]) -> str:
    """One model as a dataclass."""
    words = field_words(model)
    # A preset may stand in for any field.
    preset = "preset" in model.model_fields
    required = [n for n, e in model.model_fields.items() if e.is_required() and not preset]
    others = [n for n in model.model_fields if n not in required]
    lines = [f"@dataclass(kw_only=True)\nclass {public(model)}(Table):"]
    words_of_class = (inspect.getdoc(model) or "").replace("\n", "\n    ")
    end = "\n    " if "\n" in words_of_class else ""
    lines.append(f'    """{words_of_class}{end}"""\n')
    for name in (*required, *others):
        entry = model.model_fields[name]
        kind = written(entry.annotation, entry.metadata)
        optional = "" if name in required else " | None = None"
        lines.append(f"    {name}: {kind}{optional}")
        lines.append(wrapped(document(name, entry, words.get(name, ""))))
    if model is models.Spec:
        lines.append("    sweep: Sweep | None = None")
        lines.append('    """Designs, zipped axes and further axes of a sweep."""')
    return "\n".join(lines) + "\n"


def public(model: type[BaseModel]) -> str:
    """The name of a model's class."""
    return NAMES.get(model.__name__, model.__name__)


def document(name: str, entry: Any, words: str) -> str:
    """What a field means, what it takes, and its default."""
    takes = " or ".join(dict.fromkeys(expectations(entry.annotation, entry.metadata)))
    parts = [words, f"Takes {takes.rstrip(',')}." if takes else ""]
    return " ".join(part for part in parts if part) or NAMED.get(name, "As in TOML.")


def expectations(annotation: object, metadata: list[Any]) -> Iterator[str]:
    """What the kinds of a field expect, in words."""
    for kind in metadata:
        if isinstance(kind, Kind):
            yield kind.expects.rstrip(",").replace("\\", "\\\\")
    for part in typing.get_args(annotation):
        yield from expectations(part, list(getattr(part, "__metadata__", ())))


def written(annotation: object, metadata: list[Any]) -> str:
    """The type of what is written."""
    kinds = [entry for entry in metadata if isinstance(entry, Kind)]
    if kinds:
        return f"Values[{base(annotation, kinds[0])}]"
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin is typing.Annotated:
        return written(arguments[0], list(arguments[1:]))
    if origin in (typing.Union, types.UnionType):
        parts = [a for a in arguments if a is not type(None)]
        return " | ".join(dict.fromkeys(written(part, []) for part in parts))
    if origin is list:
        return f"Sequence[{written(arguments[0], [])}]"
    if origin is dict:
        return "Mapping[str, object]"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return public(annotation)
    return "object"


def base(annotation: object, kind: Kind) -> str:
    """What one value is written as."""
    if annotation in (int, float, bool, str) and '"' not in kind.expects:
        return str(getattr(annotation, "__name__", annotation))
    if annotation in (int, float, str) or getattr(annotation, "__name__", "") == "Size":
        return "str"
    return "str | Mapping[str, object]"


def field_words(model: type[BaseModel]) -> dict[str, str]:
    """The text below each field in the source."""
    (tree,) = ast.parse(inspect.getsource(model)).body
    found: dict[str, str] = {}
    if not isinstance(tree, ast.ClassDef):
        return found
    for before, node in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(before, ast.AnnAssign) and isinstance(node, ast.Expr):
            value = node.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                found[ast.unparse(before.target)] = _as_written(value.value)
    return found


def _as_written(words: str) -> str:
    """Without the unit of the exact form, which nobody writes."""
    return re.sub(r"[,;]? (in )?ns\b", "", " ".join(words.split()))


def wrapped(words: str) -> str:
    """A docstring of a field, its lines short enough."""
    lines = textwrap.wrap(words, 88)
    inner = "\n    ".join(lines)
    return f'    """{inner}"""' if len(lines) == 1 else f'    """{inner}\n    """'


def generate() -> str:
    """The text of the module."""
    made = models_in_order(models.Spec, [])
    text = HEAD + "".join(f"\n\n{class_text(model)}" for model in made)
    if "field(" not in text.replace("import dataclass, field", ""):
        text = text.replace("import dataclass, field", "import dataclass")
    if "Range" not in text.split("import Range", 1)[1]:
        text = text.replace("import Range, Sweep", "import Sweep")
    return text


def formatted(text: str) -> str:
    """As `ruff format` leaves it."""
    ruff = Path(sys.executable).with_name("ruff")
    command = [str(ruff), "format", "--stdin-filename", str(TARGET), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    TARGET.write_text(formatted(generate()), encoding="utf-8")
