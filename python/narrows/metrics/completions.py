"""The completion times of a run, for the transfers of each class of flows together.

A transfer is a flow with a size, a flow of a chain, or a unit of a workload: a flow that arrives,
an answer, a chunk of video. For a workload only transfers that began after the warm-up count; for
flows with a size all do.

Slowdown is the completion time as a multiple of the minimum: the payload in full packets at the
rate of the slowest link on the way, plus two round trips, or one on an existing connection. It is
given by size, since many short transfers dominate the mean over all transfers, and a few long ones
the mean over bytes.

The entry of a class in a summary has times in seconds. `unfinished` counts the transfers that
weren't done at the end of the run, or is None if that isn't known. Percentiles don't include them,
and so look better than they are. `late` is the share of transfers that missed their deadline,
unfinished ones included; None without deadlines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from narrows import _native
from narrows.columns import Columns, Table, columns
from narrows.metrics.run import run_metrics
from narrows.spec.scenario import Flow, Scenario


@dataclass(frozen=True, slots=True)
class SizeRange:
    """Transfers of more than `above` and at most `most` bytes of payload."""

    name: str
    title: str
    above: float
    most: float


_LIMITS = pairwise([("", "", 0.0), *_native.SIZES])
SIZES = tuple(SizeRange(name, title, above, most) for (*_, above), (name, title, most) in _LIMITS)


def can_complete(flow: Flow) -> bool:
    """Returns True if a described flow has transfers that end."""
    work = flow.get("workload")
    return flow["size_bytes"] is not None if work is None else work["kind"] not in _native.ENDLESS


def completing(scenario: Scenario, groups: Sequence[str]) -> list[str]:
    """Returns the classes with transfers that end, in the order of the flows."""
    flows = zip(scenario["flows"], groups, strict=True)
    return list(dict.fromkeys(group for flow, group in flows if can_complete(flow)))


def transfers(
    scenario: Scenario, completions: Table, groups: Sequence[str] | None = None
) -> Columns:
    """Returns every transfer that counts, by flow and start.

    The columns are `flow`, `class`, `name`, `start_s`, `size_bytes`, `fct_s`, `slowdown`, and
    `late`, which is 1 for transfers that missed their deadline, and NaN without a deadline.
    `completions` is the table of a run; `groups` names the class of every flow by id, by default
    its control.
    """
    run = run_metrics(scenario, {"completions": completions}, 0.0)
    return columns(run.transfers(classes(scenario, groups)))


def classes(scenario: Scenario, groups: Sequence[str] | None) -> list[str]:
    """Returns the class of every flow by id, by default its control."""
    return [flow["cca"] for flow in scenario["flows"]] if groups is None else list(groups)
