"""The commands that a page names so that its reader can repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path


def as_typed(words: Sequence[str]) -> str:
    """Returns a command line as it was typed, without the folder of the program.

    "" without words.
    """
    return shlex.join([Path(words[0]).name, *words[1:]]) if words else ""


def both_ways(words: Sequence[str], here: str) -> str:
    """Returns the typed command, if it is known, and the one for the file beside the page.

    Own code isn't beside the page, so a command that allows some stands alone.
    """
    typed = as_typed(words)
    if any(word.startswith("--allow-code") for word in words):
        return typed
    same = f"{typed}\n{here}    # the same," if typed else f"{here}    #"
    return f"{same} from the file beside this page"
