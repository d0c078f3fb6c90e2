"""Slide 'Problems with loss-based congestion control': what random loss allows CUBIC."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.report import Check
from narrows.reproduce import spread
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds

from . import testbed

if TYPE_CHECKING:
    from narrows.figures.model import Floats
    from narrows.store import StoredTrial

RTT_S = 0.1
RATES = {1e-2: "100mbit", 1e-3: "100mbit", 1e-4: "1gbit", 1e-5: "1gbit"}
"""Loss probabilities, each with a rate far above what it allows."""
LENGTH_S = {1e-2: 600, 1e-3: 400, 1e-4: 400, 1e-5: 400}
TRIALS = 4
TEN_GIGABIT = 1e4
ONE_PERCENT = 1e-2
CLAIM = "ietf98/loss-arithmetic"


def cases(scope: Scope) -> Iterator[Case]:
    """CUBIC alone on links that it can't fill; a quarter is warm-up."""
    for loss, rate in RATES.items():
        if scope.quick and loss in (1e-3, 1e-4):
            continue
        path = {"rate": rate, "rtt": "100ms", "buffer": "2bdp", "loss": loss}
        length = LENGTH_S[loss]
        spec = testbed.spec(
            scope,
            path,
            [{"cca": "cubic"}],
            duration=f"{length}s",
            warmup=f"{length // 4}s",
            trials=testbed.trials(scope, TRIALS),
            sample_interval="1s",
        )
        yield Case({"loss": loss}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The flow's goodput."""
    return {"goodput": testbed.per_flow(trial).select("goodput_mbps")}


def response(loss: Floats) -> Floats:
    """CUBIC's goodput in Mbit/s by RFC 8312, section 5.2: the greater of its two regions.

    CUBIC's own has 1.054 RTT^(3/4) / p^(3/4) packets in flight on average, the
    region that follows Reno sqrt(3 / (2 p)).
    """
    own = 1.054 * RTT_S**0.75 / loss**0.75
    reno = np.sqrt(1.5 / loss)
    packets: Floats = np.maximum(own, reno)
    return packets * 1448 * 8e-6 / RTT_S


def draw(data: Data) -> list[Picture]:
    """Goodput against loss, with the response function and the slide's two points."""
    found = spread.over(data["goodput"], "loss", "goodput_mbps")
    line = np.logspace(-8, -1.5, 60)
    slide = Line("the slide", 100 * np.array([3e-8, 1e-2]), np.array([1e4, 3.0]), "loss",
                 marker="s", kind="points")  # fmt: skip
    marks = (
        Line("RFC 8312", 100 * line, response(line), "neutral", dash="dash"),
        slide,
        spread.line(found, "loss", "CUBIC", "cubic", scale=100),
    )
    panel = Panel("Random loss (%)", "Goodput (Mbit/s)", marks, x_scale="log",
                  y_scale="log", y_range=(0.3, 3e4), guides=(Guide(1e4, "10 Gbit/s"),))  # fmt: skip
    figure = Figure(
        "What random loss allows CUBIC",
        f"1 CUBIC, RTT 100 ms, links that it can't fill; {data.scope.profile}",
        (panel,),
        "CUBIC's goodput against the loss rate, both logarithmic, beside its response function.",
        height=3.6,
    )
    return [Picture("", "Goodput against loss, mean and range of the trials", figure)]


def judge(data: Data) -> list[Finding]:
    """The slide's two numbers; the first doesn't follow from the response function."""
    checks = [at_one_percent(data), for_ten_gigabit(data)]
    return [Finding(CLAIM, checks, follows_theory(data), explains=[checks[0].statement])]


def _goodputs(data: Data, loss: float) -> list[float]:
    return data["goodput"].filter(pl.col("loss") == loss)["goodput_mbps"].to_list()


def at_one_percent(data: Data) -> Check:
    """The slide's first number."""
    return judge_bounds(
        data,
        CLAIM,
        "one-percent",
        "1 % loss over 100 ms gets about 3 Mbit/s.",
        "CUBIC's goodput.",
        _goodputs(data, ONE_PERCENT),
    )


def for_ten_gigabit(data: Data) -> Check:
    """The loss at which 10 Gbit/s would be reached, extrapolated from the lowest loss run."""
    least = testbed.number(data["goodput"]["loss"].min())
    wanted = TEN_GIGABIT * testbed.PAYLOAD
    return judge_bounds(
        data,
        CLAIM,
        "ten-gigabit",
        "10 Gbit/s needs less than 0.000003 % loss.",
        f"The loss that allows 10 Gbit/s, from the goodput at {100 * least:g} % by CUBIC's law "
        "(goodput grows as loss to the power of -3/4, RFC 8312), in 10^-8.",
        [1e8 * least * (v / wanted) ** (4 / 3) for v in _goodputs(data, least)],
    )


def follows_theory(data: Data) -> Check:
    """The simulated flow has the goodput of RFC 8312 at 1 %."""
    theory = float(response(np.array([ONE_PERCENT]))[0])
    return judge_bounds(
        data,
        CLAIM,
        "theory",
        "The slide's 3 Mbit/s don't follow from CUBIC's response function.",
        "By RFC 8312, section 5.2, CUBIC has sqrt(3 / (2 p)) packets in flight at 1 %, as Reno: "
        f"{theory:.2f} Mbit/s, less than half of what the slide says without saying how. Goodput "
        "over that of the response function at 1 %: near 1 the difference is the slide's.",
        [value / theory for value in _goodputs(data, ONE_PERCENT)],
    )
