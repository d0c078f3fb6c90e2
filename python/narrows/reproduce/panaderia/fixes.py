"""The paper's proposals: BBR Shallow, an adaptive cap, a robust RTprop."""

from __future__ import annotations

from narrows.reproduce.exhibit import Exhibit

PROFILE = "linux-4.17"
PAPER = '"Sharing but not Caring" (Claypool et al., AICT 2019)'
CHOICES = (
    "The hosts are those of the paper's other figures: pacing timers fire 50 microseconds late. "
    "What the paper proposes in words only is built as the options of the simulator's BBR say; "
    "`narrows list ccas` names them."
)


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
    _exhibit("fix-rtprop", "keep_rtprop", "An RTprop that is kept, or raised once confirmed",
             "Section IV-E2", "fix-rtprop"),
)  # fmt: skip
