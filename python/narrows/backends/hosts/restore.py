"""Undoes the changes that a killed run left on the hosts."""

from __future__ import annotations

from narrows.backends.hosts.inventory import HostEntry, Inventory
from narrows.backends.hosts.session import HostError, Session
from narrows.backends.hosts.team import side_by_side
from narrows.backends.linux.directory import run_directory


def restore(inventory: Inventory) -> dict[str, str]:
    """Restores all hosts; returns for each "restored", "nothing to undo", or "failed" and why.

    A host that a running narrows is using is restored as well, which ends that run.
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
    return {entry.ssh: answer for entry, answer in zip(inventory.hosts, answers, strict=True)}
