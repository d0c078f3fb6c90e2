"""Figure 8: BBR and CUBIC together in a shallow buffer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Bar, Figure, Guide, Line, Panel
from narrows.figures.palette import name
from narrows.metrics.bounds import combine
from narrows.report import Check
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds

from . import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

BUFFER = 0.5
MANY = 8
LOSS = 10.0
"""The paper's, in percent."""
AXIS_END = 70.0
"""Where the paper's axis of the throughput ends, in percent of the rate."""


def cases(scope: Scope) -> Iterator[Case]:
    """The cell that the figure may show, one with more flows, and the others in the text."""
    yield testbed.cell(scope, "mix", 4, 80, BUFFER)
    yield testbed.cell(scope, "mix", MANY, 80, BUFFER)
    if not scope.quick:
        for rate in testbed.RATES:
            for count in testbed.FLOWS:
                if (rate, count) not in ((80, 4), (80, MANY)):
                    yield testbed.cell(scope, "mix", count, rate, BUFFER)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Throughput of both classes in windows of 500 ms, and the loss."""
    return {"throughput": run_frames.throughput(trial), "loss": testbed.loss_rate(trial)}


def draw(data: Data) -> list[Picture]:
    """Each class in percent of the rate over a minute of the first trial."""
    rows = _figure(data["throughput"]).filter(pl.col("trial") == 1)
    start = float(frames.column(rows, "start_s")[0])
    lines = []
    for kind in ("bbr", "cubic"):
        mine = rows.filter(pl.col("class") == kind)
        x, y = frames.column(mine, "start_s") - start, frames.column(mine, "percent")
        lines.append(Line(name(kind), x, y, kind, kind="step"))
    panel = Panel("Time (s)", "Throughput (% of rate)", tuple(lines), x_range=(0, 60),
                  y_range=(0, 102),
                  guides=(Guide(50, "fair"), Guide(AXIS_END, "the paper's axis ends")))  # fmt: skip
    figure = Figure(
        "Throughput of BBR and CUBIC in a shallow buffer",
        f"2 BBR + 2 CUBIC, 80 Mbit/s, 25 ms, 0.5 BDP; windows of 500 ms; {data.scope.profile}",
        (panel, _losses(data)),
        "Throughput of BBR and of CUBIC over a minute, and the loss with 4 and 8 flows.",
        height=3.0,
    )
    words = "Throughput of both classes in percent of the rate; the loss beside the paper's 10 %"
    return [Picture("", words, figure)]


def _losses(data: Data) -> Panel:
    """The loss with the figure's flows and with more, and the number in the paper's text."""
    bars = []
    for place, count in enumerate((4, MANY)):
        found = _figure(data["loss"], count)["percent"].to_list()
        bars.append(Bar("", place, sum(found) / len(found), "loss", (min(found), max(found))))
    ticks = tuple((place, f"{count} flows") for place, count in enumerate((4, MANY)))
    return Panel("", "Loss (%)", tuple(bars), ticks=ticks, y_range=(0, None),
                 guides=(Guide(LOSS, "paper: about 10 %"),))  # fmt: skip


def judge(data: Data) -> list[Finding]:
    """CUBIC is far below BBR throughout, in every cell; the loss is that of Figure 6."""
    checks = [always(data), everywhere(data), lossy(data)]
    explained = [checks[0].statement, checks[2].statement]
    shares = _figure(data["throughput"]).group_by("trial").agg(pl.col("percent").max())
    notes = [testbed.axis_ends(data, AXIS_END, shares["percent"].to_list())]
    return [Finding("panaderia/fig8", checks, more(data), notes, explained)]


def _figure(rows: pl.DataFrame, count: int = 4) -> pl.DataFrame:
    return rows.filter((pl.col("flows") == count) & (pl.col("rate_mbps") == 80))


def _wide(data: Data) -> pl.DataFrame:
    keys = ["flows", "rate_mbps", "trial", "start_s"]
    return data["throughput"].pivot(on="class", index=keys, values="percent")


def always(data: Data, count: int = 4) -> Check:
    """The windows in which CUBIC has less than half of what BBR has."""
    wide = _figure(_wide(data), count)
    wide = wide.with_columns(below=pl.col("cubic") < 0.5 * pl.col("bbr"))
    part = wide.group_by("trial", maintain_order=True).agg(pl.col("below").mean() * 100)
    return judge_bounds(
        data,
        "panaderia/fig8",
        "always",
        "CUBIC is far below BBR all the time.",
        "Windows of 500 ms, minutes 2 to 4, in which CUBIC has less than half of BBR's throughput.",
        part["below"].to_list(),
    )


def everywhere(data: Data) -> Check:
    """CUBIC's share in all cells that the text names."""
    share = 100 * pl.col("cubic").sum() / (pl.col("cubic") + pl.col("bbr")).sum()
    rows = _wide(data).group_by("flows", "rate_mbps", "trial", maintain_order=True).agg(cubic=share)
    cells = rows.group_by("flows", "rate_mbps", maintain_order=True)
    return judge_bounds(
        data,
        "panaderia/fig8",
        "everywhere",
        "Other rates and numbers of flows show the same.",
        "CUBIC's share of the throughput in every cell of Table I at 0.5 BDP.",
        {f"{n} flows, {rate} Mbit/s": cell["cubic"].to_list() for (n, rate), cell in cells},
    )


def lossy(data: Data, count: int = 4) -> Check:
    """The loss at the bottleneck."""
    return judge_bounds(
        data,
        "panaderia/fig8",
        "lossy",
        "The loss averages about 10 %.",
        "Packets dropped of packets arrived, minutes 2 to 4.",
        _figure(data["loss"], count)["percent"].to_list(),
    )


def more(data: Data) -> Check:
    """Figure 8 with more flows, whose number the paper doesn't say."""
    parts = [always(data, MANY), lossy(data, MANY)]
    return Check(
        "The paper doesn't say how many flows Figure 8 has; that of Figure 10 has 2 and 2. With 4 "
        "BBR and 4 CUBIC, as Table I allows, the loss is that of its text.",
        f"The checks that concern the figure, with {MANY} flows.",
        "; ".join(part.expected for part in parts),
        "; ".join(part.measured for part in parts),
        combine(part.passed for part in parts),
    )
