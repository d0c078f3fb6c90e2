"""A specification that describes a capture as closely as possible."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Collection, Sequence
from textwrap import wrap

from narrows._native import MAX_DURATION_NS, MAX_NAME
from narrows.analyze.inferred import ends, impairments, workload
from narrows.analyze.path import Flow, PathEstimate, round_trip_ms
from narrows.errors import InputError
from narrows.plan import Plan, Trial, canonical_json, content_hash, plan
from narrows.spec.estimates import PARTS, describe_estimates
from narrows.spec.measured import UNKNOWN_CONTROL, measured_control
from narrows.spec.reading import CheckedSpecification, parse
from narrows.spec.values import to_toml

BACKEND = "capture"
STAND_IN = "cubic"
"""The control that a specification names for a flow whose control is unknown."""
_ENGINE = "capture 1"

_NO_QUEUE = "# a guess: the measurement shows no queue"
_USUAL = "# the mean: its bursts wait in a queue that isn't simulated"
_AT_LEAST = "# the highest seen: the capacity is unknown"


def specification(
    name: str,
    flows: Sequence[Flow],
    path: PathEstimate,
    measured: tuple[str, float],
    interval_ns: int,
    given: Collection[str] = (),
) -> CheckedSpecification:
    """The specification; its flows are those of the capture, in their order.

    `measured` says where the flows come from, and for how many seconds they were observed; `given`
    are the places of the path that aren't estimates. Raises InputError with the origin if no
    specification can describe the flows.
    """
    place, duration_s = measured
    if duration_s <= 0:
        remedy = "packets over some time, in the order in which they were seen,"
        raise InputError.at(place, "packets of a single instant", remedy)
    if duration_s > MAX_DURATION_NS / 1e9:
        found = f"packets {duration_s:.0f} s apart ({duration_s / 86_400:.1f} days)"
        raise InputError.at(place, found, "at most 1000000 s (11.6 days), cut out of it,")
    interval_ns = min(interval_ns, max(round(duration_s * 1e9), 1))
    run = (duration_s, interval_ns)
    head = _head(given)
    text = head + _text(name, flows, path, run, causes=False)
    # An import shows no packets, so no causes.
    if all("causes" in flow for flow in flows):
        whole = head + _text(name, flows, path, run, causes=True)
        # An unusual capture may show causes that no specification can express.
        with contextlib.suppress(InputError):
            return CheckedSpecification(parse(whole, name).spec, whole)
    try:
        return CheckedSpecification(parse(text, name).spec, text)
    except InputError as error:
        problem = error.problems[0]
        found = f"what no specification can describe ({problem.place}: {problem.found})"
        raise InputError.at(place, found, problem.remedy) from None


def _head(given: Collection[str]) -> str:
    """The comment at the beginning of a specification: its origin and its estimates."""
    told = describe_estimates(list(PARTS), given)
    words = (
        f"This describes a measurement. {f'Its {told} ' if told else ''}With it `narrows run` and "
        "`narrows compare` simulate what was measured."
    )
    lines = wrap(words, 92, break_on_hyphens=False)
    return "".join(f"# {line}\n" for line in lines) + "\n"


def _text(
    name: str, flows: Sequence[Flow], path: PathEstimate, run: tuple[float, int], *, causes: bool
) -> str:
    """The specification as TOML; `causes` says whether it includes what limited the flows."""
    duration_s, interval_ns = run
    lines = [
        f"name = {to_toml(name, inline=True)}",
        "",
        "[path]",
        f'rate = "{path.rate_bps}bit"' + ("" if path.known else f" {_AT_LEAST}"),
        f'rtt = "{_duration(path.rtt_ns)}"' + ("" if path.delay_known else " # not known"),
        f'buffer = "{path.buffer_bytes}b"' + ("" if path.buffer_known else f" {_NO_QUEUE}"),
        "",
        *(impairments(flows) if causes else ()),
    ]
    for title, flow in zip(names(flows), flows, strict=True):
        lines += _flow(title, flow, path, causes)
    lines += [
        "",
        "[run]",
        f'duration = "{_duration(_ns(duration_s))}"',
        f'sample_interval = "{_duration(interval_ns)}"',
    ]
    return "\n".join(lines) + "\n"


def _flow(title: str, flow: Flow, path: PathEstimate, causes: bool) -> list[str]:
    control = measured_control(flow)
    known = control != UNKNOWN_CONTROL
    rtt_ns = path.usual_rtt_ns or round((round_trip_ms(flow) or 0.0) * 1e6)
    lines = [
        "",
        "[[flows]]",
        f"name = {to_toml(title, inline=True)}",
        f'cca = "{control}"' if known else f'cca = "{STAND_IN}" # not known',
        f'start = "{_duration(round(flow["start_s"] * 1e9))}"',
    ]
    if rtt_ns > path.rtt_ns:
        lines.append(f'rtt = "{_duration(rtt_ns)}"' + (f" {_USUAL}" if path.usual_rtt_ns else ""))
    lines += ends(flow) if causes else ()
    pauses = workload(flow) if causes else None
    if pauses is not None:
        lines += [pauses, f'stop = "{_duration(_ns(flow["end_s"]))}"']
    elif flow["complete"] and flow["received_bytes"]:
        lines.append(f'size = "{flow["received_bytes"]}b"')
    elif flow["end_s"] > flow["start_s"]:
        lines.append(f'stop = "{_duration(_ns(flow["end_s"]))}"')
    return lines


def names(flows: Sequence[Flow]) -> list[str]:
    """The flows' names, unique and short enough; a repeated one gets a number."""
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


def _duration(ns: int) -> str:
    """A time in the largest unit in which it is a whole number."""
    units = (("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1))
    return next(f"{ns // size}{unit}" for unit, size in units if ns % size == 0)


def plan_of_capture(
    loaded: CheckedSpecification, flows: Sequence[Flow], digest: str, path: PathEstimate
) -> Plan:
    """The plan whose only trial is the capture; unknown controls are "unknown" in it."""
    base = plan(loaded.spec, _ENGINE, BACKEND)
    scenario = base.trials[0].scenario
    if not path.known:
        scenario["path"]["capacity_known"] = False
    if not path.delay_known:
        scenario["path"]["delay_known"] = False
    controls = [measured_control(flow) for flow in flows]
    for entry, control in zip(scenario["flows"], controls, strict=True):
        entry["cca"] = control
        if path.usual_rtt_ns:
            entry["rtt_ns"] = None  # only a simulation needs its mean
    key = content_hash([canonical_json(scenario), _ENGINE, BACKEND, digest])
    return Plan(base.name, (Trial.of(1, scenario, key),), tuple(controls), key)
