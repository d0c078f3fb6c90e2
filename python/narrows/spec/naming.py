"""The names of single flows, from entries that may stand for several."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from narrows.spec.models import Flow, Spec


@dataclass(frozen=True)
class NamedFlow:
    """One flow of a run: its unique name, its class, and the entry that it comes from.

    The class groups flows in figures: the entry's name, or else its control.
    """

    name: str
    group: str
    index: int
    entry: Flow


def named_flows(spec: Spec) -> list[NamedFlow]:
    """Every flow in the order of its id.

    A named entry gives `name`, or `name-1`, `name-2` ... if its count is above
    one; the others are numbered by control: `bbr-1`, `bbr-2`, `cubic-1`.
    """
    numbers: Counter[str] = Counter()
    flows = []
    for index, entry in enumerate(spec.flows):
        for copy in range(1, entry.count + 1):
            if entry.name is None:
                numbers[entry.cca] += 1
                name = f"{entry.cca}-{numbers[entry.cca]}"
            else:
                name = entry.name if entry.count == 1 else f"{entry.name}-{copy}"
            flows.append(NamedFlow(name, entry.name or entry.cca, index, entry))
    return flows
