"""The names that specifications can use, read from the native module on first use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from narrows.late import _native

Entries = Mapping[str, Mapping[str, Any]]
"""The declarations of a registry's entries, by name."""


@cache
def elements(kind: str) -> Entries:
    """Returns the entries of a registry: "queues", "services", "impairments" and so on."""
    return {entry["name"]: entry for entry in getattr(_native, kind)()}


def ccas() -> Entries:
    """Returns the simulator's congestion controls by name."""
    return elements("ccas")


_BBR1 = {"title": "BBRv1", "family": "bbr", "paces": True}
_NONE = {"title": "Datagrams", "summary": "no control"}
_ELSEWHERE: Mapping[str, Mapping[str, Any]] = {"bbr1": _BBR1, "none": _NONE}
"""Facts about controls that only some kernels have."""


def _stand_in(cca: str) -> Mapping[str, Any]:
    return {
        "name": cca,
        "title": cca,
        "family": "",
        "summary": "the kernel's own",
        "source": "",
        "parameters": [],
        "ecn": None,
        "paces": False,
        **_ELSEWHERE.get(cca, {}),
    }


def _control(cca: str) -> Mapping[str, Any]:
    return ccas().get(cca) or _stand_in(cca)


def ecn_need(cca: str) -> str | None:
    """Returns the ECN that a control needs, "dctcp" or "l4s"; None if it needs none."""
    entry = ccas().get(cca)
    return entry["ecn"] if entry else None


def title(cca: str) -> str:
    """Returns the usual spelling of a control's name; the name itself if the simulator lacks it."""
    return str(_control(cca)["title"])


def is_bbr(cca: str) -> bool:
    """Returns True for a control of BBR's family."""
    return bool(_control(cca)["family"] == "bbr")


def paces(cca: str) -> bool:
    """Returns True if a control sets its own pacing rate, which the sender enforces."""
    return bool(_control(cca)["paces"])


def queues() -> Entries:
    """Returns the queue disciplines by name."""
    return elements("queues")


def services() -> Entries:
    """Returns the services of links by name."""
    return elements("services")


@cache
def profiles() -> tuple[str, ...]:
    """Returns the kernels whose TCP the end hosts can have."""
    return tuple(_native.profiles())


@dataclass(frozen=True)
class Preset:
    """A named path: its description, the source of its numbers, and its keys as TOML."""

    name: str
    summary: str
    source: str
    path: tuple[tuple[str, str], ...]


@cache
def presets() -> dict[str, Preset]:
    """Returns the named paths."""
    return {
        name: Preset(name, summary, source, tuple(path))
        for name, summary, source, path in _native.presets()
    }
