"""Services of links. Made by tools/generate_elements.py.

nw.Path(service=nw.services.Wifi())
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from narrows.api.element import Service
from narrows.api.writing import Values


@dataclass(kw_only=True, repr=False)
class Constant(Service):
    """Constant rate.

    One packet after the other at the link's rate.

    Source: the model of a serialiser; its fractions of a ns add up exactly.
    """

    kind: ClassVar[str] = "constant"


@dataclass(kw_only=True, repr=False)
class Steps(Service):
    """Rate in steps.

    A rate that changes at given times, even within a packet.

    Source: crates/net/src/service/steps.rs.

    Attributes:
        rates: Times with the rate from then on; before, it is the link's; 0bit is an outage.
            Takes times with rates, such as {"10s": "5mbit"}.
    """

    kind: ClassVar[str] = "steps"

    rates: Mapping[str, str]
    """Times with the rate from then on; before, it is the link's; 0bit is an outage. Takes
    times with rates, such as {"10s": "5mbit"}.
    """


@dataclass(kw_only=True, repr=False)
class Trace(Service):
    """Recorded trace.

    The delivery opportunities of a recorded link, repeated.

    Source: mahimahi's format and rule (src/frontend/link_queue.cc).

    Attributes:
        file: A file beside the specification, with the ms of each opportunity on a line.
            Takes a file.
    """

    kind: ClassVar[str] = "trace"

    file: Values[str]
    """A file beside the specification, with the ms of each opportunity on a line. Takes a
    file.
    """


@dataclass(kw_only=True, repr=False)
class Tbf(Service):
    """Token bucket.

    A token bucket in front of a faster device: bursts after idle times.

    Source: Linux net/sched/sch_tbf.c; rates and bytes are those of Ethernet frames.

    Attributes:
        burst: Bytes that may leave at once. Takes a size such as "30kb".
        rate: The rate in the long run. Takes a rate such as "80mbit"; the link's rate by
            default.
        peakrate: The rate within a burst. Takes a rate such as "80mbit".
        mtu: The depth of the peak rate's bucket. Takes a size such as "30kb".
        device: The rate of the device. Takes a rate such as "80mbit"; 1gbit by default.
    """

    kind: ClassVar[str] = "tbf"

    burst: Values[str | int]
    """Bytes that may leave at once. Takes a size such as "30kb"."""
    rate: Values[str] | None = None
    """The rate in the long run. Takes a rate such as "80mbit"; the link's rate by default."""
    peakrate: Values[str] | None = None
    """The rate within a burst. Takes a rate such as "80mbit"."""
    mtu: Values[str | int] | None = None
    """The depth of the peak rate's bucket. Takes a size such as "30kb"."""
    device: Values[str] | None = None
    """The rate of the device. Takes a rate such as "80mbit"; 1gbit by default."""


@dataclass(kw_only=True, repr=False)
class Htb(Service):
    """HTB, one class.

    An HTB class over the queue, in front of a faster device.

    Source: Linux net/sched/sch_htb.c; rates and bytes are those of Ethernet frames.

    Attributes:
        rate: The rate in the long run. Takes a rate such as "80mbit"; the link's rate by
            default.
        burst: Bytes that may leave at once at the rate. Takes a size such as "30kb"; 1.6kb by
            default.
        cburst: The same at the ceiling; for all, that is the rate. Takes a size such as
            "30kb"; 1.6kb by default.
        device: The rate of the device. Takes a rate such as "80mbit"; 1gbit by default.
    """

    kind: ClassVar[str] = "htb"

    rate: Values[str] | None = None
    """The rate in the long run. Takes a rate such as "80mbit"; the link's rate by default."""
    burst: Values[str | int] | None = None
    """Bytes that may leave at once at the rate. Takes a size such as "30kb"; 1.6kb by default."""
    cburst: Values[str | int] | None = None
    """The same at the ceiling; for all, that is the rate. Takes a size such as "30kb"; 1.6kb
    by default.
    """
    device: Values[str] | None = None
    """The rate of the device. Takes a rate such as "80mbit"; 1gbit by default."""


@dataclass(kw_only=True, repr=False)
class Cellular(Service):
    """Cellular slots.

    Slots, each with a grant of bytes that may depend on the backlog.

    Source: 3GPP TS 36.211 section 4 (subframes), TS 36.321 section 5.4.5 (buffer status).

    Attributes:
        slot: From one grant to the next. Takes a duration such as "25ms"; 1ms by default.
        min_rate: The rate at an empty queue, growing to the link's; if none, always the
            link's. Takes a rate such as "80mbit".
        full_backlog: The backlog needed for the full rate. Takes a size such as "30kb"; 100kb
            by default.
    """

    kind: ClassVar[str] = "cellular"

    slot: Values[str] | None = None
    """From one grant to the next. Takes a duration such as "25ms"; 1ms by default."""
    min_rate: Values[str] | None = None
    """The rate at an empty queue, growing to the link's; if none, always the link's. Takes a
    rate such as "80mbit".
    """
    full_backlog: Values[str | int] | None = None
    """The backlog needed for the full rate. Takes a size such as "30kb"; 100kb by default."""


@dataclass(kw_only=True, repr=False)
class Wifi(Service):
    """Wi-Fi batches.

    Batches: access to the medium, then waiting packets up to a limit, all at once.

    Source: IEEE 802.11-2020 section 10.23 (EDCA) and 10.12 (A-MPDU); defaults: 802.11ac.

    Attributes:
        phy_rate: The rate within a batch. Takes a rate such as "80mbit"; the link's rate by
            default.
        access: Overhead of a batch: waiting, preamble, acknowledgement. Takes a duration such
            as "25ms"; 150us by default.
        contention: The maximum of a random backoff. Takes a duration such as "25ms"; 135us by
            default.
        max_packets: The most packets in a batch. Takes a whole number from 1 to 100000; 64 by
            default.
        max_time: No packet is added beyond this duration. Takes a duration such as "25ms";
            4ms by default.
        overhead: Bytes of each packet besides IP's. Takes a size such as "30kb"; 40b by
            default.
    """

    kind: ClassVar[str] = "wifi"

    phy_rate: Values[str] | None = None
    """The rate within a batch. Takes a rate such as "80mbit"; the link's rate by default."""
    access: Values[str] | None = None
    """Overhead of a batch: waiting, preamble, acknowledgement. Takes a duration such as
    "25ms"; 150us by default.
    """
    contention: Values[str] | None = None
    """The maximum of a random backoff. Takes a duration such as "25ms"; 135us by default."""
    max_packets: Values[str | int] | None = None
    """The most packets in a batch. Takes a whole number from 1 to 100000; 64 by default."""
    max_time: Values[str] | None = None
    """No packet is added beyond this duration. Takes a duration such as "25ms"; 4ms by
    default.
    """
    overhead: Values[str | int] | None = None
    """Bytes of each packet besides IP's. Takes a size such as "30kb"; 40b by default."""
