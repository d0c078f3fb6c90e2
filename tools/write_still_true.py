"""Writes docs/reference/still-true.md from the table that was made in a directory.

    python tools/write_still_true.py OUT [EARLIER]

Versions that OUT lacks, such as those on a kernel that isn't built here, are taken from the table
in EARLIER, and named. Nothing in the page is written by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from narrows.reproduce.today.problems import problems
from narrows.reproduce.today.table import RECORD, ProblemTable, measured_text, read

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "still-true.md"
HEAD = """\
# Is it still true?

This page tests the problems that four documents found in BBR between 2017 and 2019 in every later
version and with every proposed change. "Yes" means that the version has the problem: the whole 95 %
interval of the mean over {trials} trials lies beyond the limit. "No" means that all of it lies on
the other side. `narrows reproduce still-true` makes the table, with real kernels where they are
built, and `tools/write_still_true.py` writes this page from it. `studies/still_true/problems.toml`
has the problems, the versions and the limits. Versions without a kernel's name run in that of 6.12;
"real" is the kernel itself, in virtual time, where every trial but the first has its own buffer and
delay. There versions 2 and 3 are Google's code (docs/how-to/reproduce.md). If CUBIC has a problem
as well in the same kernel, it isn't one of BBR's.

"""


OLDER = """\
These versions ran with an earlier version of narrows, in trials that differ only in their seeds:
{names}.

"""


def page(table: ProblemTable, earlier: ProblemTable | None = None) -> str:
    """The whole page; versions that `table` lacks are those of an `earlier` one."""
    there = {version.name for version in table.versions}
    added = [cell for cell in earlier.cells if cell.version not in there] if earlier else []
    merged = replace(table, cells=(*table.cells, *added))
    names = ", ".join(dict.fromkeys(cell.version for cell in added))
    parts = [HEAD.format(trials=table.trials), OLDER.format(names=names) if added else ""]
    return "".join(parts) + "\n".join(markdown(merged)).rstrip() + "\n"


def markdown(table: ProblemTable) -> Iterator[str]:
    """The table in lines of Markdown: the answers for each version, then the measurements."""
    found = list(problems().values())
    yield "| | " + " | ".join(problem.words for problem in found) + " |"
    yield "|---" * (len(found) + 1) + "|"
    for version in table.versions:
        cells = [table.of(problem, version) for problem in found]
        told = " | ".join(cell.answer if cell else "not run" for cell in cells)
        yield f"| {version.name} | {told} |"
    yield ""
    for problem in found:
        yield f"**{problem.words}** (`{problem.claim}`): {problem.how}."
        measured = measured_text(table, problem)
        yield f"Yes if {problem.limit}: {problem.because} Measured: {measured}.\n"


if __name__ == "__main__":
    tables = [read(Path(place) / RECORD) for place in sys.argv[1:3]]
    TARGET.write_text(page(*tables), encoding="utf-8")
