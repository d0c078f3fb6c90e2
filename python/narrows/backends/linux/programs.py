"""Flows whose packets come from a pair of programs: where these are, and what is kept of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from narrows.backends.linux.commands import ROLES, find, flows_of_programs, locate
from narrows.backends.linux.groups import Group
from narrows.errors import SpecError
from narrows.spec.scenario import Flow, Scenario
from narrows.store.slug import slugs

NO_CONTROL = "none"
"""The `cca` of a flow whose hosts keep the kernel's default."""
DIRECTORY, TOLD, PACKETS = "programs", "programs.json", "router_programs.csv"
"""The files of the programs and the clients' times, in the traffic tool's directory, and the times
and lengths of their packets, in the router's."""
MAX_FILE_BYTES = 256 << 20
"""Larger files of a program aren't kept."""


def check_programs(scenario: Scenario) -> None:
    """Raises SpecError for a missing program, or a feature that flows of programs lack."""
    if any(flows_of_programs(scenario)) and scenario["run"]["record"] == "packets":
        remedy = f'"samples", since {DIRECTORY}/packets.csv has the packets of programs,'
        raise SpecError.at("run.record", '"packets" with a flow of programs', remedy)
    for i, flow in flows_of_programs(scenario):
        for role in ROLES:
            name: str = flow[role][0]  # type: ignore[literal-required]
            if find(name) is None:
                remedy = 'a program on the PATH, a whole path, or "{here}/..." beside this file,'
                raise SpecError.at(f"flows[{i}].{role}[0]", f'"{name}", no such program', remedy)


def host_settings(flow: Flow) -> dict[str, str]:
    """Returns the settings below /proc/sys of a flow's hosts, which programs inherit.

    A flow of programs has its hosts to itself; other flows need no settings.
    """
    if "server" not in flow:
        return {}
    control = {} if flow["cca"] == NO_CONTROL else {"tcp_congestion_control": flow["cca"]}
    ecn = {"tcp_ecn": "1"} if flow["ecn"] == "classic" else {}
    return {f"net/ipv4/{name}": value for name, value in (control | ecn).items()}


def digests(scenario: Scenario) -> dict[str, str]:
    """Returns the SHA-256 of each program's file and of every file that its arguments name.

    The keys are the paths of the files.
    """
    found = {}
    for _, flow in flows_of_programs(scenario):
        for words in locate(flow).values():
            for file in _named_files(words):
                if str(file) not in found:
                    status = file.stat()
                    found[str(file)] = _digest(file, status.st_mtime_ns, status.st_size)
    return found


def _named_files(words: Sequence[str]) -> Iterator[Path]:
    """Yields the files among the words of a command, also after an option's equals sign."""
    for word in words:
        for text in (word, word.partition("=")[2]):
            path = Path(text)
            if path.is_absolute() and _is_file(path):
                yield path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a word that is too long for a path, for instance
        return False


@cache
def _digest(file: Path, changed_ns: int, size: int) -> str:  # noqa: ARG001 (what is cached)
    """Returns the SHA-256 of a file in its current state.

    It is cached, since every run asks for it several times.
    """
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def engine_suffix(scenario: Scenario) -> str:
    """Returns the suffix of the engine for results that are valid for these programs alone."""
    found = digests(scenario)
    parts = ":".join(f"{file}:{digest}" for file, digest in sorted(found.items()))
    return f" with programs {hashlib.sha256(parts.encode()).hexdigest()[:12]}" if found else ""


def describe_programs(scenario: Scenario) -> dict[str, Any]:
    """Describes the programs that ran, for the conditions of a run."""
    found = digests(scenario)
    return {"programs": found} if found else {}


def lifetimes(hosts: Sequence[Path], members: Sequence[Group]) -> dict[int, dict[str, int | None]]:
    """Returns when each flow's client started and ended by itself, in ns, by flow number."""
    found: dict[int, dict[str, int | None]] = {}
    for host, group in zip(hosts, members, strict=True):
        if (host / TOLD).exists():
            told = json.loads((host / TOLD).read_text(encoding="utf-8"))
            found |= {group.flows[int(own)]: times for own, times in told.items()}
    return found


def files(
    directory: Path, scenario: Scenario, hosts: Sequence[Path], members: Sequence[Group]
) -> dict[str, bytes]:
    """Returns the files kept of programs: `programs/FLOW/server/stdout.txt` and so on, and packets.

    The router wrote into `directory`, the traffic tool of each group into one of `hosts`.
    """
    names = slugs([flow["name"] for flow in scenario["flows"]], "flow")
    found = {}
    if (directory / PACKETS).exists():
        found[f"{DIRECTORY}/packets.csv"] = (directory / PACKETS).read_bytes()
    for host, group in zip(hosts, members, strict=True):
        for own, number in enumerate(group.flows):
            top = host / DIRECTORY / str(own)
            for file in sorted(top.rglob("*")):
                if (
                    file.is_file()
                    and not file.is_symlink()
                    and file.stat().st_size <= MAX_FILE_BYTES
                ):
                    name = f"{DIRECTORY}/{names[number]}/{file.relative_to(top)}"
                    found[name] = file.read_bytes()
    return found
