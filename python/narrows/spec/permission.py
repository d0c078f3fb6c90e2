"""Decides which code named in a specification may run: only code that the user has allowed.

A specification can name a Python module, and may come from somebody else. So a module runs only if
the user has named its file, or a directory above it, with `--allow-code` or in the configuration
file `allow-code`; or has named the control itself, with `--set flows.0.cca=mymodule:MyControl`.
Otherwise it isn't even imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from narrows.errors import InputError, SpecError
from narrows.spec.suggest import quote
from narrows.user_code import configuration

OPTION = "--allow-code"
EVERYTHING = Path("/")
"""The root directory, which allows everything."""


@dataclass(frozen=True)
class Permission:
    """Allowed files, directories with everything below them, and controls by name."""

    places: tuple[Path, ...] = ()
    controls: frozenset[str] = frozenset()

    def covers(self, cca: str, file: Path) -> bool:
        """Returns True if the control `cca`, whose module is `file`, may run."""
        real = file.resolve()
        return cca in self.controls or any(
            place == real or place in real.parents for place in self.places
        )


_NOTHING = Permission()
_granted: ContextVar[Permission] = ContextVar("granted", default=_NOTHING)


@contextmanager
def allowing(places: Iterable[str | Path] = (), controls: Iterable[str] = ()) -> Iterator[None]:
    """Allows code to run while the block reads specifications.

    `places` are files and directories, `controls` names such as "mymodule:MyControl".
    Raises InputError for a place that doesn't exist.
    """
    named = tuple(_existing(Path(place)) for place in places)
    token = _granted.set(Permission(named, frozenset(controls)))
    try:
        yield
    finally:
        _granted.reset(token)


def check_programs(file: Path) -> None:
    """Raises SpecError unless the programs that the specification `file` names may run."""
    if not _is_allowed("", file):
        found = "a program that nobody has allowed to run"
        raise SpecError.at("flows", found, f"{OPTION} {file}, if you trust it,")


def _is_allowed(cca: str, file: Path) -> bool:
    always = Permission(tuple(_read_configuration()))
    return any(permission.covers(cca, file) for permission in (_granted.get(), always))


def check(cca: str, file: Path) -> None:
    """Raises SpecError unless the control `cca` of the module `file` is allowed to run."""
    if not _is_allowed(cca, file):
        found = f"{quote(cca)}, code that nobody has allowed to run"
        raise SpecError.at(cca, found, f"{OPTION} {file}, if you trust it,")


def _read_configuration() -> list[Path]:
    file = configuration()
    if file is None:
        return []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, UnicodeDecodeError) as error:
        found = f"a file that can't be read ({error})"
        raise InputError.at(str(file), found, "a path in each line") from None
    wanted = [line.strip() for line in lines]
    return [_read_line(line, file) for line in wanted if line and not line.startswith("#")]


def _read_line(line: str, file: Path) -> Path:
    path = Path(os.path.expanduser(line))  # noqa: PTH111 (Path's own fails for an unknown user)
    if not path.is_absolute():
        raise InputError.at(str(file), quote(line), "an absolute path")
    return path.resolve()


def _existing(path: Path) -> Path:
    if not path.exists():
        raise InputError.at(OPTION, f"{path}, which isn't there", "a file or a directory")
    return path.resolve()
