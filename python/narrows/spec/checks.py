"""What single fields can't show: relations between the parts of a specification."""

from __future__ import annotations

from collections.abc import Iterator

from narrows.errors import Problem
from narrows.spec import registry
from narrows.spec.elements import ElementError, read_value
from narrows.spec.expect import problems
from narrows.spec.fields import MAX_BYTES, MAX_FLOWS, MAX_SEED, describe
from narrows.spec.models import Flow, Path, Reverse, Spec
from narrows.spec.naming import NamedFlow, named_flows
from narrows.spec.python_control import is_own, misfits
from narrows.spec.suggest import one_of
from narrows.spec.units import bdp_bytes, format_duration, format_size, quote

PACKET_BYTES = 1500
"""IP bytes of a full packet."""
MAX_ROWS = 10_000_000
"""Instants of sampling in a run; more is a slip of a unit."""
FIRST_LINK = "bottleneck"
"""The name of the path's own link."""
ALL = "all"
"""The value of `stop_when` that names no flow."""


def relations(spec: Spec) -> list[Problem]:
    """Every problem between fields, in the order of the specification."""
    count = sum(entry.count for entry in spec.flows)
    if count > MAX_FLOWS:
        return [Problem("flows", f"{count} flows in all", f"at most {MAX_FLOWS}")]
    flows = named_flows(spec)
    expected = enumerate(spec.expect)
    return [
        *_path(spec),
        *_windows(spec),
        *_flows(spec),
        *_names(flows),
        *_chains(spec, flows),
        *_run(spec, flows),
        *(problem for index, one in expected for problem in problems(one, f"expect[{index}]")),
    ]


def _path(spec: Spec) -> Iterator[Problem]:
    path = spec.path
    yield from _room("path", path, path.rtt)
    names = [FIRST_LINK]
    for index, link in enumerate(path.links):
        place = f"path.links[{index}]"
        yield from _room(place, link, path.rtt)
        if link.name in names:
            yield Problem(f"{place}.name", f"{quote(link.name)} twice", "a name of its own")
        names.append(link.name)
    if path.reverse is not None:
        yield from _room("path.reverse", path.reverse, path.rtt)
    for index, flow in enumerate(spec.flows):
        if flow.reverse and path.reverse is None:
            remedy = "a [path.reverse] with a rate, too,"
            yield Problem(f"flows[{index}].reverse", "true without a way back", remedy)
        for name in flow.links or ():
            if name not in names:
                found = f"{quote(name)}, which is no link"
                yield Problem(f"flows[{index}].links", found, one_of(name, names))
        if flow.links is not None and not flow.links:
            yield Problem(f"flows[{index}].links", "no link", one_of("", names))


def _room(place: str, link: Path | Reverse, rtt: int) -> Iterator[Problem]:
    """Whether a queue has room for a packet, said once."""
    limit, size = link.queue.limit, link.buffer
    at = f"{place}.buffer" if limit is None else f"{place}.queue.limit"
    if limit is not None:
        if size is not None:
            yield Problem(at, "both a buffer and a limit", "one of the two")
        size = limit
    if size is None:
        if registry.queues()[link.queue.kind]["room"][1] is None:
            yield Problem(at, "nothing", 'a size such as "1.75bdp", "250kb" or "100pkt"')
        return
    if size.unit == "pkt":
        return
    amount = size.in_bytes(bdp_bytes(link.rate, rtt))
    found = f'"{format_size(size)}"' + (f" ({amount} bytes)" if size.unit == "bdp" else "")
    if amount < PACKET_BYTES:
        yield Problem(at, found, f'room for a packet ("{PACKET_BYTES}b") or more')
    elif amount > MAX_BYTES:
        yield Problem(at, found, "at most 1000gb")


def _windows(spec: Spec) -> Iterator[Problem]:
    places = [("host", spec.host.receive_window)]
    places += [(f"flows[{i}]", flow.receive_window) for i, flow in enumerate(spec.flows)]
    for place, window in places:
        if window is not None and window < PACKET_BYTES:
            remedy = f'room for a packet ("{PACKET_BYTES}b") or more'
            yield Problem(f"{place}.receive_window", f'"{window}b"', remedy)


def _flows(spec: Spec) -> Iterator[Problem]:
    for index, flow in enumerate(spec.flows):
        place = f"flows[{index}]"
        yield from _times(flow, place, spec.run.duration)
        yield from _size(flow, place)
        if is_own(flow.cca):
            yield from _own_options(spec, flow, place)
        else:
            yield from _options(flow, place)


def _times(flow: Flow, place: str, duration: int) -> Iterator[Problem]:
    start = format_duration(flow.start)
    if flow.start >= duration:
        end = format_duration(duration)
        yield Problem(
            f"{place}.start", f'"{start}"', f'a start before the end of the run ("{end}")'
        )
    if flow.stop is not None and flow.stop <= flow.start:
        stop = format_duration(flow.stop)
        yield Problem(f"{place}.stop", f'"{stop}"', f'a stop after the start ("{start}")')


def _size(flow: Flow, place: str) -> Iterator[Problem]:
    if flow.workload is not None:
        beside = {"size": flow.size, "repeat_gap": flow.repeat_gap, "while": flow.while_}
        for key in (key for key, value in beside.items() if value is not None):
            yield Problem(f"{place}.{key}", f"`{key}` beside a workload", "one of the two")
        return
    if flow.size is None and flow.repeat_gap is not None:
        yield Problem(f"{place}.repeat_gap", "a gap without a size", "a size for each flow, too,")
    if flow.size is not None and flow.stop is not None:
        yield Problem(f"{place}.stop", "both a size and a stop", "one of the two")
    if flow.repeat_gap is None and flow.while_ is not None:
        yield Problem(f"{place}.while", "`while` without a gap", "a `repeat_gap`, too,")


def _own_options(spec: Spec, flow: Flow, place: str) -> Iterator[Problem]:
    source = spec.controls.get(flow.cca)
    if source is not None:
        yield from misfits(flow.cca, source, flow.options, place)


def _options(flow: Flow, place: str) -> Iterator[Problem]:
    known = {option["name"]: option for option in registry.ccas()[flow.cca]["parameters"]}
    for name, value in flow.options.items():
        at = f"{place}.options.{name}"
        today = registry.respelled(flow.cca, name, value)
        if today is not None:
            yield Problem(at, describe(value), f"`{today}`")
        elif name not in known:
            found = f"{quote(name)}, which is no option of {flow.cca}"
            yield Problem(at, found, one_of(name, known))
        else:
            try:
                read_value(value, known[name])
            except ElementError as error:
                yield Problem(at, error.found, error.remedy)


def _names(flows: list[NamedFlow]) -> Iterator[Problem]:
    owners: dict[str, int] = {}
    for flow in flows:
        place = f"flows[{flow.index}].name"
        if flow.name == ALL:
            yield Problem(place, f'"{ALL}"', "another name (`stop_when` gives this one a meaning)")
        owner = owners.setdefault(flow.name, flow.index)
        if owner != flow.index:
            found = f"{quote(flow.name)}, also the name of a flow of flows[{owner}]"
            yield Problem(place, found, "a name of its own")


def _chains(spec: Spec, flows: list[NamedFlow]) -> Iterator[Problem]:
    for index, entry in enumerate(spec.flows):
        if entry.while_ is None:
            continue
        place = f"flows[{index}].while"
        own = [flow.name for flow in flows if flow.index == index]
        if entry.while_ in own:
            yield Problem(place, f"{quote(entry.while_)}, the chain itself", "another flow")
        else:
            others = [flow for flow in flows if flow.index != index]
            yield from _ends(place, entry.while_, others, ())


def _ends(
    place: str, name: str, flows: list[NamedFlow], also: tuple[str, ...]
) -> Iterator[Problem]:
    """Whether `name` is a flow that can be done."""
    entry = next((flow.entry for flow in flows if flow.name == name), None)
    if entry is None:
        remedy = one_of(name, [*also, *(flow.name for flow in flows)][:20])
        yield Problem(place, f"{quote(name)}, which is no flow", remedy)
    elif entry.size is None or (entry.repeat_gap is not None and entry.while_ is None):
        found = f"{quote(name)}, which never ends"
        yield Problem(place, found, "a flow with a size, repeated only `while` another lasts,")


def _run(spec: Spec, flows: list[NamedFlow]) -> Iterator[Problem]:
    run = spec.run
    if run.warmup >= run.duration:
        found, end = format_duration(run.warmup), format_duration(run.duration)
        yield Problem("run.warmup", f'"{found}"', f'a warm-up shorter than the run ("{end}")')
    if run.duration // run.sample_interval > MAX_ROWS:
        found = f'"{format_duration(run.sample_interval)}"'
        least = format_duration(-(-run.duration // MAX_ROWS))
        yield Problem("run.sample_interval", found, f'at least "{least}" for a run of this length')
    if run.seed + run.trials - 1 > MAX_SEED:
        yield Problem("run.seed", str(run.seed), f"a seed of at most {MAX_SEED - run.trials + 1}")
    if run.stop_when == ALL:
        if not any(flow.entry.size is not None for flow in flows):
            yield Problem("run.stop_when", '"all" without a flow that ends', "a flow with a size")
    elif run.stop_when is not None:
        yield from _ends("run.stop_when", run.stop_when, flows, (ALL,))
