"""The tables of a specification as classes. Made by tools/generate_tables.py.

Values are written as in TOML: "80mbit", "25ms", "1.75bdp". None leaves a field to
its default. In a sweep, a list or a `Range` in place of a value is an axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from narrows.api.element import Impairment, Queue, Service, Workload
from narrows.api.writing import Sweep, Table, Values


@dataclass(kw_only=True, repr=False)
class Link(Table):
    """A further link behind the first one, with the same keys.

    Attributes:
        name: Takes a text of 1 to 80 printable characters.
        rate: Takes a rate with its unit, such as "80mbit".
        buffer: Takes a size such as "1.75bdp", "250kb" or "100pkt".
        queue: Takes a queue discipline, such as "codel" or { kind = "codel" }.
        service: Takes a service, such as "wifi" or { kind = "wifi" }.
    """

    name: Values[str]
    """Takes a text of 1 to 80 printable characters."""
    rate: Values[str]
    """Takes a rate with its unit, such as "80mbit"."""
    buffer: Values[str] | None = None
    """Takes a size such as "1.75bdp", "250kb" or "100pkt"."""
    queue: Values[str | Queue | Mapping[str, object]] | None = None
    """Takes a queue discipline, such as "codel" or { kind = "codel" }."""
    service: Values[str | Service | Mapping[str, object]] | None = None
    """Takes a service, such as "wifi" or { kind = "wifi" }."""


@dataclass(kw_only=True, repr=False)
class Reverse(Table):
    """The reverse link.

    Attributes:
        rate: Takes a rate with its unit, such as "80mbit".
        buffer: Takes a size such as "1.75bdp", "250kb" or "100pkt".
        queue: Takes a queue discipline, such as "codel" or { kind = "codel" }.
        service: Takes a service, such as "wifi" or { kind = "wifi" }.
    """

    rate: Values[str]
    """Takes a rate with its unit, such as "80mbit"."""
    buffer: Values[str] | None = None
    """Takes a size such as "1.75bdp", "250kb" or "100pkt"."""
    queue: Values[str | Queue | Mapping[str, object]] | None = None
    """Takes a queue discipline, such as "codel" or { kind = "codel" }."""
    service: Values[str | Service | Mapping[str, object]] | None = None
    """Takes a service, such as "wifi" or { kind = "wifi" }."""


@dataclass(kw_only=True, repr=False)
class Path(Table):
    """The bottleneck and the delay around it.

    Attributes:
        preset: A preset, which supplies the fields that the specification leaves out. Takes a
            text of 1 to 80 printable characters.
        rate: Bit/s, counting IP bytes. Takes a rate with its unit, such as "80mbit".
        rtt: Two-way delay, without queueing. Takes a duration with its unit, such as "25ms".
        buffer: Buffer, not counting the packet being sent; the queue's default if none. Takes
            a size such as "1.75bdp", "250kb" or "100pkt".
        queue: Takes a queue discipline, such as "codel" or { kind = "codel" }.
        service: How the queue is served; the BDP is still computed from the rate. Takes a
            service, such as "wifi" or { kind = "wifi" }.
        loss: Loss probability of data packets, after the last queue. Takes a probability, a
            number from 0 to below 1.
        impairments: Impairments of packets, in their order within a direction and a place.
            Takes a table, such as { kind = "loss", probability = 0.01 }.
        links: More links behind the first, which is called "bottleneck".
        reverse: The reverse link; without one nothing queues there.
    """

    preset: Values[str] | None = None
    """A preset, which supplies the fields that the specification leaves out. Takes a text of 1
    to 80 printable characters.
    """
    rate: Values[str] | None = None
    """Bit/s, counting IP bytes. Takes a rate with its unit, such as "80mbit"."""
    rtt: Values[str] | None = None
    """Two-way delay, without queueing. Takes a duration with its unit, such as "25ms"."""
    buffer: Values[str] | None = None
    """Buffer, not counting the packet being sent; the queue's default if none. Takes a size
    such as "1.75bdp", "250kb" or "100pkt".
    """
    queue: Values[str | Queue | Mapping[str, object]] | None = None
    """Takes a queue discipline, such as "codel" or { kind = "codel" }."""
    service: Values[str | Service | Mapping[str, object]] | None = None
    """How the queue is served; the BDP is still computed from the rate. Takes a service, such
    as "wifi" or { kind = "wifi" }.
    """
    loss: Values[float] | None = None
    """Loss probability of data packets, after the last queue. Takes a probability, a number
    from 0 to below 1.
    """
    impairments: Sequence[Values[Impairment | Mapping[str, object]]] | None = None
    """Impairments of packets, in their order within a direction and a place. Takes a table,
    such as { kind = "loss", probability = 0.01 }.
    """
    links: Sequence[Link] | None = None
    """More links behind the first, which is called "bottleneck"."""
    reverse: Reverse | None = None
    """The reverse link; without one nothing queues there."""


@dataclass(kw_only=True, repr=False)
class Flow(Table):
    """A flow, `count` identical ones, or a chain of successive ones.

    Attributes:
        cca: Takes a congestion control, such as "cubic".
        stack: The transport stack of another project that its hosts have, with `cca` as that
            calls it; by default the TCP of `profile`. Takes a stack, such as "quinn".
        name: Takes a text of 1 to 80 printable characters.
        count: Takes a whole number from 1 to 10000.
        start: Takes a duration with its unit, such as "10s".
        stop: When the application stops writing; what it has written still leaves. Takes a
            duration with its unit, such as "25ms".
        size: Payload bytes; endless if none. Takes a size in bytes, such as "30mb".
        workload: The behaviour of an application that neither always sends nor has a size.
            Takes a table with a kind, such as { kind = "poisson", rate = "5/s", size = "1mb"
            }.
        deadline: How long a transfer may take: `late` counts those that took longer. It
            changes nothing else. Takes a duration with its unit, such as "10s".
        receive_window: The largest receive window, in bytes; by default the hosts'. Takes a
            size in bytes, such as "30mb".
        notsent_lowat: Unsent data from which on its application writes no more
            (`TCP_NOTSENT_LOWAT`); by default what the send buffer takes, and for applications
            that pause 32 KiB. Takes a size in bytes, such as "30mb".
        rtt: Its own two-way delay instead of the path's. Takes a duration with its unit, such
            as "25ms".
        reverse: Whether its data go over the reverse link and its ACKs over the others. Takes
            true or false.
        links: The links that it crosses; all if none. Takes a list of names of links, such as
            ["bottleneck"].
        repeat_gap: From the end of one flow of the chain to the start of the next. Takes a
            duration with its unit, such as "10s".
        while_: The chain continues until the flow or entry of this name is done. Takes a text
            of 1 to 80 printable characters.
        ecn: Use of ECN; by default what the control needs, or the hosts' setting. Takes a use
            of ECN, such as "classic".
        dscp: The DSCP of its data, for queues with classes; its ACKs have none. Takes a DSCP,
            such as "ef".
        options: Options of the control: a quantity with its unit, a number, a word, true or
            false.
        profile: The profile of its own hosts; by default that of `[host]`. Takes a profile,
            such as "linux-6.12".
        fq: Whether the egress queue of its own sending host is `fq`; by default as in
            `[host]`. Takes true or false.
        kernel: The kernel of its own hosts, as `narrows kernel list` names it; for the back
            end uml. Takes a text of 1 to 80 printable characters.
        line_rate: The line rate of its own sending host's card; for real kernels. Takes a
            rate with its unit, such as "80mbit".
        sysctls: Settings below `net.ipv4` of its own hosts; for real kernels. Takes a table
            of settings, such as { tcp_slow_start_after_idle = 0 }.
        server: The program that serves on one of its own two hosts, for real kernels, instead
            of what narrows sends. Takes a program and its arguments, such as ["iperf3", "-s",
            "-p", "{port}"].
        client: The program that connects to it from the other host. Takes a program and its
            arguments, such as ["iperf3", "-s", "-p", "{port}"].
        sender: The program that sends the data, and so stands before the bottleneck; by
            default the server. Takes a program of a flow, such as "server".
        syscall_time: The time that each system call of these programs takes of their host's
            one processor; for the back end uml. Takes a duration with its unit, such as
            "10s".
        date: The date of their hosts when they boot, such as "2030-01-01"; for the back end
            uml. Takes a text of 1 to 80 printable characters.
    """

    cca: Values[str]
    """Takes a congestion control, such as "cubic"."""
    stack: Values[str] | None = None
    """The transport stack of another project that its hosts have, with `cca` as that calls it;
    by default the TCP of `profile`. Takes a stack, such as "quinn".
    """
    name: Values[str] | None = None
    """Takes a text of 1 to 80 printable characters."""
    count: Values[int] | None = None
    """Takes a whole number from 1 to 10000."""
    start: Values[str] | None = None
    """Takes a duration with its unit, such as "10s"."""
    stop: Values[str] | None = None
    """When the application stops writing; what it has written still leaves. Takes a duration
    with its unit, such as "25ms".
    """
    size: Values[str] | None = None
    """Payload bytes; endless if none. Takes a size in bytes, such as "30mb"."""
    workload: Values[Workload | Mapping[str, object]] | None = None
    """The behaviour of an application that neither always sends nor has a size. Takes a table
    with a kind, such as { kind = "poisson", rate = "5/s", size = "1mb" }.
    """
    deadline: Values[str] | None = None
    """How long a transfer may take: `late` counts those that took longer. It changes nothing
    else. Takes a duration with its unit, such as "10s".
    """
    receive_window: Values[str] | None = None
    """The largest receive window, in bytes; by default the hosts'. Takes a size in bytes, such
    as "30mb".
    """
    notsent_lowat: Values[str] | None = None
    """Unsent data from which on its application writes no more (`TCP_NOTSENT_LOWAT`); by
    default what the send buffer takes, and for applications that pause 32 KiB. Takes a size
    in bytes, such as "30mb".
    """
    rtt: Values[str] | None = None
    """Its own two-way delay instead of the path's. Takes a duration with its unit, such as
    "25ms".
    """
    reverse: Values[bool] | None = None
    """Whether its data go over the reverse link and its ACKs over the others. Takes true or
    false.
    """
    links: Sequence[Values[str]] | None = None
    """The links that it crosses; all if none. Takes a list of names of links, such as
    ["bottleneck"].
    """
    repeat_gap: Values[str] | None = None
    """From the end of one flow of the chain to the start of the next. Takes a duration with
    its unit, such as "10s".
    """
    while_: Values[str] | None = None
    """The chain continues until the flow or entry of this name is done. Takes a text of 1 to
    80 printable characters.
    """
    ecn: Values[str] | None = None
    """Use of ECN; by default what the control needs, or the hosts' setting. Takes a use of
    ECN, such as "classic".
    """
    dscp: Values[str] | None = None
    """The DSCP of its data, for queues with classes; its ACKs have none. Takes a DSCP, such as
    "ef".
    """
    options: Mapping[str, object] | None = None
    """Options of the control: a quantity with its unit, a number, a word, true or false."""
    profile: Values[str] | None = None
    """The profile of its own hosts; by default that of `[host]`. Takes a profile, such as
    "linux-6.12".
    """
    fq: Values[bool] | None = None
    """Whether the egress queue of its own sending host is `fq`; by default as in `[host]`.
    Takes true or false.
    """
    kernel: Values[str] | None = None
    """The kernel of its own hosts, as `narrows kernel list` names it; for the back end uml.
    Takes a text of 1 to 80 printable characters.
    """
    line_rate: Values[str] | None = None
    """The line rate of its own sending host's card; for real kernels. Takes a rate with its
    unit, such as "80mbit".
    """
    sysctls: Mapping[str, object] | None = None
    """Settings below `net.ipv4` of its own hosts; for real kernels. Takes a table of settings,
    such as { tcp_slow_start_after_idle = 0 }.
    """
    server: Sequence[str] | None = None
    """The program that serves on one of its own two hosts, for real kernels, instead of what
    narrows sends. Takes a program and its arguments, such as ["iperf3", "-s", "-p",
    "{port}"].
    """
    client: Sequence[str] | None = None
    """The program that connects to it from the other host. Takes a program and its arguments,
    such as ["iperf3", "-s", "-p", "{port}"].
    """
    sender: Values[str] | None = None
    """The program that sends the data, and so stands before the bottleneck; by default the
    server. Takes a program of a flow, such as "server".
    """
    syscall_time: Values[str] | None = None
    """The time that each system call of these programs takes of their host's one processor;
    for the back end uml. Takes a duration with its unit, such as "10s".
    """
    date: Values[str] | None = None
    """The date of their hosts when they boot, such as "2030-01-01"; for the back end uml.
    Takes a text of 1 to 80 printable characters.
    """


@dataclass(kw_only=True, repr=False)
class Host(Table):
    """TCP of the end hosts.

    Attributes:
        profile: Takes a profile, such as "linux-6.12".
        fq: Whether the sending host's egress queue is `fq`, which paces every control. Takes
            true or false.
        jitter: Each packet of a sender waits up to this long, in order. Takes a duration with
            its unit, such as "10s".
        timer_lateness: How late the sender's pacing timers fire. Takes a duration with its
            unit, such as "10s".
        gso: Whether a sender's burst passes the path as one packet. Takes true or false.
        metrics_save: Whether a connection starts with the cached metrics of earlier ones of
            its flow. Takes true or false.
        gro: How long the receiver's card collects packets for GRO to merge; 0 for no GRO.
            Takes a duration with its unit, such as "10s".
        socket_buffers: Takes a setting of socket buffers, such as "raised".
        receive_window: The largest window that receivers advertise, in bytes; unlimited if
            none. Takes a size in bytes, such as "30mb".
        ecn: ECN of flows without their own setting whose control doesn't require another.
            Takes a use of ECN, such as "classic".
    """

    profile: Values[str] | None = None
    """Takes a profile, such as "linux-6.12"."""
    fq: Values[bool] | None = None
    """Whether the sending host's egress queue is `fq`, which paces every control. Takes true
    or false.
    """
    jitter: Values[str] | None = None
    """Each packet of a sender waits up to this long, in order. Takes a duration with its unit,
    such as "10s".
    """
    timer_lateness: Values[str] | None = None
    """How late the sender's pacing timers fire. Takes a duration with its unit, such as "10s"."""
    gso: Values[bool] | None = None
    """Whether a sender's burst passes the path as one packet. Takes true or false."""
    metrics_save: Values[bool] | None = None
    """Whether a connection starts with the cached metrics of earlier ones of its flow. Takes
    true or false.
    """
    gro: Values[str] | None = None
    """How long the receiver's card collects packets for GRO to merge; 0 for no GRO. Takes a
    duration with its unit, such as "10s".
    """
    socket_buffers: Values[str] | None = None
    """Takes a setting of socket buffers, such as "raised"."""
    receive_window: Values[str] | None = None
    """The largest window that receivers advertise, in bytes; unlimited if none. Takes a size
    in bytes, such as "30mb".
    """
    ecn: Values[str] | None = None
    """ECN of flows without their own setting whose control doesn't require another. Takes a
    use of ECN, such as "classic".
    """


@dataclass(kw_only=True, repr=False)
class Run(Table):
    """How long, how often, and what to keep.

    Attributes:
        duration: The end, by default after 30 s; with `stop_when` the latest one. Takes a
            duration with its unit, such as "25ms".
        warmup: Left out of summaries, but not of the series. Takes a duration with its unit,
            such as "10s".
        trials: Takes a whole number from 1 to 10000.
        seed: Takes a whole number from 0 to 18446744073709551615.
        stop_when: The run ends once the flow or entry of this name is done, or with "all" all
            sized flows. Takes a text of 1 to 80 printable characters.
        sample_interval: Interval of the rows in the sample tables. Takes a duration with its
            unit, such as "25ms".
        record: Takes a level of recording, such as "samples".
    """

    duration: Values[str] | None = None
    """The end, by default after 30 s; with `stop_when` the latest one. Takes a duration with
    its unit, such as "25ms".
    """
    warmup: Values[str] | None = None
    """Left out of summaries, but not of the series. Takes a duration with its unit, such as
    "10s".
    """
    trials: Values[int] | None = None
    """Takes a whole number from 1 to 10000."""
    seed: Values[int] | None = None
    """Takes a whole number from 0 to 18446744073709551615."""
    stop_when: Values[str] | None = None
    """The run ends once the flow or entry of this name is done, or with "all" all sized flows.
    Takes a text of 1 to 80 printable characters.
    """
    sample_interval: Values[str] | None = None
    """Interval of the rows in the sample tables. Takes a duration with its unit, such as
    "25ms".
    """
    record: Values[str] | None = None
    """Takes a level of recording, such as "samples"."""


@dataclass(kw_only=True, repr=False)
class Change(Table):
    """A change in the course of the run, after everything else of its instant.

    Attributes:
        at: Takes a duration with its unit, such as "10s".
        link: The link whose rate changes; by default the first. Takes a text of 1 to 80
            printable characters.
        rate: The rate of the link from then on, even for the rest of a packet. Takes a rate
            with its unit, such as "80mbit".
        rtt: The path's two-way delay for packets that set out from then on; none overtakes
            another. Takes a duration with its unit, such as "25ms".
        loss: The path's loss from then on. Takes a probability, a number from 0 to below 1.
        flow: The flow, or the flows of an entry, that changes. Takes a text of 1 to 80
            printable characters.
        stop: Whether the flow stops: its application writes no more. Takes true or false.
        window: The window, in packets, of a flow whose control is `fixed`. Takes a whole
            number from 1 to 10000000.
        pacing_rate: The pacing rate of such a flow, in payload bits per second. Takes a rate
            with its unit, such as "80mbit".
        end: Whether the run ends here. Takes true or false.
    """

    at: Values[str]
    """Takes a duration with its unit, such as "10s"."""
    link: Values[str] | None = None
    """The link whose rate changes; by default the first. Takes a text of 1 to 80 printable
    characters.
    """
    rate: Values[str] | None = None
    """The rate of the link from then on, even for the rest of a packet. Takes a rate with its
    unit, such as "80mbit".
    """
    rtt: Values[str] | None = None
    """The path's two-way delay for packets that set out from then on; none overtakes another.
    Takes a duration with its unit, such as "25ms".
    """
    loss: Values[float] | None = None
    """The path's loss from then on. Takes a probability, a number from 0 to below 1."""
    flow: Values[str] | None = None
    """The flow, or the flows of an entry, that changes. Takes a text of 1 to 80 printable
    characters.
    """
    stop: Values[bool] | None = None
    """Whether the flow stops: its application writes no more. Takes true or false."""
    window: Values[int] | None = None
    """The window, in packets, of a flow whose control is `fixed`. Takes a whole number from 1
    to 10000000.
    """
    pacing_rate: Values[str] | None = None
    """The pacing rate of such a flow, in payload bits per second. Takes a rate with its unit,
    such as "80mbit".
    """
    end: Values[bool] | None = None
    """Whether the run ends here. Takes true or false."""


@dataclass(kw_only=True, repr=False)
class Condition(Table):
    """A condition on the samples of a series.

    Attributes:
        series: As for the expectation, such as "bbr.cca_state"; a class counts if any of its
            flows does. Takes a text of 1 to 80 printable characters.
        is_: The condition that the series has one of these values. Takes a list of texts,
            such as ["startup"].
        above: The condition that it is higher. Takes a finite number.
        below: The condition that it is lower. Takes a finite number.
        nth: Which time it happens. Takes a whole number from 1 to 1000000.
    """

    series: Values[str]
    """As for the expectation, such as "bbr.cca_state"; a class counts if any of its flows
    does. Takes a text of 1 to 80 printable characters.
    """
    is_: Sequence[Values[str]] | None = None
    """The condition that the series has one of these values. Takes a list of texts, such as
    ["startup"].
    """
    above: Values[float] | None = None
    """The condition that it is higher. Takes a finite number."""
    below: Values[float] | None = None
    """The condition that it is lower. Takes a finite number."""
    nth: Values[int] | None = None
    """Which time it happens. Takes a whole number from 1 to 1000000."""


@dataclass(kw_only=True, repr=False)
class Expect(Table):
    """A bound on a metric or a series, which the mean over a combination's trials must keep.

    Attributes:
        metric: A column of the table `summary`, such as "utilization" or "bbr.share". Takes a
            text of 1 to 80 printable characters.
        series: Instead, a series: a class, flow or link and a column or internal, such as
            "bbr.max_bw_mbps". Takes a text of 1 to 80 printable characters.
        take: How to take a number from the series within the period. Takes a way to take a
            number from a series, such as "max".
        over: How the values of a class's flows become one; the mean if none. Takes a way to
            combine flows, such as "max".
        is_: The condition that the series has one of these values. Takes a list of texts,
            such as ["startup"].
        above: The condition that it is higher. Takes a finite number.
        below: The condition that it is lower. Takes a finite number.
        window: The series is averaged over windows of this length first. Takes a duration
            with its unit, such as "25ms".
        from_: Begin of the period; the warm-up if none. Takes a duration with its unit, such
            as "10s".
        to: End of the period; that of the run if none. Takes a duration with its unit, such
            as "10s".
        after: The period begins only once this has happened.
        until: The period ends once this happens.
        lasting: The period lasts at most this long. Takes a duration with its unit, such as
            "25ms".
        lasting_rtts: The same in two-way delays of the path without queueing. Takes a finite
            number.
        while_: Samples at which this doesn't hold are left out.
        at_least: The mean may not be lower. Takes a finite number.
        at_most: The mean may not be higher. Takes a finite number.
        where: Only where these places have these values: { "path.buffer" = "1bdp" }; a list
            means any. Takes a table of places with their values, such as { "path.buffer" =
            "1bdp" }.
    """

    metric: Values[str] | None = None
    """A column of the table `summary`, such as "utilization" or "bbr.share". Takes a text of 1
    to 80 printable characters.
    """
    series: Values[str] | None = None
    """Instead, a series: a class, flow or link and a column or internal, such as
    "bbr.max_bw_mbps". Takes a text of 1 to 80 printable characters.
    """
    take: Values[str] | None = None
    """How to take a number from the series within the period. Takes a way to take a number
    from a series, such as "max".
    """
    over: Values[str] | None = None
    """How the values of a class's flows become one; the mean if none. Takes a way to combine
    flows, such as "max".
    """
    is_: Sequence[Values[str]] | None = None
    """The condition that the series has one of these values. Takes a list of texts, such as
    ["startup"].
    """
    above: Values[float] | None = None
    """The condition that it is higher. Takes a finite number."""
    below: Values[float] | None = None
    """The condition that it is lower. Takes a finite number."""
    window: Values[str] | None = None
    """The series is averaged over windows of this length first. Takes a duration with its
    unit, such as "25ms".
    """
    from_: Values[str] | None = None
    """Begin of the period; the warm-up if none. Takes a duration with its unit, such as "10s"."""
    to: Values[str] | None = None
    """End of the period; that of the run if none. Takes a duration with its unit, such as
    "10s".
    """
    after: Condition | None = None
    """The period begins only once this has happened."""
    until: Condition | None = None
    """The period ends once this happens."""
    lasting: Values[str] | None = None
    """The period lasts at most this long. Takes a duration with its unit, such as "25ms"."""
    lasting_rtts: Values[float] | None = None
    """The same in two-way delays of the path without queueing. Takes a finite number."""
    while_: Condition | None = None
    """Samples at which this doesn't hold are left out."""
    at_least: Values[float] | None = None
    """The mean may not be lower. Takes a finite number."""
    at_most: Values[float] | None = None
    """The mean may not be higher. Takes a finite number."""
    where: Mapping[str, object] | None = None
    """Only where these places have these values: { "path.buffer" = "1bdp" }; a list means any.
    Takes a table of places with their values, such as { "path.buffer" = "1bdp" }.
    """


@dataclass(kw_only=True, repr=False)
class Scenario(Table):
    """One experiment: a path, the flows that share it, the hosts, the run.

    Attributes:
        name: Takes a text of 1 to 80 printable characters.
        path: The bottleneck and the delay around it.
        flows: The flows that share the path, or entries that stand for several.
        host: TCP of the end hosts.
        run: How long, how often, and what to keep.
        changes: The changes in the course of the run, in the order of their times.
        expect: Bounds for results; beyond them `narrows run` ends with status 1.
        sweep: Designs, zipped axes and further axes of a sweep.
    """

    name: Values[str]
    """Takes a text of 1 to 80 printable characters."""
    path: Path
    """The bottleneck and the delay around it."""
    flows: Sequence[Flow]
    """The flows that share the path, or entries that stand for several."""
    host: Host | None = None
    """TCP of the end hosts."""
    run: Run | None = None
    """How long, how often, and what to keep."""
    changes: Sequence[Change] | None = None
    """The changes in the course of the run, in the order of their times."""
    expect: Sequence[Expect] | None = None
    """Bounds for results; beyond them `narrows run` ends with status 1."""
    sweep: Sweep | None = None
    """Designs, zipped axes and further axes of a sweep."""
