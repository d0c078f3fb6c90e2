"""User code that commands run: where it is always allowed, and which code is about to run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

_listeners: list[Callable[[str], object]] = []
_known: dict[str, None] = {}


def configuration() -> Path | None:
    """Returns the file of what is always allowed: a path per line, `~` is the home directory.

    None for a user without a home directory.
    """
    base = os.environ.get("XDG_CONFIG_HOME", "")
    root = base if base.startswith("/") else os.path.expanduser("~/.config")  # noqa: PTH111
    return Path(root) / "narrows" / "allow-code" if root.startswith("/") else None


def announce_to(listener: Callable[[str], object]) -> None:
    """Makes `listener` be called with the name of each control before its code first runs."""
    _listeners.append(listener)


def announce(control: str) -> None:
    """Names a control whose code is about to run in this process."""
    if control not in _known:
        _known[control] = None
        for listener in _listeners:
            listener(control)


def names() -> list[str]:
    """Returns the controls whose code has run in this process, in the order of their beginning."""
    return list(_known)
