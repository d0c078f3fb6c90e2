"""The path on which the slides' ideas are tried."""

from __future__ import annotations

from typing import Any

from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.exhibit import Scope
from narrows.reproduce.proposals import Make

RATE_MBPS, RTT_MS = 40, 40
PATH = f"{RATE_MBPS} Mbit/s, {RTT_MS} ms"
TRIALS = 3


def bottleneck(scope: Scope, **run: Any) -> Make:  # noqa: ANN401 (keys of the table `run`)
    """Runs on one path; the warm-up is half a minute."""

    def make(flows: list[dict[str, Any]], room: float) -> dict[str, Any]:
        return dumbbell(
            "ietf98-improvements",
            {"rate": f"{RATE_MBPS}mbit", "rtt": f"{RTT_MS}ms", "buffer": f"{room:g}bdp"},
            flows,
            profile=scope.profile,
            host={"jitter": "20us", "fq": True},
            **{
                "duration": "90s" if scope.quick else "150s",
                "warmup": "30s",
                "trials": TRIALS,
                "record": "summary",
                **run,
            },
        )

    return make
