"""Tables of a store as they are exported."""

from __future__ import annotations

import io
from pathlib import Path

from narrows.sweeps import export

TABLES = ("summary", "flows", "flow_samples", "queue_samples", "internals", "distributions")


def export_csv(store: Path, table: str) -> bytes:
    """A table as CSV."""
    stream = io.BytesIO()
    export(store, table, "csv", stream)
    return stream.getvalue()


def everything(store: Path) -> dict[str, bytes]:
    """All tables of a store."""
    return {table: export_csv(store, table) for table in TABLES}
