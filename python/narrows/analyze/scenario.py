"""A specification that describes a capture as closely as possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from narrows._native import MAX_DURATION_NS, MAX_NAME
from narrows.analyze.path import Flow, PathEstimate, round_trip_ms
from narrows.errors import InputError
from narrows.plan import Plan, Trial, canonical_json, content_hash, plan
from narrows.spec.reading import Loaded, parse

BACKEND = "capture"
STAND_IN = "cubic"
"""The control of a flow whose own isn't known, where a specification needs one."""
_ENGINE = "capture 1"

_HEAD = """\
# Made from a measurement. Rate, delay and buffer are estimates: the highest rate that
# was seen, the least round trip, the most that round trips exceeded it. With it
# `narrows run` and `narrows compare` simulate what was measured.
"""
_AT_LEAST = "# the highest seen: the capacity wasn't reached, so it is unknown"


def specification(
    name: str,
    flows: Sequence[Flow],
    path: PathEstimate,
    measured: tuple[str, float],
    interval_ns: int,
) -> Loaded:
    """The specification; its flows are those of the capture, in their order.

    `measured` says where the flows come from, and for how many seconds they were observed.
    Raises InputError with that place if no specification can describe them.
    """
    place, duration_s = measured
    if duration_s <= 0:
        remedy = "packets over some time, in the order in which they were seen,"
        raise InputError.at(place, "packets of a single instant", remedy)
    if duration_s > MAX_DURATION_NS / 1e9:
        found = f"packets {duration_s:.0f} s apart ({duration_s / 86_400:.1f} days)"
        raise InputError.at(place, found, "at most 1000000 s (11.6 days), cut out of it,")
    interval_ns = min(interval_ns, max(round(duration_s * 1e9), 1))
    lines = [
        _HEAD,
        f"name = {_quote(name)}",
        "",
        "[path]",
        f'rate = "{path.rate_bps}bit"' + ("" if path.known else f" {_AT_LEAST}"),
        f'rtt = "{path.rtt_ns}ns"' + ("" if path.delay_known else " # not known"),
        f'buffer = "{path.buffer_bytes}b"',
    ]
    for title, flow in zip(names(flows), flows, strict=True):
        lines += _flow(title, flow, path)
    lines += [
        "",
        "[run]",
        f'duration = "{_ns(duration_s)}ns"',
        f'sample_interval = "{interval_ns}ns"',
    ]
    text = "\n".join(lines) + "\n"
    try:
        return Loaded(parse(text, name).spec, text)
    except InputError as error:
        problem = error.problems[0]
        found = f"what no specification can describe ({problem.place}: {problem.found})"
        raise InputError.at(place, found, problem.remedy) from None


def _flow(title: str, flow: Flow, path: PathEstimate) -> list[str]:
    control, known = flow["control"]["control"], flow["control"]["control"] != "unsure"
    rtt = round_trip_ms(flow)
    lines = [
        "",
        "[[flows]]",
        f"name = {_quote(title)}",
        f'cca = "{control}"' if known else f'cca = "{STAND_IN}" # not known',
        f'start = "{round(flow["start_s"] * 1e9)}ns"',
    ]
    if rtt is not None and round(rtt * 1e6) > path.rtt_ns:
        lines.append(f'rtt = "{round(rtt * 1e6)}ns"')
    if flow["complete"] and flow["received_bytes"]:
        lines.append(f'size = "{flow["received_bytes"]}b"')
    elif flow["end_s"] > flow["start_s"]:
        lines.append(f'stop = "{_ns(flow["end_s"])}ns"')
    return lines


def names(flows: Sequence[Flow]) -> list[str]:
    """The flows' names, unique and short enough; a later one between the same ends has a number."""
    seen: Counter[str] = Counter()
    titles: dict[str, None] = {}
    for number, flow in enumerate(flows):
        name = "".join(c if c.isprintable() else "?" for c in str(flow["name"])).strip() or "flow"
        seen[name] += 1
        suffix = f" #{seen[name]}" if seen[name] > 1 else ""
        if len(name + suffix) > MAX_NAME:
            suffix = f" #{number}"
        title = name[: MAX_NAME - len(suffix)] + suffix
        titles[title if title not in titles else f"flow {number}"] = None
    return list(titles)


def _ns(seconds: float) -> int:
    return max(round(seconds * 1e9), 1)


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def plan_of_capture(loaded: Loaded, flows: Sequence[Flow], digest: str, path: PathEstimate) -> Plan:
    """The plan whose only trial is the capture; unknown controls are "unsure" in it."""
    base = plan(loaded.spec, _ENGINE, BACKEND)
    scenario = base.trials[0].scenario
    if not path.known:
        scenario["path"]["capacity_known"] = False
    if not path.delay_known:
        scenario["path"]["delay_known"] = False
    controls = [str(flow["control"]["control"]) for flow in flows]
    for entry, control in zip(scenario["flows"], controls, strict=True):
        entry["cca"] = control
    key = content_hash([canonical_json(scenario), _ENGINE, BACKEND, digest])
    return Plan(base.name, (Trial(1, scenario, key),), tuple(controls), key)
