"""Slide 'Looking for ways to contribute?': BBR and CUBIC through queue managements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures.model import Bar, Figure, Guide, Panel
from narrows.figures.palette import name
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, make_note

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

QUEUES = {"droptail": "drop-tail", "codel": "CoDel", "fq_codel": "FQ-CoDel", "pie": "PIE",
          "docsis_pie": "DOCSIS-PIE"}  # fmt: skip
MIXES = {"bbr": {"bbr": 2}, "cubic": {"cubic": 2}, "both": {"bbr": 1, "cubic": 1}}
RATE, RTT = 20.0, "40ms"
TRIALS = 5


def cases(scope: Scope) -> Iterator[Case]:
    """Two flows of a kind, or one of each, through every discipline for a minute.

    DOCSIS-PIE is left out on back ends with Linux, which doesn't have it.
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
        _bars(data, "delay_ms", "Mean queueing delay (ms)", "Two flows of one control"),
        _bars(data, "loss", "Loss (%)", "Two flows of one control"),
        _shares(data),
    )
    figure = Figure(
        "BBR and CUBIC behind managed queues",
        f"20 Mbit/s, 40 ms, 375 KB, 1 minute, mean and range of trials; {data.scope.profile}",
        panels,
        "Bars by discipline: queueing delay and loss of two BBR or two CUBIC, and the goodput of "
        "one of each together.",
        height=2.3,
    )
    return [Picture("", "Delay and loss of each kind alone; goodput of both together", figure)]


def _queues(data: Data) -> list[str]:
    """The disciplines that the back end has."""
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
    return Panel(
        "",
        "Goodput (Mbit/s)",
        tuple(bars),
        title="One BBR and one CUBIC flow",
        ticks=_ticks(data),
        y_range=(0, RATE),
        guides=(Guide(RATE / 2, "fair"),),
    )


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
    """The results; the slide asks for the experiment without a claim."""
    notes = [busy(data), delays(data), losses(data), shares(data)]
    return [Finding("ietf98/aqm", [], notes=notes)]


def busy(data: Data) -> Check:
    """The lowest utilisation of all runs."""
    rows = data["bottleneck"].group_by("queue", "mix").agg(pl.col("busy").mean())
    return make_note(
        "How busy the link is.",
        f"The least utilisation over {rows.height} combinations, means over the trials.",
        f"{testbed.number(rows['busy'].min()):.1f} %",
    )


def _each(data: Data, column: str, unit: str) -> str:
    """A column for two flows of a kind through every discipline, in words."""
    told = []
    for queue in _queues(data):
        values = (_bottleneck(data, queue, mix)[column].to_list() for mix in ("bbr", "cubic"))
        bbr, cubic = (interval(data, found, 3, unit) for found in values)
        told.append(f"{QUEUES[queue]}: {bbr} for BBR, {cubic} for CUBIC")
    return "; ".join(told)


def delays(data: Data) -> Check:
    """The queueing delay under each discipline."""
    return make_note(
        "How long the queue is.",
        "Mean queueing delay of two BBR and of two CUBIC flows.",
        _each(data, "delay_ms", " ms"),
    )


def losses(data: Data) -> Check:
    """The loss under each discipline."""
    return make_note(
        "How much is dropped.",
        "Packets dropped of packets arrived, two BBR and two CUBIC flows.",
        _each(data, "loss", " %"),
    )


def shares(data: Data) -> Check:
    """BBR's share beside CUBIC under each discipline."""
    told = []
    for queue in _queues(data):
        pairs = zip(_goodputs(data, queue, "bbr"), _goodputs(data, queue, "cubic"), strict=True)
        found = interval(data, [100 * bbr / (bbr + cubic) for bbr, cubic in pairs], 3, " %")
        told.append(f"{QUEUES[queue]}: {found}")
    return make_note(
        "What BBR takes beside CUBIC.",
        "BBR's share of the goodput, one of each.",
        "; ".join(told),
    )
