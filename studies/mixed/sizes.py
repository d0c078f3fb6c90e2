"""The common part of Figures 6 and 7: medium flows of three sizes, a buffer of 0.5 BDP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.figures.palette import name
from narrows.reproduce.exhibit import Case, Data, Scope

from . import testbed

SIZES = {"500kb": "500 KB", "1mb": "1 MB", "2mb": "2 MB"}
BUFFER = 0.5


def cases(scope: Scope) -> Iterator[Case]:
    """A large CUBIC flow beside medium ones of each size and control, over all rates."""
    for small in ("bbr", "cubic"):
        for size in SIZES:
            for rate in testbed.RATES:
                spec = testbed.spec(scope, "cubic", small, rate, BUFFER, size=size)
                yield Case({"small": small, "size": size, "rate_mbps": rate}, spec)


def by_rate(data: Data, value: str, small: str, size: str) -> pl.DataFrame:
    """Mean over the repetitions by rate: `rate_mbps`, `mean`."""
    rows = data["outcome"].filter((pl.col("small") == small) & (pl.col("size") == size))
    return testbed.means(rows, value, "rate_mbps")


def figure(
    data: Data,
    value: str,
    title: str,
    y_label: str,
    scale: float = 1.0,
    stated: tuple[Guide, ...] = (),
) -> Figure:
    """A column of `outcome` over the rate; a panel for each control, BBR's with `stated`."""
    panels = []
    for small in ("bbr", "cubic"):
        lines = []
        for step, (size, label) in enumerate(SIZES.items()):
            rows = by_rate(data, value, small, size)
            x, y = frames.column(rows, "rate_mbps"), scale * frames.column(rows, "mean")
            lines.append(Line(label, x, y, f"step:{2 * step}", marker="o"))
        panels.append(
            Panel(
                "Bottleneck (Mbit/s)",
                y_label,
                tuple(lines),
                title=f"Beside {name(small)}",
                x_range=(0, 75),
                guides=stated if small == "bbr" else (),
            )
        )
    top = max(float(mark.y.max()) for c in panels for mark in c.marks if isinstance(mark, Line))
    even = tuple(replace(panel, y_range=(0, 1.05 * top)) for panel in panels)
    return Figure(
        title,
        f"Large CUBIC flow of 30 MB, 45 ms, 0.5 BDP, mean of the repetitions; {data.scope.profile}",
        even,
        f"{title} over the bottleneck's rate for three sizes of medium flows.",
        columns=2,
        height=3.2,
    )
