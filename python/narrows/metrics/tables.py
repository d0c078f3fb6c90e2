"""A run's summary as tables: `summary` has one row, `flows` one for every flow.

Both come from what `narrows.metrics.summarise` gives. In `summary` the flows of
a class (an entry's name, or else its control) are taken together: goodputs,
throughputs, shares and retransmissions add up, times are means over flows. The
successive flows of a chain count as one, whose goodput is the mean of theirs.

`delay_*_ms` is queueing delay: a flow's round-trip time beyond its two-way
delay. `slowdown` is a completion time as a multiple of the least possible.
`jain` is Jain's index of goodputs, `rtt_bias` the exponent of RTT unfairness,
`convergence_s` the time until the endless flows share fairly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from narrows.metrics.bottleneck import QUEUE_STATISTICS
from narrows.metrics.fairness import jain, rtt_bias
from narrows.metrics.flows import slowdown

if TYPE_CHECKING:
    import polars as pl

Entry = Mapping[str, Any]
_TEXTS = ("name", "class", "cca", "invalid", "workload")
_WHOLE = (
    *("flows", "instance", "retransmits", "drops", "forwarded", "packets"),
    *("completed", "stalls"),
)
_DELAYS = ("mean", "p50", "p95", "p99")

PATH = ("rate_mbps", "rtt_ms", "buffer_bdp")
SHARING = ("flows", "jain", "rtt_bias", "convergence_s")
BOTTLENECK = (
    *("loss_rate", "utilization", "drops", "forwarded"),
    *(f"queue_{name}_bdp" for name in QUEUE_STATISTICS),
)
CLASS = (
    *("flows", "goodput_mbps", "throughput_mbps", "share", "jain", "retransmits"),
    *("rtt_mean_ms", "rtt_p95_ms", *(f"delay_{name}_ms" for name in _DELAYS)),
    *("fct_s", "slowdown"),
)
"""What `summary` holds of each class: its columns are named `bbr.share` and so on."""


def summary_columns(groups: Sequence[str]) -> list[str]:
    """The numbers in `summary` for a run with these classes of flows."""
    classes = [f"{name}.{key}" for name in dict.fromkeys(groups) for key in CLASS]
    return [*PATH, *SHARING, *BOTTLENECK, *classes, "packets"]


def summary_tables(entry: Entry, groups: Sequence[str]) -> dict[str, pl.DataFrame]:
    """The tables `summary` and `flows` of a run; `groups` holds the class of each flow by id."""
    names = [flow["name"] for flow in entry["scenario"]["flows"]]
    classes = dict(zip(names, groups, strict=True))
    flows = [_flow(flow, entry["scenario"], classes) for flow in entry["flows"]]
    return {"summary": _summary(entry, classes, flows), "flows": _frame(flows)}


def _summary(
    entry: Entry, classes: Mapping[str, str], flows: Sequence[dict[str, Any]]
) -> pl.DataFrame:
    """One row: the path, the bottleneck, then each class in the order of the flows."""
    scenario = entry["scenario"]
    goodputs = _by_name(flows, "goodput_mbps")
    row = {
        **_path(scenario["path"]),
        "flows": len(classes),
        "jain": jain([value or 0.0 for value in goodputs.values()]),
        "rtt_bias": rtt_bias(
            [_rtt_ms(_entry(scenario, name), scenario) for name in goodputs],
            [value or 0.0 for value in goodputs.values()],
        ),
        "convergence_s": entry.get("convergence_s"),
        **_bottleneck(entry["bottleneck"]),
    }
    for name in dict.fromkeys(classes.values()):
        members = [flow for flow in flows if flow["class"] == name]
        row.update({f"{name}.{key}": value for key, value in _class(members).items()})
    row["packets"] = entry["perf"]["packets"]
    return _frame([{**row, "invalid": entry.get("invalid")}])


def _path(path: Entry) -> dict[str, Any]:
    bdp = path["rate_bps"] * path["rtt_ns"] / 8e9
    room = path["buffer"].get("bytes")
    return {
        "rate_mbps": path["rate_bps"] / 1e6,
        "rtt_ms": path["rtt_ns"] / 1e6,
        "buffer_bdp": None if room is None else room / bdp,
    }


def _entry(scenario: Entry, name: str) -> Entry:
    """The flow of that name in a scenario."""
    found: Entry = next(flow for flow in scenario["flows"] if flow["name"] == name)
    return found


def _rtt_ms(flow: Entry, scenario: Entry) -> float:
    """A flow's two-way delay without queueing."""
    own = flow["rtt_ns"]
    return float(scenario["path"]["rtt_ns"] if own is None else own) / 1e6


def _rate_bps(flow: Entry, scenario: Entry) -> float:
    """The least rate of the links that a flow's data cross."""
    path = scenario["path"]
    if flow.get("reverse"):
        return float(path["reverse"]["rate_bps"])
    rates = {"bottleneck": path["rate_bps"]}
    rates |= {link["name"]: link["rate_bps"] for link in path.get("links", ())}
    crossed = flow.get("links") or rates
    return float(min(rates[name] for name in crossed))


def _by_name(flows: Sequence[Entry], key: str) -> dict[str, float | None]:
    """A value of every flow; of a chain the mean."""
    names = dict.fromkeys(flow["name"] for flow in flows)
    return {name: _mean([flow[key] for flow in flows if flow["name"] == name]) for name in names}


def _bottleneck(values: Entry) -> dict[str, Any]:
    queue = {f"queue_{name}_bdp": value for name, value in values["queue_bdp"].items()}
    return {name: value for name, value in values.items() if name != "queue_bdp"} | queue


def _class(flows: Sequence[Entry]) -> dict[str, Any]:
    """The flows of a class together."""
    return {
        "flows": len(_by_name(flows, "goodput_mbps")),
        "goodput_mbps": _sum(_by_name(flows, "goodput_mbps").values()),
        "throughput_mbps": _sum(_by_name(flows, "throughput_mbps").values()),
        "share": _sum(flow["share"] for flow in flows),
        "jain": jain([value or 0.0 for value in _by_name(flows, "goodput_mbps").values()]),
        "retransmits": _sum(flow["retransmits"] for flow in flows),
        **{name: _mean([flow[name] for flow in flows]) for name in CLASS[6:]},
    }


def _flow(flow: Entry, scenario: Entry, classes: Mapping[str, str]) -> dict[str, Any]:
    """A row of `flows`."""
    rtt = {f"rtt_{name}_ms": value for name, value in flow["rtt_ms"].items()}
    apart = ("rtt_ms", "instance", "workload")
    plain = {name: value for name, value in flow.items() if name not in apart}
    entry = _entry(scenario, flow["name"])
    own_ms = _rtt_ms(entry, scenario)
    delays = {
        f"delay_{name}_ms": None if flow["rtt_ms"][name] is None else flow["rtt_ms"][name] - own_ms
        for name in _DELAYS
    }
    size = (flow["goodput_mbps"] or 0.0) * (flow["fct_s"] or 0.0) * 1e6 / 8
    slow = slowdown(flow["fct_s"], size, _rate_bps(entry, scenario), own_ms / 1e3)
    place = {"name": flow["name"], "class": classes[flow["name"]]}
    place["instance"] = flow.get("instance", 0)
    return {**place, **plain, **rtt, **delays, "slowdown": slow, **_workload(flow)}


def _workload(flow: Entry) -> dict[str, Any]:
    """What the application saw, if the flow has a workload."""
    if "workload" not in flow:
        return {}
    seen = dict(flow["workload"])
    times = {f"completion_{name}_s": value for name, value in seen.pop("completion_s").items()}
    return {"workload": seen.pop("kind"), **seen, **times}


def _sum(values: Any) -> Any:  # noqa: ANN401 (whole numbers stay whole)
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A frame whose types depend on the columns alone, never on the values."""
    import polars as pl

    schema = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        count = name.rpartition(".")[2] in _WHOLE
        schema[name] = pl.String() if name in _TEXTS else pl.Int64() if count else pl.Float64()
    return pl.DataFrame(list(rows), schema=schema)
