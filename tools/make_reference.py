"""Regenerates the files that are derived from the sources, and prints those that changed.

    python tools/make_reference.py              all
    python tools/make_reference.py controls     some, by the names of the modules in tools/reference

`make reference` runs this; a test checks the files that need no simulation.
"""

from __future__ import annotations

import sys
from importlib import import_module

MADE = (
    "samples", "scenario", "stubs", "python", "paths", "controls", "columns",
    "metrics", "statements", "commands", "requirements", "specification", "agreement",
    "kernel_tests",
)  # fmt: skip
RUN = ("bbr_draft", "notebooks")
"""The modules that need simulations, which take minutes."""


def main(names: list[str]) -> None:
    """Writes the files of these modules; a newer source would be compiled again."""
    for name in names or (*MADE, *RUN):
        for path, text in import_module(f"reference.{name}").pages().items():
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")
                print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
