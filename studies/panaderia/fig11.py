"""Figure 11: BBR Shallow's loss by the size of the buffer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from narrows.figures.model import Figure
from narrows.reproduce import proposals
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds
from narrows.reproduce.proposals import AS_IT_IS, PLAIN, Variant

from . import fix_path, testbed

if TYPE_CHECKING:
    import polars as pl

    from narrows.store import StoredTrial

VARIANTS = {PLAIN: AS_IT_IS, "shallow": Variant("BBR Shallow", "queue", cca="bbr_shallow")}
BUFFERS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
QUICK_BUFFERS = (0.5, 1.0, 1.5)
MIX = "4 BBR"


def cases(scope: Scope) -> Iterator[Case]:
    """BBR and BBR Shallow alone over buffers up to 2 BDP."""
    buffers = QUICK_BUFFERS if scope.quick else BUFFERS
    yield from proposals.cells(VARIANTS, {MIX: {"bbr": 4}}, buffers, fix_path.bottleneck(scope))


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's results: one row."""
    return {"outcome": proposals.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Loss over the buffer, a line for each variant."""
    panel = proposals.panel(data, "loss", "Loss (%)", VARIANTS, MIX)
    figure = Figure(
        "BBR Shallow's loss by the size of the buffer",
        f"4 flows, 80 Mbit/s, 25 ms, {testbed.span(data.scope)}, mean and range; "
        f"{data.scope.profile}",
        (panel,),
        "Lines of the loss of BBR and of BBR Shallow over the buffer.",
        height=3.6,
    )
    return [Picture("", "Loss at the bottleneck against the size of its queue", figure)]


def judge(data: Data) -> list[Finding]:
    """Loss is lower in every shallow buffer."""
    shallow = [size for size in sorted(set(data["outcome"]["buffer_bdp"])) if size < 1.5]
    check = judge_bounds(
        data,
        "panaderia/fig11",
        "less",
        "BBR Shallow loses less in every buffer below 1.5 BDP.",
        "The reduction of packet loss with BBR Shallow, in percent of the loss with BBR.",
        {f"{buffer:g} BDP": _gain(data, buffer) for buffer in shallow},
    )
    return [Finding("panaderia/fig11", [check])]


def _gain(data: Data, buffer: float) -> list[float]:
    """The reduction of loss by BBR Shallow, in percent of BBR's, by trial; 0 if BBR loses none."""
    plain, shallow = (
        data.values("loss", variant=name, mix=MIX, buffer_bdp=buffer) for name in VARIANTS
    )
    return [100 * (a - b) / a if a else 0.0 for a, b in zip(plain, shallow, strict=False)]
