"""The numbers of the solution of assignment 1 are those that its commands give."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

import polars as pl
from documented import File, steps

import narrows as nw

PAGES = Path(__file__).parents[2] / "docs" / "teaching"
BUFFERS = (0.0625, 0.125, 0.25, 0.5, 1.0)
FLOWS = (1, 4, 16, 64)
CUBIC, BBR = ("flows[0].cca=cubic",), ("flows[0].cca=bbr",)
IN_STEP = ("host.jitter=0s", "run.trials=1")

Cells = Mapping[tuple[int, float], float]
"""A mean over the trials by the number of flows and the buffer in BDP."""


def means(tmp_path: Path, changes: tuple[str, ...], *metrics: str) -> list[Cells]:
    """Sweeps the study of the assignment, with changes."""
    [file] = [step for step in steps(PAGES / "buffers.md") if isinstance(step, File)]
    study = tmp_path / file.name
    study.write_text(file.text)
    table = nw.sweep(study, changes, out=tmp_path / "out").table("summary")
    # The buffer is a whole number of bytes.
    by_cell = pl.col("buffer_bdp").round(4).alias("buffer")
    rows = table.group_by("flows", by_cell).agg(pl.col(*metrics).mean()).to_dicts()
    found: list[Cells] = []
    for metric in metrics:
        found.append({(row["flows"], row["buffer"]): row[metric] for row in rows})
        assert found[-1].keys() == {(flows, buffer) for flows in FLOWS for buffer in BUFFERS}
    return found


def solution() -> str:
    return " ".join((PAGES / "buffers-solution.md").read_text(encoding="utf-8").split())


def tables() -> list[dict[int, list[str]]]:
    """The cells of both tables by the number of flows."""
    text = (PAGES / "buffers-solution.md").read_text(encoding="utf-8")
    row = re.compile(r"\| (\d+) flows? \|(.*)\|")
    parts = re.split(r"\| Utilization", text)[1:]
    return [
        {int(flows): cells.replace("|", " ").split() for flows, cells in row.findall(part)}
        for part in parts
    ]


def show(cells: Cells, flows: tuple[int, ...], buffers: tuple[float, ...]) -> dict[int, list[str]]:
    return {n: [f"{cells[n, buffer]:.3f}" for buffer in buffers] for n in flows}


def smallest(cells: Cells, flows: int, least: float) -> float:
    return min(buffer for buffer in BUFFERS if cells[flows, buffer] >= least)


def test_the_solution_tells_what_reno_needs(tmp_path: Path) -> None:
    used, queue_ms = means(tmp_path, (), "utilization", "queue_mean_ms")
    assert tables()[0] == show(used, FLOWS, BUFFERS)
    assert smallest(used, 1, 0.99) == 1, "the answer to the first question"
    needed = [f"{smallest(used, n, 0.97):g}" for n in FLOWS]
    rule = [f"{1 / math.sqrt(n):g}" for n in FLOWS]
    page = solution()
    assert f"2. {', '.join(needed[:3])} and {needed[3]} BDP." in page
    assert f"The rule gives {', '.join(rule[:3])} and {rule[3]}, so it fits" in page
    assert f"of 64 flows is {queue_ms[64, 1.0]:.2g} ms with 1 BDP" in page
    assert f"and {queue_ms[64, 0.125]:.2g} ms with an eighth" in page


def test_the_solution_tells_what_cubic_needs(tmp_path: Path) -> None:
    [used] = means(tmp_path, CUBIC, "utilization")
    assert f"It uses {100 * used[1, 0.25]:.0f} % with a quarter of a BDP" in solution()
    needed = [smallest(used, n, 0.97) for n in FLOWS]
    assert all(buffer <= 0.5 / math.sqrt(n) for n, buffer in zip(FLOWS, needed, strict=True))


def test_the_solution_tells_what_bbr_uses_and_loses(tmp_path: Path) -> None:
    used, lost = means(tmp_path, BBR, "utilization", "loss_rate")
    few, many = ([100 * lost[n, buffer] for buffer in BUFFERS] for n in (4, 64))
    percent = [100 * value for value in used.values()]
    page = solution()
    assert f"BBR uses {min(percent):.0f} to {max(percent):.0f} % whatever the buffer" in page
    assert f"4 flows lose {min(few):.0f} to {max(few):.0f} % of their packets" in page
    assert f"64 flows {min(many):.0f} to {max(many):.0f} %." in page


def test_the_solution_tells_what_flows_in_step_need(tmp_path: Path) -> None:
    [used] = means(tmp_path, IN_STEP, "utilization")
    assert tables()[1] == show(used, (16, 64), BUFFERS[:4])
    assert smallest(used, 64, 0.97) == 4 * BUFFERS[0], "64 flows need four times the buffer"
