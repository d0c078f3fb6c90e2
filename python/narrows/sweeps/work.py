"""One run of a sweep, wherever it is computed: into the store, whatever happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from narrows.backends import Backend, Progress
from narrows.errors import InterruptedRunError, NarrowsError
from narrows.plan import Trial
from narrows.store import Store
from narrows.store.index import Frames, entry

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Done:
    """What became of a run: its packets and what the index keeps of it, or why it failed."""

    packets: int = 0
    entry: Frames | None = None
    error: str | None = None


def compute(
    store: Store,
    backend: Backend,
    trial: Trial,
    groups: Sequence[str],
    cell: str,
    progress: Progress | None = None,
) -> Done:
    """Runs and stores one trial; call it inside the store's `claim`.

    A run that fails is recorded, not raised. Raises InterruptedRunError if
    `progress` does, and OSError if the store can't be written.
    """
    from narrows.metrics import summarise
    from narrows.metrics.tables import summary_tables

    try:
        result = backend.run(trial.scenario, progress)
        summary = summarise(trial.scenario, result.tables, result.info)
        tables = summary_tables(summary, groups)
    except InterruptedRunError:
        raise
    except Exception as error:
        text = str(error) if isinstance(error, NarrowsError) else _words(error)
        store.fail(trial, cell, text)
        return Done(error=text)
    record = store.add(trial, result, tables)
    return Done(result.info.packets, entry(trial.hash, record, tables))


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
