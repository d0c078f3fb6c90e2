"""Queries of scenarios and tables that every figure uses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from narrows.columns import Columns, Table, Tables, columns
from narrows.figures.looks import Look, looks
from narrows.figures.model import Floats, Line, Span
from narrows.figures.names import unit_for, value_words
from narrows.figures.palette import name
from narrows.metrics.headings import control_of, words
from narrows.metrics.offered import bytes_until, offers
from narrows.packets import PACKET_BYTES
from narrows.spec.classes import classes
from narrows.spec.datagrams import traffic
from narrows.spec.ending import planned_end_ns
from narrows.spec.measured import UNKNOWN_CONTROL, capacity_known, delay_known
from narrows.spec.scenario import Flow, Scenario
from narrows.words import count_of, join_words, short_number

Groups: TypeAlias = Sequence[str] | None

TIME = "Time (s)"
"""The x axis of every figure of a run."""
ROW_IN = 1.55
"""The usual height of a panel over time, in inches."""

MOST_NAMED = 3
"""More classes than this are counted in a title instead of named."""

NO_INTERNALS = Columns.of(
    {
        "time_s": np.empty(0),
        "flow": np.empty(0, dtype=np.uint32),
        "name": np.empty(0, dtype=object),
        "value": np.empty(0),
    }
)


@dataclass(frozen=True, slots=True)
class FlowClass:
    """Flows that are shown as one: a name, a congestion control, the ids, and the look."""

    label: str
    cca: str
    flows: tuple[int, ...]
    look: Look


def flow_classes(scenario: Scenario, groups: Groups = None) -> list[FlowClass]:
    """The classes of a run in the order of their first flows.

    `groups` names the class of every flow by id (as a plan and a result do); without it, identical
    flows of a congestion control are a class. Flows of one group with different controls are
    different classes.
    """
    ccas = [str(flow["cca"]) for flow in scenario["flows"]]
    named = list(groups) if groups is not None else classes(scenario, ccas)
    members: dict[tuple[str, str], list[int]] = {}
    for flow, key in enumerate(zip(named, ccas, strict=True)):
        members.setdefault(key, []).append(flow)
    shown = looks([cca for _, cca in members])
    return [
        FlowClass(_label(group, scenario["flows"][flows[0]]), cca, tuple(flows), look)
        for ((group, cca), flows), look in zip(members.items(), shown, strict=True)
    ]


def _label(group: str, flow: Flow) -> str:
    """The name of a class named after its control, or its own name with what governs it."""
    cca = str(flow["cca"])
    if control_of(group) == cca:
        return words(group)
    what = control_or_traffic(flow)
    return what if group == cca else f"{group} ({what})"


def control_or_traffic(flow: Flow) -> str:
    """The control of a flow, or what it sends if it has no connection."""
    cca = str(flow["cca"])
    return traffic(flow) or ("unknown control" if cca == UNKNOWN_CONTROL else name(cca))


def rate_mbps(scenario: Scenario) -> float:
    """The bottleneck's rate in Mbit/s."""
    return float(scenario["path"]["rate_bps"]) / 1e6


def offered_mbps(scenario: Scenario, ended_s: float | None = None) -> float | None:
    """The mean of what a varying bottleneck offers in Mbit/s; None where the rate is constant.

    It is that of the measured time, so that the utilization is the used part of it. The run ended
    at `ended_s` seconds, by default as planned.
    """
    offer, run = offers(scenario)[0], scenario["run"]
    end_ns = planned_end_ns(scenario) if ended_s is None else ended_s * 1e9
    ends_ns = np.array([run["warmup_ns"], end_ns], dtype=float)
    if not offer.varies or not np.ptp(ends_ns):
        return None
    return float(np.ptp(bytes_until(offer, ends_ns)) * 8e3 / np.ptp(ends_ns))


def bdp_bytes(scenario: Scenario) -> float:
    """Rate times two-way delay of the path, in bytes."""
    path = scenario["path"]
    return float(path["rate_bps"]) * float(path["rtt_ns"]) / 8e9


def buffer_bytes(scenario: Scenario) -> float:
    """The buffer in bytes; one given in packets counts as full-sized packets."""
    limit: Mapping[str, int] = scenario["path"]["buffer"]
    return float(limit["bytes"]) if "bytes" in limit else float(limit["packets"] * PACKET_BYTES)


def title(scenario: Scenario, groups: Groups, what: str) -> str:
    """The title of a figure: its flows and `what` is shown of them, such as ": windows".

    The name of a run in its place if that is written in words.
    """
    if in_words(name := str(scenario["name"])):
        return name + what * what.startswith(":")
    found = [m.label.replace(", ", " ") for m in flow_classes(scenario, groups)]
    few = join_words(found) if 0 < len(found) <= MOST_NAMED else ""
    return (few or count_of(len(scenario["flows"]), "flow")) + what


def in_words(name: str) -> bool:
    """Returns True if a name is a title: it has a space, unlike "fair" or "fig9"."""
    return " " in name


def path_in_words(scenario: Scenario, varied: Collection[str]) -> str:
    """The path in one line, without what depends on places that are `varied` in a study."""
    if {"path", "path.preset"} & set(varied):
        return ""
    keys = {place.partition(".")[2].partition(".")[0] for place in varied}
    sizes = keys.isdisjoint({"rate", "service", "rtt"})
    told = [
        _rate(scenario) if keys.isdisjoint({"rate", "service"}) else "",
        _delays(scenario) if "rtt" not in keys else "",
        f"buffer {_buffer(scenario)}" if sizes and "buffer" not in keys else "",
        _queue(scenario).removeprefix(", ") if "queue" not in keys else "",
    ]
    return ", ".join(filter(None, told))


def conditions(scenario: Scenario, groups: Groups = None, ended_s: float | None = None) -> str:
    """The scenario in one line, such as "2 BBR + 2 CUBIC, 80 Mbit/s, 25 ms, buffer 1.75 BDP".

    The run ended at `ended_s` seconds, by default as planned.
    """
    room = f", buffer {_buffer(scenario)}" if capacity_known(scenario) else ""
    path = f"{_rate(scenario, ended_s)}, {_delays(scenario)}{room}"
    return f"{flows_in_words(scenario, groups)}, {path}{_queue(scenario)}"


def conditions_of_run(scenario: Scenario, tables: Tables, groups: Groups = None) -> str:
    """The scenario of a run in one line, with the mean rate up to the last sample."""
    varies = offers(scenario)[0].varies  # otherwise the samples needn't be searched
    return conditions(scenario, groups, (_last_sample_s(tables) or None) if varies else None)


def _rate(scenario: Scenario, ended_s: float | None = None) -> str:
    """The bottleneck's rate, or its mean where it varies."""
    if not capacity_known(scenario):
        return "unknown capacity"
    mean = offered_mbps(scenario, ended_s)
    if mean is None:
        return f"{short_number(rate_mbps(scenario), 4)} Mbit/s"
    return f"{short_number(mean)} Mbit/s on average"


def _buffer(scenario: Scenario) -> str:
    """The buffer in BDP; in bytes where the rate varies, since it has no single BDP then."""
    room, bdp = buffer_bytes(scenario), bdp_bytes(scenario)
    if offers(scenario)[0].varies or not bdp:
        size, unit = unit_for([room], "bytes")
        return f"{short_number(room / size)} {unit}"
    return f"{short_number(room / bdp)} BDP"


def flows_in_words(scenario: Scenario, groups: Groups = None) -> str:
    """How many flows of which kind, such as "2 BBR + 2 CUBIC" or "1 web (CUBIC) + 1 BBR"."""
    found = flow_classes(scenario, groups)
    return " + ".join(f"{len(m.flows)} {m.label.replace(', ', ' ')}" for m in found)


def _delays(scenario: Scenario) -> str:
    """The two-way delays of the flows: one value, or minimum and maximum."""
    if not delay_known(scenario):
        return "unknown delay"
    own = [flow["rtt_ns"] for flow in scenario["flows"]]
    path_ns = scenario["path"]["rtt_ns"]
    known = sorted({path_ns if rtt is None else rtt for rtt in own} or {path_ns})
    ends = [
        short_number(rtt / 1e6, 4) for rtt in (known if len(known) == 1 else (known[0], known[-1]))
    ]
    return f"{' to '.join(ends)} ms"


def _queue(scenario: Scenario) -> str:
    """The discipline, unless it is drop-tail, and whether flows use ECN."""
    kind = str(scenario["path"]["queue"]["kind"])
    marks = any(flow["ecn"] != "off" for flow in scenario["flows"])
    return ("" if kind == "droptail" else f", {value_words('queue', kind)}") + ", ECN" * marks


def column(rows: Table, title: str) -> Floats:
    """A column as floats, with NaN for values that the back end couldn't know."""
    return columns(rows).floats(title)


def end_s(tables: Tables) -> float:
    """The time of the last sample in seconds, or 1 if there is none."""
    return _last_sample_s(tables) or 1.0


def _last_sample_s(tables: Tables) -> float:
    """The time of the last sample in seconds, or 0 if there is none."""
    if "flow_samples" not in tables:
        return 0.0
    parts = columns(tables["flow_samples"]).parts()
    return max((float(part.floats("time_s").max(initial=0.0)) for part in parts), default=0.0)


def stays(rows: Table, title: str, wanted: str | None = None) -> list[tuple[float, float, str]]:
    """The intervals of time that one flow spent in each value of a text column.

    A stay lasts from the first sample with the value to the first with another value, so its ends
    are known to within one sample interval. With `wanted`, only the stays in that value. Rows
    belong to one flow and ascend in time.
    """
    found = columns(rows)
    return stays_of(found.texts(title), found.floats("time_s"), wanted)


def stays_of(
    values: Sequence[str], times: Floats, wanted: str | None = None
) -> list[tuple[float, float, str]]:
    """The intervals of each value, from the values and times of the samples."""
    if not values:
        return []
    starts = [0, *(i for i in range(1, len(values)) if values[i] != values[i - 1])]
    ends = [*starts[1:], len(values) - 1]
    found = [
        (float(times[a]), float(times[b]), values[a]) for a, b in zip(starts, ends, strict=True)
    ]
    return [stay for stay in found if stay[2] and (wanted is None or stay[2] == wanted)]


def union(stretches: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The intervals, joined where they overlap or touch, ascending."""
    joined: list[tuple[float, float]] = []
    for start, end in sorted(stretches):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def probe_rtt_stays(flow_samples: Table) -> list[tuple[float, float]]:
    """When any flow was in PROBE_RTT, in seconds, to within one sample interval."""
    stretches: list[tuple[float, float]] = []
    begun: dict[int, float] = {}
    last: dict[int, float] = {}
    for part in columns(flow_samples).parts():
        times, probing = part.floats("time_s"), part["cca_state"] == "probe_rtt"
        for flow, rows in part.by("flow").items():
            if probing[rows].any() or flow in begun:
                stretches += _stretches(begun, flow, times[rows], probing[rows])
            last[flow] = float(times[rows[-1]])
    stretches += [(start, last[flow]) for flow, start in begun.items()]
    return union(stretches)


def _stretches(
    begun: dict[int, float], flow: int, times: Floats, probing: NDArray[np.bool_]
) -> list[tuple[float, float]]:
    """The stays that end in a part of a flow's samples; `begun` has the starts of the others."""
    found = []
    for row in np.flatnonzero(np.diff(probing, prepend=flow in begun)).tolist():
        if probing[row]:
            begun[flow] = float(times[row])
        else:
            found.append((begun.pop(flow), float(times[row])))
    return found


def probe_rtt_spans(flow_samples: Table) -> tuple[Span, ...]:
    """The stays in PROBE_RTT as spans to shade."""
    return tuple(Span(a, b, "span", "PROBE_RTT") for a, b in probe_rtt_stays(flow_samples))


def class_means(
    table: Table, classes: Sequence[FlowClass], title: str, internal: str | None = None
) -> list[tuple[Floats, Floats]]:
    """For each class, the times of the samples and the mean of a column over the class's flows.

    Flows without a value at a time are left out of its mean; where no flow has
    one, the mean is NaN. With `internal`, only the rows of that name count.
    """
    means = [_Mean() for _ in classes]
    for part in columns(table).parts():
        rows = part if internal is None else part.having("name", [internal])
        for mean, members in zip(means, classes, strict=True):
            own = rows.having("flow", members.flows)
            mean.add(own.floats("time_s"), own.floats(title))
    return [mean.times_and_means() for mean in means]


class _Mean:
    """The means of values by time, from rows that come in parts."""

    def __init__(self) -> None:
        self._held = (np.empty(0), np.empty(0))
        """The rows of the latest time, since the next part may have more of them."""
        self._done: list[tuple[Floats, Floats, Floats]] = []

    def add(self, times: Floats, values: Floats) -> None:
        """Further rows."""
        if not len(times):
            return
        times = np.concatenate([self._held[0], times])
        values = np.concatenate([self._held[1], values])
        latest = times == times[-1]
        self._held = (times[latest], values[latest])
        self._done.append(_sum(times[~latest], values[~latest]))

    def times_and_means(self) -> tuple[Floats, Floats]:
        """The times and the means."""
        sums = [*self._done, _sum(*self._held)]
        every, totals, numbers = (np.concatenate(column) for column in zip(*sums, strict=True))
        times, place = np.unique(every, return_inverse=True)
        total, number = (np.bincount(place, one, len(times)) for one in (totals, numbers))
        means = np.full(len(times), np.nan)
        np.divide(total, number, out=means, where=number > 0)
        return times, means


def _sum(times: Floats, values: Floats) -> tuple[Floats, Floats, Floats]:
    """The times, the sums of the known values at each, and how many they are."""
    found, place = np.unique(times, return_inverse=True)
    known = ~np.isnan(values)
    sums = np.bincount(place[known], values[known], len(found))
    counts: Floats = np.bincount(place[known], minlength=len(found)).astype(np.float64)
    return found, sums.astype(np.float64, copy=False), counts


def internal(tables: Tables, title: str) -> Columns:
    """One named internal of all flows, ascending in time."""
    if "internals" not in tables:
        return NO_INTERNALS
    return columns(tables["internals"]).having("name", [title]).sort_by("time_s")


def internals_of(tables: Tables, flows: Sequence[int]) -> Columns:
    """The internals of flows, ascending in time; empty if the back end sees none."""
    if "internals" not in tables:
        return NO_INTERNALS
    return columns(tables["internals"]).having("flow", flows).sort_by("time_s")


def drawable(lines: Iterable[Line]) -> tuple[Line, ...]:
    """The lines with at least one value to draw."""
    return tuple(line for line in lines if np.isfinite(line.y).any())


def choose(classes: list[FlowClass], most: int) -> list[int]:
    """At most `most` flows, taken from the classes in turns, ascending."""
    longest = max((len(members.flows) for members in classes), default=0)
    turns = [
        members.flows[place]
        for place in range(longest)
        for members in classes
        if place < len(members.flows)
    ]
    return sorted(turns[:most])


def flow_name(scenario: Scenario, flow: int) -> str:
    """A flow with its control, such as "bbr-1 (BBR)" or "probe (probes)"."""
    spec = scenario["flows"][flow]
    return f"{spec['name']} ({control_or_traffic(spec)})"
