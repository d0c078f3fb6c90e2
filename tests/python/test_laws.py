"""Published laws beside the simulator: docs/reference/laws.md says what was found.

Each law is held in the domain that its source gives, on a short run. The page has the predicted
and the measured value, and the test holds it to both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from narrows.backends.sim import Simulator
from narrows.metrics.summary import summarise
from narrows.spec import parse

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "laws.md"
#: Payload bits of a packet.
PAYLOAD = 1448 * 8


def spec(cca: str, *, count: int = 1, seconds: int = 30, host: str = "", **path: str) -> str:
    """A specification of `count` flows of a control; the values of the path are those of TOML."""
    lines = [f"{key} = {value}" for key, value in path.items()]
    flows = ["[[flows]]", f'cca = "{cca}"', f"count = {count}"]
    run = ["[run]", f'duration = "{seconds}s"', f'warmup = "{seconds // 5}s"']
    return "\n".join(['name = "law"', "[path]", *lines, *flows, "[host]", host, *run])


def runs(text: str, seeds: int) -> list[Any]:
    """The summaries of the runs with seeds from 1 on."""
    scenario = parse(text, "law").spec.scenario
    found = []
    for seed in range(1, seeds + 1):
        seeded: Any = {**scenario, "seed": seed}
        result = Simulator().run(seeded)
        found.append(summarise(seeded, result.tables, result.info))
    return found


def rate(summary: Any) -> float:
    return float(sum(flow["goodput_mbps"] for flow in summary["flows"]))


def queue_bdp(summary: Any) -> float:
    return float(summary["bottleneck"]["queue_bdp"]["mean"])


def queue_ms(summary: Any) -> float:
    return queue_bdp(summary) * float(summary["scenario"]["path"]["rtt_ns"]) / 1e6


def queue_peaks_ms(summary: Any) -> float:
    path = summary["scenario"]["path"]
    return float(summary["bottleneck"]["queue_bdp"]["p95"] * path["rtt_ns"]) / 1e6


def queue_packets(summary: Any) -> float:
    path = summary["scenario"]["path"]
    return queue_bdp(summary) * float(path["rate_bps"]) * float(path["rtt_ns"]) / 1e9 / 12_000


def aimd_mbps(summary: Any) -> float:
    return 100 * float(summary["bottleneck"]["utilization"])


def mathis(loss: float, rtt: float) -> float:
    """Mbit/s of AIMD(1, 1/2), each packet counted (Mathis et al. 1997, C = sqrt(3/2))."""
    return PAYLOAD / rtt * math.sqrt(1.5 / loss) / 1e6


def pftk(loss: float, rtt: float, timeout: float) -> float:
    """Mbit/s of Reno with timeouts (Padhye et al. 1998, approximate model with b = 1)."""
    timeouts = timeout * min(1, 3 * math.sqrt(3 * loss / 8)) * loss * (1 + 32 * loss**2)
    return PAYLOAD / (rtt * math.sqrt(2 * loss / 3) + timeouts) / 1e6


def cubic(loss: float, rtt: float) -> float:
    """Mbit/s of CUBIC outside of its Reno-friendly region (RFC 9438, section 5.1)."""
    window = (0.4 * 3.7 / (4 * 0.3)) ** 0.25 * (rtt / loss) ** 0.75
    return float(PAYLOAD / rtt * window / 1e6)


@dataclass(frozen=True)
class Law:
    """A law, a place in its domain, and how near the simulator must come to it."""

    name: str
    text: str
    value: Callable[[Any], float]
    least: float
    most: float
    digits: int = 1
    seeds: int = 1


def near(value: float, part: float) -> tuple[float, float]:
    return value * (1 - part), value * (1 + part)


WIDE = {"rate": '"200mbit"', "buffer": '"4bdp"'}
LINK = {"rate": '"20mbit"', "rtt": '"40ms"', "buffer": '"8bdp"'}
LAWS = [
    Law(
        "Mathis at 0.1 %",
        spec("reno", seconds=60, rtt='"40ms"', loss="0.001", **WIDE),
        rate, *near(mathis(0.001, 0.04), 0.15), seeds=4,
    ),
    Law(
        "Mathis at 1 %",
        spec("reno", seconds=60, rtt='"40ms"', loss="0.01", **WIDE),
        rate, *near(mathis(0.01, 0.04), 0.15), digits=2, seeds=4,
    ),
    Law(
        "PFTK at 5 %",
        spec("reno", seconds=60, rtt='"40ms"', loss="0.05", **WIDE),
        rate, pftk(0.05, 0.04, 0.24), mathis(0.05, 0.04), digits=2, seeds=4,
    ),
    Law(
        "CUBIC, long",
        spec("cubic", seconds=150, rtt='"100ms"', loss="0.0002", **WIDE),
        rate, *near(cubic(0.0002, 0.1), 0.2), seeds=6,
    ),
    Law(
        "CUBIC, Reno-friendly",
        spec("cubic", seconds=60, rtt='"20ms"', loss="0.005", **WIDE),
        rate, *near(mathis(0.005, 0.02), 0.2), seeds=4,
    ),
    Law("Vegas", spec("vegas", **LINK), queue_packets, 1.5, 4.5),
    Law("LEDBAT", spec("ledbat", seconds=120, **LINK), queue_peaks_ms, *near(100, 0.05)),
    Law("CoDel", spec("reno", count=4, queue='"codel"', **LINK), queue_ms, 2.5, 7.5),
    Law("FQ-CoDel", spec("reno", count=4, queue='"fq_codel"', **LINK), queue_ms, 2.5, 7.5),
    Law("PIE", spec("reno", count=4, queue='"pie"', **LINK), queue_ms, *near(15, 0.25)),
    Law(
        "DualPI2",
        spec("prague", queue='"dualpi2"', **LINK),
        queue_ms, 0, 1.5, digits=2,
    ),
    Law(
        "DCTCP above K",
        spec(
            "dctcp", count=2, rate='"100mbit"', rtt='"10ms"', buffer='"4bdp"',
            queue='{kind = "codel", ecn = true, target = "1s", ce_threshold = "3ms"}',
        ),
        aimd_mbps, 98, 100,
    ),
    Law(
        "DCTCP's queue",
        spec(
            "dctcp", count=2, rate='"100mbit"', rtt='"10ms"', buffer='"4bdp"',
            queue='{kind = "codel", ecn = true, target = "1s", ce_threshold = "3ms"}',
        ),
        queue_packets, 25 + 2 - math.sqrt(4 * (83.3 + 25)) / 2, 25 + 2,
    ),
    Law("PROBE_RTT", spec("bbr", seconds=60, **LINK), aimd_mbps, 96.5, 98.5),
    Law(
        "Several BBR",
        spec("bbr", count=4, seconds=40, host='profile = "linux-4.9"\nfq = true', **LINK),
        queue_bdp, 1, 1.5, digits=2,
    ),
]  # fmt: skip


def row(name: str) -> list[str]:
    """The cells of a law's row in the page."""
    lines = [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")
    ]
    return next(
        [cell.strip() for cell in line.split("|")] for line in lines if f"| {name} |" in line
    )


@pytest.mark.parametrize("law", LAWS, ids=[law.name for law in LAWS])
def test_a_law_holds_in_its_domain(law: Law) -> None:
    values = [law.value(summary) for summary in runs(law.text, law.seeds)]
    found = sum(values) / len(values)
    assert law.least <= found <= law.most
    told = re.search(r"\d+(\.\d+)?", row(law.name)[4])
    assert told is not None
    assert told[0] == f"{found:.{law.digits}f}"


def test_the_page_has_every_law() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [law.name for law in LAWS if f"| {law.name} |" not in text] == []
