"""The answers of the playground's lessons: their numbers are what the examples give."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from narrows.backends.sim import Simulator
from narrows.metrics.summary import summarise
from narrows.spec import parse

PLAYGROUND = Path(__file__).resolve().parents[2] / "playground"
Said = tuple[str, str, tuple[str, ...], Any, str]


def goodput(*flows: int) -> Any:
    return lambda summary: sum(summary["flows"][flow]["goodput_mbps"] for flow in flows)


def used_mbps(summary: Any) -> float:
    return float(summary["bottleneck"]["utilization"] * 100)


def rtt(summary: Any) -> float:
    return float(summary["flows"][0]["rtt_ms"]["mean"])


def lost_packets(summary: Any) -> float:
    return float(summary["bottleneck"]["loss_rate"] * 100)


def cubics_part(summary: Any) -> float:
    return float(100 * goodput(2, 3)(summary) / goodput(0, 1, 2, 3)(summary))


BOTH_CUBIC, BOTH_RENO = ("flows.1.cca=cubic",), ("flows.0.cca=reno", "flows.1.cca=reno")
ANSWERS: list[Said] = [
    ("queue", "standing-queue", ("path.buffer=0.5bdp",), used_mbps, "99 % of the link"),
    ("queue", "standing-queue", ("path.buffer=8bdp",), rtt, "285 ms on average"),
    (
        "queue",
        "standing-queue",
        ("path.buffer=0.25bdp", "flows.0.cca=reno"),
        used_mbps,
        "86 % of the",
    ),
    ("queue", "standing-queue", ("path.buffer=0.25bdp",), used_mbps, "CUBIC and BBR use 97 %"),
    (
        "queue",
        "standing-queue",
        ("path.buffer=0.25bdp", "flows.0.cca=bbr"),
        lost_packets,
        "loses 1.6 %",
    ),
    ("turns", "take-turns", ("path.buffer=1bdp",), cubics_part, "CUBIC gets 2 % of"),
    ("aqm", "managed-queue", BOTH_CUBIC, rtt, "45 ms with CoDel"),
    ("aqm", "managed-queue", ("path.queue=fq_codel", *BOTH_CUBIC), rtt, "43 ms with FQ-CoDel"),
    ("aqm", "managed-queue", ("path.queue=pie", *BOTH_CUBIC), rtt, "56 ms with PIE"),
    ("aqm", "managed-queue", ("path.queue=droptail", *BOTH_CUBIC), rtt, "310 ms with drop-tail"),
    ("aqm", "managed-queue", ("path.rtt=300ms",), used_mbps, "97 % with CoDel"),
    ("aqm", "managed-queue", ("path.rtt=300ms", "path.queue=pie"), used_mbps, "to 94 %"),
    ("rtt", "rtt-fairness", (), goodput(1), "far flow gets 3.2 Mbit/s"),
    ("rtt", "rtt-fairness", BOTH_RENO, goodput(1), "and 3.2 with Reno"),
    ("loss", "random-loss", ("path.loss=0.05",), goodput(1), "BBR gets 17 Mbit/s"),
    ("loss", "random-loss", ("path.loss=0.001",), goodput(0), "gets 2.2, 2.0"),
    ("loss", "random-loss", ("path.loss=0.02", *BOTH_RENO), goodput(0), "2.3 and 2.2"),
    ("loss", "random-loss", ("path.loss=0.02", "flows.1.cca=bbr3"), goodput(1), "12.4 at 2 %"),
    ("loss", "random-loss", ("path.loss=0.05", "flows.1.cca=bbr3"), goodput(1), "3.4 at 5 %"),
]


@pytest.mark.parametrize(
    ("lesson", "example", "changes", "value", "answer"), ANSWERS, ids=[one[4] for one in ANSWERS]
)
def test_an_answer_is_what_the_example_gives(
    lesson: str, example: str, changes: tuple[str, ...], value: Any, answer: str
) -> None:
    page = " ".join((PLAYGROUND / "lessons" / f"{lesson}.html").read_text().split())
    assert answer in page
    number = re.findall(r"\d+(?:\.\d+)?", answer)[0]
    text = (PLAYGROUND / "examples" / f"{example}.toml").read_text()
    scenario = parse(text, example, list(changes)).spec.scenario
    result = Simulator().run(scenario)
    found = value(summarise(scenario, result.tables, result.info))
    digits = len(number.partition(".")[2])
    assert f"{found:.{digits}f}" == number
