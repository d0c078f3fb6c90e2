"""Section VII: bursts of BBR whose STARTUP estimates the capacity and fills no more."""

from __future__ import annotations

from narrows.reproduce.exhibit import Data, Finding

from .startups import Startup
from .startups import measure as measure

CAPACITY = Startup(
    "mixed/idea-capacity",
    "startup_capacity",
    "A STARTUP that knows the capacity",
    "BBR that estimates it",
    ("goodput_mbps", "loss"),
)
cases = CAPACITY.cases
draw = CAPACITY.draw


def judge(data: Data) -> list[Finding]:
    """Less is lost, and the large flow has more throughput at no lower utilisation."""
    checks = [
        CAPACITY.against_plain(data, "loss", "STARTUP saturates the link less."),
        CAPACITY.against_plain(data, "goodput_mbps", "The large CUBIC flow suffers less."),
        CAPACITY.against_plain(data, "utilization", "The link's utilisation suffers less."),
    ]
    return [Finding(CAPACITY.claim, checks)]
