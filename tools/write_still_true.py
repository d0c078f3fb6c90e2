"""Writes docs/reference/still-true.md from the table that was made in a directory.

    python tools/write_still_true.py OUT

Nothing in the page is written by hand.
"""

from __future__ import annotations

import sys
from pathlib import Path

from narrows.reproduce.today.table import RECORD, Table, markdown, read

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "still-true.md"
HEAD = """\
# Is it still true?

This page tests the problems that four documents found in BBR between 2017 and 2019 in every later
version and with every proposed change. "Yes" means that the version has the problem: the whole 95 %
interval of the mean over {trials} trials lies beyond the limit. "No" means that all of it lies on
the other side. `narrows reproduce still-true` makes the table, with real kernels where they are
built, and `tools/write_still_true.py` this page from it. Problems, versions and limits are data:
`studies/still_true/problems.toml`. Versions without a kernel's name run in that of 6.12;
"real" is the kernel itself, in virtual time.

"""


def page(table: Table) -> str:
    """The whole page."""
    return HEAD.format(trials=table.trials) + "\n".join(markdown(table)).rstrip() + "\n"


if __name__ == "__main__":
    TARGET.write_text(page(read(Path(sys.argv[1]) / RECORD)), encoding="utf-8")
