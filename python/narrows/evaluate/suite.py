"""A suite of situations, read from a folder.

`suite.toml` has a `title`, a `source`, a `[[situation]]` for each specification and a
`[[requirement]]` for each one of the source, with the `situations` that test it or the `reason` why
none does:

    [[situation]]
    file = "bufferbloat.toml"
    section = "5.1.2"
    asks = "Does a flow keep a long queue standing where the buffer is large?"
    because = ["More than a round trip of queue makes every other flow wait for it."]

`because` has a sentence for each `[[check]]` of the specification, in its order. The flows that
get the control under test are called `subject`, or have a name that begins with `subject-`.
`beside`, a list of controls, says which ones are run for comparison. A suite may also be a
selection `from` another: `from = "rfc9743"` and `only`, a list of names.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from narrows.errors import InputError
from narrows.spec import load
from narrows.spec.reading import read_file
from narrows.spec.suggest import one_of, quote

SUBJECT = "subject"
"""The name of the flows under test."""
_INDEX = "suite.toml"
_OWN = Path(__file__).parent / "suites"


@dataclass(frozen=True, slots=True)
class Situation:
    """A specification with its question; `because` gives the reason for each check."""

    name: str
    path: Path
    section: str
    asks: str
    because: tuple[str, ...]
    subjects: tuple[int, ...]
    """The indices of the `flows` entries that get the control under test."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A requirement of the source: the situations that test it, or why none does."""

    section: str
    level: str
    """The word of the source, such as MUST."""
    words: str
    situations: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Suite:
    """Situations in the order of their source."""

    name: str
    title: str
    source: str
    situations: tuple[Situation, ...]
    requirements: tuple[Requirement, ...]
    beside: tuple[str, ...] | None = None
    """The controls that are run for comparison, if the suite names any."""


def suites() -> list[str]:
    """Returns the names of the built-in suites."""
    return sorted(path.parent.name for path in _OWN.glob(f"*/{_INDEX}"))


def is_subject(name: str) -> bool:
    """Returns True for the name of flows under test."""
    return name == SUBJECT or name.startswith(f"{SUBJECT}-")


def load_suite(
    wanted: str | Path, controls: Sequence[str] = (), above: tuple[Path, ...] = ()
) -> Suite:
    """Loads the suite with a name, or in a folder; raises InputError if something is wrong with it.

    `above` has the folders of the suites that select from it.
    """
    own = _OWN / wanted if isinstance(wanted, str) and "/" not in wanted else None
    folder = own if own is not None and (own / _INDEX).is_file() else Path(wanted)
    index = folder / _INDEX
    if not index.is_file():
        found = f"{quote(str(wanted))}, which is neither a suite nor a folder with a {_INDEX}"
        raise InputError.at("--suite", found, one_of(str(wanted), suites()))
    document = _Table(str(index), "", _parse(index))
    title, base = document.text("title"), document.some_text("from")
    if base is not None:
        path = (*above, folder.resolve())
        if path[-1] in above:
            chain = " -> ".join(one.name for one in path[path.index(path[-1]) :])
            raise document.wrong("from", f"a circle, {chain}", "a suite with situations")
        suite = _choice(folder, title, load_suite(base, controls, path), document)
    else:
        suite = _build_suite(folder, title, document, controls)
    document.finish()
    return suite


def select(suite: Suite, names: Sequence[str]) -> Suite:
    """Selects the situations of these names; raises InputError for a name that the suite lacks."""
    known = [one.name for one in suite.situations]
    for name in names:
        if name not in known:
            found = f"{quote(name)}, which {suite.name} hasn't"
            raise InputError.at("--only", found, one_of(name, known))
    some = tuple(one for one in suite.situations if one.name in names)
    asked = tuple(one for one in suite.requirements if set(one.situations) & set(names))
    return replace(suite, situations=some, requirements=asked)


def _choice(folder: Path, title: str, base: Suite, document: _Table) -> Suite:
    """Selects some situations of another suite, in its order."""
    names, wanted = [one.name for one in base.situations], document.texts("only")
    for name in wanted:
        if name not in names:
            found = f"{quote(name)}, which {base.name} hasn't"
            raise document.wrong("only", found, one_of(name, names))
    chosen = tuple(one for one in base.situations if one.name in wanted)
    return replace(
        base, name=folder.resolve().name, title=title, situations=chosen, requirements=()
    )


def _build_suite(folder: Path, title: str, document: _Table, controls: Sequence[str]) -> Suite:
    source = document.text("source")
    listed = tuple(_situation(folder, entry, controls) for entry in document.tables("situation"))
    if not listed:
        raise document.wrong("situation", "none", "a `[[situation]]` for each file")
    names = [one.name for one in listed]
    asked = tuple(_requirement(entry, names) for entry in document.tables("requirement"))
    beside = document.some_texts("beside")
    return Suite(folder.resolve().name, title, source, listed, asked, beside)


def _requirement(entry: _Table, names: Sequence[str]) -> Requirement:
    """Reads a requirement and checks it against the situations; "*" means all."""
    section, level, words = entry.text("section"), entry.text("level"), entry.text("words")
    reason, chosen = entry.some_text("reason"), entry.some_texts("situations")
    entry.finish()
    if (reason is None) == (chosen is None):
        found = "neither" if reason is None else "both"
        raise entry.wrong("situations", found, "situations, or the reason why there are none")
    for name in chosen or ():
        if name not in (*names, "*"):
            found = f"{quote(name)}, which isn't a situation"
            raise entry.wrong("situations", found, one_of(name, list(names)))
    every = tuple(names) if chosen == ("*",) else chosen or ()
    return Requirement(section, level, words, every, reason or "")


def _parse(index: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_file(index))
    except tomllib.TOMLDecodeError as error:
        raise InputError.at("the text", f"no TOML: {error}", "TOML", str(index)) from error


def _situation(folder: Path, entry: _Table, controls: Sequence[str]) -> Situation:
    """Reads an entry and checks it against its specification."""
    file = entry.text("file")
    path = folder / file
    if not path.is_file():
        raise entry.wrong("file", f"{quote(file)}, which isn't there", "a file")
    section, asks, because = entry.text("section"), entry.text("asks"), entry.texts("because")
    entry.finish()
    loaded = load(path, controls=controls)
    spec = loaded.spec
    if len(spec.checks) != len(because) or not because:
        found = f"{len(because)} sentences for {len(spec.checks)} checks of {file}"
        raise entry.wrong("because", found, "one for each `[[check]]`")
    subjects = _subjects(loaded.text)
    if not subjects:
        found = f"no flow called {quote(SUBJECT)} in {file}"
        raise entry.wrong("file", found, "one, which gets the control under test")
    return Situation(spec.name, path, section, asks, because, subjects)


def _subjects(text: str) -> tuple[int, ...]:
    flows = tomllib.loads(text)["flows"]
    names = [str(flow.get("name", "")) for flow in flows]
    return tuple(at for at, name in enumerate(names) if is_subject(name))


class _Table:
    """A table of a suite's index: every key is read once, and remaining keys are errors."""

    def __init__(self, file: str, prefix: str, values: Mapping[str, Any]) -> None:
        self._file, self._prefix, self._values = file, prefix, dict(values)
        self._known: list[str] = []

    def wrong(self, key: str, found: str, remedy: str) -> InputError:
        """Returns the error of a key, such as `situation[2].asks`."""
        return InputError.at(f"{self._prefix}{key}", found, remedy, self._file)

    def text(self, key: str) -> str:
        """Reads a required text."""
        value = self._take(key)
        if not isinstance(value, str) or not value:
            raise self.wrong(key, _quote_value(value), "a text")
        return value

    def some_text(self, key: str) -> str | None:
        """Reads an optional text."""
        return self.text(key) if key in self._values else None

    def texts(self, key: str) -> tuple[str, ...]:
        """Reads a list of texts."""
        value = self._take(key)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.wrong(key, _quote_value(value), "a list of texts")
        return tuple(value)

    def some_texts(self, key: str) -> tuple[str, ...] | None:
        """Reads an optional list of texts."""
        return self.texts(key) if key in self._values else None

    def tables(self, key: str) -> Sequence[_Table]:
        """Reads the tables of an optional list."""
        value = self._take(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self.wrong(key, _quote_value(value), f"`[[{key}]]`")
        return [_Table(self._file, f"{key}[{at}].", one) for at, one in enumerate(value)]

    def finish(self) -> None:
        """Raises InputError if an unknown key remains."""
        for key in self._values:
            raise self.wrong(key, "an unknown key", one_of(key, self._known))

    def _take(self, key: str) -> object:
        self._known.append(key)
        return self._values.pop(key, None)


def _quote_value(value: object) -> str:
    return "nothing" if value is None else quote(str(value))
