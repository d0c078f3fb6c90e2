"""The path on which the paper's proposals are tested: that of its other figures."""

from __future__ import annotations

from typing import Any

from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.exhibit import Scope
from narrows.reproduce.proposals import Make

from . import testbed


def bottleneck(scope: Scope, **run: Any) -> Make:  # noqa: ANN401 (keys of the table `run`)
    """Runs on the testbed's path of 80 Mbit/s, measured as long as its other figures."""
    start_s, end_s = testbed.span_s(scope)

    def make(flows: list[dict[str, Any]], room: float) -> dict[str, Any]:
        return dumbbell(
            "panaderia-fixes",
            testbed.path(80, room),
            flows,
            profile=scope.profile,
            host=testbed.host(scope),
            **{
                "duration": f"{end_s}s",
                "warmup": f"{start_s}s",
                "trials": testbed.TRIALS,
                "record": "summary",
                **run,
            },
        )

    return make
