"""Runs the study of other projects' transport stacks and writes docs/reference/stacks.md.

    python tools/study_stacks.py OUT

OUT is a store of runs: what is there isn't run again. No number in the page is written by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

import narrows as nw

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "stacks.md"
TRIALS = 5
CONTROLS = ("reno", "cubic", "bbr")
STACKS = ("linux", "quinn")

HEAD = """\
# Stacks of other projects beside Linux

What the same control does in another project's transport stack and in the simulator's model of
Linux 6.12. The stack is quinn-proto 0.11.19, which runs itself ([how-to](../how-to/stacks.md)),
with what it ships with; `linux` is the simulator's TCP, whose agreement with the kernel
[agreement.md](agreement.md) measures. The path has 20 Mbit/s and 30 ms; each number is the mean
of {trials} runs with different seeds (the lowest and the highest in brackets), 60 s without the
first 10. `python tools/study_stacks.py OUT` runs everything and writes this page.

## Where they differ, and why

The lines are those of quinn-proto 0.11.19, below `src`.

- **BBR isn't paced at its rate.** `connection/pacing.rs` releases 1.25 windows in a smoothed RTT,
  whatever the control; `pacing_rate` of `congestion/bbr/mod.rs` is read by qlog alone
  (`connection/paths.rs:204`). The gain cycle of PROBE_BW therefore changes nothing that is sent,
  and the window of two estimated BDP is always used: a buffer of less than one BDP always
  overflows, and one of one BDP is always full. Linux's BBR paces at its estimate and keeps the
  window as a safeguard.
- **BBR begins with 200 packets**: `K_MAX_INITIAL_CONGESTION_WINDOW` (`congestion/bbr/mod.rs:648`)
  times 1200 bytes, 240 kB, where CUBIC and New Reno of quinn begin with 12 kB and Linux with 10
  packets. It is 3.2 BDP of this path, in the first round trip.
- **BBR's lowest RTT never rises**: it takes the minimum of the whole connection
  (`connection/paths.rs:338`), where Linux's expires after 10 s.
- **Slow start has no HyStart** (`congestion/cubic.rs`): CUBIC goes on doubling until packets are
  lost. Linux's CUBIC leaves slow start by delay or by trains of ACKs.
- **The window falls at once** to 70 % (CUBIC) or 50 % (New Reno, `congestion/new_reno.rs:163`),
  where Linux lowers it packet by packet (PRR); and quinn's pacer goes on at 1.25 windows in a
  round trip, where Linux paces at 2 in slow start and 1.2 after it if the host has `fq`, and not
  at all here.

What follows from each of these alone hasn't been measured: nothing in quinn was changed.

## What was measured
"""

SPEC = """\
name = "{name}"
[path]
rate = "20mbit"
rtt = "30ms"
{path}
[[flows]]
name = "subject"
cca = "cubic"
{subject}
{others}
[host]
jitter = "200us"
[run]
duration = "{duration}"
warmup = "{warmup}"
trials = {trials}
record = "summary"
{run}
[sweep.axes]
"flows[0].cca" = ["reno", "cubic", "bbr"]
"""
BESIDE = '[[flows]]\nname = "other"\ncca = "{cca}"'


@dataclass(frozen=True)
class Situation:
    """A situation of the study, and what is read from it: a column, its title and its format."""

    name: str
    title: str
    columns: tuple[tuple[str, str, str], ...]
    path: str = 'buffer = "1bdp"'
    subject: str = ""
    others: str = ""
    run: str = ""
    duration: str = "60s"
    warmup: str = "10s"

    def text(self, stack: str) -> str:
        """The specification with this stack."""
        own = "" if stack == "linux" else f'stack = "{stack}"\n'
        return SPEC.format(
            name=f"{self.name}-{stack}", path=self.path, subject=own + self.subject,
            others=self.others, duration=self.duration, warmup=self.warmup, trials=TRIALS,
            run=self.run,
        )  # fmt: skip


USE = ("utilization", "utilization", "{:.1%}")
QUEUE = ("queue_mean_ms", "mean queue, ms", "{:.1f}")
LOSS = ("loss_rate", "dropped by the queue", "{:.2%}")
SHARE = ("subject.share", "share", "{:.1%}")
TIME = ("subject.fct_s", "time, s", "{:.2f}")
ALONE = (USE, QUEUE, LOSS)

SITUATIONS = (
    Situation("shallow", "Alone, a buffer of 0.25 BDP", ALONE, path='buffer = "0.25bdp"'),
    Situation("medium", "Alone, a buffer of 1 BDP", ALONE),
    Situation("deep", "Alone, a buffer of 4 BDP", ALONE, path='buffer = "4bdp"'),
    Situation(
        "random-loss", "Alone, 1 % of packets lost at random", (USE,),
        path='buffer = "1bdp"\nloss = 0.01',
    ),
    Situation(
        "start-up", "2 MB alone, a buffer of 1 BDP",
        (TIME, ("drops", "packets dropped", "{:.0f}")), subject='size = "2mb"',
        run='stop_when = "all"', duration="30s", warmup="0s",
    ),
    Situation("codel", "Alone behind CoDel", ALONE, path='queue = "codel"\nbuffer = "1000pkt"'),
    Situation(
        "beside-cubic", "Beside a CUBIC flow of Linux, a buffer of 1 BDP", (SHARE, LOSS),
        others=BESIDE.format(cca="cubic"),
    ),
    Situation(
        "beside-cubic-deep", "Beside a CUBIC flow of Linux, a buffer of 4 BDP", (SHARE, QUEUE),
        path='buffer = "4bdp"', others=BESIDE.format(cca="cubic"),
    ),
    Situation(
        "beside-reno", "Beside a Reno flow of Linux, a buffer of 1 BDP", (SHARE, LOSS),
        others=BESIDE.format(cca="reno"),
    ),
    Situation(
        "beside-bbr", "Beside a BBR flow of Linux, a buffer of 1 BDP", (SHARE, LOSS),
        others=BESIDE.format(cca="bbr"),
    ),
)  # fmt: skip


def rows(situation: Situation, out: Path) -> Iterator[str]:
    """The lines of a situation's table."""
    heads = [title for _, title, _ in situation.columns]
    yield f"| control | stack | {' | '.join(heads)} |"
    yield "|---|---|" + "---:|" * len(heads)
    measured = {stack: summaries(situation, stack, out) for stack in STACKS}
    for control in CONTROLS:
        for stack in STACKS:
            mine = measured[stack].filter(pl.col("flows[0].cca") == control)
            cells = [spread(mine[column], form) for column, _, form in situation.columns]
            yield f"| {control} | {stack} | {' | '.join(cells)} |"


def summaries(situation: Situation, stack: str, out: Path) -> pl.DataFrame:
    """A row for each run with this stack."""
    specification = out / f"{situation.name}-{stack}.toml"
    specification.parent.mkdir(parents=True, exist_ok=True)
    specification.write_text(situation.text(stack), encoding="utf-8")
    result = nw.sweep(specification, out=out / f"{situation.name}-{stack}")
    return result.summary_table


def spread(values: pl.Series, form: str) -> str:
    """The mean, with the lowest and the highest in brackets."""
    known = values.drop_nulls()
    if len(known) < len(values):
        return f"unfinished in {len(values) - len(known)} of {len(values)}"
    mean, low, high = (form.format(number) for number in (known.mean(), known.min(), known.max()))
    return mean if low == high else f"{mean} ({low} to {high})"


def page(out: Path) -> str:
    """The whole page."""
    parts = [HEAD.replace("{trials}", str(TRIALS)).rstrip()]
    for situation in SITUATIONS:
        parts += [f"\n### {situation.title}\n", *rows(situation, out)]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    TARGET.write_text(page(Path(sys.argv[1])), encoding="utf-8")
