"""The metrics that come first in the table and on the page of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from narrows.metrics.catalogue import find, scale_of

OF_APPLICATIONS = (
    ("freezes", ("frozen_s", "delay_p95_ms", "freezes", "media_mbps")),
    ("stalls", ("stalls", "stalled_s", "startup_s")),
    ("completion_p50_s", ("completion_p50_s", "completion_p95_s", "completion_p99_s")),
)
"""The leading metrics of a class that has the metric on the left: a call, a video, transfers.

The first matching row counts, since the frames of calls and the chunks of videos are transfers,
too. The first metric is what a user notices: a call with little delay may freeze all the time.
"""
FIRST = (
    "utilization", "loss_rate", "queue_mean_ms", "share",
    "jain", "goodput_mbps", "delay_p95_ms", "convergence_s",
)  # fmt: skip
"""The leading metrics of other studies; a metric that only flow classes have is shown for each
class."""
_AT_A_VARYING_RATE = {"queue_mean_ms": "delay_p95_ms", "delay_p95_ms": "queue_mean_ms"}
"""The metrics that change places where the bottleneck's rate varies: the mean queue over time hides
how long packets wait while the link is slow."""
MOST_COLUMNS = 8
VARIES = 0.05
"""The smallest difference of means that counts: absolute for shares, else relative to the
largest."""


def leading(metrics: Sequence[str], *, varying_rate: bool = False) -> list[str]:
    """Returns the first columns of the table: metrics of applications, of the path, shares."""
    swapped = _AT_A_VARYING_RATE if varying_rate else {}
    ranked = [
        column
        for name in (swapped.get(one, one) for one in FIRST)
        for column in metrics
        if column == name or (name not in metrics and column.rpartition(".")[2] == name)
    ]
    return list(dict.fromkeys([*of_applications(metrics), *ranked]))[:MOST_COLUMNS]


def of_applications(metrics: Sequence[str]) -> list[str]:
    """The metrics of the applications of all classes, the first of each class before the second."""
    columns = set(metrics)
    places: dict[str, int] = {}
    for group in dict.fromkeys(column.rpartition(".")[0] for column in metrics):
        head = f"{group}." if group else ""
        about = next((its for one, its in OF_APPLICATIONS if f"{head}{one}" in columns), ())
        known = (f"{head}{name}" for name in about)
        places |= {name: at for at, name in enumerate(known) if name in columns}
    return sorted(places, key=lambda name: places[name])


def main_subjects(metrics: Sequence[str]) -> list[str]:
    """Returns the first two metrics of the first application: of a call, frozen time and delay."""
    own = of_applications(metrics)
    first = [name for name in own if name.rpartition(".")[0] == own[0].rpartition(".")[0]]
    return first[:2]


def opening(
    cells: Sequence[Mapping[str, Any]], metrics: Sequence[str], expected: Sequence[str]
) -> str | None:
    """Returns the metric that the page opens on, if possible one with a value everywhere.

    It is the first that exists of these: a metric with `expected` bounds; a metric of an
    application, if it varies; the share of a class, which most other sweeps are about, if it varies
    or only one combination ran; the metric of the table whose means differ most. The differences of
    shares are absolute, those of other metrics relative to the largest mean.
    """
    cells = [cell for cell in cells if cell["values"]]
    everywhere = [name for name in metrics if all(name in cell["values"] for cell in cells)]
    metrics = everywhere or metrics
    spans = {name: span(cells, name) for name in leading(metrics)}
    own = [name for name in of_applications(metrics) if spans.get(name, 0.0) >= VARIES]
    least = VARIES if len(cells) > 1 else 0.0
    shares = [n for n, reach in spans.items() if n.endswith(".share") and reach >= least]
    ranked = sorted(spans, key=lambda name: -round(spans[name], 1))
    bounded = [name for name in expected if name in metrics]
    return next(iter(bounded or own or shares or ranked or metrics), None)


def span(cells: Sequence[Mapping[str, Any]], name: str) -> float:
    """Returns the range of a metric's means relative to the largest; for shares, to the whole."""
    means = [cell["values"][name][0] for cell in cells if name in cell["values"]]
    if not means:
        return 0.0
    metric = find(name)
    part = metric is not None and metric.part
    largest = scale_of(name) if part else max(map(abs, means))
    return float((max(means) - min(means)) / largest) if largest else 0.0
