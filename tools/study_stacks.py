"""Runs the study of other projects' transport stacks and writes docs/reference/stacks.md.

    python tools/study_stacks.py OUT

OUT is a store of runs: what is there isn't run again. No number in the page is written by hand.
The lines of Linux itself need a kernel (`narrows kernel build`); without one the page lacks them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

import narrows as nw
from narrows.backends.uml import get_kernel, kernels

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "stacks.md"
TRIALS = 3
CONTROLS = {
    "linux": ("reno", "cubic", "bbr", "bbr3"),
    "quinn": ("reno", "cubic", "bbr"),
    "noq": ("reno", "cubic", "bbr3"),
}
"""The controls that each stack has; `linux` is the simulator's own TCP."""
STACKS = tuple(CONTROLS)

DEBIAN = "linux-6.12"
"""The kernel that `narrows kernel build` makes."""
KERNEL = "Linux itself"
"""Its name in the tables."""

HEAD = """\
# Stacks of other projects beside Linux

Compares the same controls in other projects' transport stacks, in the simulator's model of
Linux 6.12, and in Linux. The stacks are quinn-proto 0.11.19 and noq-proto 1.4.0, which run
unmodified ([how-to](../how-to/stacks.md)), with their own controls; `linux` is the simulator's
TCP, whose agreement with the kernel [agreement.md](agreement.md) measures, and whose `bbr3` is
Google's. The path has 20 Mbit/s and 30 ms; each number is the mean of {trials} runs with different
seeds (the lowest and the highest in brackets), 60 s without the first 10.{real}
`python tools/study_stacks.py OUT` runs everything and writes this page.

## Where they differ, and why

The lines are those of the packages, below `src`; what one changed option does is measured at the
end of this page. There the frequency of ACKs and the datagrams at once are varied for the BBRs
only, not for New Reno and CUBIC.

### quinn

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
- **Its qlog** has RTTs in seconds, where qlog has milliseconds (`connection/paths.rs:273`), and
  says `reordering_threshold` for every loss: it subtracts the present from the departure, which
  is never above 0 (`connection/qlog.rs`, `emit_packet_lost`).

### noq

- **BBRv3 paces at its rate** (`delay_at_rate` of `connection/pacing.rs`), as the draft wants and
  unlike quinn's BBR. Where a control has no rate, as CUBIC and New Reno, the pacer is quinn's: 1.25
  windows in a smoothed RTT.
- **Its pacer allows bursts and makes few.** The bucket holds what the rate gives in 2 ms, but at
  least ten packets if those take no more than 10 ms (`rate_capacity`). With data waiting it is
  empty, so BBRv3 sends single packets, as the table of bursts shows; Linux's sends pairs.
- **BBRv3's bandwidth leaks away between probes.** `adapt_long_term_model` of
  `congestion/bbr3/mod.rs` calls `advance_max_bw_filter` in each round that begins while
  `ack_phase` is `ProbeStopping`, and nothing leaves that phase before the next probe: the filter,
  which should remember two cycles of probing, remembers two or three rounds. Since the flow sends
  1 % less than its estimate (`pacing_margin_percent`), the estimate loses 1 % every other round: in
  `experiments/stacks/noq-bbr3.toml` the internal `bandwidth_bps` falls from 19.6 to 17.5 Mbit/s in
  1.4 s and returns with the next probe. A copy of noq-proto with one change, which leaves the phase
  where the filter is advanced (as Google's `bbr_adapt_upper_bounds` does: `BBR_ACKS_INIT`), used
  97.1 % of the rate instead of 93.2 % with a buffer of 0.25 BDP, and had 53.9 % instead of 34.8 %
  beside Linux's CUBIC in 1 BDP (3 runs each, as below; the copy isn't a part of narrows). The
  simulator's has 97.3 % and 58.1 % by the draft's rules, 97.4 % and 52.7 % by Google's code.
  With an ACK for each tenth packet it used 89.1 % instead of 70.4 %; we didn't look for the rest of
  the difference to 97 %. The draft's pseudocode has been read this way before: s2n-quic's
  [pull request 1698](https://github.com/aws/s2n-quic/pull/1698) fixed the same in its BBRv2, and
  HAProxy removed the phase from its BBRv3.
- **BBRv3's model is one ACK late**, by reading: `on_ack` updates it for each packet before
  `on_end_acks` makes the rate sample of that ACK, so that it sees `delivery_rate` and `delivered`
  of the ACK before. We didn't measure the effect.
- **BBRv3 is the draft's** otherwise (texts 05 and 06 by its comments): 2.773 in STARTUP, 0.5 in
  DRAIN, 2.25 BDP of window in PROBE_UP. Compare it with the lines "by the draft", which are the
  simulator's `bbr3` with `rules = "draft"`. Its phase can't be seeded from outside:
  `probe_rng_seed` of `Bbr3Config` has no setter.
- **New Reno is quinn's; CUBIC** keeps the part of a packet that its growth leaves for later ACKs,
  where quinn's drops it (`cwnd_inc` in `congestion/cubic.rs`), and takes back a reduction that
  turns out to be spurious. It has no HyStart either.

What follows from the other causes, where no option changes them, hasn't been measured.

## How to look closer

    narrows run experiments/stacks/noq-bbr3.toml --qlog
    narrows evaluate bbr3 --stack noq --suite rfc9743
    python tools/trace_bbr_draft.py OUT

The first writes the stack's own qlog beside the tables, the second tests a control in the
situations of RFC 9743 ([how-to](../how-to/evaluate.md)), and the third runs the 23 situations of
the BBR draft's [test cases](bbr-draft.md) with noq's BBRv3, the simulator's by the draft's rules
and Google's, and keeps the qlogs of all three as reference traces: OUT/CASE/CONTROL has one run,
and OUT/traces.csv says where its qlog is, and what was sent and lost. Of noq it
has those cases that a stack can run. The suite `bbr-draft` takes
`--stack noq`, too, but most cases ask for states of the model, which noq keeps to itself: they
are refused with the name of the series.

## What was measured
"""

REAL_HEAD = """\
`Linux itself` is {kernel} in virtual time (`--backend uml`), and so is the flow beside it. Its
hosts have no jitter, and their runs hardly depend on the seed: the {trials} runs have round-trip
times of {rtts} instead.
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
{host}
[run]
duration = "{duration}"
warmup = "{warmup}"
trials = {trials}
record = "summary"
{run}
[sweep.axes]
"flows[0].cca" = [{controls}]
{axes}
"""
JITTER = '[host]\njitter = "200us"'
RTTS = ("29.7 ms", "30 ms", "30.3 ms")
"""Instead of seeds on hosts without jitter (docs/decisions/021)."""
BESIDE = '[[flows]]\nname = "other"\ncca = "{cca}"'


@dataclass(frozen=True)
class Variant:
    """A stack with some of its controls, and options of it."""

    stack: str
    controls: tuple[str, ...]
    title: str = "as it is"
    options: str = ""
    suffix: str = ""
    """The words after the control's name in a line of a table."""
    backend: str = "sim"

    @property
    def name(self) -> str:
        """Its name in those of files."""
        made = re.sub("[^a-z0-9]+", "-", self.options).strip("-")
        stack = self.stack.lower().replace(" ", "-")
        return f"{stack}-{made}" if made else stack

    def subject(self) -> str:
        """The keys of the flow."""
        own = f'stack = "{self.stack}"\n' if self.stack in ("quinn", "noq") else ""
        return own + (f"options = {{ {self.options} }}\n" if self.options else "")


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

    def text(self, variant: Variant) -> str:
        """The specification with this stack."""
        real = variant.backend != "sim"
        return SPEC.format(
            name=f"{self.name}-{variant.name}", path=self.path,
            subject=variant.subject() + self.subject, others=self.others, duration=self.duration,
            warmup=self.warmup, trials=1 if real else TRIALS, run=self.run,
            host="" if real else JITTER, controls=toml_list(variant.controls),
            axes=f'"path.rtt" = [{toml_list(RTTS)}]' if real else "",
        )  # fmt: skip


def toml_list(words: tuple[str, ...]) -> str:
    """Words as a list of TOML has them."""
    return ", ".join(f'"{word}"' for word in words)


USE = ("utilization", "utilization", "{:.1%}")
QUEUE = ("queue_mean_ms", "mean queue, ms", "{:.1f}")
LOSS = ("loss_rate", "dropped by the queue", "{:.2%}")
SHARE = ("subject.share", "share", "{:.1%}")
TIME = ("subject.fct_s", "time, s", "{:.2f}")
ALONE = (USE, QUEUE, LOSS)

BURSTS = """\
Packets that leave at the same instant, from 10 s to 20 s of one run. The simulator's own TCP isn't
paced here (the host has no `fq`) unless its control paces.
"""

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


DRAFT = Variant("linux", ("bbr3",), options='rules = "draft"', suffix=" by the draft")
REAL = Variant(KERNEL, ("reno", "cubic", "bbr"), backend=f"uml:{DEBIAN}")
SIMULATED = tuple(Variant(stack, controls) for stack, controls in CONTROLS.items())
HAS_KERNEL = any(kernel.name == DEBIAN for kernel in kernels())
PLAIN = (SIMULATED[0], *([REAL] if HAS_KERNEL else []), *SIMULATED[1:], DRAFT)
PACED = (("quinn", "bbr"), ("noq", "bbr3"))
"""The BBR of each stack, for which options are varied."""
OPTIONS: tuple[tuple[str, tuple[Situation, ...], tuple[Variant, ...]], ...] = (
    (
        "An ACK for each second packet, and for each tenth",
        (SITUATIONS[1], SITUATIONS[6]),
        tuple(
            Variant(stack, (control,), title, options)
            for stack, control in PACED
            for title, options in (("each 2nd", ""), ("each 10th", 'ack_threshold = "9pkt"'))
        ),
    ),
    (
        "Quinn's BBR with the initial window of its CUBIC",
        (SITUATIONS[4], SITUATIONS[0], SITUATIONS[6]),
        (
            Variant("quinn", ("bbr",), "240 kB"),
            Variant("quinn", ("bbr",), "12 kB", 'initial_window = "12kb"'),
        ),
    ),
    (
        "Ten datagrams at once, or one",
        (SITUATIONS[0], SITUATIONS[6]),
        tuple(
            Variant(stack, (control,), title, options)
            for stack, control in PACED
            for title, options in (("10", ""), ("1", "segments = 1"))
        ),
    ),
)
"""Studies of one changed option: title, situations and variants."""


def rows(situation: Situation, variants: tuple[Variant, ...], out: Path) -> Iterator[str]:
    """The lines of a situation's table."""
    heads = [title for _, title, _ in situation.columns]
    varied = len({one.title for one in variants}) > 1
    yield f"| control | stack | {'option | ' if varied else ''}{' | '.join(heads)} |"
    yield "|---|---|" + ("---|" if varied else "") + "---:|" * len(heads)
    measured = {variant: summaries(situation, variant, out) for variant in variants}
    for control in ("reno", "cubic", "bbr", "bbr3"):
        for variant in variants:
            if control not in variant.controls:
                continue
            mine = measured[variant]
            if len(variant.controls) > 1:
                mine = mine.filter(pl.col("flows[0].cca") == control)
            cells = [spread(mine[column], form) for column, _, form in situation.columns]
            first = [control + variant.suffix, variant.stack] + ([variant.title] if varied else [])
            yield f"| {' | '.join(first + cells)} |"


def summaries(situation: Situation, variant: Variant, out: Path) -> pl.DataFrame:
    """A row for each run with this stack."""
    name = f"{situation.name}-{variant.name}"
    specification = out / f"{name}.toml"
    specification.parent.mkdir(parents=True, exist_ok=True)
    specification.write_text(situation.text(variant), encoding="utf-8")
    result = nw.sweep(specification, backend=variant.backend, out=out / name)
    return result.summary_table


def bursts(out: Path) -> Iterator[str]:
    """How many packets leave at the same instant."""
    yield "| control | stack | packets in a burst, mean | 99th percentile | largest |"
    yield "|---|---|---:|---:|---:|"
    medium = replace(SITUATIONS[1], duration="20s")
    for control in ("reno", "cubic", "bbr", "bbr3"):
        for stack in (one for one in STACKS if control in CONTROLS[one]):
            text = medium.text(Variant(stack, (control,))).split("[sweep.axes]")[0]
            text = text.replace('"summary"', '"packets"').replace(
                f"trials = {TRIALS}", "trials = 1"
            )
            text = text.replace('cca = "cubic"', f'cca = "{control}"', 1)
            path = out / f"bursts-{stack}-{control}.toml"
            path.write_text(text, encoding="utf-8")
            packets = nw.run(path, out=out / path.stem).table("packets")
            late = packets.filter((pl.col("event") == "sent") & (pl.col("time_s") > 10))
            sizes = late.group_by("time_s").len()["len"]
            high = sizes.quantile(0.99)
            yield f"| {control} | {stack} | {sizes.mean():.2f} | {high:.0f} | {sizes.max()} |"


def spread(values: pl.Series, form: str) -> str:
    """The mean, with the lowest and the highest in brackets."""
    known = values.drop_nulls()
    if len(known) < len(values):
        return f"unfinished in {len(values) - len(known)} of {len(values)}"
    mean, low, high = (form.format(number) for number in (known.mean(), known.min(), known.max()))
    return mean if low == high else f"{mean} ({low} to {high})"


def head() -> str:
    """The text before the tables."""
    real = f"\n{REAL_HEAD}".rstrip() if HAS_KERNEL else ""
    text = HEAD.replace("{real}", real).replace("{trials}", str(TRIALS))
    if HAS_KERNEL:
        text = text.replace("{kernel}", f"Linux {get_kernel(DEBIAN).release}")
    return text.replace("{rtts}", ", ".join(RTTS)).rstrip()


def page(out: Path) -> str:
    """The whole page."""
    parts = [head()]
    for situation in SITUATIONS:
        parts += [f"\n### {situation.title}\n", *rows(situation, PLAIN, out)]
    parts += ["\n### Bursts, alone with a buffer of 1 BDP\n", BURSTS, *bursts(out)]
    parts.append("\n## What one changed option does")
    for title, situations, variants in OPTIONS:
        for situation in situations:
            parts += [f"\n### {title}: {situation.title[0].lower()}{situation.title[1:]}\n"]
            parts += rows(situation, variants, out)
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    TARGET.write_text(page(Path(sys.argv[1])), encoding="utf-8")
