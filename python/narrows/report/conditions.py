"""The conditions of a run on its page: everything that determines it, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from narrows.figures import frames
from narrows.figures.frames import FlowClass, control_or_traffic
from narrows.report.numbers import number
from narrows.spec.host import MODELLED
from narrows.spec.measured import capacity_known, delay_known
from narrows.spec.scenario import Flow, Host, Path, Scenario
from narrows.words import count_of, short_number


def conditions(
    scenario: Scenario,
    groups: Sequence[str],
    has_accounts: bool = False,
    measured_hosts: str = "",
    ended_s: float | None = None,
) -> list[tuple[str, str]]:
    """Returns labels and values: the path, a line for each class of flows, the hosts, the run.

    If the page `has_accounts` of its flows, these say how much a path of unknown rate carries.
    `measured_hosts` describes the hosts of a measurement, which doesn't show the queue discipline.
    The run ended at `ended_s` seconds, by default as planned.
    """
    path, run = scenario["path"], scenario["run"]
    return [
        ("Rate", _rate(scenario, has_accounts, ended_s)),
        ("Two-way delay", _delay(scenario)),
        *_bottleneck(scenario, shows_queue=not measured_hosts),
        *_elements(path),
        *([("Random loss", f"{path['loss']:g}")] if path["loss"] else []),
        *((m.label, _flows(scenario, m)) for m in frames.flow_classes(scenario, groups)),
        ("Hosts", measured_hosts or _hosts(scenario["host"])),
        (
            "Duration",
            f"{run['duration_ns'] / 1e9:g} s, summaries from {run['warmup_ns'] / 1e9:g} s on",
        ),
        ("Sample interval", f"{run['sample_interval_ns'] / 1e6:g} ms"),
    ]


def _delay(scenario: Scenario) -> str:
    """Returns the path's delay, unless a measurement doesn't show it."""
    known = delay_known(scenario)
    return f"{scenario['path']['rtt_ns'] / 1e6:g} ms" if known else "unknown"


def _bottleneck(scenario: Scenario, *, shows_queue: bool) -> Iterator[tuple[str, str]]:
    """Yields the buffer and the queue discipline, unless a measurement doesn't show them."""
    if not capacity_known(scenario):
        return
    yield "Buffer", _buffer(scenario)
    yield "BDP", f"{number(round(frames.bdp_bytes(scenario)))} bytes"
    if shows_queue:
        yield "Queue discipline", _element(scenario["path"]["queue"])


def _rate(scenario: Scenario, has_accounts: bool, ended_s: float | None) -> str:
    """Returns the bottleneck's rate, and its average if it varies."""
    nominal = frames.rate_mbps(scenario)
    if not capacity_known(scenario):
        return "unknown" if has_accounts else f"unknown, at least {nominal:.3g} Mbit/s"
    rate = f"{short_number(nominal, 4 if has_accounts else 6)} Mbit/s"
    mean = frames.offered_mbps(scenario, ended_s)
    return rate if mean is None else f"{rate} nominal, {short_number(mean)} Mbit/s on average"


def _buffer(scenario: Scenario) -> str:
    room = scenario["path"]["buffer"]
    in_bdp = frames.buffer_bytes(scenario) / frames.bdp_bytes(scenario)
    in_ms = in_bdp * scenario["path"]["rtt_ns"] / 1e6
    unit = "packets" if "packets" in room else "bytes"
    return f"{number(room[unit])} {unit} = {number(in_bdp)} BDP = {number(in_ms)} ms"


def _element(element: Mapping[str, Any]) -> str:
    """Returns a kind with its parameters, such as "codel (interval 100 ms, target 5 ms)"."""
    parameters = ", ".join(
        _parameter(key, value) for key, value in element.items() if key != "kind" and _short(value)
    )
    return f"{element['kind']} ({parameters})" if parameters else str(element["kind"])


def _short(value: object) -> bool:
    return value is not None and not isinstance(value, list | dict)


def _parameter(key: str, value: object) -> str:
    """Returns a parameter of a scenario in readable units."""
    scales = {"_ns": (1e6, "ms"), "_bps": (1e6, "Mbit/s"), "_bytes": (1, "bytes")}
    for ending, (scale, unit) in scales.items():
        if key.endswith(ending) and isinstance(value, int | float):
            words = key.removesuffix(ending).replace("_", " ")
            return f"{words} {value / scale:g} {unit}"
    shown = f"{value:g}" if isinstance(value, float) else value
    if isinstance(value, bool):
        shown = "on" if value else "off"
    return f"{key.replace('_', ' ')} {shown}"


def _elements(path: Path) -> list[tuple[str, str]]:
    """Returns the elements of a path beyond a link of constant rate; most paths have none.

    Results of earlier versions lack them.
    """
    rows = []
    service = path.get("service", {"kind": "constant"})
    if service["kind"] != "constant":
        rows.append(("Service", _element(service)))
    more = [*path.get("links", ()), *([path["reverse"]] if path.get("reverse") else ())]
    for link in more:
        kinds = f"{_element(link['queue'])}, {_element(link['service'])}"
        rows.append((f"Link {link['name']}", f"{link['rate_bps'] / 1e6:g} Mbit/s, {kinds}"))
    impairments = path.get("impairments", ())
    return [*rows, *(("Impairment", _element(one)) for one in impairments)]


def _flows(scenario: Scenario, members: FlowClass) -> str:
    """Describes the flows of a class."""
    flows = [scenario["flows"][flow] for flow in members.flows]
    count = f"{count_of(len(flows), 'flow')} of {control_or_traffic(flows[0])}"
    return ", ".join([count, *_words(scenario, flows)])


def _words(scenario: Scenario, flows: Sequence[Flow]) -> Iterator[str]:
    first, path_ns = flows[0], scenario["path"]["rtt_ns"]
    rtts = {path_ns if flow["rtt_ns"] is None else flow["rtt_ns"] for flow in flows}
    # Values from captures have more digits than anybody needs.
    yield f"{_span(sorted({float(f'{rtt / 1e6:.4g}') for rtt in rtts}))} ms"
    if first["reverse"]:
        yield "in the other direction"
    if first["links"] is not None:
        yield f"over {', '.join(first['links'])}"
    if (workload := first.get("workload")) is not None:
        yield f"workload {workload['kind']}"
    if first["size_bytes"] is not None:
        again = "" if first["repeat_gap_ns"] is None else " again and again"
        yield f"{number(first['size_bytes'])} bytes{again}"
    yield from (f"{key} = {value}" for key, value in first.get("options", {}).items())
    if first["ecn"] != "off":
        yield f"ECN {first['ecn']}"
    if "dscp" in first:
        yield f"DSCP {first['dscp'].upper()}"
    if first["receive_window_bytes"] is not None:
        yield f"receive window {number(first['receive_window_bytes'])} bytes"
    if "notsent_lowat_bytes" in first:
        yield f"at most {number(first['notsent_lowat_bytes'])} bytes unsent"
    yield from _own_hosts(first)
    yield f"from {_span(sorted({flow['start_ns'] / 1e9 for flow in flows}))} s"
    if first["stop_ns"] is not None:
        yield f"until {first['stop_ns'] / 1e9:g} s"


def _own_hosts(flow: Flow) -> Iterator[str]:
    """Yields the properties of a flow's own hosts that differ from the others'."""
    yield from (str(flow[key]) for key in ("kernel", "profile") if key in flow)
    if "fq" in flow:
        yield "fq" if flow["fq"] else "no fq"
    if "line_rate_bps" in flow:
        yield f"a card of {flow['line_rate_bps'] / 1e6:g} Mbit/s"
    yield from (f"{name} = {value}" for name, value in flow.get("sysctls", {}).items())


def _span(values: Sequence[float]) -> str:
    ends = values if len(values) == 1 else (values[0], values[-1])
    return " to ".join(f"{value:g}" for value in ends)


def _hosts(host: Host) -> str:
    """Describes the hosts: the kernel, and every property that isn't the default."""
    said = [str(host["profile"]), f"socket buffers {host['socket_buffers']}"]
    said += [key for key in ("fq", "gso", "metrics_save") if host.get(key)]
    values: Mapping[str, Any] = host
    modelled = [f"{key}_ns" for key in MODELLED]
    said += [_parameter(key, values[key]) for key in modelled if values.get(key)]
    return ", ".join(said)
