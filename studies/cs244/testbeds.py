"""The testbeds that the report leaves open."""

from __future__ import annotations

from narrows.reproduce.testbed_axes import CLOCK, STARTS, Level, TestbedAxis, timers

AXES = (
    TestbedAxis(
        "How late Mininet's pacing timers were isn't known: not at all, or by 100 us instead "
        "of 50.",
        (Level("timers on time", timers("0s")), Level("timers 100 us late", timers("100us"))),
        crossed=True,
    ),
    STARTS,
    CLOCK,
)
