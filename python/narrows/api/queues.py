"""Queue disciplines. Made by tools/generate_elements.py.

nw.Path(queue=nw.queues.FqCodel(target="3ms"))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from narrows.api.element import Queue
from narrows.api.writing import Table, Values


@dataclass(kw_only=True, repr=False)
class Droptail(Queue):
    """Drop-tail.

    First in, first out; packets that don't fit are dropped.

    Source: Linux bfifo and pfifo (net/sched/sch_fifo.c).
    """

    kind: ClassVar[str] = "droptail"


@dataclass(kw_only=True, repr=False)
class Codel(Queue):
    """CoDel.

    Drops when the delay has been above a target for an interval.

    Source: RFC 8289; Linux net/sched/sch_codel.c.

    Attributes:
        target: The acceptable delay. Takes a duration such as "25ms"; 5ms by default.
        interval: How long the delay may be above the target. Takes a duration such as "25ms";
            100ms by default.
        ecn: Marks packets instead of dropping them, if they are ECN-capable. Takes true or
            false; false by default.
        ce_threshold: Marks every ECN-capable packet that waited longer. Takes a duration such
            as "25ms".
    """

    kind: ClassVar[str] = "codel"

    target: Values[str] | None = None
    """The acceptable delay. Takes a duration such as "25ms"; 5ms by default."""
    interval: Values[str] | None = None
    """How long the delay may be above the target. Takes a duration such as "25ms"; 100ms by
    default.
    """
    ecn: Values[bool] | None = None
    """Marks packets instead of dropping them, if they are ECN-capable. Takes true or false;
    false by default.
    """
    ce_threshold: Values[str] | None = None
    """Marks every ECN-capable packet that waited longer. Takes a duration such as "25ms"."""


@dataclass(kw_only=True, repr=False)
class FqCodel(Queue):
    """FQ-CoDel.

    A queue for each flow, in turns; CoDel in each.

    Source: RFC 8290; Linux net/sched/sch_fq_codel.c.

    Attributes:
        flows: Queues that flows are hashed into. Takes a whole number from 1 to 65536; 1024
            by default.
        quantum: Bytes of Ethernet frames that a flow may send per turn. Takes a whole number
            from 1 to 4294967295; 1514 by default.
        target: The acceptable delay. Takes a duration such as "25ms"; 5ms by default.
        interval: How long the delay may be above the target. Takes a duration such as "25ms";
            100ms by default.
        ecn: Marks packets instead of dropping them, if they are ECN-capable. Takes true or
            false; true by default.
        ce_threshold: Marks every ECN-capable packet that waited longer. Takes a duration such
            as "25ms".
        drop_batch: The most packets that an overflow drops at a time. Takes a whole number
            from 1 to 4294967295; 64 by default.
    """

    kind: ClassVar[str] = "fq_codel"

    flows: Values[int] | None = None
    """Queues that flows are hashed into. Takes a whole number from 1 to 65536; 1024 by
    default.
    """
    quantum: Values[int] | None = None
    """Bytes of Ethernet frames that a flow may send per turn. Takes a whole number from 1 to
    4294967295; 1514 by default.
    """
    target: Values[str] | None = None
    """The acceptable delay. Takes a duration such as "25ms"; 5ms by default."""
    interval: Values[str] | None = None
    """How long the delay may be above the target. Takes a duration such as "25ms"; 100ms by
    default.
    """
    ecn: Values[bool] | None = None
    """Marks packets instead of dropping them, if they are ECN-capable. Takes true or false;
    true by default.
    """
    ce_threshold: Values[str] | None = None
    """Marks every ECN-capable packet that waited longer. Takes a duration such as "25ms"."""
    drop_batch: Values[int] | None = None
    """The most packets that an overflow drops at a time. Takes a whole number from 1 to
    4294967295; 64 by default.
    """


@dataclass(kw_only=True, repr=False)
class Pie(Queue):
    """PIE.

    Drops at random, by a controller that holds the delay at a target.

    Source: RFC 8033; Linux net/sched/sch_pie.c.

    Attributes:
        target: The delay to hold. Takes a duration such as "25ms"; 15ms by default.
        tupdate: Time between updates of the probability. Takes a duration such as "25ms";
            15ms by default.
        alpha: Weight of the distance from the target, in 1/16 per second. Takes a whole
            number from 0 to 32; 2 by default.
        beta: Weight of the delay's change, in 1/16 per second. Takes a whole number from 0 to
            32; 20 by default.
        ecn: Marks instead, as long as the probability is at most 10 %. Takes true or false;
            false by default.
        bytemode: A packet's probability is proportional to its size. Takes true or false;
            false by default.
    """

    kind: ClassVar[str] = "pie"

    target: Values[str] | None = None
    """The delay to hold. Takes a duration such as "25ms"; 15ms by default."""
    tupdate: Values[str] | None = None
    """Time between updates of the probability. Takes a duration such as "25ms"; 15ms by
    default.
    """
    alpha: Values[int] | None = None
    """Weight of the distance from the target, in 1/16 per second. Takes a whole number from 0
    to 32; 2 by default.
    """
    beta: Values[int] | None = None
    """Weight of the delay's change, in 1/16 per second. Takes a whole number from 0 to 32; 20
    by default.
    """
    ecn: Values[bool] | None = None
    """Marks instead, as long as the probability is at most 10 %. Takes true or false; false by
    default.
    """
    bytemode: Values[bool] | None = None
    """A packet's probability is proportional to its size. Takes true or false; false by
    default.
    """


@dataclass(kw_only=True, repr=False)
class DocsisPie(Queue):
    """DOCSIS-PIE.

    PIE for cable modems, which know the rate of their link.

    Source: RFC 8034 appendix A.

    Attributes:
        max_sustained_rate: The guaranteed long-term rate. Takes a rate such as "80mbit"; the
            link's rate by default.
        peak_rate: The rate within the burst. Takes a rate such as "80mbit"; the link's rate
            by default.
        max_burst: Bytes that may pass at the peak rate after idle time. Takes a size such as
            "30kb"; 0b by default.
        target: The delay to hold (LATENCY_TARGET). Takes a duration such as "25ms"; 10ms by
            default.
        interval: Time between updates of the probability. Takes a duration such as "25ms";
            16ms by default.
        burst_time: How long the first burst passes (MAX_BURST). Takes a duration such as
            "25ms"; 142ms by default.
        burst_reset: Quiet time after which it is granted again. Takes a duration such as
            "25ms"; 1s by default.
    """

    kind: ClassVar[str] = "docsis_pie"

    max_sustained_rate: Values[str] | None = None
    """The guaranteed long-term rate. Takes a rate such as "80mbit"; the link's rate by
    default.
    """
    peak_rate: Values[str] | None = None
    """The rate within the burst. Takes a rate such as "80mbit"; the link's rate by default."""
    max_burst: Values[str | int] | None = None
    """Bytes that may pass at the peak rate after idle time. Takes a size such as "30kb"; 0b by
    default.
    """
    target: Values[str] | None = None
    """The delay to hold (LATENCY_TARGET). Takes a duration such as "25ms"; 10ms by default."""
    interval: Values[str] | None = None
    """Time between updates of the probability. Takes a duration such as "25ms"; 16ms by
    default.
    """
    burst_time: Values[str] | None = None
    """How long the first burst passes (MAX_BURST). Takes a duration such as "25ms"; 142ms by
    default.
    """
    burst_reset: Values[str] | None = None
    """Quiet time after which it is granted again. Takes a duration such as "25ms"; 1s by
    default.
    """


@dataclass(kw_only=True, repr=False)
class Red(Queue):
    """RED.

    Drops at random, more often the longer the queue was on average.

    Source: Floyd and Jacobson 1993; Linux net/sched/sch_red.c.

    Attributes:
        min: The average above which packets are dropped; a third of max. Takes a size such as
            "30kb".
        max: The average above which all packets are dropped; a quarter of the limit. Takes a
            size such as "30kb".
        avpkt: The size of an average packet. Takes a size such as "30kb"; 1kb by default.
        burst: Average packets that may arrive at once; (2 min + max) / 3 avpkt. Takes a whole
            number from 0 to 4294967295.
        probability: Probability of a drop as the average nears max. Takes a number from 0.0
            to 1.0; 0.02 by default.
        bandwidth: The link's rate, for the decay over idle times. Takes a rate such as
            "80mbit"; 10mbit by default.
        ecn: Marks packets instead of dropping them, if they are ECN-capable. Takes true or
            false; false by default.
        harddrop: With ecn, packets beyond max are dropped anyway. Takes true or false; false
            by default.
        nodrop: With ecn, packets that can't be marked are spared. Takes true or false; false
            by default.
        adaptive: The probability adapts (Adaptive RED, Floyd and others 2001). Takes true or
            false; false by default.
    """

    kind: ClassVar[str] = "red"

    min: Values[str | int] | None = None
    """The average above which packets are dropped; a third of max. Takes a size such as
    "30kb".
    """
    max: Values[str | int] | None = None
    """The average above which all packets are dropped; a quarter of the limit. Takes a size
    such as "30kb".
    """
    avpkt: Values[str | int] | None = None
    """The size of an average packet. Takes a size such as "30kb"; 1kb by default."""
    burst: Values[int] | None = None
    """Average packets that may arrive at once; (2 min + max) / 3 avpkt. Takes a whole number
    from 0 to 4294967295.
    """
    probability: Values[float] | None = None
    """Probability of a drop as the average nears max. Takes a number from 0.0 to 1.0; 0.02 by
    default.
    """
    bandwidth: Values[str] | None = None
    """The link's rate, for the decay over idle times. Takes a rate such as "80mbit"; 10mbit by
    default.
    """
    ecn: Values[bool] | None = None
    """Marks packets instead of dropping them, if they are ECN-capable. Takes true or false;
    false by default.
    """
    harddrop: Values[bool] | None = None
    """With ecn, packets beyond max are dropped anyway. Takes true or false; false by default."""
    nodrop: Values[bool] | None = None
    """With ecn, packets that can't be marked are spared. Takes true or false; false by
    default.
    """
    adaptive: Values[bool] | None = None
    """The probability adapts (Adaptive RED, Floyd and others 2001). Takes true or false; false
    by default.
    """


@dataclass(kw_only=True, repr=False)
class Fq(Queue):
    """FQ.

    A queue for each flow, in turns.

    Source: Linux net/sched/sch_fq.c.

    Attributes:
        flow_limit: Packets of one flow that may wait. Takes a whole number from 0 on; 100 by
            default.
        quantum: Bytes of Ethernet frames that a flow may send per turn. Takes a whole number
            from 1 to 4294967295; 3028 by default.
        initial_quantum: The same for a flow's first turn. Takes a whole number from 0 to
            4294967295; 15140 by default.
        maxrate: The highest rate of one flow, of Ethernet frames. Takes a rate such as
            "80mbit".
        ce_threshold: Marks every ECN-capable packet that waited longer. Takes a duration such
            as "25ms".
        refill_delay: A flow that was idle for longer gets a quantum. Takes a duration such as
            "25ms"; 40ms by default.
    """

    kind: ClassVar[str] = "fq"

    flow_limit: Values[str | int] | None = None
    """Packets of one flow that may wait. Takes a whole number from 0 on; 100 by default."""
    quantum: Values[int] | None = None
    """Bytes of Ethernet frames that a flow may send per turn. Takes a whole number from 1 to
    4294967295; 3028 by default.
    """
    initial_quantum: Values[int] | None = None
    """The same for a flow's first turn. Takes a whole number from 0 to 4294967295; 15140 by
    default.
    """
    maxrate: Values[str] | None = None
    """The highest rate of one flow, of Ethernet frames. Takes a rate such as "80mbit"."""
    ce_threshold: Values[str] | None = None
    """Marks every ECN-capable packet that waited longer. Takes a duration such as "25ms"."""
    refill_delay: Values[str] | None = None
    """A flow that was idle for longer gets a quantum. Takes a duration such as "25ms"; 40ms by
    default.
    """


@dataclass(kw_only=True, repr=False)
class Dualpi2(Queue):
    """DualPI2.

    A queue for L4S (ECT(1)) and one for the rest, coupled.

    Source: RFC 9332; Linux net/sched/sch_dualpi2.c.

    Attributes:
        target: The delay to hold in the classic queue. Takes a duration such as "25ms"; 15ms
            by default.
        tupdate: Time between updates of the probability. Takes a duration such as "25ms";
            16ms by default.
        alpha: Weight of the distance from the target, per second. Takes a number from 0 on;
            0.16 by default.
        beta: Weight of its change, per second. Takes a number from 0 on; 3.2 by default.
        coupling_factor: Times the base probability that marks L4S packets. Takes a whole
            number from 1 to 255; 2 by default.
        step_thresh: L4S packets that waited longer are marked. Takes a duration such as
            "25ms"; 1ms by default.
        min_qlen_step: L4S packets that must wait before one for the step to apply to it; RFC
            9332 has 1. Takes a whole number from 0 on; 0 by default.
        classic_protection: The classic queue's minimum share, in %. Takes a whole number from
            0 to 100; 10 by default.
        drop_on_overload: An overload drops L4S packets, too. Takes true or false; true by
            default.
        drop_enqueue: Decisions are made at the enqueue, not the dequeue. Takes true or false;
            false by default.
    """

    kind: ClassVar[str] = "dualpi2"

    target: Values[str] | None = None
    """The delay to hold in the classic queue. Takes a duration such as "25ms"; 15ms by
    default.
    """
    tupdate: Values[str] | None = None
    """Time between updates of the probability. Takes a duration such as "25ms"; 16ms by
    default.
    """
    alpha: Values[float] | None = None
    """Weight of the distance from the target, per second. Takes a number from 0 on; 0.16 by
    default.
    """
    beta: Values[float] | None = None
    """Weight of its change, per second. Takes a number from 0 on; 3.2 by default."""
    coupling_factor: Values[int] | None = None
    """Times the base probability that marks L4S packets. Takes a whole number from 1 to 255; 2
    by default.
    """
    step_thresh: Values[str] | None = None
    """L4S packets that waited longer are marked. Takes a duration such as "25ms"; 1ms by
    default.
    """
    min_qlen_step: Values[str | int] | None = None
    """L4S packets that must wait before one for the step to apply to it; RFC 9332 has 1. Takes
    a whole number from 0 on; 0 by default.
    """
    classic_protection: Values[int] | None = None
    """The classic queue's minimum share, in %. Takes a whole number from 0 to 100; 10 by
    default.
    """
    drop_on_overload: Values[bool] | None = None
    """An overload drops L4S packets, too. Takes true or false; true by default."""
    drop_enqueue: Values[bool] | None = None
    """Decisions are made at the enqueue, not the dequeue. Takes true or false; false by
    default.
    """


@dataclass(kw_only=True, repr=False)
class Sfq(Queue):
    """SFQ.

    A short queue for each flow, in turns; a full one drops from the longest.

    Source: McKenney, INFOCOM 1990; Linux net/sched/sch_sfq.c.

    Attributes:
        flows: Flows that may have packets at a time. Takes a whole number from 1 to 65408;
            128 by default.
        depth: Packets of one flow that may wait. Takes a whole number from 1 to 127; 127 by
            default.
        divisor: Buckets that flows are hashed into. Takes a whole number from 1 to 65536;
            1024 by default.
        quantum: Bytes of Ethernet frames that a flow may send per turn. Takes a whole number
            from 1 to 4294967295; 1514 by default.
        headdrop: Drops from the head of a flow instead of its tail. Takes true or false;
            false by default.
    """

    kind: ClassVar[str] = "sfq"

    flows: Values[int] | None = None
    """Flows that may have packets at a time. Takes a whole number from 1 to 65408; 128 by
    default.
    """
    depth: Values[str | int] | None = None
    """Packets of one flow that may wait. Takes a whole number from 1 to 127; 127 by default."""
    divisor: Values[int] | None = None
    """Buckets that flows are hashed into. Takes a whole number from 1 to 65536; 1024 by
    default.
    """
    quantum: Values[int] | None = None
    """Bytes of Ethernet frames that a flow may send per turn. Takes a whole number from 1 to
    4294967295; 1514 by default.
    """
    headdrop: Values[bool] | None = None
    """Drops from the head of a flow instead of its tail. Takes true or false; false by
    default.
    """


@dataclass(kw_only=True, repr=False)
class FqPie(Queue):
    """FQ-PIE.

    A queue for each flow, in turns; PIE in each.

    Source: Ramakrishnan and others, LCN Symposium 2019; Linux net/sched/sch_fq_pie.c.

    Attributes:
        flows: Queues that flows are hashed into. Takes a whole number from 1 to 65536; 1024
            by default.
        quantum: Bytes of Ethernet frames that a flow may send per turn. Takes a whole number
            from 256 to 1048576; 1514 by default.
        target: The delay to hold. Takes a duration such as "25ms"; 15ms by default.
        tupdate: Time between updates of the probability. Takes a duration such as "25ms";
            15ms by default.
        alpha: Weight of the distance from the target, in 1/16 per second. Takes a whole
            number from 0 to 32; 2 by default.
        beta: Weight of the delay's change, in 1/16 per second. Takes a whole number from 0 to
            32; 20 by default.
        ecn: Marks packets instead of dropping them, if they are ECN-capable. Takes true or
            false; false by default.
        ecn_prob: Probability up to which it marks, in %. Takes a whole number from 0 to 100;
            10 by default.
        bytemode: A packet's probability is proportional to its size. Takes true or false;
            false by default.
    """

    kind: ClassVar[str] = "fq_pie"

    flows: Values[int] | None = None
    """Queues that flows are hashed into. Takes a whole number from 1 to 65536; 1024 by
    default.
    """
    quantum: Values[int] | None = None
    """Bytes of Ethernet frames that a flow may send per turn. Takes a whole number from 256 to
    1048576; 1514 by default.
    """
    target: Values[str] | None = None
    """The delay to hold. Takes a duration such as "25ms"; 15ms by default."""
    tupdate: Values[str] | None = None
    """Time between updates of the probability. Takes a duration such as "25ms"; 15ms by
    default.
    """
    alpha: Values[int] | None = None
    """Weight of the distance from the target, in 1/16 per second. Takes a whole number from 0
    to 32; 2 by default.
    """
    beta: Values[int] | None = None
    """Weight of the delay's change, in 1/16 per second. Takes a whole number from 0 to 32; 20
    by default.
    """
    ecn: Values[bool] | None = None
    """Marks packets instead of dropping them, if they are ECN-capable. Takes true or false;
    false by default.
    """
    ecn_prob: Values[int] | None = None
    """Probability up to which it marks, in %. Takes a whole number from 0 to 100; 10 by
    default.
    """
    bytemode: Values[bool] | None = None
    """A packet's probability is proportional to its size. Takes true or false; false by
    default.
    """


@dataclass(kw_only=True, repr=False)
class Cake(Queue):
    """CAKE.

    A shaper over tins of classes, with a queue for each flow, in turns; COBALT in each; of
    its limit, which is memory, a packet takes 2,304 bytes.

    Source: Høiland-Jørgensen, Täht and Morton, LANMAN 2018; Linux net/sched/sch_cake.c.

    Attributes:
        bandwidth: The shaper's rate, in bytes as counted here; none leaves it to the link.
            Takes a rate such as "80mbit".
        rtt: The time in which senders react; the acceptable delay is a twentieth of it. Takes
            a duration such as "25ms"; 100ms by default.
        diffserv: How the DSCP of a flow decides on its tin: three, four or eight by the
            traffic's class, eight by precedence, or one. Takes one of diffserv3, diffserv4,
            diffserv8, precedence, besteffort; diffserv3 by default.
        isolation: The unit that has its own queue; with triple-isolate the flows of a host
            share a quantum. Takes one of triple-isolate, flows, flowblind; triple-isolate by
            default.
        overhead: Bytes counted with each IP packet; 14 (Ethernet) if none. Takes a size such
            as "30kb".
        mpu: The least bytes counted for a packet. Takes a size such as "30kb"; 0b by default.
        atm: Cells of the link, whose bytes are counted. Takes one of noatm, atm, ptm; noatm
            by default.
        ingress: Counts dropped packets as sent, too. Takes true or false; false by default.
    """

    kind: ClassVar[str] = "cake"

    bandwidth: Values[str] | None = None
    """The shaper's rate, in bytes as counted here; none leaves it to the link. Takes a rate
    such as "80mbit".
    """
    rtt: Values[str] | None = None
    """The time in which senders react; the acceptable delay is a twentieth of it. Takes a
    duration such as "25ms"; 100ms by default.
    """
    diffserv: (
        Values[Literal["diffserv3", "diffserv4", "diffserv8", "precedence", "besteffort"]] | None
    ) = None
    """How the DSCP of a flow decides on its tin: three, four or eight by the traffic's class,
    eight by precedence, or one. Takes one of diffserv3, diffserv4, diffserv8, precedence,
    besteffort; diffserv3 by default.
    """
    isolation: Values[Literal["triple-isolate", "flows", "flowblind"]] | None = None
    """The unit that has its own queue; with triple-isolate the flows of a host share a
    quantum. Takes one of triple-isolate, flows, flowblind; triple-isolate by default.
    """
    overhead: Values[str | int] | None = None
    """Bytes counted with each IP packet; 14 (Ethernet) if none. Takes a size such as "30kb"."""
    mpu: Values[str | int] | None = None
    """The least bytes counted for a packet. Takes a size such as "30kb"; 0b by default."""
    atm: Values[Literal["noatm", "atm", "ptm"]] | None = None
    """Cells of the link, whose bytes are counted. Takes one of noatm, atm, ptm; noatm by
    default.
    """
    ingress: Values[bool] | None = None
    """Counts dropped packets as sent, too. Takes true or false; false by default."""


@dataclass(kw_only=True, repr=False)
class HtbClass(Table):
    """One of the classes of `Htb`.

    Attributes:
        rate: The rate that it has for itself. Takes a rate such as "80mbit".
        dscp: Of its flows; the class without one has all others. Takes one of cs0, cs1, cs2,
            cs3, cs4, cs5, cs6, cs7, af11, af12, af13, af21, af22, af23, af31, af32, af33,
            af41, af42, af43, ef, va, le.
        ceil: Its rate with what it borrows; its own rate if none. Takes a rate such as
            "80mbit".
        prio: Classes of lower numbers go, and borrow, first. Takes a whole number from 0 to
            7; 0 by default.
        burst: Bytes that may leave at once at its rate. Takes a size such as "30kb"; 1.6kb by
            default.
        cburst: Bytes that may leave at once at its ceiling. Takes a size such as "30kb";
            1.6kb by default.
        quantum: Bytes per turn among equals; a part of its rate if none, see r2q. Takes a
            size such as "30kb".
    """

    rate: Values[str]
    """The rate that it has for itself. Takes a rate such as "80mbit"."""
    dscp: (
        Values[
            Literal[
                "cs0",
                "cs1",
                "cs2",
                "cs3",
                "cs4",
                "cs5",
                "cs6",
                "cs7",
                "af11",
                "af12",
                "af13",
                "af21",
                "af22",
                "af23",
                "af31",
                "af32",
                "af33",
                "af41",
                "af42",
                "af43",
                "ef",
                "va",
                "le",
            ]
        ]
        | None
    ) = None
    """Of its flows; the class without one has all others. Takes one of cs0, cs1, cs2, cs3,
    cs4, cs5, cs6, cs7, af11, af12, af13, af21, af22, af23, af31, af32, af33, af41, af42,
    af43, ef, va, le.
    """
    ceil: Values[str] | None = None
    """Its rate with what it borrows; its own rate if none. Takes a rate such as "80mbit"."""
    prio: Values[int] | None = None
    """Classes of lower numbers go, and borrow, first. Takes a whole number from 0 to 7; 0 by
    default.
    """
    burst: Values[str | int] | None = None
    """Bytes that may leave at once at its rate. Takes a size such as "30kb"; 1.6kb by default."""
    cburst: Values[str | int] | None = None
    """Bytes that may leave at once at its ceiling. Takes a size such as "30kb"; 1.6kb by
    default.
    """
    quantum: Values[str | int] | None = None
    """Bytes per turn among equals; a part of its rate if none, see r2q. Takes a size such as
    "30kb".
    """


@dataclass(kw_only=True, repr=False)
class Htb(Queue):
    """HTB.

    Token buckets of classes, which borrow what others leave; its limit is that of each class.

    Source: Linux net/sched/sch_htb.c; rates and bytes are those of Ethernet frames.

    Attributes:
        rate: The rate of all classes in the long run. Takes a rate such as "80mbit"; the
            link's rate by default.
        burst: Bytes that may leave at once at the rate. Takes a size such as "30kb"; 1.6kb by
            default.
        cburst: The same at the ceiling; for all, that is the rate. Takes a size such as
            "30kb"; 1.6kb by default.
        r2q: A quantum is the bytes that a rate has in a second by this. Takes a whole number
            from 1 to 4294967295; 10 by default.
        classes: The classes; a single one if none. Takes a list of tables.
    """

    kind: ClassVar[str] = "htb"

    rate: Values[str] | None = None
    """The rate of all classes in the long run. Takes a rate such as "80mbit"; the link's rate
    by default.
    """
    burst: Values[str | int] | None = None
    """Bytes that may leave at once at the rate. Takes a size such as "30kb"; 1.6kb by default."""
    cburst: Values[str | int] | None = None
    """The same at the ceiling; for all, that is the rate. Takes a size such as "30kb"; 1.6kb
    by default.
    """
    r2q: Values[int] | None = None
    """A quantum is the bytes that a rate has in a second by this. Takes a whole number from 1
    to 4294967295; 10 by default.
    """
    classes: Sequence[HtbClass | Mapping[str, object]] | None = None
    """The classes; a single one if none. Takes a list of tables."""
