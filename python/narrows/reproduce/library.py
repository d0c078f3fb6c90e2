"""Libraries of studies: ours, or the folder of somebody's paper.

A command works on one library, which gives the documents, their claims, rules, figures and
testbeds. So ids of two libraries never meet, and each has its own ledger.

    FOLDER/study.toml                       a paper with one study
    FOLDER/document.toml, FOLDER/NAME.toml  a paper with several
    FOLDER/testbed.toml                     what several of its studies have in common
    FOLDER/measures.py                      measures that no metric gives
    FOLDER/NAME.py                          a figure that needs more than data
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from narrows.errors import InputError

T = TypeVar("T")
Table = Mapping[str, Any]

HERE = Path(__file__).parent
DATA = HERE / "data"
STUDY, DOCUMENT, MEASURES, STATEMENTS, TESTBED = (
    "study.toml",
    "document.toml",
    "measures.py",
    "statements.toml",
    "testbed.toml",
)
NO_STUDIES = (DOCUMENT, STATEMENTS, TESTBED)
OUR_DOCUMENTS = ("panaderia", "mixed", "ietf98", "cs244")


def read_table(path: Path) -> dict[str, Any]:
    """Returns the tables of a file; raises InputError for one that isn't TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise InputError.at("", f"bytes that aren't UTF-8 ({error})", "TOML", str(path)) from error
    except tomllib.TOMLDecodeError as error:
        raise InputError.at("", f"what isn't TOML ({error})", "TOML", str(path)) from error
    except OSError as error:
        found = error.strerror or str(error)
        raise InputError.at("", found, "a file that can be read", str(path)) from error


def studies_folder(package: Path) -> Path:
    """Returns the folder of our documents for the package in this folder.

    It is at the top of the repository, or in an installed package. If the build of a wheel is
    killed, its copy stays in the repository, where the sources come first.
    """
    source = package.parents[1] / "studies"
    return source if (source / OUR_DOCUMENTS[0]).is_dir() else package / "studies"


STUDIES = studies_folder(HERE.parent)


@dataclass(frozen=True, eq=False)
class Library:
    """Documents by key, and the folder of each one's files.

    `home` is the file that describes an own paper, study.toml or document.toml; None for our own
    documents.
    """

    documents: Mapping[str, str]
    folders: Mapping[str, Path]
    home: Path | None = None

    @property
    def near(self) -> str | None:
        """The file that names the own code of a paper, which is beside it; ours names none."""
        return None if self.home is None else str(self.home)

    def measures(self, document: str) -> Path | None:
        """Returns the file of a document's own measures, if it has one."""
        file = self.folders[document] / MEASURES
        return file if file.is_file() else None

    def files(self, document: str) -> dict[str, Path]:
        """Returns the files of a document's studies by id; those that it lists come first."""
        folder = self.folders[document]
        if (folder / STUDY).is_file():
            return {document: folder / STUDY}
        first = self.description(document).get("figures", ())
        place = {name: number for number, name in enumerate(first)}
        paths = [path for path in folder.glob("*.toml") if path.name not in NO_STUDIES]
        paths.sort(key=lambda path: (place.get(path.stem, len(place)), path.stem))
        return {f"{document}/{path.stem}": path for path in paths}

    def description(self, document: str) -> Table:
        """Returns the keys that describe a document, from its document.toml or its only study."""
        folder = self.folders[document]
        if (folder / DOCUMENT).is_file():
            return read_table(folder / DOCUMENT)
        only = read_table(folder / STUDY)
        return {key: only[key] for key in ("paper", "profile") if key in only}


DOCUMENTS = {key: read_table(STUDIES / key / DOCUMENT)["paper"] for key in OUR_DOCUMENTS}
"""The titles of our documents by the first part of an id."""
STILL_TRUE = "still_true"
"""The folder of the problems for which every version of BBR is tested."""
OURS = Library(DOCUMENTS, {key: STUDIES / key for key in (*DOCUMENTS, STILL_TRUE)})
_current: ContextVar[Library] = ContextVar("library", default=OURS)


def library() -> Library:
    """Returns the library that the command works on."""
    return _current.get()


def documents() -> Mapping[str, str]:
    """Returns the titles of its documents by key."""
    return library().documents


@contextmanager
def using(chosen: Library) -> Iterator[None]:
    """Works on a library while the block runs."""
    token = _current.set(chosen)
    try:
        yield
    finally:
        _current.reset(token)


def per_library(function: Callable[..., T]) -> Callable[..., T]:
    """Keeps the results of a function for each library, by its arguments."""
    kept: WeakKeyDictionary[Library, dict[tuple[Any, ...], T]] = WeakKeyDictionary()

    @wraps(function)
    def look_up(*arguments: Any) -> T:  # noqa: ANN401 (those of the function)
        found = kept.setdefault(library(), {})
        if arguments not in found:
            found[arguments] = function(*arguments)
        return found[arguments]

    return look_up
