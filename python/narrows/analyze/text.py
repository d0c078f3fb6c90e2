"""Terminal output of `narrows analyze`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from narrows.analyze.make import Analysis, Datagrams
from narrows.report.accounts import (
    conclusion,
    control_lines,
    path_lines,
    remedy_lines,
    socket_lines,
    unknown_capacity,
)
from narrows.spec.measured import capacity_known, measured_control
from narrows.words import align, cell, count_of

MOST_FLOWS = 20
"""More flows than this are in the results directory only."""
_HEADS = ("Mbit/s", "packets", "retrans", "lost %", "RTT ms", "queue ms", "control")
_LOST = (
    "retrans: packets retransmitted; lost %: these without the spurious ones, which answer no "
    "loss; a loss event can have many"
)
_PAGES = ("report.html", "figure.png", "sequence.png")


def lines(made: Analysis) -> Iterator[str]:
    """The largest flows, the evidence for their controls, what is missing, and the files."""
    found = made.findings
    for file in found["files"]:
        segments = count_of(file["segments"], "TCP segment")
        yield f"{file['path']}: {segments} in {count_of(file['frames'], 'frame')}"
    flows = sorted(found["flows"], key=lambda flow: -flow["received_bytes"])
    shown = sorted(flows[:MOST_FLOWS], key=lambda flow: flow["id"])
    yield f"{found['duration_s']:.3f} s, {count_of(len(flows), 'flow')}"
    yield ""
    yield from align([("flow", *_HEADS), *((str(flow["name"]), *_cells(flow)) for flow in shown)])
    if any(flow["loss"]["retransmitted"] for flow in shown):
        yield _LOST
    yield ""
    if (told := conclusion(flows)) is not None:
        yield told
    for flow in shown:
        yield f"{flow['name']}: captured at {_place(flow)}"
        yield f"    {flow['causes']['sentence']}"
        about = (*remedy_lines(flow), *control_lines(flow), *socket_lines(flow), *flow["notes"])
        yield from (f"    {note}" for note in about)
        yield from (f"    {line}" for line in path_lines(flow))
    if len(flows) > len(shown):
        yield f"{len(flows) - len(shown)} smaller flows are in the results only"
    yield from (f"note: {note}" for note in found["notes"])
    yield from _trial(found["files"][0]["path"])
    if not capacity_known(made.result.trials[0].scenario):
        yield f"note: {unknown_capacity(flows)}"
    yield str(made.result.path)
    yield from (str(p) for p in (made.result.path / name for name in _PAGES) if p.is_file())


def datagram_lines(made: Datagrams) -> Iterator[str]:
    """Describes captures without TCP data, and says what they don't show."""
    found = made.findings
    for file in found["files"]:
        datagrams = count_of(file["datagrams"], "datagram")
        yield f"{file['path']}: {datagrams} in {count_of(file['frames'], 'frame')}, no TCP data"
    yield from found["notes"]
    yield "note: datagrams of UDP have no numbers, so their losses don't show; nor do causes"


def _trial(path: str) -> Iterator[str]:
    """For a capture of one of several trials of a run, that it is one."""
    folder = Path(path).resolve().parent.parent
    trials = len(list(folder.parent.glob("trial-*"))) if folder.name.startswith("trial-") else 0
    if trials > 1:
        yield f"note: this is {folder.name}; {folder.parent} has {trials} trials"


def _place(flow: Mapping[str, Any]) -> str:
    place = flow["vantage"]
    return "an unknown place" if place == "unknown" else f"the {place}"


def _cells(flow: Mapping[str, Any]) -> tuple[str, ...]:
    loss = flow["loss"]
    return (
        cell(flow["goodput_mbps"], "{:.2f}"),
        f"{flow['packets']:,}",
        f"{loss['retransmitted']:,}",
        cell(loss["loss_rate"], "{:.3f}", 100),
        cell(flow["rtt_ms"]["mean"], "{:.2f}"),
        cell(flow["queueing_ms"], "{:.2f}"),
        measured_control(flow),
    )
