"""The results directory; only this package knows its paths.

    NAME-HASH8/
        spec.toml       the specification as run
        manifest.json   versions, seeds, hashes, digests, the command
        summary.json    the numbers of each trial, with its scenario
        summary.csv     the summary's flows as a table
        trial-1/        scenario.json and the tables as Parquet
        trial-1/captures/   sender.pcapng and so on, for a run with captures
        replay.json     what the simulator makes of a capture, if that was asked for
        report.html     made from the above; figure.png and figure.svg if they were asked for

A directory is complete or absent: everything is written next to it under a hidden name, and a
single rename makes it the result.

Sweeps keep their runs in a store with another layout: see `narrows.store.runs`.
"""

from __future__ import annotations

from narrows.store.frames import read_frames, write_frames
from narrows.store.maintenance import Garbage, StudyState, collect, damage, states
from narrows.store.open import (
    Place,
    create_store,
    is_store,
    is_url,
    location,
    mend_mark,
    open_store,
    snapshot,
)
from narrows.store.read import Result, StoredTrial, find_result, open_result
from narrows.store.records import (
    NO_CAPTURES,
    CaptureOptions,
    RunInfo,
    RunRecord,
    Tables,
    digest,
)
from narrows.store.runs import Store
from narrows.store.slug import slug
from narrows.store.write import RESULTS, Draft, default_directory, new_result

__all__ = [
    "NO_CAPTURES",
    "RESULTS",
    "CaptureOptions",
    "Draft",
    "Garbage",
    "Place",
    "Result",
    "RunInfo",
    "RunRecord",
    "Store",
    "StoredTrial",
    "StudyState",
    "Tables",
    "collect",
    "create_store",
    "damage",
    "default_directory",
    "digest",
    "find_result",
    "is_store",
    "is_url",
    "location",
    "mend_mark",
    "new_result",
    "open_result",
    "open_store",
    "read_frames",
    "slug",
    "snapshot",
    "states",
    "write_frames",
]
