"""Section V-D: whether a CUBIC flow or the BBR flow beside it came first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures.model import Figure, Guide, Panel
from narrows.reproduce import run_frames, spread
from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, ratios

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

CLAIM = "mixed/order"
RATE, BUFFERS = 20, (0.5, 1.0)
LEADS_MS = (-400, -300, -200, -100, 0, 100, 200, 300, 400)
"""How much earlier than the first BBR flow the CUBIC flow starts."""
GROWN_MS, AFTER_MS = 300, -200
"""A CUBIC flow has half of its megabyte sent after 0.3 s; a BBR flow has the queue after 0.2 s."""
FIRST_S = 0.5


def cases(scope: Scope) -> Iterator[Case]:
    """One CUBIC flow of 1 MB, and successive BBR flows of 1 MB that start before or after it."""
    for lead in LEADS_MS:
        for buffer in BUFFERS:
            flows = [
                {"name": "cubic", "cca": "cubic", "size": "1mb", "start": f"{FIRST_S}s"},
                {"name": "bbr", "cca": "bbr", "size": "1mb", "repeat_gap": "0.1s",
                 "start": f"{FIRST_S + lead / 1000:g}s", "while": "cubic"},
            ]  # fmt: skip
            spec = dumbbell(
                "mixed",
                testbed.path(RATE, buffer),
                flows,
                profile=scope.profile,
                host={"jitter": testbed.JITTER, "fq": True},
                duration="60s",
                stop_when="all",
                trials=3 if scope.quick else testbed.REPETITIONS,
                record="summary",
            )
            yield Case({"lead_ms": lead, "buffer_bdp": buffer}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Completion times in s of the CUBIC flow and the first BBR flow, CUBIC's retransmissions."""
    done = run_frames.completions(trial)
    cubic, bbr = (done.filter(pl.col("name") == name) for name in ("cubic", "bbr"))
    row = pl.DataFrame(
        {
            "cubic_s": [cubic["fct_s"].first()],
            "bbr_s": [bbr["fct_s"].first()],
            "resent": [cubic["retransmitted"].first()],
        },
        schema={"cubic_s": pl.Float64, "bbr_s": pl.Float64, "resent": pl.Float64},
    )
    return {"outcome": row}


def draw(data: Data) -> list[Picture]:
    """Completion times over the head start."""
    panels = []
    for buffer in BUFFERS:
        rows = data["outcome"].filter(pl.col("buffer_bdp") == buffer)
        lines = tuple(
            spread.line(spread.over(rows, "lead_ms", f"{kind}_s"), "lead_ms", words, kind)
            for kind, words in (("cubic", "CUBIC"), ("bbr", "first BBR flow"))
        )
        panels.append(
            Panel("CUBIC's head start (ms)", "Completion time (s)", lines, title=f"{buffer:g} BDP",
                  y_range=(0, None), guides=(Guide(0.0, "", upright=True),))
        )  # fmt: skip
    figure = Figure(
        "Which flow came first",
        "A CUBIC flow of 1 MB and successive BBR flows of 1 MB, 20 Mbit/s, 45 ms; mean and range "
        f"of the repetitions; {data.scope.profile}",
        tuple(panels),
        "Completion times of a CUBIC flow and of the first BBR flow over CUBIC's head start.",
        columns=2,
        height=3.2,
    )
    return [Picture("", "Completion times by the head start of the CUBIC flow", figure)]


def judge(data: Data) -> list[Finding]:
    """Times are fair if CUBIC is first; if BBR is, CUBIC is slow and has early losses."""
    return [Finding(CLAIM, [fair(data), slow(data), loses(data)])]


def fair(data: Data) -> Check:
    """The times of both flows if the CUBIC flow is first."""
    return judge_bounds(
        data,
        CLAIM,
        "fair",
        "If the BBR flow arrives when CUBIC's window has grown, both take as long.",
        f"Completion time of a CUBIC flow that started {GROWN_MS} ms earlier over that of the BBR "
        "flow.",
        {
            f"{buffer:g} BDP": ratios(
                *(data.values(v, lead_ms=GROWN_MS, buffer_bdp=buffer) for v in ("cubic_s", "bbr_s"))
            )
            for buffer in BUFFERS
        },
    )


def slow(data: Data) -> Check:
    """CUBIC's time in one order over that in the other."""
    late, early = (
        {buffer: data.values("cubic_s", lead_ms=lead, buffer_bdp=buffer) for buffer in BUFFERS}
        for lead in (AFTER_MS, GROWN_MS)
    )
    told = "; ".join(
        f"{interval(data, late[buffer])} s instead of {interval(data, early[buffer])} s, "
        f"{buffer:g} BDP"
        for buffer in BUFFERS
    )
    return judge_bounds(
        data,
        CLAIM,
        "slow",
        "If CUBIC arrives after the BBR flow, it can't complete for a long time.",
        f"CUBIC's completion time if it started {-AFTER_MS} ms later over that if it started "
        f"{GROWN_MS} ms earlier.",
        {f"{buffer:g} BDP": ratios(late[buffer], early[buffer]) for buffer in BUFFERS},
        f" ({told})",
    )


def loses(data: Data) -> Check:
    """CUBIC's retransmissions in that order."""
    return judge_bounds(
        data,
        CLAIM,
        "loses",
        "It loses packets then.",
        f"Packets that a CUBIC flow of 691 resends if it started {-AFTER_MS} ms later.",
        {
            f"{buffer:g} BDP": data.values("resent", lead_ms=AFTER_MS, buffer_bdp=buffer)
            for buffer in BUFFERS
        },
    )
