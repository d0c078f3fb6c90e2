"""Slide 'Looking for ways to contribute?': BBR and CUBIC through queue managements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures.model import Bar, Figure, Guide, Panel
from narrows.figures.palette import name
from narrows.report import Check
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.ietf98 import testbed
from narrows.reproduce.judging import between

if TYPE_CHECKING:
    from narrows.store import StoredTrial

QUEUES = {"droptail": "drop-tail", "codel": "CoDel", "fq_codel": "FQ-CoDel", "pie": "PIE",
          "docsis_pie": "DOCSIS-PIE"}  # fmt: skip
MIXES = {"bbr": {"bbr": 2}, "cubic": {"cubic": 2}, "both": {"bbr": 1, "cubic": 1}}
RATE, RTT = 20.0, "40ms"
TRIALS = 5
SINGLE = ("codel", "pie", "docsis_pie")
"""AQMs with one queue for all."""


def cases(scope: Scope) -> Iterator[Case]:
    """Two flows of a kind, or one of each, through every discipline for a minute.

    Linux has no DOCSIS-PIE: there it is left out.
    """
    for queue in QUEUES:
        for mix, flows in MIXES.items():
            path = {"rate": f"{RATE:g}mbit", "rtt": RTT, "buffer": "375kb", "queue": queue}
            spec = testbed.spec(
                scope,
                path,
                [{"cca": cca, "count": count} for cca, count in flows.items()],
                duration="60s",
                warmup="10s",
                trials=testbed.trials(scope, TRIALS),
                sample_interval="1s",
            )
            yield Case({"queue": queue, "mix": mix}, spec, aside=queue == "docsis_pie")


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Goodput and RTT of each flow; loss, utilisation and the queue of the bottleneck."""
    row = run_frames.summary(trial).select(
        (100 * pl.col("loss_rate")).alias("loss"),
        (100 * pl.col("utilization")).alias("busy"),
        (pl.col("queue_mean_bdp") * trial.scenario["path"]["rtt_ns"] / 1e6).alias("delay_ms"),
    )
    return {"flows": testbed.per_flow(trial), "bottleneck": row}


def draw(data: Data) -> list[Picture]:
    """Delay and loss of each kind alone, and the shares of both together."""
    panels = (
        _bars(data, "delay_ms", "Mean queueing delay (ms)", "Two of a kind"),
        _bars(data, "loss", "Loss (percent)", "Two of a kind"),
        _shares(data),
    )
    figure = Figure(
        "BBR and CUBIC through queue managements",
        f"20 Mbit/s, 40 ms, 375 KB, 1 minute, mean of {TRIALS} trials; {data.scope.profile}",
        panels,
        "Bars by discipline: queueing delay and loss of two BBR or two CUBIC, and the goodput of "
        "one of each together.",
        height=2.3,
    )
    return [Picture("", "Delay and loss of each kind alone; goodput of both together", figure)]


def _queues(data: Data) -> list[str]:
    """Those that the back end has."""
    there = set(data["bottleneck"]["queue"])
    return [queue for queue in QUEUES if queue in there]


def _ticks(data: Data) -> tuple[tuple[float, str], ...]:
    return tuple((float(place), QUEUES[queue]) for place, queue in enumerate(_queues(data)))


def _bars(data: Data, column: str, label: str, title: str) -> Panel:
    bars = []
    for place, queue in enumerate(_queues(data)):
        for side, mix in ((-0.18, "bbr"), (0.18, "cubic")):
            values = _bottleneck(data, queue, mix)[column].to_list()
            bars.append(_bar(name(mix), place + side, values, mix))
    return Panel("", label, tuple(bars), title=title, ticks=_ticks(data))


def _shares(data: Data) -> Panel:
    bars = []
    for place, queue in enumerate(_queues(data)):
        for side, cca in ((-0.18, "bbr"), (0.18, "cubic")):
            bars.append(_bar(name(cca), place + side, _goodputs(data, queue, cca), cca))
    return Panel("", "Goodput (Mbit/s)", tuple(bars), title="One of each", ticks=_ticks(data),
                 y_range=(0, RATE), guides=(Guide(RATE / 2, ""),))  # fmt: skip


def _bar(label: str, x: float, values: list[float], colour: str) -> Bar:
    reach = (min(values), max(values)) if len(values) > 1 else None
    return Bar(label, x, sum(values) / len(values), colour, reach)


def _bottleneck(data: Data, queue: str, mix: str) -> pl.DataFrame:
    return data["bottleneck"].filter((pl.col("queue") == queue) & (pl.col("mix") == mix))


def _goodputs(data: Data, queue: str, cca: str) -> list[float]:
    rows = data["flows"].filter(
        (pl.col("queue") == queue) & (pl.col("mix") == "both") & (pl.col("cca") == cca)
    )
    return rows["goodput_mbps"].to_list()


def judge(data: Data) -> list[Finding]:
    """What was found, as rules: the slide asks for the experiment and expects nothing."""
    checks = [busy(data), holds(data), unheeded(data), takes(data), shares(data)]
    return [Finding("ietf98/aqm", checks)]


def busy(data: Data) -> Check:
    """The least utilisation of all."""
    rows = data["bottleneck"].group_by("queue", "mix").agg(pl.col("busy").mean())
    return between(
        "Every combination keeps the link busy.",
        f"The least utilisation over {rows.height} combinations, means over the trials.",
        "left open by the slide",
        [testbed.number(rows["busy"].min())],
        (95.0, 100.0),
        " %",
    )


def holds(data: Data) -> Check:
    """The queueing delay of CUBIC under AQM."""
    rows = data["bottleneck"].filter((pl.col("mix") == "cubic") & (pl.col("queue") != "droptail"))
    delays = rows.group_by("queue").agg(pl.col("delay_ms").mean())
    return between(
        "Each of them holds CUBIC's queue near its target of 5 to 15 ms.",
        "The greatest mean queueing delay of two CUBIC flows under the four disciplines.",
        "left open by the slide",
        [testbed.number(delays["delay_ms"].max())],
        (0.0, 20.0),
        " ms",
    )


def unheeded(data: Data) -> Check:
    """The loss that AQMs with one queue give BBR."""
    rows = data["bottleneck"].filter(pl.col("queue").is_in(SINGLE))
    loss = rows.group_by("mix", "queue").agg(pl.col("loss").mean())
    bbr = testbed.number(loss.filter(pl.col("mix") == "bbr")["loss"].min())
    cubic = testbed.number(loss.filter(pl.col("mix") == "cubic")["loss"].max())
    return Check(
        "BBR doesn't heed the drops of CoDel, PIE and DOCSIS-PIE.",
        "The least mean loss of two BBR flows under the three, against the greatest of two CUBIC "
        "flows. Passes if it is ten times as much or more.",
        "left open by the slide",
        f"{bbr:.2f} % for BBR, {cubic:.2f} % for CUBIC",
        bbr >= 10 * cubic,
    )


def takes(data: Data) -> Check:
    """BBR's share beside CUBIC in one queue."""
    found = []
    for queue in [queue for queue in _queues(data) if queue in SINGLE]:
        bbr, cubic = (sum(_goodputs(data, queue, cca)) for cca in ("bbr", "cubic"))
        found.append(100 * bbr / (bbr + cubic))
    return between(
        "Under these three BBR takes nearly all from CUBIC.",
        "BBR's least share of the goodput, one of each, over the three, mean over the trials.",
        "left open by the slide",
        [min(found)],
        (75.0, 100.0),
        " %",
    )


def shares(data: Data) -> Check:
    """BBR's share under FQ-CoDel."""
    pairs = zip(
        _goodputs(data, "fq_codel", "bbr"), _goodputs(data, "fq_codel", "cubic"), strict=True
    )
    return between(
        "FQ-CoDel shares evenly.",
        "BBR's share of the goodput, one of each, under FQ-CoDel.",
        "left open by the slide",
        [100 * bbr / (bbr + cubic) for bbr, cubic in pairs],
        (45.0, 55.0),
        " %",
    )
