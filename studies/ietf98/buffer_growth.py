"""Probing for capacity without recent losses: the model of the buffer grows by 25 % per second."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from narrows.figures.model import Figure, Guide
from narrows.reproduce import proposals
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, ratios
from narrows.reproduce.proposals import AS_IT_IS, PLAIN, Variant

from . import improved_path

if TYPE_CHECKING:
    import polars as pl

    from narrows.report import Check
    from narrows.store import StoredTrial

MEMORY = "30s"
"""The memory of the model: longer than between losses, so that only growth enlarges the buffer."""
FIXED, GROWING = "model", "growth"
VARIANTS = {
    PLAIN: AS_IT_IS,
    FIXED: Variant("with a model of the buffer", "queue", {"buffer_model": MEMORY}),
    GROWING: Variant("with one that grows", "flow:0",
                     {"buffer_model": MEMORY, "buffer_growth": 1.25}),
}  # fmt: skip
ALONE, CUBIC = "4 BBR", "2 BBR + 2 CUBIC"
MIXES = {ALONE: {"bbr": 4}, CUBIC: {"bbr": 2, "cubic": 2}}
BUFFERS = (0.5, 1.0, 2.0)
SHALLOW = BUFFERS[:2]
CLAIM = "ietf98/buffer-growth"
TRIALS = 8
"""Shares beside CUBIC differ much from trial to trial."""


def cases(scope: Scope) -> Iterator[Case]:
    """BBR alone and beside CUBIC."""
    make = improved_path.bottleneck(scope, trials=3 if scope.quick else TRIALS)
    yield from proposals.cells(VARIANTS, MIXES, BUFFERS, make)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's results: one row."""
    return {"outcome": proposals.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Loss alone, and the share beside CUBIC."""
    panels = (
        proposals.panel(data, "loss", "Loss (%)", VARIANTS, ALONE, title=ALONE),
        proposals.panel(data, "share", "BBR's share (%)", VARIANTS, CUBIC, title=CUBIC,
                        guides=(Guide(50, "fair"),), top=102),
    )  # fmt: skip
    figure = Figure(
        "A model of the buffer that grows",
        f"{improved_path.PATH}, mean and range of the trials; {data.scope.profile}",
        panels,
        "Loss of BBR alone and its share beside CUBIC: as it is, with a model, with one that "
        "grows.",
        columns=2,
        height=3.2,
    )
    return [Picture("", "Loss alone and share beside CUBIC, by the size of the buffer", figure)]


def judge(data: Data) -> list[Finding]:
    """Probing is gentle, and still takes free capacity."""
    return [Finding(CLAIM, [gentle(data), scales(data)])]


def gentle(data: Data) -> Check:
    """The loss of BBR alone."""
    return judge_bounds(
        data,
        CLAIM,
        "gentle",
        "It probes gently: less loss in shallow buffers than BBR as it is.",
        f"{proposals.WORDS['loss'].capitalize()} ({ALONE}), with the growing model over that of "
        "plain BBR.",
        proposals.against_plain(data, "loss", GROWING, ALONE, SHALLOW),
        proposals.as_measured(data, "loss", " %", GROWING, ALONE, SHALLOW),
    )


def scales(data: Data) -> Check:
    """The share beside CUBIC, against the model that doesn't grow."""
    found, words = {}, []
    for buffer in SHALLOW:
        grown, fixed = (
            data.values("share", variant=name, mix=CUBIC, buffer_bdp=buffer)
            for name in (GROWING, FIXED)
        )
        found[f"{buffer:g} BDP"] = ratios(grown, fixed)
        words.append(
            f"{interval(data, grown)} % instead of {interval(data, fixed)} %, {buffer:g} BDP"
        )
    return judge_bounds(
        data,
        CLAIM,
        "scales",
        "It probes scalably: beside CUBIC it wins back room that the model alone gives up.",
        f"{proposals.WORDS['share'].capitalize()} ({CUBIC}), with the growing model over that with "
        "one that remembers as long and doesn't grow.",
        found,
        f" ({'; '.join(words)})",
    )
