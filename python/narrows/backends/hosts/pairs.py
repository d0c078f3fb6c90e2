"""Assigns flows to pairs of hosts in turn; flows that wait for each other share a pair.

They have to, since only the host that sends a flow knows at once when it is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from narrows.errors import SpecError
from narrows.spec.scenario import Flow


def number_pairs(flows: Sequence[Flow]) -> list[int]:
    """Returns the number of each flow's pair of hosts.

    Raises SpecError for a flow that waits for a flow whose data goes the other way.
    """
    first = list(range(len(flows)))  # of the flows that share a pair

    def find(flow: int) -> int:
        while first[flow] != flow:
            flow = first[flow]
        return flow

    for number, flow in enumerate(flows):
        for other in _find_awaited(flows, flow):
            if flows[other]["reverse"] != flow["reverse"]:
                remedy = "a flow in the same direction, since hosts don't hear of each other,"
                raise SpecError.at(f"flows[{number}].while", f'"{flow["while"]}"', remedy)
            earlier, later = sorted((find(number), find(other)))
            first[later] = earlier
    pairs: dict[int, int] = {}
    return [pairs.setdefault(find(number), len(pairs)) for number in range(len(flows))]


def _find_awaited(flows: Sequence[Flow], flow: Flow) -> Iterator[int]:
    """Yields the flows that a `while` names: the flow of that name, or all flows of an entry."""
    name = flow["while"]
    if name is not None:
        alone = [number for number, other in enumerate(flows) if other["name"] == name]
        yield from alone or (
            number
            for number, other in enumerate(flows)
            if other["name"].rpartition("-")[0] == name
            and other["name"].rpartition("-")[2].isdigit()
        )
