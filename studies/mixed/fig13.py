"""Figure 13: 100 KB CUBIC flows beside a large BBR or CUBIC flow, over the buffer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from narrows.report import Check
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import differences, interval, judge_bounds, per_trial

from . import testbed, times

RATE = 5


def cases(scope: Scope) -> Iterator[Case]:
    """All buffers at 5 Mbit/s."""
    yield from times.cases(scope, RATE, "100kb")


measure = times.measure


def draw(data: Data) -> list[Picture]:
    """Completion times over the buffer, with their spread."""
    return times.pictures(
        data, "100 KB CUBIC flows beside a large flow", "Large flow of 30 MB, 5 Mbit/s, 45 ms"
    )


def judge(data: Data) -> list[Finding]:
    """Flows are slower beside BBR even at 2 BDP; the largest gain is at 8 BDP."""
    return [Finding("mixed/fig13", [slower(data), gain(data)])]


def slower(data: Data) -> Check:
    """Completion times beside BBR at 2 BDP."""
    return judge_bounds(
        data,
        "mixed/fig13",
        "slower",
        "100 KB flows are slower beside BBR even at 2 BDP.",
        "Mean completion time beside BBR over that beside CUBIC at 0.5, 1 and 2 BDP.",
        {
            f"{buffer:g} BDP": per_trial(data, partial(times.penalty, buffer=buffer))
            for buffer in (0.5, 1.0, 2.0)
        },
    )


def _time_saved(data: Data, buffer: float) -> list[float]:
    """The time that a flow saves beside BBR, in seconds, by repetition."""
    return per_trial(
        data, lambda one: times.mean(one, "cubic", buffer) - times.mean(one, "bbr", buffer)
    )


def gain(data: Data) -> Check:
    """The buffer with the largest gain beside BBR."""
    saved = {buffer: _time_saved(data, buffer) for buffer in testbed.BUFFERS}
    words = ", ".join(
        f"{buffer:g} BDP: {interval(data, values)} s" for buffer, values in saved.items()
    )
    largest = max(saved)
    return judge_bounds(
        data,
        "mixed/fig13",
        "gain",
        "The largest gain from BBR is at 8 BDP.",
        "Mean completion time beside CUBIC less that beside BBR: at 8 BDP, and at 8 BDP less that "
        "in another buffer.",
        {"8 BDP": saved[largest]}
        | {
            f"less {buffer:g} BDP": differences(saved[largest], values)
            for buffer, values in saved.items()
            if buffer != largest
        },
        f" ({words})",
    )
