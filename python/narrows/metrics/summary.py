"""The summary of a run: its numbers and its scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from narrows.columns import Tables
from narrows.metrics.catalogue import RUN
from narrows.metrics.completion_halves import completion_halves
from narrows.metrics.completions import classes
from narrows.metrics.duration import is_steady
from narrows.metrics.halves import halves
from narrows.metrics.run import run_metrics, without_name
from narrows.spec.scenario import Scenario
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
    explains `flows`, and `narrows.metrics.run` explains `bottleneck` and `links`, which is
    present if there are several. `completions` (`narrows.metrics.completions`) is present if flows
    or transfers can end. `losses` is present if packets can be lost elsewhere than at the
    bottleneck: the data packets sent and dropped, the latter in `queues` and `elsewhere`, and by
    place if the back end knows it. `halves` (`narrows.metrics.halves`) is present for long flows
    on a steady path, and with completion times (`narrows.metrics.completion_halves`) for repeated
    transfers. `perf` covers the whole run. `invalid`, present only in invalid
    runs, gives the reason. Further metrics, such as `convergence_s`, are declared in
    `narrows.metrics.catalogue`.
    """
    run = run_metrics(scenario, tables, info.end_s)
    named = classes(scenario, groups)
    links, completions = run.links(), run.completions(named)
    look = halves if is_steady(scenario) else completion_halves
    by_halves = look(scenario, named, tables, info.end_s)
    losses = run.losses(None if info.losses is None else list(info.losses.items()))
    return {
        "scenario": dict(scenario),
        "backend": info.backend,
        "seed": scenario["seed"],
        "flows": run.flows(),
        "bottleneck": without_name(links[0]),
        **{m.name: m.measure(scenario, tables, info.end_s) for m in RUN if m.measure is not None},
        **({"links": links} if len(links) > 1 else {}),
        **({"completions": completions} if completions else {}),
        **({} if losses is None else {"losses": losses}),
        **({"halves": by_halves} if by_halves else {}),
        "perf": {"packets": info.packets, "cpu_s": info.cpu_s, "wall_s": info.wall_s},
        **({} if info.invalid is None else {"invalid": info.invalid}),
    }
