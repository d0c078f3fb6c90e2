"""What the simulator knows by name, asked of the native module when first needed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any


@cache
def ccas() -> dict[str, Mapping[str, Any]]:
    """The congestion controls by name."""
    from narrows import _native

    return {entry["name"]: entry for entry in _native.ccas()}


@cache
def queues() -> dict[str, Mapping[str, Any]]:
    """The queue disciplines by name."""
    from narrows import _native

    return {entry["name"]: entry for entry in _native.queues()}


@cache
def profiles() -> tuple[str, ...]:
    """The kernels whose TCP the end hosts can have."""
    from narrows import _native

    return tuple(_native.profiles())
