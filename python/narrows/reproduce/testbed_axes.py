"""The parts of possible testbeds: properties that documents leave open, and changes for them.

`testbeds.py` beside the studies of a document lists the document's own; what several share is here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from narrows.packets import PACKET_BYTES
from narrows.reproduce.exhibit import Exhibit

AHEAD_S = 5.0
LATER_S = 0.25
"""Half of the 500 ms over which the documents average."""

Spec = dict[str, Any]
Edit = Callable[[Spec], None]


@dataclass(frozen=True, slots=True)
class Level:
    """One possibility of an axis: its name and how it changes a specification."""

    name: str
    edit: Edit


@dataclass(frozen=True, slots=True)
class TestbedAxis:
    """A property that a document leaves open: why, and the possibilities beside the chosen one.

    It concerns the figures in `figures`, or all. Axes that are `crossed` are varied together.
    """

    why: str
    levels: tuple[Level, ...]
    figures: tuple[str, ...] = ()
    crossed: bool = False

    def concerns(self, exhibit: Exhibit) -> bool:
        """Returns True if it is open for a figure."""
        return not self.figures or exhibit.identifier in self.figures


def timers(lateness: str) -> Edit:
    """Returns the change that makes pacing timers this late, unless fq paces."""

    def edit(spec: Spec) -> None:
        if not spec["host"].get("fq"):
            spec["host"]["timer_lateness"] = lateness

    return edit


def kind_ahead(first: str) -> Edit:
    """Returns the change that starts one kind of flows before the others."""

    def edit(spec: Spec) -> None:
        kinds = {flow["cca"] for flow in spec["flows"]}
        for flow in spec["flows"]:
            together = seconds(flow.get("start", "0s")) == 0
            if len(kinds) > 1 and not flow["cca"].startswith(first) and together:
                flow["start"] = f"{AHEAD_S:g}s"

    return edit


def later(spec: Spec) -> None:
    """Starts every flow later, which shifts their behaviour relative to windows of time."""
    for flow in spec["flows"]:
        flow["start"] = f"{seconds(flow.get('start', '0s')) + LATER_S:g}s"


def offload(spec: Spec) -> None:
    """Super-packets, which netem's limit counts as one packet each."""
    path = spec["path"]
    if not str(path.get("buffer", "")).endswith("bdp"):
        return
    rate, rtt, room = (number(path[key]) for key in ("rate", "rtt", "buffer"))
    packets = round(room * rate * 1e6 * rtt / 1000 / 8 / PACKET_BYTES)
    path["buffer"] = f"{max(packets, 1)}pkt"
    spec["host"]["gso"] = True


def shape(spec: Spec, **service: Any) -> bool:  # noqa: ANN401 (parameters of a service)
    """Gives the bottleneck a service where it has the usual one at a known rate."""
    path = spec["path"]
    plain = "rate" in path and not {"preset", "service", "links"} & path.keys()
    if plain:
        path["service"] = service
    return plain


def number(text: str) -> float:
    """Returns the number of values such as "40mbit", "45ms", "0.5bdp"."""
    return float(text.rstrip("abcdefghijklmnopqrstuvwxyz"))


def seconds(text: str) -> float:
    """Returns the seconds of values such as "5s" or "250ms"."""
    return number(text) / (1000 if text.endswith("ms") else 1)


STARTS = TestbedAxis(
    "Who starts first isn't said: one kind, 5 s ahead.",
    (Level("BBR first", kind_ahead("bbr")), Level("CUBIC first", kind_ahead("cubic"))),
)
CLOCK = TestbedAxis(
    "When a clock of windows begins isn't said: a quarter of a second before the flows.",
    (Level("windows shifted", later),),
)
OFFLOAD = TestbedAxis(
    "Whether segmentation offload was on isn't said; by default it is. A burst can then reach the "
    "bottleneck as one super-packet, and netem's limit counts it as one packet.",
    (Level("offload", offload),),
    crossed=True,
)
