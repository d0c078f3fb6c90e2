"""The paper's proposals: BBR Shallow, a cap that adapts, an RTprop that isn't fooled."""

from __future__ import annotations

from typing import Any

from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.exhibit import Exhibit, Scope
from narrows.reproduce.panaderia import testbed
from narrows.reproduce.proposals import Make

PROFILE = "linux-4.17"
PAPER = '"Sharing but not Caring" (Claypool et al., AICT 2019)'
CHOICES = (
    "The hosts are those of the paper's other figures: pacing timers fire 50 microseconds late. "
    "What the paper proposes in words only is built as the options of the simulator's BBR say; "
    "`narrows list ccas` names them."
)


def bottleneck(scope: Scope, **run: Any) -> Make:  # noqa: ANN401 (keys of the table `run`)
    """Runs on the testbed's path of 80 Mbit/s, minutes 2 to 4."""

    def make(flows: list[dict[str, Any]], room: float) -> dict[str, Any]:
        return dumbbell(
            "panaderia-fixes",
            testbed.path(80, room),
            flows,
            profile=scope.profile,
            host=testbed.host(scope),
            **{
                "duration": "120s" if scope.quick else "240s",
                "warmup": "60s" if scope.quick else "120s",
                "trials": 1 if scope.quick else testbed.TRIALS,
                "record": "summary",
                **run,
            },
        )

    return make


def _exhibit(name: str, module: str, title: str, source: str, claim: str) -> Exhibit:
    return Exhibit(
        f"panaderia/{name}",
        title,
        f"{source} of {PAPER}",
        (f"panaderia/{claim}",),
        f"panaderia.{module}",
        PROFILE,
        choices=CHOICES,
    )


FIXES: tuple[Exhibit, ...] = (
    _exhibit("fig11", "fig11", "BBR Shallow's loss by the size of the buffer", "Figure 11",
             "fig11"),
    _exhibit("fig12", "fig12", "Shares of BBR Shallow and CUBIC by the size of the buffer",
             "Figure 12", "fig12-fair-point"),
    _exhibit("fix-adaptive-cap", "adaptive_cap", "A cap of what is in flight that adapts",
             "Section IV-E1", "fix-adaptive-cap"),
    _exhibit("fix-rtprop", "keep_rtprop", "An RTprop that a full queue can't inflate",
             "Section IV-E2", "fix-rtprop"),
)  # fmt: skip
