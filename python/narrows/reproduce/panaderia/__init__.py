"""Sharing but not Caring (Claypool et al., AICT 2019): BBR and CUBIC on Raspberry Pis."""

from __future__ import annotations

from dataclasses import replace

from narrows.reproduce.exhibit import Document
from narrows.reproduce.panaderia.fixes import FIXES

PROFILE = "linux-4.17"
PAPER = '"Sharing but not Caring" (Claypool et al., AICT 2019)'
CHOICES = (
    "The flows start together; minutes 2 to 4 are counted and the fifth, which the paper leaves "
    "out, isn't run. The pacing timers of the Raspberry Pis are taken to fire 50 microseconds "
    "late: Linux 4.17 had no means to catch up on a late timer, and how late theirs were isn't "
    "known. Figure 7 shows what perfect timers would give, panaderia/choices what other starts "
    "and numbers of flows would; `narrows reproduce panaderia --testbeds` judges all claims with "
    "each."
)

DOCUMENT = Document("panaderia", PAPER, PROFILE, CHOICES)
_exhibit = DOCUMENT.exhibit


LATER = ("linux-6.12",)

EXHIBITS = (
    _exhibit("fig1", "The optimal operating point", "Figure 1", "fig1"),
    _exhibit("fig4", "Shares and probes of staggered BBR flows", "Figure 4",
             "fig4a", "fig4b"),
    _exhibit("fig5", "Standing queues of BBR and of CUBIC in a large buffer", "Figure 5",
             "fig5-bbr-queue", "fig5-cubic-queue", "fig5-rtt", "in-flight"),
    _exhibit("fig6", "BBR's loss in a shallow buffer", "Figure 6", "fig6", also=LATER),
    _exhibit("fig7", "BBR's loss by the size of the buffer", "Figure 7",
             "fig7", "shallow-throughput", also=LATER),
    _exhibit("fig8", "Throughput of BBR and CUBIC in a shallow buffer", "Figure 8", "fig8",
             also=LATER),
    _exhibit("fig9", "BBR and CUBIC over time in a medium buffer", "Figure 9",
             "fig9-cycle", "fig9-rtprop", "fig9-loss", also=LATER),
    _exhibit("fig10", "Shares of BBR and CUBIC by the size of the buffer", "Figure 10",
             "fig10-small", "fig10-spread", "fig10-fair-point", also=LATER),
    _exhibit("table-cycle", "The cycle of BBR and CUBIC over Table I", "Section IV-D",
             "table-cycle"),
    _exhibit("any-filler", "BBR beside other controls that fill buffers", "Section V",
             "any-filler"),
    _exhibit("networks", "BBR and CUBIC over 4G, 5G and satellites", "Section V", "networks",
             choices=" The networks are presets (`narrows list paths`), whose numbers, where no "
             "standard gives them, are chosen."),
    replace(_exhibit("choices", "What the paper leaves open, varied", "Section III"), claims=()),
    *FIXES,
)  # fmt: skip
