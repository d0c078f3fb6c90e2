"""The testbeds that the slides leave open."""

from __future__ import annotations

from narrows.reproduce.testbed_axes import OFFLOAD, Level, Spec, TestbedAxis


def _smaller_buffer(spec: Spec) -> None:
    spec["path"]["buffer"] = "2bdp"


AXES = (
    OFFLOAD,
    TestbedAxis(
        "The buffer isn't said: 2 BDP instead of 5.",
        (Level("2 BDP", _smaller_buffer),),
        ("ietf98/state-walk",),
    ),
)
