"""A run's summary as tables: `summary` has one row, `flows` one for every flow.

Both come from what `narrows.metrics.summarise` gives. In `summary` the flows of
a class (an entry's name, or else its control) are taken together: goodputs,
throughputs, shares and retransmissions add up, times are means over flows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from narrows.metrics import jain

if TYPE_CHECKING:
    import polars as pl

Entry = Mapping[str, Any]
_TEXTS = ("name", "class", "cca", "invalid")


def summary_tables(entry: Entry, groups: Sequence[str]) -> dict[str, pl.DataFrame]:
    """The tables `summary` and `flows` of a run; `groups` holds the class of each flow by id."""
    names = [flow["name"] for flow in entry["scenario"]["flows"]]
    classes = dict(zip(names, groups, strict=True))
    return {"summary": _summary(entry, classes), "flows": _flows(entry, classes)}


def _summary(entry: Entry, classes: Mapping[str, str]) -> pl.DataFrame:
    """One row: the path, the bottleneck, then each class in the order of the flows."""
    flows = entry["flows"]
    row = {**_path(entry["scenario"]["path"]), "flows": len(classes)}
    row["jain"] = jain([flow["goodput_mbps"] or 0.0 for flow in flows])
    row.update(_bottleneck(entry["bottleneck"]))
    for name in dict.fromkeys(classes.values()):
        members = [flow for flow in flows if classes[flow["name"]] == name]
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


def _bottleneck(values: Entry) -> dict[str, Any]:
    queue = {f"queue_{name}_bdp": value for name, value in values["queue_bdp"].items()}
    return {name: value for name, value in values.items() if name != "queue_bdp"} | queue


def _class(flows: Sequence[Entry]) -> dict[str, Any]:
    """The flows of a class together."""
    return {
        "flows": len(flows),
        "goodput_mbps": _sum(flow["goodput_mbps"] for flow in flows),
        "throughput_mbps": _sum(flow["throughput_mbps"] for flow in flows),
        "share": _sum(flow["share"] for flow in flows),
        "retransmits": _sum(flow["retransmits"] for flow in flows),
        "rtt_mean_ms": _mean([flow["rtt_ms"]["mean"] for flow in flows]),
        "rtt_p95_ms": _mean([flow["rtt_ms"]["p95"] for flow in flows]),
        "fct_s": _mean([flow["fct_s"] for flow in flows]),
    }


def _sum(values: Any) -> Any:  # noqa: ANN401 (whole numbers stay whole)
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _flows(entry: Entry, classes: Mapping[str, str]) -> pl.DataFrame:
    rows = []
    for flow in entry["flows"]:
        rtt = {f"rtt_{name}_ms": value for name, value in flow["rtt_ms"].items()}
        plain = {name: value for name, value in flow.items() if name not in ("rtt_ms", "instance")}
        place = {"name": flow["name"], "class": classes[flow["name"]]}
        rows.append({**place, "instance": flow.get("instance", 0), **plain, **rtt})
    return _frame(rows)


def _frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A frame whose types depend on the columns alone, never on the values."""
    import polars as pl

    texts: Callable[[str], bool] = lambda name: name in _TEXTS  # noqa: E731
    whole = ("flows", "instance", "retransmits", "drops", "forwarded", "packets")
    schema = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        count = name.rpartition(".")[2] in whole
        schema[name] = pl.String() if texts(name) else pl.Int64() if count else pl.Float64()
    return pl.DataFrame(list(rows), schema=schema)
