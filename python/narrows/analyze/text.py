"""Terminal output of `narrows analyze`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from narrows.analyze.limits import limits
from narrows.analyze.run import Analysis
from narrows.figures.frames import capacity_known
from narrows.words import counted

MOST_FLOWS = 20
"""More flows than this are in the results directory only."""
_HEADS = ("Mbit/s", "packets", "retrans", "lost %", "RTT ms", "queue ms", "control")
_PAGES = ("report.html", "figure.png", "sequence.png")


def lines(made: Analysis) -> Iterator[str]:
    """The largest flows, the evidence for their controls, what is missing, and the files."""
    found = made.findings
    for file in found["files"]:
        segments = counted(file["segments"], "TCP segment")
        yield f"{file['path']}: {segments} in {counted(file['frames'], 'frame')}"
    flows = sorted(found["flows"], key=lambda flow: -flow["received_bytes"])
    shown = sorted(flows[:MOST_FLOWS], key=lambda flow: flow["id"])
    yield f"{found['duration_s']:.3f} s, {counted(len(flows), 'flow')}"
    yield ""
    yield from _table(shown)
    yield ""
    for flow in shown:
        yield f"{flow['name']}: captured at {_place(flow)}"
        yield f"    {limits(flow)}"
        yield from (f"    {note}" for note in (*flow["control"]["evidence"], *flow["notes"]))
        yield from (f"    {line}" for line in _ways(flow))
    if len(flows) > len(shown):
        yield f"{len(flows) - len(shown)} smaller flows are in the results only"
    yield from (f"note: {note}" for note in found["notes"])
    if not capacity_known(made.result.trials[0].scenario):
        yield "note: no queue was filled: the capacity wasn't reached, so it is unknown"
    yield str(made.result.path)
    yield from (str(p) for p in (made.result.path / name for name in _PAGES) if p.is_file())


def _ways(flow: Mapping[str, Any]) -> Iterator[str]:
    """Loss and delay of its packets from each capture to the next."""
    stages = flow["stages"] or ([{"from": "", **flow["ends"]}] if flow["ends"] else [])
    for stage in stages:
        where = f"{stage['from']} to {stage['to']}" if stage["from"] else "between the captures"
        above = stage["delay_variation_ms"]
        least = stage["least_delay_ms"]
        parts = [f"{stage['lost']:,} of {stage['sent']:,} packets lost"]
        parts += [f"least delay {least:.3f} ms"] if least is not None else []
        parts += [f"{above['mean']:.3f} ms above it"] if above["mean"] is not None else []
        yield f"{where}: {', '.join(parts)}"


def _place(flow: Mapping[str, Any]) -> str:
    place = flow["vantage"]
    return "an unknown place" if place == "unknown" else f"the {place}"


def _table(flows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    rows = [("flow", *_HEADS), *((str(flow["name"]), *_cells(flow)) for flow in flows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        yield f"{row[0]:{widths[0]}}  {'  '.join(cells)}"


def _cells(flow: Mapping[str, Any]) -> tuple[str, ...]:
    loss = flow["loss"]
    return (
        _cell(flow["goodput_mbps"], "{:.2f}"),
        f"{flow['packets']:,}",
        f"{loss['retransmitted']:,}",
        _cell(loss["loss_rate"], "{:.3f}", 100),
        _cell(flow["rtt_ms"]["mean"], "{:.2f}"),
        _cell(flow["queueing_ms"], "{:.2f}"),
        str(flow["control"]["control"]),
    )


def _cell(value: float | None, form: str, scale: float = 1.0) -> str:
    return "-" if value is None else form.format(value * scale)
