"""The results directory: the only place that knows paths.

    NAME-HASH8/
        spec.toml       the specification as run
        manifest.json   versions, seeds, hashes, digests, the command
        summary.json    what `--json` prints
        summary.csv     the same flows as a table
        trial-1/        scenario.json and the tables as Parquet
        report.html, figure.png, figure.svg   made from the above

A directory is complete or it isn't there: everything is written next to it
under a hidden name, which a single rename makes the result.
"""

from __future__ import annotations

from narrows.store.atomic import uninterrupted
from narrows.store.read import Result, StoredTrial, find_result, open_result
from narrows.store.records import RunInfo, RunResult
from narrows.store.write import Draft, default_directory, new_result

__all__ = [
    "Draft",
    "Result",
    "RunInfo",
    "RunResult",
    "StoredTrial",
    "default_directory",
    "find_result",
    "new_result",
    "open_result",
    "uninterrupted",
]
