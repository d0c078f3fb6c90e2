"""Figure 13: 100 KB CUBIC flows beside a large BBR or CUBIC flow, over the buffer."""

from __future__ import annotations

from collections.abc import Iterator

from narrows.report import Check
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.mixed import testbed, times

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
    """Slower beside BBR even at 2 BDP; the largest gain at 8 BDP."""
    return [Finding("mixed/fig13", [slower(data), gain(data)])]


def slower(data: Data) -> Check:
    """Beside BBR at 2 BDP."""
    found = [times.penalty(data, room) for room in (0.5, 1.0, 2.0)]
    return Check(
        "100 KB flows are slower beside BBR even at 2 BDP.",
        "Mean completion time beside BBR over that beside CUBIC at 0.5, 1 and 2 BDP. Passes if all "
        "are above 1.",
        "longer at 2 BDP",
        ", ".join(f"{value:.2f}" for value in found),
        min(found) > 1.0,
    )


def gain(data: Data) -> Check:
    """Where beside BBR is best."""
    saved = {
        room: times.mean(data, "cubic", room) - times.mean(data, "bbr", room)
        for room in testbed.BUFFERS
    }
    words = ", ".join(f"{room:g} BDP: {value:+.2f} s" for room, value in saved.items())
    return Check(
        "The largest gain from BBR is at 8 BDP.",
        "Mean completion time beside CUBIC minus that beside BBR. Passes if it is largest at 8 BDP "
        "and above zero there.",
        "8 BDP",
        words,
        max(saved, key=lambda room: saved[room]) == 8.0 and saved[8.0] > 0,
    )
