"""Writes the commands of a run as a script, for people who run things by hand."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

from narrows.backends.hosts.inventory import Inventory
from narrows.backends.hosts.plan import ROUTER, HostPlan, plan_run
from narrows.spec.scenario import Scenario

_HEAD = """\
#!/bin/sh
# {scenario} on the hosts of {inventory}, as `narrows run --backend hosts:{inventory}` does it.
# Each part is for the host that its heading names; run it there as root. narrows reads each value
# before it changes it, and writes it back instead of "...".
"""


def script(scenario: Scenario, inventory: Inventory) -> str:
    """Returns the script; raises SpecError for a scenario that hosts can't run."""
    plan = plan_run(scenario, inventory)
    lines = [_HEAD.format(scenario=_comment(scenario["name"]), inventory=inventory.name)]
    for host in plan.hosts:
        lines += [f"# {host.entry.ssh}: before the run", *_set_up(host), ""]
    lines += ["# All hosts: the programs, which begin at zero_ns of each host's CLOCK_MONOTONIC"]
    lines += [line for host in plan.hosts for line in _program(host)]
    for host in plan.hosts:
        lines += ["", f"# {host.entry.ssh}: afterwards", *_undo(host)]
    return "\n".join(lines) + "\n"


def _set_up(host: HostPlan) -> Iterator[str]:
    for change in host.changes:
        for command in change.commands():
            yield shlex.join(command)


def _undo(host: HostPlan) -> Iterator[str]:
    for change in reversed(host.changes):
        for command in change.undo():
            yield shlex.join(command)


def _program(host: HostPlan) -> Iterator[str]:
    if host.configuration is None:
        return
    kept = {key: value for key, value in host.configuration.items() if key != "scenario"}
    yield f"# {host.entry.ssh}, with the scenario and: {_comment(json.dumps(kept))}"
    words = (host.program, "forward", "FILE") if host.program == ROUTER else (host.program, "FILE")
    yield f"# {shlex.join(words)}"


def _comment(text: str) -> str:
    """Returns the text in one line."""
    return " ".join(text.split())
