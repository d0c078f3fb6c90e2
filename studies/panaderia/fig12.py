"""Figure 12: shares of BBR Shallow and CUBIC by the size of the buffer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from narrows.figures.model import Figure, Guide
from narrows.reproduce import proposals
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import crossing, differences, interval, judge_bounds, per_trial
from narrows.reproduce.proposals import PLAIN

from . import fix_path, testbed
from .fig11 import VARIANTS

if TYPE_CHECKING:
    import polars as pl

    from narrows.report import Check
    from narrows.store import StoredTrial

BUFFERS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 3.0, 4.0, 5.0, 8.0)
QUICK_BUFFERS = (1.0, 2.0, 3.0, 4.0, 8.0)
MIX = "2 BBR + 2 CUBIC"

GUIDES = (Guide(50, "fair"), Guide(3, "the paper: equal at 3", upright=True))


def cases(scope: Scope) -> Iterator[Case]:
    """Both kinds of BBR beside CUBIC over all buffers."""
    buffers = QUICK_BUFFERS if scope.quick else BUFFERS
    mixes = {MIX: {"bbr": 2, "cubic": 2}}
    yield from proposals.cells(VARIANTS, mixes, buffers, fix_path.bottleneck(scope))


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's results: one row."""
    return {"outcome": proposals.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """BBR's share over buffer, a line for each."""
    panel = proposals.panel(
        data,
        "share",
        "BBR's share (%)",
        VARIANTS,
        MIX,
        guides=(Guide(50, "fair"), Guide(3, "the paper: equal at 3", upright=True)),
        top=102,
    )
    figure = Figure(
        "Shares of BBR Shallow and CUBIC by the size of the buffer",
        f"2 + 2 flows, 80 Mbit/s, 25 ms, {testbed.span(data.scope)}, mean and range; "
        f"{data.scope.profile}",
        (panel,),
        "Lines of the shares of BBR and of BBR Shallow beside CUBIC over the buffer.",
        height=3.6,
    )
    return [Picture("", "The BBR flows' share of the goodput beside CUBIC", figure)]


def judge(data: Data) -> list[Finding]:
    """The shares are equal in a smaller buffer than with plain BBR."""
    return [Finding("panaderia/fig12-fair-point", [near(data), earlier(data)])]


def fair_point(data: Data, variant: str) -> float:
    """The smallest buffer at which the mean share falls below one half; infinite if none."""
    rooms = sorted(set(data["outcome"]["buffer_bdp"]))
    shares = [data.values("share", variant=variant, mix=MIX, buffer_bdp=room) for room in rooms]
    means = [sum(share) / len(share) for share in shares]
    found = crossing(rooms, means, [50.0] * len(rooms))
    return float("inf") if found is None else found


def near(data: Data) -> Check:
    """BBR Shallow's fair point."""
    return judge_bounds(
        data,
        "panaderia/fig12-fair-point",
        "at",
        "BBR Shallow and CUBIC have the same near 3 BDP.",
        "Where the share of the BBR Shallow flows falls through 50 %, straight between the "
        "buffers, in each trial.",
        per_trial(data, lambda one: fair_point(one, "shallow")),
        grid=sorted(set(data["outcome"]["buffer_bdp"])),
    )


def earlier(data: Data) -> Check:
    """The fair points of both kinds of BBR."""
    new, old = (per_trial(data, partial(fair_point, variant=name)) for name in ("shallow", PLAIN))
    return judge_bounds(
        data,
        "panaderia/fig12-fair-point",
        "earlier",
        "That is a smaller buffer than with BBR as it is.",
        "BBR's fair point, as above, less BBR Shallow's.",
        differences(old, new),
        f" ({interval(data, new)} instead of {interval(data, old)} BDP, if the lines are straight)",
    )
