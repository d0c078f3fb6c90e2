"""Undoes on all hosts what a run that was killed left there."""

from __future__ import annotations

from narrows.backends.hosts.inventory import HostEntry, Inventory
from narrows.backends.hosts.session import HostError, Session
from narrows.backends.hosts.team import side_by_side
from narrows.backends.linux.directory import run_directory


def restore(inventory: Inventory) -> dict[str, str]:
    """Each host's answer: "restored", "nothing to undo", or "failed" and why.

    A host that is at work for a running narrows is restored, too, which ends that run.
    """
    with run_directory("hosts") as folder:

        def act(entry: HostEntry) -> str:
            place = folder / f"ssh-{inventory.hosts.index(entry)}"
            place.mkdir(mode=0o700)
            try:
                session = Session(entry, place)
                try:
                    lines = session.ask("restore", within=60)
                finally:
                    session.close()
            except HostError as error:
                return f"failed: {error.reason}"
            return "nothing to undo" if lines else "restored"

        answers = side_by_side(inventory.hosts, act)
    return {entry.ssh: said for entry, said in zip(inventory.hosts, answers, strict=True)}
