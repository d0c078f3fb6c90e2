"""The sessions of all hosts of a run: begun together, and ended in any case."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from narrows.backends.hosts.inventory import HostEntry
from narrows.backends.hosts.session import LEASE_S, HostError, Session
from narrows.backends.linux.directory import run_directory
from narrows.signals import defer_signals

T = TypeVar("T")
U = TypeVar("U")


def side_by_side(items: Sequence[T], act: Callable[[T], U]) -> list[U]:
    """Calls `act` for all items in parallel, waits for all, and raises the first error, if any."""
    if not items:
        return []
    with ThreadPoolExecutor(len(items)) as threads:
        return [future.result() for future in [threads.submit(act, item) for item in items]]


def ask_each(hosts: Sequence[HostEntry], ask: Callable[[Session], T]) -> dict[str, T | HostError]:
    """Calls `ask` with a connection to each host, in parallel; returns the answers by host.

    A host that fails has its error as the answer.
    """
    with run_directory("hosts") as folder:

        def connect(entry: HostEntry) -> T | HostError:
            place = folder / f"ssh-{hosts.index(entry)}"
            place.mkdir(mode=0o700)
            try:
                with closing(Session(entry, place)) as session:
                    return ask(session)
            except HostError as error:
                return error

        answers = side_by_side(hosts, connect)
    return {entry.ssh: answer for entry, answer in zip(hosts, answers, strict=True)}


@contextmanager
def connect_all(hosts: Sequence[HostEntry], folder: Path) -> Iterator[list[Session]]:
    """Yields connections to hosts, in order; their sockets are in a private directory.

    At the end every host undoes its changes and the connections are closed. HostError is raised for
    a host that couldn't be restored, unless another error ends the block.
    """
    sessions: list[Session] = []

    def connect(entry: HostEntry) -> None:
        place = folder / f"ssh-{hosts.index(entry)}"
        place.mkdir(mode=0o700, exist_ok=True)
        sessions.append(Session(entry, place))

    ended = threading.Event()
    beats: list[threading.Thread] = []
    try:
        side_by_side(hosts, connect)
        sessions.sort(key=lambda session: hosts.index(session.entry))
        for session in sessions:
            beats.append(threading.Thread(target=_beat, args=[session, ended], daemon=True))
            beats[-1].start()
        try:
            yield sessions
        finally:
            ended.set()
            for beat in beats:
                beat.join()
    except BaseException as error:
        _end(sessions, error)
        raise
    else:
        _end(sessions, None)


def _beat(session: Session, ended: threading.Event) -> None:
    """Renews a session's lease until the end.

    A session that is lost raises its error where it is used next.
    """
    while not ended.wait(LEASE_S / 5):
        if session.home:
            with suppress(HostError):
                session.ask("beat")


def _end(sessions: Sequence[Session], reason: BaseException | None) -> None:
    """Ends all sessions; raises a failure, or adds it as a note to the error being raised."""

    def end(session: Session) -> HostError | None:
        try:
            session.end()
        except HostError as error:
            return error
        finally:
            session.close()
        return None

    with defer_signals():
        failures = [error for error in side_by_side(sessions, end) if error is not None]
    if failures and reason is None:
        raise failures[0]
    for failure in failures:
        if reason is not None and failure is not reason:
            reason.add_note(f"then {failure}")
