"""Short ways to write the conditions of published experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Table = dict[str, Any]


def dumbbell(
    name: str,
    path: Mapping[str, Any],
    flows: Sequence[Mapping[str, Any]],
    *,
    profile: str,
    host: Mapping[str, Any] | None = None,
    **run: Any,  # noqa: ANN401 (keys of the table `run`)
) -> Table:
    """Returns a specification as a document.

    Equal specifications are run once, so `name` belongs to a paper.
    """
    return {
        "name": name,
        "path": dict(path),
        "flows": [dict(flow) for flow in flows],
        "host": {"profile": profile, **(host or {})},
        "run": run,
    }


def mix(**ccas: int) -> list[Table]:
    """Returns endless flows, given their number by control."""
    return [{"cca": cca, "count": count} for cca, count in ccas.items() if count]
