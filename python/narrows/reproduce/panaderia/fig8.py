"""Figure 8: BBR and CUBIC together in a shallow buffer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.figures.palette import name
from narrows.metrics.intervals import mean
from narrows.report import Check
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import between, interval
from narrows.reproduce.panaderia import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

BUFFER = 0.5


def cases(scope: Scope) -> Iterator[Case]:
    """The cell that the figure shows, the others that the text names, and BBR flows alone."""
    yield testbed.cell(scope, "mix", 4, 80, BUFFER)
    for count in (2, 4):
        yield testbed.cell(scope, "bbr", count, 80, BUFFER)
    if not scope.quick:
        for rate in testbed.RATES:
            for count in testbed.FLOWS:
                if (rate, count) != (80, 4):
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
    panel = Panel("Time (s)", "Throughput (percent of rate)", tuple(lines), x_range=(0, 60),
                  y_range=(0, 102), guides=(Guide(50, "fair"),))  # fmt: skip
    figure = Figure(
        "BBR leaves CUBIC little in a shallow buffer",
        f"2 BBR + 2 CUBIC, 80 Mbit/s, 25 ms, 0.5 BDP; windows of 500 ms; {data.scope.profile}",
        (panel,),
        "BBR's throughput far above CUBIC's over the whole minute.",
        height=3.2,
    )
    return [Picture("", "Throughput of both classes in percent of the rate", figure)]


def judge(data: Data) -> list[Finding]:
    """CUBIC far below all the time, in every cell, and the loss of Figure 6."""
    checks = [always(data), everywhere(data), lossy(data)]
    return [Finding("panaderia/fig8", checks, fewer(data))]


def _figure(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(
        (pl.col("kind") == "mix") & (pl.col("flows") == 4) & (pl.col("rate_mbps") == 80)
    )


def _wide(data: Data) -> pl.DataFrame:
    keys = ["flows", "rate_mbps", "trial", "start_s"]
    rows = data["throughput"].filter(pl.col("kind") == "mix")
    return rows.pivot(on="class", index=keys, values="percent")


def always(data: Data) -> Check:
    """The windows in which CUBIC has less than half of what BBR has."""
    wide = _wide(data).filter((pl.col("flows") == 4) & (pl.col("rate_mbps") == 80))
    wide = wide.with_columns(below=pl.col("cubic") < 0.5 * pl.col("bbr"))
    part = wide.group_by("trial", maintain_order=True).agg(pl.col("below").mean() * 100)
    return between(
        "CUBIC is far below BBR all the time.",
        "Windows of 500 ms, minutes 2 to 4, in which CUBIC has less than half of BBR's throughput.",
        "all of them",
        part["below"].to_list(),
        (98.0, 100.0),
        " %",
    )


def everywhere(data: Data) -> Check:
    """CUBIC's largest share over all cells that the text names."""
    cells = _wide(data).group_by("flows", "rate_mbps").agg(pl.col("cubic", "bbr").mean())
    share = cells.select(100 * pl.col("cubic") / (pl.col("cubic") + pl.col("bbr"))).to_series()
    return between(
        "Other rates and numbers of flows show the same.",
        f"CUBIC's largest share of the throughput over {cells.height} cells of Table I at 0.5 BDP.",
        "far below one half",
        [float(str(share.max()))],
        (0.0, 25.0),
        " %",
    )


def lossy(data: Data) -> Check:
    """The loss at the bottleneck."""
    return between(
        "The loss averages about 10 %.",
        "Packets dropped of packets arrived, minutes 2 to 4, mean over the trials.",
        "about 10 %, as in Figure 6",
        _figure(data["loss"])["percent"].to_list(),
        (8.0, 13.0),
        " %",
    )


def fewer(data: Data) -> Check:
    """The loss of BBR flows alone: two, as there are here, and four, as in Figure 6."""
    alone = {
        count: data["loss"].filter((pl.col("kind") == "bbr") & (pl.col("flows") == count))
        for count in (2, 4)
    }
    two, four = (alone[count]["percent"].to_list() for count in (2, 4))
    both = _figure(data["loss"])["percent"].to_list()
    near = abs(mean(both) - mean(two)) < abs(mean(both) - mean(four))
    return Check(
        "The loss follows the number of BBR flows: Figure 6 has four, this one two.",
        "The same loss of 2 and of 4 BBR flows without CUBIC. Shown if that of the mix is "
        "nearer to that of two.",
        "nearer to two",
        f"{interval(two)} % of two alone, {interval(four)} % of four",
        near,
    )
