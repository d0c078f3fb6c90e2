"""The commands of flows whose packets come from a pair of programs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from narrows.spec.scenario import Flow, Scenario

ROLES = ("server", "client")


def flows_of_programs(scenario: Scenario) -> Iterator[tuple[int, Flow]]:
    """Yields the flows whose packets come from programs, by number."""
    return ((i, flow) for i, flow in enumerate(scenario["flows"]) if "server" in flow)


def find(name: str) -> Path | None:
    """Finds the file of a program: a full path, or a name on the PATH."""
    found = shutil.which(name) if "/" not in name or Path(name).is_absolute() else None
    return None if found is None else Path(found).absolute()


def locate(flow: Flow) -> dict[str, list[str]]:
    """Returns the commands of a flow, with the full path of each program."""
    commands: Mapping[str, Sequence[str]] = {role: flow[role] for role in ROLES if role in flow}  # type: ignore[literal-required]
    return {role: [str(find(words[0]) or words[0]), *words[1:]] for role, words in commands.items()}
