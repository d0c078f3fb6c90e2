"""The stores in which runs are kept, and which runs they already have."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Set
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from narrows.backends import Progress
from narrows.errors import NarrowsError
from narrows.execute.job import FinishedJob, Job, make
from narrows.store import Store
from narrows.store.batch import Batch
from narrows.store.parquet import drop_tables
from narrows.store.parts import FinishedRun

_SMALL_PARTS = 4
"""More small parts than this are merged when all runs are done."""


@dataclass(frozen=True)
class SharedStore:
    """A store of runs that other processes of this machine can share."""

    place: Path
    strict: bool
    without: tuple[str, ...]
    together: bool = True
    """True if runs reach the disk in groups, a moment after they are counted."""


class Cache(ABC):
    """Keeps the runs of a pool; used from several threads at once.

    By default nothing is stored, no other process is at work, and a failed run ends everything.
    """

    def present(self) -> Set[str]:
        """Returns the keys of the existing runs."""
        return set()

    def handle(self) -> SharedStore | None:
        """Returns the handle with which another process can store runs.

        None if only this one can.
        """
        return None

    def claim(self, key: str) -> AbstractContextManager[bool]:
        """Yields whether we own the run until the end of the block."""
        del key
        return nullcontext(True)

    def has(self, key: str) -> bool:
        """Returns True if a run exists by now."""
        del key
        return False

    def failure_since(self, key: str, moment: float) -> str | None:
        """Returns why a run failed, if a process did it after the given system time."""
        del key, moment
        return None

    def make(self, job: Job, progress: Progress) -> FinishedJob:
        """Runs a job that we own."""
        return make(job, progress)

    @abstractmethod
    def keep(self, job: Job, made: FinishedJob) -> None:
        """Keeps a run; raises OSError if that fails."""

    def fail(self, job: Job, error: Exception) -> str:
        """Records a failed run and returns the reason, or raises, which ends everything."""
        del job
        raise error

    def clean(self) -> None:  # noqa: B027 (most caches share nothing)
        """Removes what a lost process has left behind."""

    def finish(self) -> None:  # noqa: B027 (most caches have nothing left to do)
        """Is called after the last run was kept."""


class StoreCache(Cache):
    """A store of runs, shared with other processes.

    A failed run is recorded and doesn't stop the others, unless `strict`. The tables listed in
    `without` aren't kept. Runs reach the disk `together`, a moment later, and then `finish` is
    needed.
    """

    def __init__(
        self,
        store: Store,
        *,
        strict: bool = False,
        without: Collection[str] = (),
        together: bool = True,
    ) -> None:
        self._store, self._strict, self._without = store, strict, without
        self._together = together
        self._lock = threading.Lock()
        self._batch: Batch | None = None

    def present(self) -> Set[str]:
        """Returns the keys of the stored runs."""
        return self._store.keys()

    def handle(self) -> SharedStore | None:
        """Returns the store, if it is a directory."""
        directory = self._store.directory
        if not self._together or directory is None:
            return None
        return SharedStore(directory.resolve(), self._strict, tuple(self._without))

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Takes a lock between processes, which is held until a kept run has its name."""
        with ExitStack() as stack:
            yield stack.enter_context(self._store.claim(key))
            if self._batch is not None:
                self._batch.call_when_done(key, stack.pop_all().close)

    def has(self, key: str) -> bool:
        """Returns True if another process has stored the run meanwhile."""
        return key in self._store

    def failure_since(self, key: str, moment: float) -> str | None:
        """Returns why the run of another process failed."""
        return None if self._strict else self._store.failure_since(key, moment)

    def keep(self, job: Job, made: FinishedJob) -> None:
        """Stores a run, in a part with others unless it has to be on the disk now."""
        result = replace(made.result, tables=drop_tables(made.result.tables, self._without))
        entry = FinishedRun(job.trial, result, made.tables, job.cell.values)
        if self._together:
            self._batches().add(entry)
        else:
            self._store.add_part([entry])

    def _batches(self) -> Batch:
        with self._lock:
            if self._batch is None:
                self._batch = Batch(self._store)
            return self._batch

    def fail(self, job: Job, error: Exception) -> str:
        """Records a failure."""
        if self._strict:
            raise error
        text = str(error) if isinstance(error, NarrowsError) else words(error)
        self._store.fail(job.trial, str(job.cell), text)
        return text

    def clean(self) -> None:
        """Removes the lock and the unfinished files of a lost process."""
        if self._store.directory is not None:
            self._store.leftovers(remove=True)

    def finish(self) -> None:
        """Waits until all runs are on the disk, and merges small parts."""
        self.flush()
        self._store.merge(_SMALL_PARTS)

    def flush(self) -> None:
        """Waits until all runs are on the disk."""
        batch, self._batch = self._batch, None
        if batch is not None:
            batch.close()


def words(error: BaseException) -> str:
    """Returns the last line of a foreign error's traceback."""
    return f"{type(error).__name__}: {error}"
