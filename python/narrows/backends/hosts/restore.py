"""Undoes the changes that a killed run left on the hosts."""

from __future__ import annotations

from narrows.backends.hosts.inventory import Inventory
from narrows.backends.hosts.session import HostError
from narrows.backends.hosts.team import ask_each


def restore(inventory: Inventory) -> dict[str, str]:
    """Restores all hosts; returns for each "restored", "nothing to undo", or "failed" and why.

    A host that a running narrows is using is restored as well, which ends that run.
    """
    answers = ask_each(inventory.hosts, lambda session: session.ask("restore", within=60))
    return {name: _in_words(answer) for name, answer in answers.items()}


def _in_words(answer: list[str] | HostError) -> str:
    if isinstance(answer, HostError):
        return f"failed: {answer.reason}"
    return "nothing to undo" if answer else "restored"
