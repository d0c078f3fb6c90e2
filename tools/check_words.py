"""Refuses new names and phrases that tools/words.toml rules out.

    python tools/check_words.py             the exit status is 1 if there are new ones
    python tools/check_words.py --shrink    takes what has gone out of the baseline

It looks for functions named by a bare participle, public types of one language that share a name,
words that shouldn't be part of a name, and phrases. In tests and tools it looks for the functions
and phrases only. tools/words_baseline.toml says how often each
is there still. A count may only fall: more is refused, and less has to be recorded.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
Counts = Mapping[str, Counter[str]]
"""How often each name or phrase occurs, by kind."""

PATTERN = {"rust": "*.rs", "python": "*.py"}
CODE = {"rust": ("crates/*/src",), "python": ("python/narrows",)}
HELPERS = {"rust": ("crates/*/tests",), "python": ("tests/python", "tools")}
"""Tests and tools, of which only the names of functions and the phrases are checked."""
EXAMPLES = "test_check_words.py"
"""The tests of this tool, which contain what it refuses."""
PAGES = ("*.md", "docs/**/*.md", "experiments/**/*.md")
GENERATED = "Made by tools/"
RECORDS = ("CHANGELOG.md", "docs/results")
"""Pages that tell what was."""
FUNCTION = {
    "rust": re.compile(r"\bfn\s+(\w+)"),
    "python": re.compile(r"^\s*(?:async\s+)?def\s+(\w+)", re.MULTILINE),
}
TYPE = {
    "rust": re.compile(r"^\s*pub\s+(?:struct|enum|union|trait|type)\s+(\w+)", re.MULTILINE),
    "python": re.compile(r"^class\s+([A-Za-z]\w*)", re.MULTILINE),
}
DEFINED = re.compile(
    r"\b(?:fn|struct|enum|trait|type|mod|const|static|def|class)\s+(?:mut\s+)?([A-Za-z_]\w*)"
)
PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
REMEDIES = {
    "participles": "name it by a verb, or by a noun if it is an accessor",
    "types": "qualify it, so that one name means one thing",
}


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Compares the sources with the baseline."""
    rules = tomllib.loads((root / "tools" / "words.toml").read_text(encoding="utf-8"))
    file = root / "tools" / "words_baseline.toml"
    recorded = tomllib.loads(file.read_text(encoding="utf-8"))
    found = counts(root, rules)
    problems = list(increases(found, recorded, rules))
    if not problems and arguments == ["--shrink"]:
        file.write_text(as_toml(found), encoding="utf-8")
    elif not problems:
        problems = list(decreases(found, recorded))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def counts(root: Path, rules: Mapping[str, Mapping[str, str]]) -> Counts:
    """Counts what the rules are about."""
    found = {kind: Counter[str]() for kind in ("participles", "types", "words", "phrases")}
    prose = [page.read_text(encoding="utf-8") for page in pages(root)]
    for language in CODE:
        types = Counter[str]()
        for file in sources(root, language):
            text = file.read_text(encoding="utf-8")
            names = FUNCTION[language].findall(text)
            found["participles"].update(participles(names, rules["functions"]))
            types.update(TYPE[language].findall(text))
            found["words"].update(parts(file, text) & rules["words"].keys())
            prose.append(text)
        for file in files_of(root, HELPERS[language], PATTERN[language]):
            text = file.read_text(encoding="utf-8")
            names = FUNCTION[language].findall(text)
            found["participles"].update(participles(names, rules["functions"]))
            prose.append(text)
        shared = {f"{language} {name}": count for name, count in types.items() if count > 1}
        found["types"].update(shared)
    for pattern in rules["phrases"]:
        number = sum(len(re.findall(pattern, text)) for text in prose)
        found["phrases"].update({pattern: number} if number else {})
    return found


def sources(root: Path, language: str) -> list[Path]:
    """Returns the files of a language, without tests and without what is generated from others."""
    files = files_of(root, CODE[language], PATTERN[language])
    written = (file for file in files if "tests" not in (file.stem, *file.parts))
    return sorted(file for file in written if GENERATED not in file.read_text("utf-8")[:300])


def files_of(root: Path, folders: Iterable[str], pattern: str) -> list[Path]:
    """Returns the files below some folders."""
    places = [place for folder in folders for place in root.glob(folder)]
    files = (file for place in places for file in place.rglob(pattern))
    return sorted(file for file in files if file.name != EXAMPLES)


def pages(root: Path) -> list[Path]:
    """Returns the pages that say how things are."""
    files = {file for pattern in PAGES for file in root.glob(pattern)}
    names = {file: str(file.relative_to(root)) for file in files}
    return sorted(file for file in files if not names[file].startswith(RECORDS))


def participles(names: Iterable[str], rule: Mapping[str, str]) -> Iterator[str]:
    """Yields the names that are a bare participle."""
    irregular, exceptions = rule["participles"].split(), rule["exceptions"].split()
    for name in names:
        word = name.strip("_")
        if word in irregular or (re.fullmatch("[a-z]+ed", word) and word not in exceptions):
            yield word


def parts(file: Path, text: str) -> set[str]:
    """Returns the words of which the defined names of a file, and its own name, consist."""
    names = [file.stem, *DEFINED.findall(text)]
    return {part.lower() for name in names for part in PART.findall(name)}


def increases(
    found: Counts, recorded: Mapping[str, Mapping[str, int]], rules: Mapping[str, Mapping[str, str]]
) -> Iterator[str]:
    """Yields what there is more of than recorded, with what to write instead."""
    for kind, counter in found.items():
        for name, count in sorted(counter.items()):
            before = recorded.get(kind, {}).get(name, 0)
            if count > before:
                remedy = REMEDIES.get(kind) or f"write instead: {rules[kind][name]}"
                yield f"{kind}: {name}: found {count} times, {before} are allowed; {remedy}"


def decreases(found: Counts, recorded: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yields what there is less of than recorded."""
    for kind, names in recorded.items():
        for name, before in names.items():
            count = found[kind][name]
            if count < before:
                yield (
                    f"{kind}: {name}: found {count} times, {before} are recorded; "
                    "run `python tools/check_words.py --shrink`"
                )


def as_toml(found: Counts) -> str:
    """Writes counts as the baseline."""
    lines = ["# How often tools/check_words.py still finds what it refuses. Counts only fall."]
    for kind, counter in found.items():
        lines += ["", f"[{kind}]"]
        lines += [f"{quote(name)} = {count}" for name, count in sorted(counter.items())]
    return "\n".join(lines) + "\n"


def quote(name: str) -> str:
    """Returns a name as a key of TOML."""
    return name if re.fullmatch(r"\w+", name) else f"'{name}'"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
