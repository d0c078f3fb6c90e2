"""Groups flows into classes: those of an entry with a name, or identical ones.

Entries without a name are a class by their control, such as "cubic". Where flows of a control
differ in more, the class names the difference with as few words as possible: "cubic-20ms" and
"cubic-80ms". Flows can differ in round-trip time, direction and links, what
they send, options, ECN, receive window, hosts, start and stop.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from narrows.spec.scenario import Scenario

Flow = Mapping[str, Any]

OWN_HOST = (
    *("kernel", "profile", "fq", "line_rate_bps", "sysctls"),
    *("server", "client", "sender", "syscall_time_ns", "date"),
)
"""Keys of a flow that describe hosts of its own."""
_NAMED = {"kernel", "profile"}
"""Keys whose values need no name beside them."""
MOST = 8
"""A property that would give a control more classes than this is ignored."""


def classes(scenario: Scenario, groups: Sequence[str]) -> tuple[str, ...]:
    """The class of each flow by id; `groups` has the names of its entries, or else its control."""
    flows, found = scenario["flows"], list(groups)
    unnamed = {group for group, flow in zip(groups, flows, strict=True) if group == flow["cca"]}
    for cca in sorted(unnamed):
        members = [number for number, group in enumerate(groups) if group == cca]
        words = _words([{**flows[number], "path": scenario["path"]} for number in members])
        for number, word in zip(members, words, strict=True):
            found[number] = f"{cca}-{word}" if word else cca
    return tuple(found)


def _words(flows: Sequence[Flow]) -> list[str]:
    """The properties in which each flow differs; nothing if all are identical."""
    if len(flows) == 1:
        return [""]
    found: list[tuple[str, ...]] = [()] * len(flows)
    for say in _ASPECTS:
        column = _distinct([say(flow) for flow in flows])
        more = [(*parts, word) for parts, word in zip(found, column, strict=True)]
        if len(set(found)) < len(set(more)) <= MOST:
            found = more
    return ["-".join(filter(None, parts)) for parts in found]


def _distinct(said: Sequence[tuple[str, object]]) -> list[str]:
    """The words for values; different values with the same words get numbers."""
    known: dict[str, list[str]] = {}
    found = []
    for words, value in said:
        values = known.setdefault(words, [])
        text = json.dumps(value, sort_keys=True)
        if text not in values:
            values.append(text)
        place = values.index(text)
        found.append(f"{words}{place + 1}" if place else words)
    return found


def _rtt(flow: Flow) -> tuple[str, object]:
    own = flow["path"]["rtt_ns"] if flow["rtt_ns"] is None else flow["rtt_ns"]
    return f"{own / 1e6:g}ms", own


def _direction(flow: Flow) -> tuple[str, object]:
    return ("reverse" if flow["reverse"] else "forward"), flow["reverse"]


def _links(flow: Flow) -> tuple[str, object]:
    links = flow["links"]
    return ("all" if links is None else "+".join(links)), links


def _sends(flow: Flow) -> tuple[str, object]:
    """Its workload, its size, or that it never ends."""
    work, size, gap = flow["workload"], flow["size_bytes"], flow["repeat_gap_ns"]
    value = [work, size, gap, flow["while"]]
    if work is not None:
        return str(work["kind"]), value
    return ("endless" if size is None else _size(size)), value


def _options(flow: Flow) -> tuple[str, object]:
    words = "+".join(f"{name}={value}" for name, value in sorted(flow["options"].items()))
    return words, flow["options"]


def _ecn(flow: Flow) -> tuple[str, object]:
    return f"ecn={flow['ecn']}", flow["ecn"]


def _window(flow: Flow) -> tuple[str, object]:
    window = flow["receive_window_bytes"]
    return ("" if window is None else f"window={_size(window)}"), window


def _hosts(flow: Flow) -> tuple[str, object]:
    own = {key: flow[key] for key in OWN_HOST if key in flow}
    return "+".join(map(str, own.values())) if set(own) <= _NAMED else "own", own


def _life(flow: Flow) -> tuple[str, object]:
    start, stop = flow["start_ns"], flow["stop_ns"]
    until = "" if stop is None else f"+to{stop / 1e9:g}s"
    return f"from{start / 1e9:g}s{until}", [start, stop]


def _size(size: int) -> str:
    scale, unit = next(((s, u) for s, u in ((10**6, "mb"), (10**3, "kb")) if size >= s), (1, "b"))
    return f"{size / scale:g}{unit}"


_ASPECTS: tuple[Callable[[Flow], tuple[str, object]], ...] = (
    _rtt, _direction, _links, _sends, _options, _ecn, _window, _hosts, _life,
)  # fmt: skip
"""The properties in which flows of a control can differ, in the order of a class's name."""
