"""The loss of data packets on the whole path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from narrows.metrics.counters import Counters, total
from narrows.spec.scenario import Path, Scenario

if TYPE_CHECKING:
    from narrows.columns import Tables
    from narrows.store import RunInfo


def loss_summary(scenario: Scenario, tables: Tables, info: RunInfo) -> dict[str, Any] | None:
    """Counts the data packets lost from the warm-up to the end of the run.

    None if packets can be lost only at the bottleneck, whose own summary suffices. `sent` counts
    the data packets that senders sent, `dropped` those dropped or lost anywhere on the path, and
    `loss_rate` is the share of the latter. `queues` counts the drops of the links' queues, and
    `elsewhere` the losses by impairments, such as a policer, or by the path's own loss. All are
    None on back ends that don't know the losses of each flow.

    `places` lists the losses of each impairment and of the path's own loss: place in the
    specification, kind and `dropped`. Back ends that don't report them have None there. Then
    `queues` counts everything that the links dropped, including SYNs, or is None where data and
    acknowledgements share a queue. The summaries of the links have the drops of each queue.
    """
    path = scenario["path"]
    changed = any(change.get("loss") for change in scenario.get("changes", ()))
    if not changed and not any(
        path.get(part) for part in ("impairments", "loss", "links", "reverse")
    ):
        return None
    warmup_s = scenario["run"]["warmup_ns"] / 1e9
    end_s, losses = info.end_s, info.losses
    if losses is not None and end_s <= warmup_s:  # only a warm-up's end resets a back end's counts
        losses = dict.fromkeys(losses, 0)
    grown = Counters(tables["flow_samples"], "flow").growth(("sent", "dropped"), warmup_s, end_s)
    sent, dropped = total(grown.values(), "sent"), total(grown.values(), "dropped")
    elsewhere = None
    if sent is not None and dropped is not None:
        queues = _queue_drops(scenario, tables, warmup_s, end_s) if losses is None else None
        known = None if queues is None else max(dropped - queues, 0)
        elsewhere = known if losses is None else sum(losses.values())
    return {
        "sent": sent,
        "dropped": dropped,
        "loss_rate": dropped / sent if dropped is not None and sent else None,
        "queues": None if dropped is None or elsewhere is None else dropped - elsewhere,
        "elsewhere": elsewhere,
        "places": None if losses is None else _places(path, losses),
    }


def _places(path: Path, losses: Mapping[str, int]) -> list[dict[str, Any]]:
    kinds = {
        f"path.impairments[{index}]": impairment["kind"]
        for index, impairment in enumerate(path.get("impairments", ()))
    }
    return [
        {"place": place, "kind": kinds.get(place, "loss"), "dropped": dropped}
        for place, dropped in losses.items()
    ]


def _queue_drops(scenario: Scenario, tables: Tables, warmup_s: float, end_s: float) -> int | None:
    """Counts the packets that links dropped.

    Without reversed flows only forward links carry data.
    """
    if any(flow.get("reverse") for flow in scenario["flows"]):
        return None
    name, last = "dropped_packets", len(scenario["path"].get("links", ()))
    grown = Counters(tables["queue_samples"], "link").growth((name,), warmup_s, end_s)
    return total((counters for link, counters in grown.items() if link <= last), name)
