"""Slide 'Lessons from deploying': acknowledgements that are held and decimated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures.looks import Look
from narrows.figures.model import Figure, Panel
from narrows.reproduce import run_frames, spread
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

HOLDS_MS = (0, 5, 10, 15, 20, 30, 40)
CLAIM = "ietf98/ack-aggregation"
MOST = 200
"""The number of acknowledgements merged into one, from the slide."""
MODELLED = "linux-5.15"
"""Has BBR's model of ACK aggregation, added in 5.1."""
LINES = {"1 BDP": (1, False), "2 BDP": (2, False), "2 BDP and extra_acked": (2, True)}
LOOKS = {
    "1 BDP": Look("bbr#1", "dot"),
    "2 BDP": Look("bbr", "solid"),
    "2 BDP and extra_acked": Look("bbr#2", "dash"),
}
TRIALS = 3
HELD_MS = 20
"""A round trip's worth of ACKs comes at once."""


def cases(scope: Scope) -> Iterator[Case]:
    """One BBR flow with a window of 1 and 2 BDP, and with the later model, by holding time."""
    for label, (gain, modelled) in LINES.items():
        for hold in HOLDS_MS:
            thin = {"kind": "ack_thinning", "max": MOST, "hold": f"{hold}ms",
                    "direction": "backward"}  # fmt: skip
            path = {"rate": "100mbit", "rtt": "20ms", "buffer": "4bdp",
                    "impairments": [thin] if hold else []}  # fmt: skip
            profile = MODELLED if modelled else scope.profile
            spec = testbed.spec(
                Scope(profile, scope.quick),
                path,
                [{"cca": "bbr", "options": {"cwnd_gain": gain}}],
                duration="20s",
                warmup="5s",
                trials=testbed.trials(scope, TRIALS),
                sample_interval="1s",
            )
            yield Case({"window": label, "hold_ms": hold}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The link's utilisation in percent."""
    return {"busy": run_frames.summary(trial).select((100 * pl.col("utilization")).alias("busy"))}


def by_hold(data: Data, label: str) -> pl.DataFrame:
    """Mean, least and greatest utilisation over the trials by holding time."""
    return spread.over(data["busy"].filter(pl.col("window") == label), "hold_ms", "busy")


def draw(data: Data) -> list[Picture]:
    """Utilisation against the time for which ACKs are held."""
    lines = []
    for label, look in LOOKS.items():
        found, words = by_hold(data, label), f"window of {label}"
        lines.append(spread.line(found, "hold_ms", words, look.hue, dash=look.dash))
    panel = Panel("ACKs held for (ms)", "Utilisation (%)", tuple(lines),
                  x_range=(-1, HOLDS_MS[-1] + 1), y_range=(0, 102))  # fmt: skip
    figure = Figure(
        "What held ACKs cost BBR",
        f"1 BBR, 100 Mbit/s, 20 ms, up to {MOST} ACKs in one; {data.scope.profile}, with "
        f"extra_acked {MODELLED}",
        (panel,),
        "Lines of the utilisation over the holding time, for windows of 1 and 2 BDP and with the "
        "model of aggregation.",
        height=3.4,
    )
    return [Picture("", "Utilisation by the time for which ACKs are held", figure)]


def judge(data: Data) -> list[Finding]:
    """A window of 1 BDP stalls, one of 2 BDP keeps most throughput, the model nearly all."""
    checks = [stalls(data), keeps(data), nearly_all(data)]
    return [Finding(CLAIM, checks)]


def _busy(data: Data, label: str, hold: int) -> list[float]:
    rows = data["busy"].filter((pl.col("window") == label) & (pl.col("hold_ms") == hold))
    return rows["busy"].to_list()


def stalls(data: Data) -> Check:
    """A window of 1 BDP."""
    return judge_bounds(
        data,
        CLAIM,
        "stalls",
        "A window of 1 BDP would stall.",
        f"Utilisation with cwnd_gain 1 and ACKs held for {HELD_MS} ms, a round trip.",
        _busy(data, "1 BDP", HELD_MS),
    )


def keeps(data: Data) -> Check:
    """BBR's own window of 2 BDP."""
    return judge_bounds(
        data,
        CLAIM,
        "keeps",
        "2 BDP keeps most of the rate.",
        f"Utilisation with BBR's own gain of 2 and ACKs held for {HELD_MS} ms.",
        _busy(data, "2 BDP", HELD_MS),
    )


def nearly_all(data: Data) -> Check:
    """BBR with the model, however long ACKs are held."""
    plain = testbed.number(by_hold(data, "2 BDP")["mean"].min())
    return judge_bounds(
        data,
        CLAIM,
        "nearly-all",
        "Modelling extra_acked keeps nearly all.",
        f"Utilisation with {MODELLED}'s BBR for every holding time, up to {HOLDS_MS[-1]} ms "
        f"(without the model it falls to {plain:.0f} %).",
        {f"{hold} ms": _busy(data, "2 BDP and extra_acked", hold) for hold in HOLDS_MS},
    )
