"""The extension: 1 CUBIC against 1 BBR in two large buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.figures.palette import name
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Key, Picture, Scope
from narrows.reproduce.judging import differences, interval, judge_bounds, make_note

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

BUFFERS = {"6bdp": ("200pkt", "6 BDP"), "18bdp": ("600pkt", "more than 18 BDP")}
SHOWN_S = 100
END_S = 300
TRIALS = 5
KINDS = ("cubic", "bbr")
ORDERS = (("0s", "0s"), ("0s", "1s"), ("1s", "0s"))
EARLY_S, LATE_S, LATER_S = (2.0, 20.0), (60.0, 100.0), (200.0, 300.0)
UNPROBED = len(ORDERS)
"""The order of runs, started together, in which BBR never gets to PROBE_RTT."""
Flows = Sequence[Mapping[str, object]]
NOT_YET = {"probe_rtt_interval": "1000s"}


def cases(scope: Scope) -> Iterator[Case]:
    """Runs with both buffers in both environments, in other orders, and without PROBE_RTT."""
    for environment in testbed.ENVIRONMENTS:
        for label in BUFFERS:
            for place, (cubic, bbr) in enumerate(ORDERS[:1] if scope.quick else ORDERS):
                flows = [{"cca": "cubic", "start": cubic}, {"cca": "bbr", "start": bbr}]
                yield _case(scope, environment, label, place, flows)
        unprobed: Flows = [{"cca": "cubic"}, {"cca": "bbr", "options": NOT_YET}]
        yield _case(scope, environment, "6bdp", UNPROBED, unprobed)


def _case(scope: Scope, environment: str, label: str, order: int, flows: Flows) -> Case:
    room, _ = BUFFERS[label]
    spec = testbed.spec(
        scope,
        environment,
        {**testbed.SLOW, "buffer": room},
        flows,
        duration=f"{END_S}s",
        trials=TRIALS,
        sample_interval="500ms",
    )
    key: Key = {"environment": environment, "buffer": label, "order": order}
    return Case(key, spec, aside=order == UNPROBED)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Throughput of both flows in windows of 1 s."""
    return {"throughput": run_frames.throughput(trial, 1.0, whole=True)}


def draw(data: Data) -> list[Picture]:
    """Throughput over 100 s, both buffers in Mininet."""
    figure = Figure(
        "1 CUBIC against 1 BBR in large buffers",
        f"10 Mbit/s, 40 ms, started together, Mininet; windows of 1 s; {data.scope.profile}",
        tuple(_panel(data, label) for label in BUFFERS),
        "Lines of the throughput of CUBIC and of BBR over 100 s, with buffers of 6 and 18 BDP.",
    )
    return [Picture("", "Throughput of both flows, first trial", figure)]


def _panel(data: Data, label: str) -> Panel:
    rows = data["throughput"].filter(
        (pl.col("buffer") == label)
        & (pl.col("environment") == "Mininet")
        & (pl.col("order") == 0)
        & (pl.col("trial") == 1)
    )
    lines = []
    for kind in KINDS:
        mine = rows.filter(pl.col("class") == kind)
        x, y = frames.column(mine, "start_s"), frames.column(mine, "throughput_mbps")
        lines.append(Line(name(kind), x, y, kind, width=1.2))
    room, words = BUFFERS[label]
    return Panel("Time (s)", "Throughput (Mbit/s)", tuple(lines),
                 title=f"{words} ({room.removesuffix('pkt')} packets)", x_range=(0, SHOWN_S),
                 y_range=(0, 10), guides=(Guide(5, "fair"),))  # fmt: skip


def judge(data: Data) -> list[Finding]:
    """BBR is starved and recovers at 6 BDP, by PROBE_RTT; CUBIC is ahead at 18."""
    return [
        Finding("cs244/extension-6bdp", [share_at_start(data), back(data), *by_probe_rtt(data)]),
        Finding("cs244/extension-18bdp", [dominates(data), not_at_6(data)], notes=[lasting(data)]),
    ]


def share(
    data: Data, label: str, kind: str, span: tuple[float, float], order: int = 0
) -> list[float]:
    """A flow's percentage of the throughput in a span, for every run of an order."""
    low, high = span
    rows = data["throughput"].filter(
        (pl.col("buffer") == label)
        & (pl.col("order") == order)
        & (pl.col("start_s") >= low)
        & (pl.col("start_s") < high)
    )
    keys = ["environment", "trial"]
    mbps = pl.col("throughput_mbps")
    parts = rows.group_by(keys, maintain_order=True).agg(
        percent=100 * mbps.filter(pl.col("class") == kind).sum() / mbps.sum()
    )
    return parts["percent"].to_list()


def others(data: Data, label: str, kind: str, span: tuple[float, float]) -> str:
    """The shares in the other orders of starting, in words."""
    found = [share(data, label, kind, span, order) for order in (1, 2)]
    if not all(found):
        return ""
    first, second = (sum(values) / len(values) for values in found)
    return f" ({first:.0f} % with CUBIC a second ahead, {second:.0f} % with BBR)"


def share_at_start(data: Data) -> Check:
    """BBR's share at the beginning."""
    return judge_bounds(
        data,
        "cs244/extension-6bdp",
        "starved",
        "At 6 BDP BBR is starved at first.",
        f"BBR's share from {EARLY_S[0]:g} to {EARLY_S[1]:g} s, started together, in both "
        "environments.",
        share(data, "6bdp", "bbr", EARLY_S),
        others(data, "6bdp", "bbr", EARLY_S),
    )


def back(data: Data) -> Check:
    """BBR's share later on."""
    return judge_bounds(
        data,
        "cs244/extension-6bdp",
        "back",
        "Then PROBE_RTT lets it back towards a fair share.",
        f"BBR's share from {LATE_S[0]:g} to {LATE_S[1]:g} s, as above.",
        share(data, "6bdp", "bbr", LATE_S),
        others(data, "6bdp", "bbr", LATE_S),
    )


def by_probe_rtt(data: Data) -> Iterator[Check]:
    """The effect of PROBE_RTT; nothing where a kernel's BBR can't go without it."""
    without = share(data, "6bdp", "bbr", LATE_S, UNPROBED)
    if without:
        yield judge_bounds(
            data,
            "cs244/extension-6bdp",
            "by-probe-rtt",
            "It is PROBE_RTT that lets it back.",
            f"BBR's share from {LATE_S[0]:g} to {LATE_S[1]:g} s, less that of a BBR that "
            "doesn't get to PROBE_RTT in that time, in each environment and trial.",
            differences(share(data, "6bdp", "bbr", LATE_S), without),
            f" ({interval(data, without, 3, ' %')} without it)",
        )


def dominates(data: Data) -> Check:
    """CUBIC's share in the larger buffer."""
    return judge_bounds(
        data,
        "cs244/extension-18bdp",
        "dominates",
        "With more than 18 BDP CUBIC dominates.",
        f"CUBIC's share of the throughput from {LATE_S[0]:g} to {LATE_S[1]:g} s, started together, "
        "in both environments.",
        share(data, "18bdp", "cubic", LATE_S),
        others(data, "18bdp", "cubic", LATE_S),
    )


def not_at_6(data: Data) -> Check:
    """CUBIC's share in the smaller buffer."""
    return judge_bounds(
        data,
        "cs244/extension-18bdp",
        "not-at-6",
        "It is the size of the buffer that makes it so: at 6 BDP CUBIC doesn't.",
        f"CUBIC's share with 6 BDP from {LATE_S[0]:g} to {LATE_S[1]:g} s.",
        share(data, "6bdp", "cubic", LATE_S),
    )


def lasting(data: Data) -> Check:
    """CUBIC's shares long after the figure."""
    told = (
        f"{interval(data, share(data, label, 'cubic', span), 3, ' %')} at {words} from "
        f"{span[0]:g} to {span[1]:g} s"
        for span in ((0.0, float(SHOWN_S)), LATER_S)
        for label, (_, words) in BUFFERS.items()
    )
    return make_note("How long that lasts.", "CUBIC's share with both buffers.", "; ".join(told))
