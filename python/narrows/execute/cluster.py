"""Runs jobs on the workers of a Dask cluster; results come back through the store.

Every job is sent self-contained, with the back end, the engine and the scenario. A task is a list
of jobs, which takes a worker a few seconds. The worker writes their runs as a part into the store,
which it must reach under the same path or URL, and answers with a few numbers. If a worker dies,
Dask gives its task to another one.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from narrows.errors import InputError, NarrowsError
from narrows.execute.cache import StoreCache, words
from narrows.execute.job import Job
from narrows.execute.pool import THREAD
from narrows.execute.portable_job import PortableJob
from narrows.execute.processes import PACKETS_PER_S, RUN_S, has_own_code
from narrows.execute.steps import JobSteps
from narrows.execute.tally import BatchOutcome, Tally
from narrows.execute.waiting import LATER_S
from narrows.execute.watcher import TICK_S, Watcher
from narrows.store import Place, Store, is_url, open_store

if TYPE_CHECKING:
    from distributed import Client, Security

LOCAL = "local"
AHEAD = 3
"""Tasks sent in advance for every thread of the cluster."""
TASK_S = 2.0
"""The time that a task should take."""
MOST = 200
"""The most jobs of a task."""
CONNECT_TIMEOUT = "distributed.comm.timeouts.connect"
"""The key of Dask's configuration for the time limit of connecting to a scheduler or its
workers."""
_GRACE_S = 1.0
"""Within this time after its own limit, Dask itself reports a scheduler that can't be reached."""
_UNWATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
}
"""A local cluster has no dashboard, so it needn't look at its threads every 10 ms, and at its event
loops every 20 ms, which took 70 of 104 ms of processor time per second."""
_ENCRYPTED = ("tls://", "wss://")
_CONFIGURED = ("ca-file", "client.cert", "client.key")
"""Keys that Dask's configuration must have below `distributed.comm.tls` for a secure connection."""


def _to_standard_error(sentence: str) -> None:
    print(f"narrows: {sentence}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class WorkerReply:
    """A worker's answer: whether the run is new, its packets, or why it failed."""

    new: bool
    packets: int = 0
    error: str | None = None


class _OutcomeLog:
    """Keeps the outcome of each job; drops its progress."""

    def __init__(self) -> None:
        self.answers: dict[str, WorkerReply] = {}

    def note(self, job: Job, sim_s: float, packets: int) -> None:
        """Discards the progress."""

    def new(self, job: Job, packets: int) -> None:
        """A job is done and kept."""
        self.answers[job.key] = WorkerReply(new=True, packets=packets)

    def count_stored(self, job: Job) -> None:
        """Another process has done a job."""
        self.answers[job.key] = WorkerReply(new=False)

    def count_failed(self, job: Job, error: str) -> None:
        """A job failed."""
        self.answers[job.key] = WorkerReply(new=False, error=error)


def work(place: Place, portable: Sequence[PortableJob]) -> dict[str, WorkerReply]:
    """Does jobs in a worker, and answers once their runs are on the disk.

    Waits while another process does the same run.
    """
    waiting, heard = [one.job() for one in portable], _OutcomeLog()
    kept = StoreCache(_store(place))
    steps = JobSteps(kept, heard, threading.Event(), time.time())
    try:
        while waiting := [job for job in waiting if not steps.one(job)]:
            time.sleep(LATER_S)
    finally:
        kept.flush()
    return heard.answers


def merge(place: Place) -> None:
    """Merges the small parts of a store in a worker."""
    _store(place).merge(0)


@lru_cache(maxsize=8)
def _store(place: Place) -> Store:
    """Returns a store, which stays open: each task would otherwise read the hashes of all runs."""
    return open_store(place)


def next_task(waiting: deque[Job], threads: int, suspects: Collection[str] = ()) -> list[Job]:
    """Takes the jobs of a task, few enough that every thread gets a share of the last ones.

    Each suspect gets its own task, and so does a job with a user's code.
    """
    share = max(len(waiting) // (AHEAD * threads), 1)
    task: list[Job] = []
    left_s = TASK_S
    while waiting and len(task) < min(share, MOST) and left_s > 0:
        job = waiting[0]
        alone = job.key in suspects or has_own_code(job)  # it may end the process
        if task and alone:
            break
        task.append(waiting.popleft())
        left_s -= math.inf if alone else RUN_S + job.load / PACKETS_PER_S
    return task


class ClusterPool:
    """Sends jobs to a cluster as `narrows.execute.pool.Pool` gives them to threads.

    `address` is that of a Dask scheduler, or "local" for `workers` processes here. A scheduler that
    doesn't answer within `wait_s`, by default the limit of Dask's configuration, is an error. Runs
    wait for workers as long as it takes, as Dask's users expect; meanwhile `tell` gets a sentence.
    """

    def __init__(
        self,
        wanted: Iterable[Job],
        store: Store,
        address: str,
        workers: int | None = None,
        *,
        wait_s: float | None = None,
        tell: Callable[[str], object] = _to_standard_error,
    ) -> None:
        self._store, self._address, self._workers = store, address, workers
        self._wait_s, self._tell = wait_s, tell
        place = str(store)
        self._place: Place = place if is_url(place) else Path(place).resolve()
        self._tally = Tally(wanted, store.keys())
        self._alone: set[str] = set()

    def run(self, watcher: Watcher | None = None) -> BatchOutcome:
        """Does the missing runs; a failed run is recorded and doesn't stop the others.

        Raises InputError if no scheduler answers or a worker has another engine.
        """
        if self._tally.waiting:
            with _client(self._address, self._workers, self._wait_s) as client:
                self._send(client, watcher)
                client.submit(merge, self._place, pure=False).result()
        return self._tally.outcome()

    def _send(self, client: Client, watcher: Watcher | None) -> None:
        """Keeps every thread of the cluster busy, with a few tasks in advance."""
        rest = deque(self._tally.waiting)
        sent: dict[str, tuple[Any, list[Job]]] = {}
        finished: SimpleQueue[str] = SimpleQueue()
        absence = _Absence(self._address, _waiting_time_s(self._wait_s), self._tell)
        try:
            while True:
                threads = sum(client.nthreads().values())
                absence.note(threads)
                while rest and len(sent) < AHEAD * max(threads, 1):
                    task = next_task(rest, max(threads, 1), self._alone)
                    portable = [PortableJob.of(job) for job in task]
                    key = f"runs-{task[0].key}-{len(task)}"
                    future = client.submit(work, self._place, portable, key=key)
                    sent[future.key] = (future, task)
                    future.add_done_callback(lambda future: finished.put(future.key))
                if not sent:
                    return
                for key in _take_answers(finished):
                    rest.extend(self._take(*sent.pop(key)))
                if watcher is not None:
                    watcher(self._tally.state())
        finally:
            client.cancel([future for future, _ in sent.values()])

    def _take(self, future: Any, task: list[Job]) -> list[Job]:  # noqa: ANN401 (a future of Dask)
        """Counts the answers to a task; only a problem that concerns all jobs ends them all.

        Returns the jobs to do once more: if a task of several ended its workers, the guilty job
        isn't known.
        """
        error = future.exception()
        if isinstance(error, NarrowsError | OSError):
            raise error
        if error is None:
            answers = future.result()  # comes from the worker again with each call
            for job in task:
                self._count(job, answers[job.key])
            return []
        if len(task) > 1:
            self._alone.update(job.key for job in task)
            return task
        answer = WorkerReply(new=False, error=words(error))
        self._store.fail(task[0].trial, str(task[0].cell), str(answer.error))
        self._count(task[0], answer)
        return []

    def _count(self, job: Job, answer: WorkerReply) -> None:
        if answer.error is not None:
            self._tally.count_failed(job, answer.error)
        elif answer.new:
            self._tally.new(job, answer.packets)
        else:
            self._tally.count_stored(job)


class _Absence:
    """Says, once, that a scheduler has been without workers for some time."""

    def __init__(self, address: str, wait_s: float, tell: Callable[[str], object]) -> None:
        self._address, self._wait_s, self._tell = address, wait_s, tell
        self._since: float | None = time.monotonic()

    def note(self, threads: int) -> None:
        """Notes how many threads all workers have now."""
        if threads:
            self._since = None
        elif self._since is None:
            self._since = time.monotonic()
        elif time.monotonic() - self._since >= self._wait_s:
            self._since = math.inf
            self._tell(
                f"the scheduler at {self._address} has had no worker for {self._wait_s:g} s; "
                f"the runs wait for one (`dask worker {self._address}`), and Ctrl-C ends the wait"
            )


def _take_answers(finished: SimpleQueue[str]) -> Iterator[str]:
    """Yields the answers in the queue, after at most a tick."""
    try:
        yield finished.get(timeout=TICK_S)
        while True:
            yield finished.get_nowait()
    except Empty:
        return


def _waiting_time_s(given: float | None) -> float:
    """Returns how long to wait for a scheduler, and until it is said to have no workers."""
    import dask.config
    from dask.utils import parse_timedelta

    return given if given is not None else float(parse_timedelta(dask.config.get(CONNECT_TIMEOUT)))


@contextmanager
def _client(address: str, workers: int | None, wait_s: float | None) -> Iterator[Client]:
    """Yields a client of the cluster at `address`; "local" starts one here that ends with it."""
    try:
        import distributed  # noqa: F401 (the extra `cluster` has it)
    except ImportError:
        remedy = "`pip install narrows[cluster]`"
        raise InputError.at("--cluster", "no package distributed", remedy) from None
    if address == LOCAL:
        with _local(workers) as client:
            yield client
        return
    with _connect_to(address, _waiting_time_s(wait_s)) as client:
        yield client


def _connect_to(address: str, wait_s: float) -> Client:
    """Returns a client of the scheduler at `address`; raises InputError if none answers in time.

    Dask's own limit doesn't cover a peer that accepts connections and stays silent.
    """
    from distributed import Client

    security = _security(address)
    made: SimpleQueue[Client | Exception] = SimpleQueue()

    def connect() -> None:
        try:
            limit = f"{wait_s}s"
            made.put(Client(address, timeout=limit, set_as_default=False, security=security))
        except Exception as error:
            made.put(error)

    threading.Thread(target=connect, name=f"{THREAD}connection", daemon=True).start()
    try:
        client = made.get(timeout=wait_s + _GRACE_S)
    except Empty:
        client = TimeoutError(f"it accepts connections, but hasn't answered for {wait_s:g} s")
    if isinstance(client, OSError | ValueError | TypeError):
        found = f'"{address}", where no scheduler answers ({client})'
        remedy = '"local", or the address of a Dask scheduler, such as tls://host:8786,'
        raise InputError.at("--cluster", found, remedy)
    if isinstance(client, Exception):
        raise client
    return client


def _security(address: str) -> Security | None:
    """Returns the certificates of Dask's own configuration, for an encrypted address.

    Raises InputError if some are missing or can't be read.
    """
    if not address.startswith(_ENCRYPTED):
        return None
    import dask.config
    from distributed import Security

    for name in _CONFIGURED:
        key = f"distributed.comm.tls.{name}"
        file = dask.config.get(key, default=None)
        if not file:
            found = f'"{address}" without {key} in the configuration of Dask'
            remedy = f"a file there, or in DASK_{key.upper().replace('.', '__').replace('-', '_')},"
            raise InputError.at("--cluster", found, remedy)
        if not Path(str(file)).expanduser().is_file():
            raise InputError.at(f"--cluster: {key}", f"{file}, which is not a file", "a PEM file")
    return Security(require_encryption=True)


@contextmanager
def _local(workers: int | None) -> Iterator[Client]:
    """Yields a cluster of local processes, which listens only on the loopback interface."""
    import logging

    import dask.config
    from distributed import Client, LocalCluster

    with _deaf_children(), dask.config.set(_UNWATCHED):
        started = LocalCluster(
            n_workers=workers or len(os.sched_getaffinity(0)),
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        )
    with started as cluster, Client(cluster, set_as_default=False) as client:
        yield client


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Makes child processes ignore Ctrl-C, which a terminal sends to all processes of a command.

    They inherit the ignored signal. Their parent ends them in good order, without a traceback from
    each; it ignores Ctrl-C, too, while they start (a second or two). Only the main thread can
    arrange this.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, heard)
