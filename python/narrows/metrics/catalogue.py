"""Every metric, in the order of the columns of `summary` and `flows`.

The tables, the figures of sweeps, `[[check]]` and docs/reference/metrics.md take everything about
a metric from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from narrows._native import (
    COMPLETION_STATISTICS,
    QUEUE_STATISTICS,
    RTT_STATISTICS,
    SLOWDOWN_STATISTICS,
)
from narrows.known import average, total
from narrows.metrics.completions import SIZES, SizeRange
from narrows.metrics.convergence import of_run
from narrows.metrics.duration import lacking_s
from narrows.metrics.fairness import jain, rtt_bias
from narrows.metrics.flows import slowdown
from narrows.metrics.metric import (
    Better,
    Entry,
    FlowFacts,
    Metric,
    Reader,
    Row,
    RunFacts,
    by_name,
    by_their_names,
    two_way_ms,
)
from narrows.metrics.workloads import LEAST_STILL_S, MEDIA, VIDEOS


def _buffer_bdp(run: RunFacts) -> float | None:
    room = run.path["buffer"].get("bytes")
    return None if room is None else room / run.bdp_bytes


def _rtt_bias(run: RunFacts) -> float | None:
    goodputs, described = run.goodputs(), by_their_names(run.entry["scenario"])
    rtts = [two_way_ms(run.path, described[name]) for name in goodputs]
    return rtt_bias(rtts, list(goodputs.values()))


def _bottleneck(name: str) -> Reader:
    return lambda run: run.entry["bottleneck"][name]


def _on_the_path(name: str) -> Reader:
    return lambda run: run.entry.get("losses", {}).get(name)


def _queue(name: str) -> Metric:
    return Metric(
        f"queue_{name}_bdp", f"queue {name}", "BDP",
        f"{_statistic(name)} of the bottleneck's backlog over time (a real kernel's is sampled), "
        "in bandwidth-delay products of its rate and the path's two-way delay (of their means "
        "where they change)",
        lambda run: run.entry["bottleneck"]["queue_bdp"][name], better="less",
        aliases=(f"{name} queue",),
    )  # fmt: skip


def _queue_ms(name: str) -> Metric:
    def read(run: RunFacts) -> float | None:
        value: float | None = run.entry["bottleneck"]["queue_ms"][name]
        return value

    meaning = (
        f"{_statistic(name)} of the same as time: how long the bottleneck takes to send the "
        "backlog; of the samples where its rate varies, and empty without any"
    )
    names = (f"{name} queue",)
    return Metric(
        f"queue_{name}_ms", f"queue {name}", "ms", meaning, read, better="less", aliases=names
    )


def _half(values: Sequence[float] | None, late: int) -> float | None:
    return None if values is None else values[late]


def _queue_half(name: str, half: str, late: int) -> Metric:
    return Metric(
        f"queue_{name}_ms", f"queue, {half} half", "ms",
        f"the mean queue in the {half} half of the measured time; empty unless long flows share a "
        "steady path for long enough (`narrows.metrics.halves`)",
        lambda run: _half(run.entry.get("halves", {}).get("queue_ms"), late),
    )  # fmt: skip


def _drifts(quantity: str, column: str, what: str) -> Metric:
    def read(run: RunFacts) -> int | None:
        halves = run.entry.get("halves", {})
        if column not in halves:
            return None
        return int(column in halves.get("drifting", halves))

    return Metric(
        f"{quantity}_drifts", f"{quantity} drifts", "",
        f"1 if {what} differs between the halves of the measured time by more than its ups and "
        "downs, 0 if not; empty where the halves are", read, whole=True,
    )  # fmt: skip


def _statistic(name: str) -> str:
    words = {"mean": "mean", "min": "least value", "max": "greatest value", "p50": "median"}
    return words.get(name, f"{name.removeprefix('p')}th percentile")


RUN: tuple[Metric, ...] = (
    Metric("rate_mbps", "rate", "Mbit/s", "rate of the bottleneck",
           lambda run: run.path["rate_bps"] / 1e6),
    Metric("rtt_ms", "RTT", "ms", "two-way delay of the path without queueing",
           lambda run: run.path["rtt_ns"] / 1e6),
    Metric("buffer_bdp", "buffer", "BDP",
           "buffer in bandwidth-delay products; empty if it is given in packets", _buffer_bdp),
    Metric("flows", "flows", "", "number of flows; a chain is one",
           lambda run: len(run.entry["scenario"]["flows"]), whole=True),
    Metric("jain", "fairness (Jain)", "",
           "Jain's index of the flows' goodputs, from 1/n to 1 "
           "(Jain, Chiu, Hawe, DEC-TR-301, 1984)",
           lambda run: jain(list(run.goodputs().values())), "more", part=True),
    Metric("rtt_bias", "RTT bias", "",
           "b in goodput ~ RTT^-b over the flows: 0 if the RTT makes no difference, 1 if goodput "
           "is inversely proportional to it; empty unless flows have different RTTs",
           _rtt_bias, centre=0.0),
    Metric("convergence_s", "convergence", "s",
           "time from the start of the last endless flow to the first 5 s in which Jain's index "
           "of what their receivers got is at least 0.9 in every second; empty if that never comes",
           lambda run: run.entry.get("convergence_s"), "less",
           measure=lambda scenario, tables, end_s: of_run(
               scenario, tables["flow_samples"], end_s)),
    Metric("loss_rate", "loss rate", "",
           "part of the arriving packets that the queue dropped, 1 at most",
           _bottleneck("loss_rate"), "less", aliases=("loss",)),
    Metric("utilization", "utilization", "",
           "IP bits forwarded over those that the link offered: its rate with its changes, the "
           "opportunities of its trace, or what its service sustains",
           _bottleneck("utilization"), "more", part=True),
    Metric("drops", "drops", "packets", "packets that the queue dropped",
           _bottleneck("drops"), "less", whole=True),
    Metric("path_loss_rate", "loss on the path", "",
           "data packets dropped or lost on the path, as a part of those sent; SYNs count in "
           "neither; empty where only the bottleneck's queue can lose them",
           _on_the_path("loss_rate"), "less"),
    Metric("path_drops", "drops on the path", "packets",
           "data packets dropped or lost on the path; empty where the loss is",
           _on_the_path("dropped"), "less", whole=True),
    Metric("forwarded", "forwarded", "packets", "packets that left the bottleneck",
           _bottleneck("forwarded"), whole=True),
    *(_queue(name) for name in QUEUE_STATISTICS),
    *(_queue_ms(name) for name in QUEUE_STATISTICS),
    _queue_half("early", "first", 0),
    _queue_half("late", "second", 1),
    _drifts("queue", "queue_ms", "the queue"),
    _drifts("goodput", "goodput_mbps", "the goodput or a share"),
    _drifts("completion", "completion_s", "the completion time of a class"),
    Metric("needed_s", "time needed", "s",
           "how long shares must be measured, if the run measures them for less "
           "(`narrows.metrics.duration`); empty otherwise, and unless several long flows share a "
           "steady path", lambda run: lacking_s(run.entry["scenario"])),
)  # fmt: skip
"""Columns of `summary`, a row for each run; `CLASS` and `packets` follow."""

PACKETS = Metric(
    "packets", "packets", "packets",
    "data packets of all flows that left the last link of their way, from the start of the run on; "
    "on real kernels those that their bytes fill",
    lambda run: run.entry["perf"]["packets"], whole=True,
)  # fmt: skip
"""The last column of `summary`."""


def _entry_reader(name: str) -> Reader:
    return lambda flow: flow.entry[name]


def _rtt(name: str) -> Metric:
    def read(flow: FlowFacts) -> float | None:
        value: float | None = flow.entry["rtt_ms"][name]
        return value

    meaning = f"{_statistic(name)} of the round-trip times"
    return Metric(f"rtt_{name}_ms", f"RTT {name}", "ms", meaning, read, "less")


def _one_way_of(flow: FlowFacts, name: str) -> float | None:
    value: float | None = flow.entry.get("one_way_ms", {}).get(name)
    return value


def _one_way(name: str) -> Metric:
    meaning = (
        f"{_statistic(name)} of the one-way delay (RFC 7679) of the flow's data, host to host; "
        "empty unless the back end's router carries it"
    )
    return Metric(
        f"owd_{name}_ms",
        f"one-way {name}",
        "ms",
        meaning,
        lambda flow: _one_way_of(flow, name),
        "less",
    )


def _delay(name: str) -> Metric:
    def read(flow: FlowFacts) -> float | None:
        if "delay_ms" in flow.entry:
            varying: float | None = flow.entry["delay_ms"][name]
            return varying
        value, one_way = flow.entry["rtt_ms"][name], _one_way_of(flow, name)
        if value is None and one_way is not None:
            return one_way - flow.two_way_ms / 2
        return None if value is None else value - flow.two_way_ms

    names = ("queueing delay, mean over rtt samples",) if name == "mean" else ()
    meaning = (
        f"{_statistic(name)} of the queueing delay: "
        "the round-trip time beyond the flow's own two-way delay; "
        "of programs, the one-way delay beyond half of that; where the path's delay changes, of "
        "the samples, each beyond the delay when its packet left"
    )
    return Metric(f"delay_{name}_ms", f"delay {name}", "ms", meaning, read, "less", aliases=names)


def _completion_time(flow: FlowFacts) -> float | None:
    seen = flow.entry.get("workload")
    found: float | None = flow.entry["fct_s"] if seen is None else seen["completion_s"]["mean"]
    return found


def _slowdown(flow: FlowFacts) -> float | None:
    entry = flow.entry
    if entry.get("least_s") is not None:
        return float(entry["fct_s"] / entry["least_s"]) if entry["fct_s"] is not None else None
    size = (entry["goodput_mbps"] or 0.0) * (entry["fct_s"] or 0.0) * 1e6 / 8
    return slowdown(entry["fct_s"], size, flow.rate_bps, flow.two_way_ms / 1e3)


FLOW: tuple[Metric, ...] = (
    Metric("start_s", "start", "s", "start of the flow", _entry_reader("start_s")),
    Metric("goodput_mbps", "goodput", "Mbit/s", "payload at the receivers, each byte once",
           _entry_reader("goodput_mbps"), "more"),
    Metric("throughput_mbps", "throughput", "Mbit/s", "IP bytes out of the bottleneck",
           _entry_reader("throughput_mbps"), "more"),
    Metric("retransmits", "retransmits", "packets", "packets retransmitted",
           _entry_reader("retransmits"), "less", whole=True),
    Metric("fct_s", "completion time", "s",
           "completion time, from connecting to the last acknowledgement; for a flow with a "
           "workload the mean of its transfers; empty for a flow that isn't done",
           _completion_time, "less", aliases=("fct",)),
    Metric("share", "share", "", "part of all payload that arrived",
           _entry_reader("share"), "more", part=True, aliases=("share of the goodput",)),
    *(_rtt(name) for name in RTT_STATISTICS),
    Metric("rtt_time_mean_ms", "RTT mean over time", "ms",
           "mean over time of the latest round-trip time, from the samples; empty without any",
           lambda flow: flow.entry["rtt_ms"].get("time_mean"), "less"),
    *(_delay(name) for name in RTT_STATISTICS if name != "min"),
    *(_one_way(name) for name in RTT_STATISTICS if name != "min"),
    Metric("slowdown", "slowdown", "",
           "completion time as a multiple of the minimum: two round trips and the payload "
           "at the rate of the slowest link it crosses, in full packets, less what a bucket, a "
           "slot or a batch lets pass at once", _slowdown, "less"),
)  # fmt: skip
"""Columns of `flows`, a row for each flow, after `name`, `class`, `instance` and `cca`."""

_FLOW: Mapping[str, Metric] = {metric.name: metric for metric in FLOW}


def _sum(name: str, *, of_chains: bool = False) -> Metric:
    def read(rows: Sequence[Row]) -> Any:  # noqa: ANN401
        return total(by_name(rows, name).values() if of_chains else (row[name] for row in rows))

    return _FLOW[name].of_class(read, "the sum over its flows")


def _mean(name: str, *, of_chains: bool = False) -> Metric:
    def read(rows: Sequence[Row]) -> float | None:
        return average(by_name(rows, name).values() if of_chains else (row[name] for row in rows))

    return _FLOW[name].of_class(read, "the mean over its flows")


CLASS: tuple[Metric, ...] = (
    Metric("flows", "flows", "", "number of flows; a chain is one",
           lambda rows: len(by_name(rows, "goodput_mbps")), whole=True),
    _sum("goodput_mbps", of_chains=True),
    _sum("throughput_mbps", of_chains=True),
    _sum("share"),
    Metric("jain", "fairness (Jain)", "", "Jain's index of the goodputs of its flows",
           lambda rows: jain([v or 0.0 for v in by_name(rows, "goodput_mbps").values()]),
           "more", part=True),
    _sum("retransmits"),
    _mean("rtt_mean_ms", of_chains=True),
    _mean("rtt_time_mean_ms", of_chains=True),
    _mean("rtt_p95_ms", of_chains=True),
    *(_mean(f"delay_{name}_ms", of_chains=True) for name in RTT_STATISTICS if name != "min"),
    _mean("owd_mean_ms", of_chains=True),
    _mean("owd_p95_ms", of_chains=True),
    _mean("fct_s"),
    _mean("slowdown"),
)  # fmt: skip
"""Columns of `summary` for each class of flows, named `bbr.share` and so on."""


def _goodput_half(name: str, half: str, late: int) -> Metric:
    return Metric(
        f"goodput_{name}_mbps", f"goodput, {half} half", "Mbit/s",
        f"goodput in the {half} half of the measured time; empty unless long flows share a steady "
        "path for long enough (`narrows.metrics.halves`)",
        lambda pair: _half(pair, late),
    )  # fmt: skip


HALVES: tuple[Metric, ...] = (
    _goodput_half("early", "first", 0),
    _goodput_half("late", "second", 1),
)
"""Columns of `summary` for each class, after those of `CLASS`."""


def _of_app(
    name: str,
    title: str,
    unit: str,
    meaning: str,
    better: Better | None = None,
    *,
    whole: bool = False,
    read: Callable[[Mapping[str, Any]], Any] | None = None,
) -> Metric:
    """Returns a metric of the application of a flow with a workload."""
    reader = read if read is not None else lambda seen: seen[name]
    return Metric(name, title, unit, meaning, reader, better, whole)


def _frozen_s(seen: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Reads the time that a call stood still: its freezes, and one that never ended."""
    frozen, still = seen["frozen_s"], seen.get("still_s") or 0.0
    return frozen + still if frozen is not None and still >= LEAST_STILL_S else frozen


def page_load(name: str) -> str:
    """Returns the title of a statistic of completion times where the transfers are web pages."""
    return f"page load {name}"


def _completion(name: str) -> Metric:
    meaning = f"{_statistic(name)} of the completion times"
    read: Reader = partial(_statistic_of, name)
    return _of_app(f"completion_{name}_s", f"completion {name}", "s", meaning, "less", read=read)


def _statistic_of(name: str, seen: Mapping[str, Any]) -> float | None:
    found: float | None = seen["completion_s"][name]
    return found


WORKLOAD: tuple[Metric, ...] = (
    _of_app("completed", "completed", "", "transfers completed", "more", whole=True),
    _of_app("mean_bytes", "mean size", "bytes", "mean size of the completed transfers"),
    _of_app("stalls", "stalls", "", "interruptions of a video after it began to play", "less",
            whole=True),
    _of_app("stalled_s", "stalled", "s", "their total duration", "less"),
    _of_app("startup_s", "startup", "s", "time until a video began to play; empty if it never did",
            "less"),
    _of_app("between_stalls_s", "between stalls", "s",
            "mean time of play from one interruption of a video to the next; empty without any",
            "more"),
    _of_app("mean_bitrate_mbps", "mean bitrate", "Mbit/s", "mean bitrate of a video's chunks",
            "more"),
    _of_app("switches", "switches", "", "changes of a video's bitrate from chunk to chunk", "less",
            whole=True),
    _of_app("freezes", "freezes", "",
            "freezes of a video call: from one shown frame to the next it takes three times the "
            "mean of the last 30, and 150 ms more than it, or longer (`freezeCount` of WebRTC's "
            "statistics, W3C)", "less", whole=True),
    _of_app("frozen_s", "frozen time", "s",
            "their total duration (`totalFreezesDuration`), and `still_s` if it is 1 s or more",
            "less", read=_frozen_s),
    _of_app("still_s", "still at the end", "s",
            "how long a video call's encoder went on after the last frame that was shown, which no "
            "freeze of `freezes` counts", "less"),
    _of_app("lost_frames", "lost frames", "",
            "frames of a video call that were never shown, up to the last one that was; "
            "`still_s` covers the time after it", "less", whole=True),
    _of_app("media_mbps", "media rate", "Mbit/s", "mean rate of a video call's encoder", "more"),
    _of_app("rate_changes", "rate changes", "",
            "changes of a video call's encoder by more than 10 % since the change before", "less",
            whole=True),
    *(_completion(name) for name in COMPLETION_STATISTICS),
)  # fmt: skip
"""Columns of `flows` for flows with a workload, after its kind in `workload`."""


def _over_flows(name: str) -> Metric:
    """Returns a metric of `WORKLOAD` for a class: totals are added, other values averaged."""

    def values(rows: Sequence[Row]) -> list[Any]:
        return [row[name] for row in rows if row.get(name) is not None]

    if name in _TOTALS:
        return _WORKLOAD[name].of_class(lambda rows: total(values(rows)), "the sum over its flows")
    return _WORKLOAD[name].of_class(lambda rows: average(values(rows)), "the mean over its flows")


_WORKLOAD = {metric.name: metric for metric in WORKLOAD}
_TOTALS = (
    "stalls", "stalled_s", "switches", "freezes", "frozen_s", "lost_frames", "rate_changes",
)  # fmt: skip
_PLAYER = ("stalls", "stalled_s", "startup_s", "between_stalls_s", "mean_bitrate_mbps", "switches")
_CALL = ("freezes", "frozen_s", "still_s", "lost_frames", "media_mbps", "rate_changes")
APPLICATION: Mapping[str, tuple[Metric, ...]] = {
    **{kind: tuple(map(_over_flows, _PLAYER)) for kind in VIDEOS},
    MEDIA: tuple(map(_over_flows, _CALL)),
}
"""Columns of `summary` for each class with flows of these workloads, after those of `CLASS`."""


def _of_transfers(place: str, name: str) -> Reader:
    return lambda found: found[place][name]


def _of_size(span: SizeRange, name: str) -> Reader:
    def read(found: Entry) -> float | None:
        parts = (part for part in found["by_size"] if part["size"] == span.name)
        part = next(parts, None)
        return None if part is None else part["slowdown"][name]

    return read


def _completion_half(name: str, half: str, late: int) -> Metric:
    return Metric(
        f"completion_{name}_s", f"completion, {half} half", "s",
        f"median completion time of the transfers done in the {half} half of the measured time, as "
        "the mean over its fifths; empty unless many are repeated alike "
        "(`narrows.metrics.completion_halves`)",
        lambda found: _half(found["halves"], late),
    )  # fmt: skip


COMPLETION: tuple[Metric, ...] = (
    Metric("completed", "completed", "", "transfers completed",
           lambda found: found["completed"], "more", whole=True),
    Metric("unfinished", "unfinished", "",
           "transfers that weren't done at the end, which the times leave out; "
           "empty if that isn't known", lambda found: found["unfinished"], "less", whole=True),
    Metric("late", "late", "", "share of its transfers with a deadline that missed it, "
           "unfinished ones included; empty without a deadline, or if it isn't known which "
           "transfers are unfinished", lambda found: found["late"], "less"),
    *(Metric(f"completion_{name}_s", f"completion {name}", "s",
             f"{_statistic(name)} of the completion times of all its transfers",
             _of_transfers("completion_s", name), "less", aliases=(page_load(name),))
      for name in COMPLETION_STATISTICS),
    _completion_half("early", "first", 0),
    _completion_half("late", "second", 1),
    *(Metric(f"slowdown_{name}", f"slowdown {name}", "",
             f"{_statistic(name)} of the slowdown of all its transfers",
             _of_transfers("slowdown", name), "less") for name in SLOWDOWN_STATISTICS),
    *(Metric(f"slowdown_{name}_{span.name}", f"slowdown {name}, {span.title}", "",
             f"{_statistic(name)} of the slowdown of its transfers of {span.title}; "
             "empty without any", _of_size(span, name), "less")
      for span in SIZES for name in ("p50", "p99")),
)  # fmt: skip
"""Columns of `summary` for each class with transfers that end, after those of `CLASS`."""

OF_APPLICATIONS: tuple[Metric, ...] = tuple(
    {metric.name: metric for its in APPLICATION.values() for metric in its}.values()
)
"""The metrics of `APPLICATION`, each once."""

GROUPS: tuple[tuple[str, str, tuple[Metric, ...]], ...] = (
    ("of a run", "columns of the table `summary`", (*RUN, PACKETS)),
    ("of a class", "columns of `summary` called CLASS.NAME, such as bbr.share", (*CLASS, *HALVES)),
    ("of videos and calls", "the same, of classes with such flows", OF_APPLICATIONS),
    ("of transfers", "the same, of classes with transfers that end", COMPLETION),
    ("of a flow", "columns of the table `flows`", FLOW),
    ("of an application", "columns of `flows` for flows with a workload", WORKLOAD),
)
"""The metrics by what they describe, each group with the place of its columns."""

_ALL = {
    metric.name: metric
    for metric in (*WORKLOAD, *COMPLETION, *FLOW, *CLASS, *HALVES, *RUN, PACKETS)
}


IN_PERCENT = ("utilization", "loss_rate", "path_loss_rate", "share", "late")
"""Metrics that tables and figures show in per cent; `--json` and exports contain fractions."""


def in_percent(column: str) -> bool:
    """Returns True if tables and figures show a column of `summary` or `flows` in per cent."""
    return column.rpartition(".")[2] in IN_PERCENT


def scale_of(column: str) -> int:
    """Returns the factor by which the values of a column are multiplied for people."""
    return 100 if in_percent(column) else 1


def find(column: str) -> Metric | None:
    """Returns the metric of a column of `summary` or `flows`, such as "bbr.share", or None."""
    return _ALL.get(column.rpartition(".")[2])
