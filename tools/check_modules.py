"""Finds circles and detours between modules of each Rust crate, and tests that no program contains.

The exit status is 1 if there is one.

Two modules form a circle if each imports something from the other, directly or through further
ones, and so do two that contain others, such as folders, if their contents do. So the modules that
stand beside each other have an order, in which imports point down only. A name counts where it is
defined: one that a module only re-exports (`pub use`) belongs to the module behind it. `mod` and
tests don't count.

A detour is an import through a module above (`crate::X`, `super::X`) that only re-exports the name,
so that the arrow seems to go upwards: name the module that defines it.

    python tools/check_modules.py [DIRECTORY]    a directory with crates, by default crates/
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Name = tuple[str, ...]

NOISE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(\#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])'""", re.DOTALL
)
USE = re.compile(r"(pub(?:\([^)]*\))?\s+)?\buse\s+([^;]+);")
PATH = re.compile(r"(?<![\w:])\w+(?:::\w+)+")
TEST_FILE = re.compile(r"#\[cfg\(test\)\]\s*mod\s+(\w+);")
TESTS = re.compile(
    r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?mod\s+\w+\s*\{"
)


@dataclass
class Module:
    """A file of a crate."""

    name: Name
    text: str
    handed_on: dict[str, Name] = field(default_factory=dict)
    taken: set[Name] = field(default_factory=set)


def code_of(file: Path) -> str:
    """The text without comments, literals and tests."""
    text = NOISE.sub('""', file.read_text())
    while (found := TESTS.search(text)) is not None:
        depth, end = 1, found.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        text = text[: found.start()] + text[end:]
    return text


def modules(crate: Path) -> dict[Name, Module]:
    """The modules of a crate by their path from its root, which is `()`."""
    made = {}
    for file in sorted((crate / "src").rglob("*.rs")):
        name = file.relative_to(crate / "src").with_suffix("").parts
        if name[-1] in ("mod", "lib"):  # `main` is a separate crate
            name = name[:-1]
        made[name] = Module(name, code_of(file))
    for name, module in list(made.items()):
        for test in TEST_FILE.findall(module.text):
            del made[(*name, test)]
    for module in made.values():
        read(module, made)
    return made


def read(module: Module, known: dict[Name, Module]) -> None:
    """Notes what a module imports and what it re-exports."""
    own = USE.sub("", module.text)
    for handed, tree in USE.findall(module.text):
        for path, alias in leaves(tree):
            whole = absolute(path, module, known)
            if whole is None:
                continue
            if handed:
                module.handed_on[alias] = whole
            if not handed or re.search(rf"\b{re.escape(alias)}\b", own):
                module.taken.add(whole)
    for found in PATH.finditer(own):
        whole = absolute(tuple(found.group().split("::")), module, known)
        if whole is not None:
            module.taken.add(whole)


def leaves(tree: str) -> Iterator[tuple[Name, str]]:
    """Every path of a `use` with the name that it gets."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, alias = tree.partition(" as ")
        parts = tuple(part.strip() for part in path.split("::"))
        yield parts, alias.strip() or parts[-1]
        return
    prefix = tuple(part for part in head.strip().split("::") if part)
    for branch in split(rest.rpartition("}")[0]):
        for path, alias in leaves(branch):
            plain = path[:-1] if path[-1] == "self" and len(path) == 1 else path
            yield prefix + plain, alias if plain == path else prefix[-1]


def split(text: str) -> Iterator[str]:
    """The parts between commas that stand in no brace."""
    depth, start = 0, 0
    for at, character in enumerate(text + ","):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            if text[start:at].strip():
                yield text[start:at]
            start = at + 1


def absolute(path: Name, module: Module, known: dict[Name, Module]) -> Name | None:
    """A path from the crate's root; None if it leads to another crate."""
    base = module.name
    if path[0] == "crate":
        return path[1:]
    if path[0] == "self":
        return base + path[1:]
    if path[0] == "super":
        while path and path[0] == "super":
            base, path = base[:-1], path[1:]
        return base + path
    return base + path if base + path[:1] in known else None


def home(path: Name, known: dict[Name, Module], seen: frozenset[Name] = frozenset()) -> Name:
    """The module in which what a path names is defined."""
    if path in known:
        return path
    owner = path[:-1]
    while owner not in known:
        owner = owner[:-1]
    handed = known[owner].handed_on.get(path[len(owner)])
    if handed is None or path in seen:
        return owner
    return home(handed + path[len(owner) + 1 :], known, seen | {path})


Arrows = dict[Name, dict[Name, set[str]]]


def arrows_of(known: dict[Name, Module]) -> Arrows:
    """The imports of each module, by their target."""
    arrows: Arrows = {name: {} for name in known}
    for name, module in known.items():
        for path in module.taken:
            other = home(path, known)
            if other != name:
                arrows[name].setdefault(other, set()).add(path[-1] if path else "crate")
    return arrows


def circles(known: dict[Name, Module]) -> Iterator[list[str]]:
    """Every circle, as what its modules import from one another."""
    arrows = arrows_of(known)
    yield from circles_among(arrows)
    for parent in sorted({name[:depth] for name in known for depth in range(len(name))}):
        yield from circles_among(arrows_between(parent, arrows))


def arrows_between(parent: Name, arrows: Arrows) -> Arrows:
    """The imports between the modules in one, each with all that it contains."""
    depth = len(parent) + 1
    inside = {name for name in arrows if len(name) >= depth and name[: depth - 1] == parent}
    between: Arrows = {name[:depth]: {} for name in inside}
    if all(len(name) == depth for name in inside):
        return {}  # these are in the whole already
    for name in inside:
        for other in inside & set(arrows[name]):
            if name[:depth] != other[:depth]:
                names = between[name[:depth]].setdefault(other[:depth], set())
                names |= arrows[name][other]
    return between


def circles_among(arrows: Arrows) -> Iterator[list[str]]:
    """The circles of these imports."""
    for circle in components({name: set(others) for name, others in arrows.items()}):
        yield [
            f"{'::'.join(('crate', *name))} takes {', '.join(sorted(arrows[name][other]))}"
            f" from {'::'.join(('crate', *other))}"
            for name in sorted(circle)
            for other in sorted(circle & set(arrows[name]))
        ]


def detours(known: dict[Name, Module]) -> Iterator[str]:
    """Every import through a module above that only re-exports the name."""
    for name, module in known.items():
        for path in sorted(module.taken):
            hub = path[:-1]
            if path in known or hub not in known or path[-1] not in known[hub].handed_on:
                continue
            if hub != name and name[: len(hub)] == hub:
                through, defining = (
                    "::".join(("crate", *one)) for one in (path, home(path, known))
                )
                yield f"{'::'.join(('crate', *name))} takes {through}, which {defining} defines"


def components(arrows: dict[Name, set[Name]]) -> list[set[Name]]:
    """The strongly connected sets of more than one module, found by search, since there are few."""
    reached = {name: reach(name, arrows) for name in arrows}
    found: list[set[Name]] = []
    for name in arrows:
        together = {other for other in reached[name] if name in reached[other]}
        if together and together not in found:
            found.append(together)
    return found


def reach(start: Name, arrows: dict[Name, set[Name]]) -> set[Name]:
    """Everything reachable from a module."""
    found: set[Name] = set()
    waiting = list(arrows[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += arrows[name]
    return found


def find_forgotten(tests: Path) -> Iterator[str]:
    """The modules that should be in `all.rs`, the only program of these tests, but aren't."""
    if (program := tests / "all.rs").is_file():
        listed = set(re.findall(r"^mod (\w+);", program.read_text(), re.MULTILINE))
        files = {file.stem for file in tests.glob("*.rs")} - {"all"}
        yield from sorted((files | {file.parent.name for file in tests.glob("*/mod.rs")}) - listed)


def main(arguments: list[str]) -> int:
    """Prints the circles, the detours and the forgotten tests of every crate."""
    place = Path(arguments[0]) if arguments else Path(__file__).parents[1] / "crates"
    broken = 0
    for manifest in sorted(place.glob("*/Cargo.toml")):
        known = modules(manifest.parent)
        for circle in circles(known):
            broken = 1
            print(f"{manifest.parent.name}: a circle:", *circle, sep="\n  ")
        for detour in detours(known):
            broken = 1
            print(f"{manifest.parent.name}: {detour}")
        for name in find_forgotten(manifest.parent / "tests"):
            broken = 1
            print(f"{manifest.parent.name}: mod {name}; is missing in tests/all.rs")
    return broken


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
