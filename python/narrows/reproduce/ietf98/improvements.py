"""The slides' ideas for a better BBR, as figures: each beside BBR as it is."""

from __future__ import annotations

from narrows.reproduce.exhibit import Exhibit

PROFILE = "linux-4.11"
SLIDES = "BBR Congestion Control: An Update (Cardwell et al., IETF 98, March 2017)"
RATE_MBPS, RTT_MS = 40, 40
PATH = f"{RATE_MBPS} Mbit/s, {RTT_MS} ms"
CHOICES = (
    f"The slides name no path for this; it is {PATH} here. The hosts pace with fq, as BBR of Linux "
    "4.11 needs, and every packet of a sender waits up to 20 microseconds, in order. What the "
    "slides propose in words is built as the options of the simulator's BBR say; `narrows list "
    "ccas` names them."
)


def _exhibit(name: str, module: str, title: str, slide: str) -> Exhibit:
    return Exhibit(
        f"ietf98/{name}",
        title,
        f"{slide} of {SLIDES}",
        (f"ietf98/{name}",),
        f"ietf98.{module}",
        PROFILE,
        choices=CHOICES,
    )


IMPROVEMENTS: tuple[Exhibit, ...] = (
    _exhibit("buffer-model", "buffer_model", "Half of the flow's share of the buffer",
             "Slide 'Latest experiment: modeling available buffer space'"),
    _exhibit("buffer-growth", "buffer_growth", "A share of the buffer that grows without losses",
             "Slide 'Latest experiment: modeling available buffer space'"),
    _exhibit("probe-rtt-gentle", "probe_rtt_gentle", "PROBE_RTT at 0.75 BDP",
             "Slide 'Improving BBR'"),
    _exhibit("probe-rtt-scaled", "probe_rtt_scaled", "PROBE_RTT scaled to what it needs",
             "Slide on open challenges"),
    _exhibit("bandwidth-estimator", "estimator", "The bandwidth estimator in company and pauses",
             "Slide on open challenges"),
    _exhibit("tso-quantization", "quantization", "The window's room for bursts",
             "Slide on open challenges"),
    _exhibit("startup-faster-exit", "faster_exit", "Quicker exits, gentler recovery, more draining",
             "Slides on open challenges"),
)  # fmt: skip
