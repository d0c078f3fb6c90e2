"""Specifications to start from: `narrows init` writes one, ready to run and to change."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from narrows.errors import InputError

HOME = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Starter:
    """A starting point: its name, its question, its files, and the first command."""

    name: str
    question: str
    command: str
    files: tuple[str, ...] = ()
    folder: str = ""

    @property
    def spec(self) -> str:
        """The file of its specification, or of its study in a folder."""
        return f"{self.folder}/study.toml" if self.folder else f"{self.name}.toml"

    def command_in(self, directory: Path) -> str:
        """Returns the first command for files in another directory than the current one."""
        own = {name.partition("/")[0] for name in (self.spec, *self.files)}
        words = self.command.split()
        return " ".join(
            _place(directory, word) if Path(word).name in own else word for word in words
        )


def _place(directory: Path, name: str) -> str:
    """Returns a file of a starting point as a word of a command."""
    path = directory / name
    dot = "./" if name.startswith("./") and not path.is_absolute() else ""
    return shlex.quote(f"{dot}{path}")


STARTERS = (
    Starter("fair", "do two controls share fairly?", "narrows run fair.toml"),
    Starter("aqm", "what does a queue discipline change?", "narrows run aqm.toml"),
    Starter("web", "how long do web pages take beside a download?", "narrows run web.toml"),
    Starter("cellular", "does a film over LTE stop for a download?", "narrows run cellular.toml"),
    Starter("video", "does a film stop beside downloads?", "narrows run video.toml"),
    Starter(
        "own-control",
        "how does a control of my own do against CUBIC?",
        "narrows run own-control.toml --allow-code mycontrol.py",
        ("mycontrol.py",),
    ),
    Starter(
        "paper",
        "a published figure made again, with a claim that is judged",
        "narrows reproduce ./paper",
        folder="paper",
    ),
)


def find(name: str) -> Starter:
    """Returns the starting point called `name`; raises InputError with all names."""
    for starter in STARTERS:
        if starter.name == name:
            return starter
    names = ", ".join(starter.name for starter in STARTERS)
    raise InputError.at("KIND", f'"{name}"', f"one of {names}")


def _stored_file(name: str) -> Path:
    """Returns where a file of a starting point is kept.

    Code isn't kept as a module of this package.
    """
    return HOME / (f"{name}.txt" if name.endswith(".py") else name)


def write(starter: Starter, directory: Path, force: bool = False) -> list[Path]:
    """Writes the files of a starting point; returns their paths, the specification first.

    Raises InputError if one exists and `force` isn't set, or can't be written.
    """
    names = (starter.spec, *starter.files)
    paths = [directory / name for name in names]
    for path in paths:
        if path.exists() and not force:
            raise InputError.at(str(path), "a file of that name", "another --out, or --force")
    from narrows.store.atomic import writing  # slow to load, and not needed for a list

    with writing(directory, "a directory that can be written"):
        for name, path in zip(names, paths, strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_stored_file(name).read_text(encoding="utf-8"), encoding="utf-8")
    return paths
