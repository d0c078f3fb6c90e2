"""Figure 7: utilisation of the bottleneck beside medium flows of three sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from narrows.figures import frames
from narrows.report import Check
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.mixed import sizes, testbed, unstated

if TYPE_CHECKING:
    import polars as pl

    from narrows.store import StoredTrial

DIPS = {"500kb": 20.0, "1mb": 40.0, "2mb": 60.0}
NEAR = 10.0


def cases(scope: Scope) -> Iterator[Case]:
    """Both controls, three sizes, all rates; and with iperf3's own conversation."""
    yield from unstated.plain(sizes.cases(scope))
    yield from unstated.under(unstated.CONVERSATION, sizes.cases(scope))


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """What each run gave: one row."""
    return {"outcome": testbed.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Utilisation over the rate, in percent."""
    title = "Utilisation beside medium flows of three sizes"
    figure = sizes.figure(unstated.only(data), "utilization", title, "Percent", 100.0)
    return [Picture("", "Bytes that left the bottleneck while the large flow lasted", figure)]


def judge(data: Data) -> list[Finding]:
    """Where the dips are."""
    described = unstated.only(data)

    def checks(data: Data) -> list[Check]:
        return [dips(data), deeper(data)]

    reason = unstated.reason(unstated.CONVERSATION, data, checks)
    return [Finding("mixed/fig7", checks(described), reason)]


def lowest(data: Data, small: str, size: str) -> tuple[float, float]:
    """The rate of the lowest utilisation, and that in percent."""
    rows = sizes.by_rate(data, "utilization", small, size)
    used = frames.column(rows, "mean")
    place = int(used.argmin())
    return float(frames.column(rows, "rate_mbps")[place]), 100 * float(used[place])


def dips(data: Data) -> Check:
    """The rate at which the link is used least, for each size."""
    found = {size: lowest(data, "bbr", size) for size in DIPS}
    words = ", ".join(
        f"{sizes.SIZES[size]}: {rate:g} Mbit/s ({used:.0f} %)"
        for size, (rate, used) in found.items()
    )
    rates = [rate for rate, _ in found.values()]
    near = all(abs(found[size][0] - expected) <= NEAR for size, expected in DIPS.items())
    return Check(
        "With BBR flows the utilisation dips at a rate that grows with their size.",
        "The rate with the lowest mean utilisation. Passes if each is at most one step of the "
        f"grid ({NEAR:g} Mbit/s) from the document's and they grow with the size.",
        "20 Mbit/s for 500 KB, 40 for 1 MB, 60 for 2 MB",
        words,
        near and rates == sorted(set(rates)),
    )


def deeper(data: Data) -> Check:
    """The dips against those of CUBIC flows."""
    bbr, cubic = ([lowest(data, small, size)[1] for size in DIPS] for small in ("bbr", "cubic"))
    return Check(
        "The dip is BBR's doing: CUBIC flows of the same sizes leave none as deep.",
        "Lowest mean utilisation of each size. Passes if it is lower with BBR flows for each.",
        "lower with BBR",
        f"BBR {_words(bbr)}; CUBIC {_words(cubic)}",
        all(b < c for b, c in zip(bbr, cubic, strict=True)),
    )


def _words(values: list[float]) -> str:
    return ", ".join(f"{value:.0f} %" for value in values)
