"""The summary of a run: its numbers and its scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from narrows.metrics.bottleneck import bottleneck_summary, link_summaries
from narrows.metrics.catalogue import RUN
from narrows.metrics.completions import completion_summaries
from narrows.metrics.flows import flow_summaries
from narrows.metrics.losses import loss_summary
from narrows.spec.scenario import Scenario

if TYPE_CHECKING:
    from narrows.columns import Tables
    from narrows.store import RunInfo


def summarise(
    scenario: Scenario,
    tables: Tables,
    info: RunInfo,
    groups: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Summarises a run in numbers, from the warm-up on.

    None stands for a value that can't be known.

    `groups` names the class of every flow by id, by default its control. `narrows.metrics.flows`
    explains `flows`, and `narrows.metrics.bottleneck` explains `bottleneck` and `links`, which is
    present if there are several. `losses` (`narrows.metrics.losses`) is present if packets can be
    lost elsewhere than at the bottleneck, `completions` (`narrows.metrics.completions`) if flows or
    transfers can end. `perf` covers the whole run. `invalid`, present only in invalid runs, gives
    the reason. Further metrics, such as `convergence_s`, are declared in
    `narrows.metrics.catalogue`.
    """
    links = link_summaries(scenario, tables, info.end_s)
    losses = loss_summary(scenario, tables, info)
    completions = completion_summaries(scenario, tables, groups)
    return {
        "scenario": dict(scenario),
        "backend": info.backend,
        "seed": scenario["seed"],
        "flows": flow_summaries(scenario, tables, info.end_s),
        "bottleneck": bottleneck_summary(scenario, tables, info.end_s),
        **{m.name: m.measure(scenario, tables, info.end_s) for m in RUN if m.measure is not None},
        **({"links": links} if links else {}),
        **({"completions": completions} if completions else {}),
        **({} if losses is None else {"losses": losses}),
        "perf": {"packets": info.packets, "cpu_s": info.cpu_s, "wall_s": info.wall_s},
        **({} if info.invalid is None else {"invalid": info.invalid}),
    }
