"""Workloads of a flow. Made by tools/generate_elements.py.

nw.Flow(cca="cubic", workload=nw.workloads.Poisson(rate="5/s", size="1mb"))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from narrows.api.element import Distribution, Workload
from narrows.api.writing import Values


@dataclass(kw_only=True, repr=False)
class Poisson(Workload):
    """Poisson arrivals.

    New connections at random instants, whether or not earlier ones are done.

    Source: exponential gaps, as of a Poisson process.

    Attributes:
        rate: Mean number of connections in a time: "5/s", "300/min" or "20/h". Takes a
            frequency.
        size: Payload of each transfer. Takes a size such as "1mb", or a distribution.
    """

    kind: ClassVar[str] = "poisson"

    rate: Values[str]
    """Mean number of connections in a time: "5/s", "300/min" or "20/h". Takes a frequency."""
    size: Values[str | Distribution | Mapping[str, object]]
    """Payload of each transfer. Takes a size such as "1mb", or a distribution."""


@dataclass(kw_only=True, repr=False)
class Arrivals(Workload):
    """Arrivals.

    New connections, with any distribution of the gaps.

    Source: a renewal process.

    Attributes:
        gap: From the beginning of one connection to that of the next. Takes a duration such
            as "2s", or a distribution.
        size: Payload of each transfer. Takes a size such as "1mb", or a distribution.
    """

    kind: ClassVar[str] = "arrivals"

    gap: Values[str | Distribution | Mapping[str, object]]
    """From the beginning of one connection to that of the next. Takes a duration such as "2s",
    or a distribution.
    """
    size: Values[str | Distribution | Mapping[str, object]]
    """Payload of each transfer. Takes a size such as "1mb", or a distribution."""


@dataclass(kw_only=True, repr=False)
class OnOff(Workload):
    """On and off.

    One connection that sends as much as possible for a while, then nothing for a while.

    Source: an on-off source.

    Attributes:
        on: How long it sends. Takes a duration such as "2s", or a distribution.
        off: How long it is silent. Takes a duration such as "2s", or a distribution.
        first: How long it sends the first time, if that differs. Takes a duration such as
            "25ms".
    """

    kind: ClassVar[str] = "on_off"

    on: Values[str | Distribution | Mapping[str, object]]
    """How long it sends. Takes a duration such as "2s", or a distribution."""
    off: Values[str | Distribution | Mapping[str, object]]
    """How long it is silent. Takes a duration such as "2s", or a distribution."""
    first: Values[str] | None = None
    """How long it sends the first time, if that differs. Takes a duration such as "25ms"."""


@dataclass(kw_only=True, repr=False)
class Requests(Workload):
    """Requests.

    One connection that answers one request after another.

    Source: a closed loop of requests, answers and thinking.

    Attributes:
        size: Payload of each transfer. Takes a size such as "1mb", or a distribution.
        think: From the end of an answer to the next request. Takes a duration such as "2s",
            or a distribution; 0s by default.
    """

    kind: ClassVar[str] = "requests"

    size: Values[str | Distribution | Mapping[str, object]]
    """Payload of each transfer. Takes a size such as "1mb", or a distribution."""
    think: Values[str | Distribution | Mapping[str, object]] | None = None
    """From the end of an answer to the next request. Takes a duration such as "2s", or a
    distribution; 0s by default.
    """


@dataclass(kw_only=True, repr=False)
class Video(Workload):
    """Video.

    One connection with chunks that a player requests while its buffer has room.

    Source: a player of constant bitrate that fetches one chunk at a time.

    Attributes:
        bitrate: Bits for a second of the video. Takes a rate such as "80mbit".
        chunk: The length of a chunk. Takes a duration such as "25ms".
        start: The level needed before it plays, initially and after it ran dry; by default a
            chunk. Takes a duration such as "25ms".
        buffer: The capacity of the player's buffer. Takes a duration such as "25ms"; 30s by
            default.
    """

    kind: ClassVar[str] = "video"

    bitrate: Values[str]
    """Bits for a second of the video. Takes a rate such as "80mbit"."""
    chunk: Values[str]
    """The length of a chunk. Takes a duration such as "25ms"."""
    start: Values[str] | None = None
    """The level needed before it plays, initially and after it ran dry; by default a chunk.
    Takes a duration such as "25ms".
    """
    buffer: Values[str] | None = None
    """The capacity of the player's buffer. Takes a duration such as "25ms"; 30s by default."""


@dataclass(kw_only=True, repr=False)
class AdaptiveVideo(Workload):
    """Adaptive video.

    A video whose player chooses the bitrate of each chunk by the level of its buffer.

    Source: BBA-0 of Huang et al., SIGCOMM 2014, with its reservoir of 3/8 and its upper end
    at 9/10 of the buffer.

    Attributes:
        bitrates: The bitrates to choose from: `["1mbit", "2.5mbit", "5mbit"]`. Takes a list
            of rates.
        chunk: The length of a chunk. Takes a duration such as "25ms".
        start: The level needed before it plays, initially and after it ran dry; by default a
            chunk. Takes a duration such as "25ms".
        buffer: The capacity of the player's buffer. Takes a duration such as "25ms"; 30s by
            default.
    """

    kind: ClassVar[str] = "adaptive_video"

    bitrates: Sequence[str]
    """The bitrates to choose from: `["1mbit", "2.5mbit", "5mbit"]`. Takes a list of rates."""
    chunk: Values[str]
    """The length of a chunk. Takes a duration such as "25ms"."""
    start: Values[str] | None = None
    """The level needed before it plays, initially and after it ran dry; by default a chunk.
    Takes a duration such as "25ms".
    """
    buffer: Values[str] | None = None
    """The capacity of the player's buffer. Takes a duration such as "25ms"; 30s by default."""


@dataclass(kw_only=True, repr=False)
class Web(Workload):
    """Web pages.

    Pages one after another, whose objects refer to further objects; a completion is a page
    with all of them.

    Source: HTTP/1.1 (RFC 9112) over six connections as in browsers, HTTP/2 (RFC 9113) over
    one.

    Attributes:
        html: Payload of a page's first object, which refers to the first level. Takes a size
            such as "1mb", or a distribution.
        size: Payload of each transfer. Takes a size such as "1mb", or a distribution.
        objects: Objects besides the first. Takes a whole number from 0 to 10000; 30 by
            default.
        levels: Levels of these objects: each is referred to by one of the level before, and
            requested when that has arrived. Takes a whole number from 1 to 10000; 2 by
            default.
        http: Six connections with an object at a time each, or one with all objects in the
            order of their requests. Takes one of 1.1, 2; 2 by default.
        think: From the end of a page to the next. Takes a duration such as "2s", or a
            distribution; 1s by default.
    """

    kind: ClassVar[str] = "web"

    html: Values[str | Distribution | Mapping[str, object]]
    """Payload of a page's first object, which refers to the first level. Takes a size such as
    "1mb", or a distribution.
    """
    size: Values[str | Distribution | Mapping[str, object]]
    """Payload of each transfer. Takes a size such as "1mb", or a distribution."""
    objects: Values[int] | None = None
    """Objects besides the first. Takes a whole number from 0 to 10000; 30 by default."""
    levels: Values[int] | None = None
    """Levels of these objects: each is referred to by one of the level before, and requested
    when that has arrived. Takes a whole number from 1 to 10000; 2 by default.
    """
    http: Values[Literal["1.1", "2"]] | None = None
    """Six connections with an object at a time each, or one with all objects in the order of
    their requests. Takes one of 1.1, 2; 2 by default.
    """
    think: Values[str | Distribution | Mapping[str, object]] | None = None
    """From the end of a page to the next. Takes a duration such as "2s", or a distribution; 1s
    by default.
    """


@dataclass(kw_only=True, repr=False)
class Udp(Workload):
    """UDP.

    Datagrams at a constant rate, whether or not they arrive; with `cca = "none"`.

    Source: a source of constant bit rate, as `iperf3 -u`.

    Attributes:
        rate: Bits of payload in a second. Takes a rate such as "80mbit".
        size: Payload of a datagram. Takes a size such as "30kb"; 1.2kb by default.
        burst: Datagrams that leave at once. Takes a whole number from 1 to 10000; 1 by
            default.
    """

    kind: ClassVar[str] = "udp"

    rate: Values[str]
    """Bits of payload in a second. Takes a rate such as "80mbit"."""
    size: Values[str | int] | None = None
    """Payload of a datagram. Takes a size such as "30kb"; 1.2kb by default."""
    burst: Values[int] | None = None
    """Datagrams that leave at once. Takes a whole number from 1 to 10000; 1 by default."""


@dataclass(kw_only=True, repr=False)
class Ping(Workload):
    """Ping.

    Probes that the other end sends back, to measure the RTT without a congestion control;
    with `cca = "none"`.

    Source: RFC 862, as the probes of the RRUL test of flent.

    Attributes:
        interval: From one probe to the next. Takes a duration such as "25ms"; 200ms by
            default.
        size: Payload of a probe. Takes a size such as "30kb"; 56b by default.
    """

    kind: ClassVar[str] = "ping"

    interval: Values[str] | None = None
    """From one probe to the next. Takes a duration such as "25ms"; 200ms by default."""
    size: Values[str | int] | None = None
    """Payload of a probe. Takes a size such as "30kb"; 56b by default."""


@dataclass(kw_only=True, repr=False)
class Media(Workload):
    """Real-time media.

    A video call: frames that leave as RTP packets at the rate of a published control, and are
    shown as soon as they can be decoded; a completion is a frame that was shown; with `cca =
    "none"`.

    Source: SCReAM (RFC 8298), NADA (RFC 8698), feedback of RFC 8888, the source of RFC 8593
    section 5.

    Attributes:
        control: The control of the rate: `scream` as RFC 8298 says, `scream_program` with the
            rate rule of its authors' program; `none` always sends `max`. Takes one of nada,
            scream, scream_program, none; nada by default.
        min: Lowest rate of the encoder. Takes a rate such as "80mbit"; 150kbit by default.
        max: Highest rate of the encoder. Takes a rate such as "80mbit"; 1.5mbit by default.
        fps: Frames in a second. Takes a whole number from 1 to 240; 30 by default.
        packet: Largest payload of UDP in a packet. Takes a size such as "30kb"; 1kb by
            default.
        reaction: How long the encoder keeps a rate before it takes another (tau_v). Takes a
            duration such as "25ms"; 200ms by default.
        variation: Percent of the mean by which sizes of frames vary on the mean (SCALE_B,
            Laplacian). Takes a whole number from 0 to 100; 15 by default.
        key_frame: Size of a key frame as a multiple of the mean; the seven after it are
            smaller. Takes a whole number from 1 to 8; 3 by default.
        jitter_buffer: How long after the fastest frame's delay each frame is shown at the
            earliest. Takes a duration such as "25ms"; 0s by default.
        feedback: From one feedback packet to the next; by default 100 ms with NADA, else 20
            ms. Takes a duration such as "25ms".
    """

    kind: ClassVar[str] = "media"

    control: Values[Literal["nada", "scream", "scream_program", "none"]] | None = None
    """The control of the rate: `scream` as RFC 8298 says, `scream_program` with the rate rule
    of its authors' program; `none` always sends `max`. Takes one of nada, scream,
    scream_program, none; nada by default.
    """
    min: Values[str] | None = None
    """Lowest rate of the encoder. Takes a rate such as "80mbit"; 150kbit by default."""
    max: Values[str] | None = None
    """Highest rate of the encoder. Takes a rate such as "80mbit"; 1.5mbit by default."""
    fps: Values[int] | None = None
    """Frames in a second. Takes a whole number from 1 to 240; 30 by default."""
    packet: Values[str | int] | None = None
    """Largest payload of UDP in a packet. Takes a size such as "30kb"; 1kb by default."""
    reaction: Values[str] | None = None
    """How long the encoder keeps a rate before it takes another (tau_v). Takes a duration such
    as "25ms"; 200ms by default.
    """
    variation: Values[int] | None = None
    """Percent of the mean by which sizes of frames vary on the mean (SCALE_B, Laplacian).
    Takes a whole number from 0 to 100; 15 by default.
    """
    key_frame: Values[int] | None = None
    """Size of a key frame as a multiple of the mean; the seven after it are smaller. Takes a
    whole number from 1 to 8; 3 by default.
    """
    jitter_buffer: Values[str] | None = None
    """How long after the fastest frame's delay each frame is shown at the earliest. Takes a
    duration such as "25ms"; 0s by default.
    """
    feedback: Values[str] | None = None
    """From one feedback packet to the next; by default 100 ms with NADA, else 20 ms. Takes a
    duration such as "25ms".
    """
