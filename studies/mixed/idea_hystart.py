"""Section VII: bursts of BBR whose STARTUP also ends on HyStart's signals."""

from __future__ import annotations

from narrows.reproduce.exhibit import Data, Finding

from .startups import Startup
from .startups import measure as measure

HYSTART = Startup(
    "mixed/idea-hystart",
    "startup_hystart",
    "A STARTUP that HyStart ends",
    "BBR that HyStart stops",
    ("goodput_mbps", "utilization"),
)
cases = HYSTART.cases
draw = HYSTART.draw


def judge(data: Data) -> list[Finding]:
    """The large flow has more throughput, and utilisation is higher."""
    checks = [
        HYSTART.against_plain(data, "goodput_mbps", "The large CUBIC flow suffers less."),
        HYSTART.against_plain(data, "utilization", "The link's utilisation suffers less."),
    ]
    return [Finding(HYSTART.claim, checks)]
