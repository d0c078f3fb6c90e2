"""Lists a directory of results: runs, sweeps, diffs, comparisons, published figures.

narrows list results   prints it
narrows open           makes a page of it, from which every other page can be reached
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from narrows.errors import InputError, NarrowsError
from narrows.figures.frames import conditions
from narrows.figures.names import title_of
from narrows.files import read_contained
from narrows.report.page import environment
from narrows.store import RESULTS, is_store, open_result, open_store, states
from narrows.store.atomic import write_text
from narrows.version import __version__
from narrows.words import count_of, join_words

INDEX = "index.html"
_MARK = b'<meta name="generator" content="narrows">'
_MOST = 1 << 26
"""The most bytes that are read of a page or of a small document."""
_PAGES = {"diff": "diff.html", "comparison": "compare.html", "published figures": INDEX}
_NUMBERS = {"diff": "diff.json", "comparison": "compare.json"}


@dataclass(frozen=True, slots=True)
class Item:
    """An entry in a directory of results.

    `path` and `page` are relative to the directory (`page` is None if there is none yet); `state`
    says how complete it is, `when` it was last changed (UTC).
    """

    name: str
    kind: str
    path: str
    state: str
    what: str
    when: str
    page: str | None

    def document(self) -> dict[str, Any]:
        """The data for `--json`."""
        return asdict(self)


def items(directory: str | Path = RESULTS) -> list[Item]:
    """Returns everything in a directory of results, latest first, or the results that it is itself.

    Raises InputError if there is no such directory.
    """
    place = Path(directory)
    if not place.is_dir():
        found = "a file" if place.exists() else "no such directory"
        raise InputError.at(str(place), found, "a directory of results, which `narrows run` makes,")
    if _is_result(place):
        whole = place.resolve()
        return list(_items(whole.parent, whole))
    inner = [path for path in place.iterdir() if path.is_dir() and not path.name.startswith(".")]
    dated = sorted(inner, key=lambda path: path.stat().st_mtime, reverse=True)
    return [item for path in dated for item in _items(place, path)]


def write_index(directory: str | Path = RESULTS) -> Path:
    """Writes the page of a directory of results and returns its path."""
    place = Path(directory)
    if _is_result(place):
        raise InputError.at(str(place), "results themselves", "the directory that they lie in")
    found, page = items(place), place / INDEX
    if not found:
        raise InputError.at(str(place), "no results in it", "a directory that `narrows run` made")
    if page.exists() and not _is_ours(page):
        raise InputError.at(str(page), "a page that narrows didn't make", "another name for it")
    template = environment().get_template("results-index.html.jinja")
    html = template.render(items=found, directory=place.resolve().name, version=__version__)
    write_text(page, html)
    return page


def _is_ours(page: Path) -> bool:
    """Returns True if narrows made a page, by the mark in the head of its template."""
    try:
        return _MARK in read_contained(page, _MOST)
    except OSError:
        return False


def _is_result(place: Path) -> bool:
    """Returns True for the directory of a run or a sweep, as opposed to one of several results."""
    return is_store(place) or (place / "manifest.json").is_file()


def page_of(place: str | Path) -> Path | None:
    """Returns the page of a single result or sweep; None if it has none yet."""
    path = Path(place)
    names = ["report.html", *_PAGES.values()]
    if is_store(path):
        names = [f"{stem}.html" for stem in open_store(path).studies()]
    return next((path / name for name in names if (path / name).is_file()), None)


def _items(place: Path, path: Path) -> Iterator[Item]:
    try:
        if is_store(path):
            yield from _studies(place, path)
        elif (path / "manifest.json").is_file():
            yield _run(place, path)
        else:
            yield from _others(place, path)
    except NarrowsError as error:
        yield Item(path.name, "unreadable", path.name, "", str(error), _when(path), None)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        # Somebody else's result may hold anything; it must not hide the others.
        wrong = f"a result with contents that narrows does not write ({type(error).__name__})"
        yield Item(path.name, "unreadable", path.name, "", wrong, _when(path), None)


def _run(place: Path, path: Path) -> Item:
    result = open_result(path)
    manifest, trials = result.manifest, len(result.trials)
    runs = f"{count_of(trials, 'run')} on {manifest['backend']}"
    first = result.trials[0]
    what = conditions(first.scenario, result.groups, first.info.end_s)
    page = _relative(place, path / "report.html")
    return Item(result.name, "run", path.name, runs, what, _when(path), page)


def _studies(place: Path, path: Path) -> Iterator[Item]:
    store = open_store(path)
    for (stem, record), state in zip(store.studies().items(), states(store), strict=True):
        failed = f", {state.failed} failed" if state.failed else ""
        done = f"{state.stored} of {count_of(state.runs, 'run')}{failed} on {state.backend}"
        combinations = count_of(record["combinations"], "combination")
        axes = ", ".join(map(title_of, record["axes"]))
        what = str(record.get("question") or f"{combinations}{axes and f' of {axes}'}")
        page = _relative(place, path / f"{stem}.html")
        yield Item(state.name, "sweep", path.name, done, what, _when(path), page)


def _others(place: Path, path: Path) -> Iterator[Item]:
    for kind, name in _PAGES.items():
        if not (path / name).is_file():
            continue
        numbers = path / _NUMBERS.get(kind, "")
        what = _caption(json.loads(read_contained(numbers, _MOST))) if numbers.is_file() else ""
        yield Item(path.name, kind, path.name, "", what, _when(path), _relative(place, path / name))
        return


def _caption(document: dict[str, Any]) -> str:
    if "places" in document:
        places = join_words(document["places"].values())
        return f"{document['title']} ({places})"
    return f"{document.get('name', '')}: {document.get('verdict', '')}"


def _when(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(" ", "minutes")[:16]


def _relative(place: Path, page: Path) -> str | None:
    return page.relative_to(place).as_posix() if page.is_file() else None
