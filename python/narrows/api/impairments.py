"""Impairments of a path. Made by tools/generate_elements.py.

nw.Path(impairments=[nw.impairments.Loss(probability=0.01)])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from narrows.api.element import Impairment
from narrows.api.writing import Values


@dataclass(kw_only=True, repr=False)
class Loss(Impairment):
    """Random loss.

    Loses every packet with the same probability.

    Source: Linux netem loss random (net/sched/sch_netem.c).

    Attributes:
        probability: Of losing a packet. Takes a number from 0.0 to 1.0.
    """

    kind: ClassVar[str] = "loss"

    probability: Values[float]
    """Of losing a packet. Takes a number from 0.0 to 1.0."""


@dataclass(kw_only=True, repr=False)
class GilbertElliott(Impairment):
    """Gilbert-Elliott loss.

    Loses packets in bursts, by a chain of a good and a bad state.

    Source: Gilbert 1960, Elliott 1963; Linux netem loss gemodel (loss_gilb_ell).

    Attributes:
        p: Probability, per packet, of changing from good to bad. Takes a number from 0.0 to
            1.0.
        r: Probability, per packet, of changing back; 1 - p if none. Takes a number from 0.0
            to 1.0.
        loss_bad: Probability of a loss in the bad state: tc's 1-h. Takes a number from 0.0 to
            1.0; 1 by default.
        loss_good: Probability of a loss in the good state: tc's 1-k. Takes a number from 0.0
            to 1.0; 0 by default.
    """

    kind: ClassVar[str] = "gilbert_elliott"

    p: Values[float]
    """Probability, per packet, of changing from good to bad. Takes a number from 0.0 to 1.0."""
    r: Values[float] | None = None
    """Probability, per packet, of changing back; 1 - p if none. Takes a number from 0.0 to
    1.0.
    """
    loss_bad: Values[float] | None = None
    """Probability of a loss in the bad state: tc's 1-h. Takes a number from 0.0 to 1.0; 1 by
    default.
    """
    loss_good: Values[float] | None = None
    """Probability of a loss in the good state: tc's 1-k. Takes a number from 0.0 to 1.0; 0 by
    default.
    """


@dataclass(kw_only=True, repr=False)
class Jitter(Impairment):
    """Jitter.

    Noise in the delay that keeps the order.

    Source: crates/net/src/impairment/jitter.rs.

    Attributes:
        max: Uniform from zero to this. Takes a duration such as "25ms".
    """

    kind: ClassVar[str] = "jitter"

    max: Values[str]
    """Uniform from zero to this. Takes a duration such as "25ms"."""


@dataclass(kw_only=True, repr=False)
class Netem(Impairment):
    """netem delay.

    A delay with noise that reorders, and packets sent ahead.

    Source: Linux netem delay, reorder and limit (net/sched/sch_netem.c).

    Attributes:
        delay: One way, besides the path's. Takes a duration such as "25ms"; 0s by default.
        jitter: Delays are uniform within plus or minus this. Takes a duration such as "25ms";
            0s by default.
        reorder: Probability that a packet is sent at once, ahead of delayed ones. Takes a
            number from 0.0 to 1.0; 0 by default.
        gap: Reorder only every gap-th packet; 0: every one. Takes a whole number from 0 to
            4294967295; 0 by default.
        limit: Packets that it holds at a time, and drops others; tc's default is 1000. Takes
            a whole number from 1 on.
    """

    kind: ClassVar[str] = "netem"

    delay: Values[str] | None = None
    """One way, besides the path's. Takes a duration such as "25ms"; 0s by default."""
    jitter: Values[str] | None = None
    """Delays are uniform within plus or minus this. Takes a duration such as "25ms"; 0s by
    default.
    """
    reorder: Values[float] | None = None
    """Probability that a packet is sent at once, ahead of delayed ones. Takes a number from
    0.0 to 1.0; 0 by default.
    """
    gap: Values[int] | None = None
    """Reorder only every gap-th packet; 0: every one. Takes a whole number from 0 to
    4294967295; 0 by default.
    """
    limit: Values[str | int] | None = None
    """Packets that it holds at a time, and drops others; tc's default is 1000. Takes a whole
    number from 1 on.
    """


@dataclass(kw_only=True, repr=False)
class Duplicate(Impairment):
    """Duplication.

    Sends a copy right behind a packet.

    Source: Linux netem duplicate (net/sched/sch_netem.c).

    Attributes:
        probability: Of a copy. Takes a number from 0.0 to 1.0.
    """

    kind: ClassVar[str] = "duplicate"

    probability: Values[float]
    """Of a copy. Takes a number from 0.0 to 1.0."""


@dataclass(kw_only=True, repr=False)
class Route(Impairment):
    """Route changes.

    A delay, besides the path's, that changes at given times.

    Source: crates/net/src/impairment/route.rs.

    Attributes:
        delay: Initial one-way delay. Takes a duration such as "25ms"; 0s by default.
        delays: Times with the delay from then on. Takes times with delays, such as {"10s":
            "40ms"}.
        every: Instead, a new delay at every multiple of this. Takes a duration such as
            "25ms".
        spread: With `every`: delays are uniform from `delay` to `delay` plus this. Takes a
            duration such as "25ms"; 0s by default.
        overtaking: Whether a packet may arrive before one that set out earlier. Takes one of
            allowed, never; allowed by default.
    """

    kind: ClassVar[str] = "route"

    delay: Values[str] | None = None
    """Initial one-way delay. Takes a duration such as "25ms"; 0s by default."""
    delays: Mapping[str, str] | None = None
    """Times with the delay from then on. Takes times with delays, such as {"10s": "40ms"}."""
    every: Values[str] | None = None
    """Instead, a new delay at every multiple of this. Takes a duration such as "25ms"."""
    spread: Values[str] | None = None
    """With `every`: delays are uniform from `delay` to `delay` plus this. Takes a duration
    such as "25ms"; 0s by default.
    """
    overtaking: Values[Literal["allowed", "never"]] | None = None
    """Whether a packet may arrive before one that set out earlier. Takes one of allowed,
    never; allowed by default.
    """


@dataclass(kw_only=True, repr=False)
class Outage(Impairment):
    """Outages.

    Outages, during which nothing gets through.

    Source: crates/net/src/impairment/outage.rs.

    Attributes:
        outages: Start times with the duration of each. Takes times with durations, such as
            {"5s": "500ms"}.
        every: Instead, an outage at every multiple of this. Takes a duration such as "25ms".
        lasts: With `every`: the duration. Takes a duration such as "25ms"; 0s by default.
        mode: Fate of packets: lost, or held until the end. Takes one of drop, hold; drop by
            default.
    """

    kind: ClassVar[str] = "outage"

    outages: Mapping[str, str] | None = None
    """Start times with the duration of each. Takes times with durations, such as {"5s":
    "500ms"}.
    """
    every: Values[str] | None = None
    """Instead, an outage at every multiple of this. Takes a duration such as "25ms"."""
    lasts: Values[str] | None = None
    """With `every`: the duration. Takes a duration such as "25ms"; 0s by default."""
    mode: Values[Literal["drop", "hold"]] | None = None
    """Fate of packets: lost, or held until the end. Takes one of drop, hold; drop by default."""


@dataclass(kw_only=True, repr=False)
class Policer(Impairment):
    """Policer.

    Drops packets beyond a rate and a burst; nothing waits.

    Source: Linux act_police (net/sched/act_police.c), conform-exceed drop.

    Attributes:
        rate: The rate in the long run. Takes a rate such as "80mbit".
        burst: Bytes that may pass at once. Takes a size such as "30kb".
        peakrate: The rate within a burst. Takes a rate such as "80mbit".
        mtu: The depth of the peak rate's bucket. Takes a size such as "30kb".
        overhead: Bytes counted with each packet besides IP's. Takes a size such as "30kb"; 0b
            by default.
    """

    kind: ClassVar[str] = "policer"

    rate: Values[str]
    """The rate in the long run. Takes a rate such as "80mbit"."""
    burst: Values[str | int]
    """Bytes that may pass at once. Takes a size such as "30kb"."""
    peakrate: Values[str] | None = None
    """The rate within a burst. Takes a rate such as "80mbit"."""
    mtu: Values[str | int] | None = None
    """The depth of the peak rate's bucket. Takes a size such as "30kb"."""
    overhead: Values[str | int] | None = None
    """Bytes counted with each packet besides IP's. Takes a size such as "30kb"; 0b by default."""


@dataclass(kw_only=True, repr=False)
class AckThinning(Impairment):
    """ACK thinning.

    Holds TCP's acknowledgements and merges those of a flow into one; a QUIC stack's, which no
    path can read, pass.

    Source: RFC 3449 section 5.2 (decimation, ACK filtering).

    Attributes:
        max: Acknowledgements merged into one; up to 200 were seen. Takes a whole number from
            1 to 100000.
        hold: How long one is held for others to arrive. Takes a duration such as "25ms".
    """

    kind: ClassVar[str] = "ack_thinning"

    max: Values[str | int]
    """Acknowledgements merged into one; up to 200 were seen. Takes a whole number from 1 to
    100000.
    """
    hold: Values[str]
    """How long one is held for others to arrive. Takes a duration such as "25ms"."""
