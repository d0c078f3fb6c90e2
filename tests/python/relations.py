"""Changes of a specification that may not change what happens in its run."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
from physics import leaves, links_of

from narrows.spec.registry import elements

Document = Mapping[str, Any]
Summary = Mapping[str, Any]
MEASURED = ("cpu_s", "wall_s")
"""Values of a summary that two runs of a scenario don't share."""


def other_interval(document: Document) -> Document:
    """Samples at other times."""
    return _with_run(document, sample_interval="37ms")


def summary_alone(document: Document) -> Document:
    """Records no samples."""
    return _with_run(document, record="summary")


def packets_too(document: Document) -> Document:
    """Records every packet."""
    return _with_run(document, record="packets")


def idle_elements(document: Document) -> Document:
    """Adds every impairment that does nothing with its parameters at zero.

    A list of impairments would replace those of a preset, so such a document stays as it is.
    """
    path = dict(document["path"])
    if "preset" in path and "impairments" not in path:
        return document
    idle = [{"kind": name, **zero} for name, zero in _idle().items()]
    path["impairments"] = [*path.get("impairments", ()), *idle]
    return {**document, "path": path}


def _idle() -> dict[str, dict[str, Any]]:
    """Impairments that need only probabilities and durations, which are set to zero, by name."""
    zeros = {"share": 0.0, "duration": "0s"}
    found = {}
    for name, entry in elements("impairments").items():
        needed = [one for one in entry["parameters"] if one["required"]]
        if needed and all(one["unit"] in zeros and not one["least"] for one in needed):
            found[name] = {one["name"]: zeros[one["unit"]] for one in needed}
    return found


def late_flow(document: Document) -> Document:
    """Adds a flow that starts when everything is over."""
    end_ns = round(float(document["run"]["duration"].removesuffix("ms")) * 1e6)
    # The hosts' window may be too small for a packet, and their kernel may lack the others' ECN.
    own = {"cca": "reno", "receive_window": "64kb", "ecn": "off"}
    late = {"name": "late", "start": f"{end_ns - 1}ns", **own}
    return {**document, "flows": [*document["flows"], late]}


def other_order(document: Document) -> Document:
    """Lists the flows in the opposite order."""
    return {**document, "flows": document["flows"][::-1]}


def is_ordered(scenario: Mapping[str, Any], summary: Summary) -> bool:
    """Returns True if only the times of events decide their order.

    Where several flows wait for one instant, their numbers do: a batch, a grant, the end of a delay
    that got shorter, a timer that is late, and after losses a slot of the kernel's timers. Without
    losses loss probes can share such a slot, too: see `share_an_instant`.
    """
    lost = any(flow["retransmits"] for flow in summary["flows"]) or summary["bottleneck"]["drops"]
    path, host = scenario["path"], scenario["host"]
    services = {link["service"]["kind"] for link in links_of(scenario)}
    late = host["timer_lateness_ns"] or host["gro_ns"] or host["jitter_ns"]
    varied = path["impairments"] or path["loss"] or scenario.get("changes")
    return services == {"constant"} and not (late or varied or lost)


def share_an_instant(packets: pl.DataFrame) -> bool:
    """Returns True if two flows ever send in the same instant."""
    sent = packets.filter(pl.col("event") == "sent")
    return not sent.group_by("time_s").n_unique().filter(pl.col("flow") > 1).is_empty()


def apart(document: Document) -> Document:
    """Lets flows start one after the other, so that their numbers don't decide which is first."""
    flows = [
        {**flow, "start": f"{3_141_593 * number}ns"}
        for number, flow in enumerate(document["flows"])
    ]
    return {**document, "flows": flows}


WATCHING: Mapping[str, Callable[[Document], Document]] = {
    "other interval": other_interval,
    "summary alone": summary_alone,
    "packets too": packets_too,
}
ACTING: Mapping[str, Callable[[Document], Document]] = {
    "idle elements": idle_elements,
    "late flow": late_flow,
}


def _with_run(document: Document, **keys: str) -> Document:
    return {**document, "run": {**document["run"], **keys}}


APPLICATIONS = ("stalled_s", "stalls", "between_stalls_s", "still_s", "media_mbps")
"""Values of players and calls that are read from samples."""


def sampled_places(scenario: Mapping[str, Any]) -> tuple[str, ...]:
    """Parts of places whose values depend on samples: of applications, times, varied paths."""
    services = {link["service"]["kind"] for link in links_of(scenario)}
    changed = {key for change in scenario.get("changes", ()) for key in change}
    delays = (".delay_ms",) if "rtt_ns" in changed else ()
    varied = "rate_bps" in changed or services & {"steps", "trace"}
    return (*APPLICATIONS, ".rtt_ms.time_mean", *delays, *((".queue_ms",) if varied else ()))


def outcome(summary: Summary) -> dict[str, Any]:
    """The values of a summary that a run decides, by their places."""
    kept = {key: copy.copy(value) for key, value in summary.items() if key != "scenario"}
    return {name: value for name, value in leaves(kept) if name.rpartition(".")[2] not in MEASURED}


def flows_of(summary: Summary) -> dict[str, Any]:
    """The part of a summary that is about flows, by their names."""
    return {"flows": {flow["name"]: flow for flow in summary["flows"]}}


def differing(before: Summary, after: Summary, *, fewer: bool = False) -> list[str]:
    """The places at which two outcomes differ.

    With `fewer` the second may lack values: a run that records less knows less. Places that only
    the second has don't count.
    """
    old, new = outcome(before), outcome(after)
    return [
        f"{name}: {value} and {new.get(name)}"
        for name, value in old.items()
        if not _same(value, new.get(name)) and not (fewer and new.get(name) is None)
    ]


def _same(value: Any, other: Any) -> bool:
    if isinstance(value, float) and isinstance(other, (int, float)):
        return math.isclose(value, other, rel_tol=1e-12)
    return bool(value == other)
