"""docs/reference/python.md: every public name, from the docstrings.

`make reference` runs this; a test compares, and finds names without a docstring.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import narrows
from narrows import metrics
from reference import PAGES

TARGET = PAGES / "python.md"
EXAMPLE = re.compile(r"(?:^    (?! ).*\n?)+", re.MULTILINE)
ELEMENTS = {
    "distributions": "workloads.md",
    "impairments": "paths.md",
    "queues": "paths.md",
    "services": "paths.md",
    "workloads": "workloads.md",
}
"""The pages that describe the elements of each module."""
HEAD = """# Python

```python
import narrows as nw
```

`make reference` makes this page from the docstrings. Runnable examples: the notebooks
[first-steps](../notebooks/first-steps.ipynb) and [sweeps](../notebooks/sweeps.ipynb).
Values are written as in TOML ("80mbit", "25ms", "1.75bdp"); None leaves a field to its
default; in a sweep a list or an `nw.Range` in place of a value is an axis.
"""


def pages() -> dict[Path, str]:
    """The files by their paths."""
    return {TARGET: generate()}


def generate() -> str:
    """The text of the page; raises ValueError for a name without a docstring."""
    parts = [HEAD]
    for name in sorted(narrows.__all__, key=lambda n: (n[0].isupper(), n)):
        if name in ELEMENTS:
            parts.append(elements(f"nw.{name}", getattr(narrows, name)))
        elif name not in ("__version__", "metrics"):
            parts += entry(f"nw.{name}", getattr(narrows, name))
    parts.append("## nw.metrics\n\n" + words("nw.metrics", metrics) + "\n")
    for name in sorted(metrics.__all__):
        parts += function(f"nw.metrics.{name}", getattr(metrics, name), 3)
    return "\n".join(parts)


def elements(name: str, module: ModuleType) -> str:
    """A module of elements: its example, and the classes with the page of their parameters."""
    title, _, rest = (module.__doc__ or "").partition(".\n")
    example = textwrap.dedent(rest.strip("\n"))
    found = [
        what for what in vars(module).values() if getattr(what, "__module__", "") == module.__name__
    ]
    classes = ", ".join(f"`{what.__name__}`" for what in found)
    page = ELEMENTS[name.removeprefix("nw.")]
    said = f"{title}: {classes}. Their parameters: `help`, or [{page.removesuffix('.md')}]({page})."
    return f"## {name}\n\n{textwrap.fill(said, 100, break_on_hyphens=False)}\n\n{example}\n"


def entry(name: str, what: object) -> Iterator[str]:
    """A class or a function."""
    if inspect.isclass(what):
        yield from class_(name, what)
    else:
        yield from function(name, what, 2)


def class_(name: str, what: type) -> Iterator[str]:
    """A class with its fields, properties and methods."""
    yield f"## {name}\n\n{words(name, what)}\n"
    rows = [f"| `{field}` | `{kind}` | {said} |" for field, kind, said in fields(what)]
    if rows:
        yield "| Field | Type | |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    for method, found in members(what):
        if isinstance(found, property):
            yield f"### {name}.{method}\n\n{words(f'{name}.{method}', found)}\n"
        else:
            yield from function(f"{name}.{method}", found, 3)


def members(what: type) -> Iterator[tuple[str, object]]:
    """Public methods and properties that narrows defines."""
    for name, found in inspect.getmembers(what):
        home = getattr(found, "fget", None) or getattr(found, "func", None) or found
        ours = str(getattr(home, "__module__", "")).startswith("narrows")
        if name.startswith("_") or not ours or inspect.isclass(found):
            continue
        if isinstance(found, property) or inspect.isroutine(found):
            yield name, found


def function(name: str, what: object, level: int) -> Iterator[str]:
    """A function with its signature."""
    signature = str(inspect.signature(what)) if callable(what) else ""
    signature = re.sub(r"\(self(, )?", "(", signature).replace("'", "")
    short = name.removeprefix("nw.")
    text = "\n".join(textwrap.wrap(f"{short}{signature}", 92, subsequent_indent="    "))
    yield f"{'#' * level} {name}\n\n```python\n{text}\n```\n\n{words(name, what)}\n"


def words(name: str, what: object) -> str:
    """The docstring; raises ValueError if there is none."""
    found = inspect.getdoc(what)
    if not found:
        raise ValueError(f"{name} has no docstring")
    return EXAMPLE.sub(fence, found.partition("\n\nAttributes:")[0])


def fence(example: re.Match[str]) -> str:
    """An indented example as a fenced block."""
    return f"```pycon\n{textwrap.dedent(example[0]).rstrip()}\n```\n"


def _source_of(what: type) -> ast.stmt:
    """A class in its module, or in the stub of a module that makes its classes."""
    stub = Path(str(sys.modules[what.__module__].__file__)).with_suffix(".pyi")
    if not stub.is_file():
        return ast.parse(textwrap.dedent(inspect.getsource(what))).body[0]
    classes = ast.parse(stub.read_text(encoding="utf-8")).body
    return next(one for one in classes if getattr(one, "name", "") == what.__name__)


def fields(what: type) -> Iterator[tuple[str, str, str]]:
    """The annotated fields of a class with their docstrings in the source, or in its stub."""
    tree = _source_of(what)
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign):
            said = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                said = " ".join(str(after.value.value).split()).replace("|", "\\|")
            kind = ast.unparse(node.annotation).replace("|", "\\|")
            yield ast.unparse(node.target), kind, said
