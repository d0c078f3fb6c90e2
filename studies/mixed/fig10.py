"""Figure 10: 1 MB CUBIC flows beside a large BBR or CUBIC flow, over the buffer."""

from __future__ import annotations

from collections.abc import Iterator

from narrows.report import Check
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import differences, interval, judge_bounds, per_trial

from . import testbed, times

RATE = 20


def cases(scope: Scope) -> Iterator[Case]:
    """Cells of Table I at 20 Mbit/s."""
    yield from times.cases(scope, RATE, "1mb")


measure = times.measure


def draw(data: Data) -> list[Picture]:
    """Completion times over the buffer, with their spread."""
    return times.pictures(
        data, "1 MB CUBIC flows beside a large flow", "Large flow of 30 MB, 20 Mbit/s, 45 ms"
    )


def judge(data: Data) -> list[Finding]:
    """Beside BBR there is a penalty in small buffers, a gain in large ones."""
    return [Finding("mixed/fig10", [high(data), worst(data), clear(data), gain(data)])]


def penalties(data: Data, buffer: float) -> list[float]:
    """Mean completion time of each repetition beside BBR over that beside CUBIC."""
    return per_trial(data, lambda one: times.penalty(one, buffer))


def high(data: Data) -> Check:
    """The penalty at 0.5 BDP."""
    return judge_bounds(
        data,
        "mixed/fig10",
        "high",
        "There is a penalty from BBR at 0.5 BDP.",
        "Mean completion time of a repetition beside BBR over that beside CUBIC.",
        penalties(data, 0.5),
    )


def worst(data: Data) -> Check:
    """Where the penalty is largest."""
    found = {buffer: penalties(data, buffer) for buffer in testbed.BUFFERS}
    words = ", ".join(
        f"{buffer:g} BDP: {interval(data, values)}" for buffer, values in found.items()
    )
    others = [buffer for buffer in found if buffer != 0.5]
    return judge_bounds(
        data,
        "mixed/fig10",
        "worst",
        "The largest penalty is there.",
        "The same ratio at 0.5 BDP less that in another buffer.",
        {f"{buffer:g} BDP": differences(found[0.5], found[buffer]) for buffer in others},
        f" ({words})",
    )


def clear(data: Data) -> Check:
    """The penalty at 1 BDP."""
    return judge_bounds(
        data,
        "mixed/fig10",
        "clear",
        "It is clear at 1 BDP too.",
        "The same ratio at 1 BDP.",
        penalties(data, 1.0),
    )


def gain(data: Data) -> Check:
    """The gain in large buffers."""
    return judge_bounds(
        data,
        "mixed/fig10",
        "gain",
        "In large buffers CUBIC flows gain from BBR.",
        "The same ratio at 4 and 8 BDP.",
        {f"{buffer:g} BDP": penalties(data, buffer) for buffer in (4.0, 8.0)},
    )
