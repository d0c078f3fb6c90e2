"""The network of a scenario as SVG: senders, path elements and receivers.

It is drawn from a checked scenario, so it shows what runs: every impairment in its place, every
link with its queue and its service, the propagation delay, and the reverse path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from xml.sax.saxutils import escape

from narrows.figures.frames import control_or_traffic
from narrows.figures.names import unit_for
from narrows.figures.palette import INK, colour
from narrows.spec.datagrams import traffic
from narrows.spec.scenario import Choice, Flow, Link, Path, Reverse, Scenario

BOX_W, BOX_H, GAP, ROW, MARGIN = 150, 66, 34, 112, 16
LINE = 15
MOST_LINES = 4
UNITS = {"ns": (1e6, "ms"), "bps": (1e6, "Mbit/s")}
"""The units and scales of a scenario's fields, by their suffixes; those of bytes vary."""
_NUMBER = re.compile(r"-\d+$")
"""The number of a flow of an entry."""
PLACES = ("at", "direction", "kind", "name")


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with lines of text; the first is its title."""

    lines: tuple[str, ...]
    tint: str = INK.light


def svg(scenario: Scenario) -> str:
    """The drawing of one scenario, a standalone document without scripts or links."""
    forward, backward = (_row(scenario, way) for way in ("forward", "backward"))
    senders, receivers = _ends(scenario)
    width = max(len(forward), len(backward))
    height = MARGIN * 2 + max(2 * ROW, len(senders) * (BOX_H + 12)) + 24
    length = MARGIN * 2 + (width + 2) * BOX_W + (width + 1) * GAP
    parts = [
        *_column(senders, MARGIN, height),
        *_column(receivers, length - MARGIN - BOX_W, height),
        *_chain(forward, width, height / 2 - ROW / 2 + 12, onward=True),
        *_chain(backward, width, height / 2 + ROW / 2 + 12, onward=False),
    ]
    title = escape(str(scenario["name"]))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {length} {height:g}" '
        f'width="{length}" height="{height:g}" font-family="sans-serif" font-size="12" '
        f'role="img" aria-label="The network of {title}">'
        '<defs><marker id="tip" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">'
        f'<path d="M0,0 L9,4 L0,8 z" fill="{INK.light}"/></marker></defs>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>'
        f'<text x="{MARGIN}" y="{MARGIN + 6}" font-weight="bold">{title}</text>'
    )
    return "\n".join([head, *parts, "</svg>", ""])


def _ends(scenario: Scenario) -> tuple[list[Box], list[Box]]:
    """The hosts on both sides: senders, grouped by their flows, and receivers."""
    boxes: dict[bool, list[Box]] = {False: [], True: []}
    for words, flows in groupby(scenario["flows"], key=_flow):
        alike = list(flows)
        first = alike[0]
        count = f"{len(alike)} " if len(alike) > 1 else ""
        tint = colour(str(first["cca"])).light
        boxes[bool(first["reverse"])].append(Box((f"{count}{words[0]}", *words[1:]), tint))
    return (
        boxes[False] or [Box(("receivers",))],
        boxes[True] or [Box(("receivers",))],
    )


def _flow(flow: Flow) -> tuple[str, ...]:
    """The description of a flow, in lines: its name first if it isn't named after its control."""
    name = _NUMBER.sub("", str(flow["name"]))
    told = (
        [control_or_traffic(flow)]
        if name in (str(flow["cca"]), control_or_traffic(flow))
        else [name, control_or_traffic(flow)]
    )
    if flow["workload"] and not traffic(flow):
        told.append(str(flow["workload"].get("kind", "workload")))
    if flow["size_bytes"]:
        told.append(_value("size_bytes", flow["size_bytes"]))
    if flow["start_ns"]:
        told.append(f"from {flow['start_ns'] / 1e9:g} s")
    if flow["repeat_gap_ns"] is not None:
        told.append(f"again after {_value('gap_ns', flow['repeat_gap_ns'])}")
    if flow["rtt_ns"]:
        told.append(f"RTT {_value('rtt_ns', flow['rtt_ns'])}")
    if flow["links"]:
        told.append(f"over {', '.join(flow['links'])}")
    return tuple(told)


def _row(scenario: Scenario, way: str) -> list[Box]:
    """The elements that packets of a direction pass, in order."""
    path = scenario["path"]
    impairments = [one for one in path["impairments"] if one["direction"] == way]
    before, behind = ([_impairment(i) for i in impairments if i["at"] == at]
                      for at in ("before", "behind"))  # fmt: skip
    links = []
    if way == "forward":
        links = [_link("bottleneck", path), *(_link(one["name"], one) for one in path["links"])]
        if path["loss"]:
            before = [Box(("random loss", f"{100 * path['loss']:g} %")), *before]
    elif path["reverse"]:
        links = [_link("reverse link", path["reverse"])]
    delay = Box(("propagation", _value("rtt_ns", path["rtt_ns"] / 2)))
    return [*before, *links, *behind, delay]


def _link(title: str, link: Path | Link | Reverse) -> Box:
    queue, service = link["queue"]["kind"], link["service"]["kind"]
    rate = f", {service}" if service != "constant" else ""
    room = link["buffer"] or {}
    held = ", ".join(
        f"{value:g} packets" if key == "packets" else _value(key, value)
        for key, value in room.items()
    )
    return Box((title, f"{_value('rate_bps', link['rate_bps'])}{rate}", queue, held))


def _impairment(impairment: Choice) -> Box:
    fields = ((k, v) for k, v in impairment.items() if k not in PLACES and v not in (None, 0, []))
    told = (f"{key.rsplit('_', 1)[0].replace('_', ' ')} {_value(key, v)}" for key, v in fields)
    return Box((str(impairment["kind"]).replace("_", " "), *told))


def _value(key: str, value: object) -> str:
    """A field of a scenario with its unit."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value) if not isinstance(value, list | dict) else "as described"
    suffix = key.rsplit("_", 1)[-1]
    scale, unit = unit_for([value], suffix) if suffix == "bytes" else UNITS.get(suffix, (1.0, ""))
    return f"{value / scale:g} {unit}".rstrip()


def _column(boxes: Sequence[Box], x: float, height: float) -> Iterator[str]:
    """A column of boxes, vertically centred."""
    if len(boxes) == 1:
        yield from _box(boxes[0], x, height / 2 + 12 - (ROW + BOX_H) / 2, ROW + BOX_H)
        return
    top = (height + 24 - len(boxes) * (BOX_H + 12)) / 2
    for place, box in enumerate(boxes):
        yield from _box(box, x, top + place * (BOX_H + 12))


def _chain(boxes: Sequence[Box], width: int, y: float, *, onward: bool) -> Iterator[str]:
    """A row of boxes joined by arrows; on the reverse path from right to left."""
    step = BOX_W + GAP
    ordered = list(boxes) if onward else list(reversed(boxes))
    first = MARGIN + step + (0 if onward else (width - len(boxes)) * step)
    for place, box in enumerate(ordered):
        yield from _box(box, first + place * step, y - BOX_H / 2)
    last = MARGIN + (width + 1) * step
    ends = [MARGIN + BOX_W, *(first + p * step for p in range(len(ordered)))]
    for place in range(len(ordered) + 1):
        start = ends[place] + (BOX_W if place else 0)
        stop = ends[place + 1] if place < len(ordered) else last
        a, b = (start + 2, stop - 2) if onward else (stop - 2, start + 2)
        yield (
            f'<line x1="{a:g}" y1="{y:g}" x2="{b:g}" y2="{y:g}" stroke="{INK.light}" '
            'marker-end="url(#tip)"/>'
        )


def _box(box: Box, x: float, y: float, height: float = BOX_H) -> Iterator[str]:
    lines = [line for line in box.lines if line][:MOST_LINES]
    yield (
        f'<rect x="{x:g}" y="{y:g}" width="{BOX_W}" height="{height:g}" rx="6" fill="#f8fafc" '
        f'stroke="{box.tint}" stroke-width="1.5"/>'
    )
    top = y + height / 2 - (len(lines) - 1) * LINE / 2 + 4
    for place, words in enumerate(lines):
        weight = ' font-weight="bold"' if place == 0 else ""
        yield (
            f'<text x="{x + BOX_W / 2:g}" y="{top + place * LINE:g}" text-anchor="middle"{weight}>'
            f"{escape(words[:26])}</text>"
        )
