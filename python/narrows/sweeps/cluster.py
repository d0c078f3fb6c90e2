"""The runs of a sweep on the workers of a Dask cluster; results come back through the store.

Every job is self-contained: where the store is, which back end and engine, the
scenario. A worker computes it into the store, which it must reach under the same
path or URL, and answers with a few numbers. Dask gives the run of a worker that
died to another one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from narrows.backends import get_backend
from narrows.errors import InputError, NarrowsError
from narrows.plan import Cell, Trial
from narrows.store import Place, Store, is_url, open_store
from narrows.store.index import open_index
from narrows.sweeps.estimate import load
from narrows.sweeps.pool import TICK_S, Failure, Outcome, State, Watcher
from narrows.sweeps.work import compute

if TYPE_CHECKING:
    from distributed import Client

LOCAL = "local"
AHEAD = 3
"""Jobs that are sent ahead for every thread of the cluster."""
_LATER_S = 0.3


@dataclass(frozen=True)
class Parcel:
    """A job for a worker."""

    place: Place
    backend: str
    engine: str
    trial: Trial
    groups: tuple[str, ...]
    cell: str


@dataclass(frozen=True)
class Answer:
    """What a worker says of a job: whether the run is new, its packets, or why it failed."""

    new: bool
    packets: int = 0
    error: str | None = None


def work(parcel: Parcel) -> Answer:
    """Computes a job; runs in a worker. Waits while another process is at the same run."""
    store, backend = open_store(parcel.place), _backend(parcel.backend)
    if backend.engine != parcel.engine:
        found = f"an engine {backend.engine}, not {parcel.engine}"
        remedy = "the same build of narrows everywhere"
        raise InputError.at(f"worker on {os.uname().nodename}", found, remedy)
    key, began = parcel.trial.hash, time.time()
    while True:
        with store.claim(key) as ours:
            if ours and key in store:
                return Answer(new=False)
            if ours and (error := store.failure_since(key, began)) is not None:
                return Answer(new=False, error=error)
            if ours:
                done = compute(store, backend, parcel.trial, parcel.groups, parcel.cell)
                return Answer(done.error is None, done.packets, done.error)
        time.sleep(_LATER_S)


@cache
def _backend(name: str) -> Any:  # noqa: ANN401 (a Backend, kept by each worker)
    return get_backend(name)


class ClusterPool:
    """Sends runs to a cluster, as `narrows.sweeps.pool.Pool` gives them to threads."""

    def __init__(
        self, wanted: Sequence[tuple[Cell, Trial]], backend: str, engine: str, store: Store
    ) -> None:
        self._store, self._backend, self._engine = store, backend, engine
        place = str(store)
        self._place: Place = place if is_url(place) else Path(place).resolve()
        runs = {trial.hash: (cell, trial) for cell, trial in reversed(wanted)}
        present = store.keys()
        self._waiting = [run for key, run in reversed(runs.items()) if key not in present]
        # The longest first, so that no worker ends up with one while the others rest.
        self._waiting.sort(key=lambda run: -load(run[1]))
        self._total, self._stored = len(runs), len(runs) - len(self._waiting)
        self._work, self._done = sum(load(trial) for _, trial in self._waiting), 0.0
        self._new, self._packets = 0, 0
        self._failures: list[Failure] = []

    def run(self, address: str, workers: int | None, watcher: Watcher | None) -> Outcome:
        """Runs what isn't stored yet on the cluster at `address`, or on `workers` processes here.

        A run that fails is recorded and doesn't stop the others.
        """
        began = time.monotonic()
        if self._waiting:
            with _client(address, workers) as client:
                self._send(client, watcher)
            open_index(self._store)
        wall_s = time.monotonic() - began
        failures = tuple(sorted(self._failures, key=lambda f: (f.cell.number, f.trial.number)))
        return Outcome(self._new, self._stored, failures, self._packets, wall_s)

    def _send(self, client: Client, watcher: Watcher | None) -> None:
        """Keeps every thread of the cluster busy, with a few jobs ahead."""
        rest = iter(self._waiting)
        sent: dict[str, tuple[Any, Cell, Trial]] = {}
        finished: SimpleQueue[str] = SimpleQueue()
        try:
            while True:
                room = AHEAD * max(sum(client.nthreads().values()), 1) - len(sent)
                for cell, trial in islice(rest, max(room, 0)):
                    future = client.submit(work, self._parcel(cell, trial), key=f"run-{trial.hash}")
                    sent[future.key] = (future, cell, trial)
                    future.add_done_callback(lambda future: finished.put(future.key))
                if not sent:
                    return
                for key in _arrived(finished):
                    self._take(*sent.pop(key))
                if watcher is not None:
                    watcher(self._state())
        finally:
            client.cancel([future for future, _, _ in sent.values()])

    def _parcel(self, cell: Cell, trial: Trial) -> Parcel:
        groups = cell.plan.groups
        return Parcel(self._place, self._backend, self._engine, trial, groups, str(cell))

    def _take(self, future: Any, cell: Cell, trial: Trial) -> None:  # noqa: ANN401
        """Counts the answer to a job; only what concerns all jobs ends the sweep."""
        error = future.exception()
        if isinstance(error, NarrowsError | OSError):
            raise error
        if error is None:
            answer: Answer = future.result()
        else:
            answer = Answer(new=False, error=f"{type(error).__name__}: {error}")
            self._store.fail(trial, str(cell), str(answer.error))
        self._done += load(trial)
        self._packets += answer.packets
        if answer.error is not None:
            self._failures.append(Failure(cell, trial, answer.error))
        elif answer.new:
            self._new += 1
        else:
            self._stored += 1

    def _state(self) -> State:
        done, failed = self._new + self._stored, len(self._failures)
        return State(done, failed, self._total, self._packets, self._done / self._work)


def _arrived(finished: SimpleQueue[str]) -> Iterator[str]:
    """What is in the queue, after a tick at most."""
    try:
        yield finished.get(timeout=TICK_S)
        while True:
            yield finished.get_nowait()
    except Empty:
        return


@contextmanager
def _client(address: str, workers: int | None) -> Iterator[Client]:
    """A client of the cluster at `address`; "local" is one of this machine, for as long as this."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        remedy = "`pip install narrows[cluster]`"
        raise InputError.at("--cluster", "no package distributed", remedy) from None
    if address != LOCAL:
        try:
            client = Client(address, timeout="20s", set_as_default=False)
        except (OSError, ValueError) as error:
            found = f'"{address}", where no scheduler answers ({error})'
            remedy = '"local", or the address of a Dask scheduler, such as tcp://host:8786,'
            raise InputError.at("--cluster", found, remedy) from None
        with client:
            yield client
        return
    import logging

    count = workers or len(os.sched_getaffinity(0))
    with (
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
