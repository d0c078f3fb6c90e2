//! The sections of a specification.

use super::change::CHANGE;
use super::check::CHECK;
use super::key::{Elements, Key, KeyDefault, KeyKind, Section};
use super::words::{DESIGN, DSCP, ECN, LEVEL, PROFILE, PROGRAM, SOCKET_BUFFERS, STACK};
use crate::limits::{MAX_CELLS, MAX_FLOWS, MAX_TRIALS};

use KeyDefault::{Empty, Flag, Number, Off, Required, Text, Whole};

/// The whole specification.
pub static SPECIFICATION: Section = Section {
    title: "Scenario",
    what: "One experiment: a path, the flows that share it, the hosts, the run.",
    keys: &[
        Key::new("name", KeyKind::Name, Required, "").stays(),
        Key::new(
            "path",
            KeyKind::Table(&PATH),
            Required,
            "The bottleneck and the delay around it.",
        )
        .stays(),
        Key::new(
            "flows",
            KeyKind::Tables(&FLOW),
            Required,
            "The flows that share the path, or entries that stand for several.",
        )
        .stays(),
        Key::new("host", KeyKind::Table(&HOST), Empty, "TCP of the end hosts.").stays(),
        Key::new("run", KeyKind::Table(&RUN), Empty, "How long, how often, and what to keep.")
            .stays(),
        Key::new(
            "changes",
            KeyKind::Tables(&CHANGE),
            Empty,
            "Changes during the run, ordered by time.",
        )
        .stays(),
        Key::new(
            "check",
            KeyKind::Tables(&CHECK),
            Empty,
            "Bounds for results; unless all are met, `narrows run` ends with status 1.",
        ),
    ],
};

const RATE: Key = Key::new("rate", KeyKind::Rate, Required, "").becomes("rate_bps");
const BUFFER: Key = Key::new("buffer", KeyKind::Room, Off, "").stays().always_present();
const QUEUE: Key =
    Key::new("queue", KeyKind::Element(Elements::Queue), Text("droptail"), "").stays();
const SERVICE: Key =
    Key::new("service", KeyKind::Element(Elements::Service), Text("constant"), "").stays();

/// The reverse link.
pub static REVERSE: Section =
    Section { title: "Reverse", what: "The reverse link.", keys: &[RATE, BUFFER, QUEUE, SERVICE] };

/// A further link.
pub static LINK: Section = Section {
    title: "Link",
    what: "A further link behind the first one, with the same keys.",
    keys: &[Key::new("name", KeyKind::Name, Required, "").stays(), RATE, BUFFER, QUEUE, SERVICE],
};

/// The path.
pub static PATH: Section = Section {
    title: "Path",
    what: "The bottleneck and the delay around it.",
    keys: &[
        Key::new(
            "preset",
            KeyKind::Name,
            Off,
            "A preset, which supplies the fields that the specification leaves out.",
        ),
        Key { what: "Bit/s, counting IP bytes.", ..RATE },
        Key::new("rtt", KeyKind::Span, Required, "Two-way delay, without queueing.")
            .becomes("rtt_ns"),
        Key {
            what: "Buffer, not counting the packet being sent; the queue's default if none.",
            ..BUFFER
        },
        QUEUE,
        Key {
            what: "How the queue is served; the BDP is still computed from the rate.",
            ..SERVICE
        },
        Key::new(
            "loss",
            KeyKind::Probability,
            Number(0.0),
            "Loss probability of data packets, after the last queue.",
        )
        .stays(),
        Key::new(
            "impairments",
            KeyKind::Impairments,
            Empty,
            "Impairments of packets, in order within each direction and place.",
        )
        .stays(),
        Key::new(
            "links",
            KeyKind::Tables(&LINK),
            Empty,
            "More links behind the first, which is called \"bottleneck\".",
        )
        .stays(),
        Key::new(
            "reverse",
            KeyKind::Table(&REVERSE),
            Off,
            "The reverse link; without one nothing queues there.",
        )
        .stays(),
    ],
};

/// A flow.
pub static FLOW: Section = Section {
    title: "Flow",
    what: "A flow, `count` identical ones, or a chain of successive ones.",
    keys: &[
        Key::new("cca", KeyKind::Control, Required, "").stays(),
 Key::new(
            "stack",
            KeyKind::Word(&STACK),
            Off,
            "The transport stack of another project on the flow's hosts, with `cca` in that stack's \
             words; by default the TCP of `profile`.",
        )
        .stays(),
        Key::new("name", KeyKind::Name, Off, "").stays().always_present(),
        Key::new("count", KeyKind::Whole(1, MAX_FLOWS), Whole(1), ""),
        Key::new("start", KeyKind::Duration, Text("0s"), "").becomes("start_ns"),
        Key::new(
            "start_spread",
            KeyKind::Span,
            Off,
            "Each flow starts at a random time from `start` to this much later, drawn from the seed.",
        ),
        Key::new("stop", KeyKind::Span, Off, "When the application stops writing; what it has written still leaves.").becomes("stop_ns"),
        Key::new("size", KeyKind::Volume, Off, "Payload bytes; endless if none.")
            .becomes("size_bytes"),
        Key::new(
            "workload",
            KeyKind::Workload,
            Off,
            "The behaviour of an application that neither sends all the time nor has a fixed size.",
        )
        .stays(),
        Key::new(
            "deadline",
            KeyKind::Duration,
            Off,
            "How long a transfer may take: `late` counts those that took longer. It changes nothing \
             else.",
        )
        .becomes("deadline_ns"),
        Key::new(
            "receive_window",
            KeyKind::Volume,
            Off,
            "The largest receive window, in bytes; by default the hosts'.",
        )
        .becomes("receive_window_bytes"),
        Key::new(
            "notsent_lowat",
            KeyKind::Volume,
            Off,
            "The amount of unsent data at which the application stops writing (`TCP_NOTSENT_LOWAT`); \
             by default the send buffer's size, and 32 KiB for applications that pause.",
        )
        .becomes("notsent_lowat_bytes"),
        Key::new("rtt", KeyKind::Span, Off, "The flow's own two-way delay, instead of the path's.")
            .becomes("rtt_ns"),
        Key::new(
            "reverse",
            KeyKind::Flag,
            Flag(false),
            "True if the flow's data use the reverse link, and its ACKs the others.",
        )
        .stays(),
        Key::new(
            "links",
            KeyKind::Names("names of links", "bottleneck"),
            Off,
            "The links that the flow crosses; by default all.",
        )
        .stays(),
        Key::new(
            "repeat_gap",
            KeyKind::Duration,
            Off,
            "From the end of one flow of the chain to the start of the next.",
        )
        .becomes("repeat_gap_ns"),
        Key::new(
            "while",
            KeyKind::Name,
            Off,
            "The chain continues until the flow or entry of this name is done.",
        )
        .stays(),
        Key::new(
            "ecn",
            KeyKind::Word(&ECN),
            Off,
            "Use of ECN; by default what the control needs, or the hosts' setting.",
        )
        .stays()
        .always_present(),
        Key::new(
            "dscp",
            KeyKind::Word(&DSCP),
            Off,
            "The DSCP of its data, for queues with classes; its ACKs have none.",
        )
        .stays(),
        Key::new(
            "options",
            KeyKind::Options,
            Empty,
            "Options of the control: a quantity with its unit, a number, a word, true or false.",
        )
        .stays(),
        Key::new(
            "profile",
            KeyKind::Word(&PROFILE),
            Off,
            "The profile of its own hosts; by default that of `[host]`.",
        )
        .stays(),
        Key::new(
            "fq",
            KeyKind::Flag,
            Off,
            "True if the egress queue of its own sending host is `fq`; by default as in `[host]`.",
        )
        .stays(),
        Key::new(
            "kernel",
            KeyKind::Name,
            Off,
            "The kernel of its own hosts, as `narrows kernel list` names it; for the back end uml.",
        )
        .stays(),
        Key::new(
            "line_rate",
            KeyKind::Rate,
            Off,
            "The line rate of its own sending host's card: a token bucket that holds one packet.",
        )
        .becomes("line_rate_bps"),
        Key::new(
            "sysctls",
            KeyKind::Sysctls,
            Off,
            "Settings below `net.ipv4` of its own hosts; for real kernels.",
        )
        .stays(),
        Key::new(
            "server",
            KeyKind::Command,
            Off,
            "The program that serves on one of the flow's own two hosts, in place of narrows' \
             traffic; for real kernels.",
        )
        .stays(),
        Key::new(
            "client",
            KeyKind::Command,
            Off,
            "The program that connects to it from the other host.",
        )
        .stays(),
        Key::new(
            "sender",
            KeyKind::Word(&PROGRAM),
            Off,
            "The program that sends the data, and so is on the near side of the bottleneck; by \
             default the server.",
        )
        .stays(),
        Key::new(
            "syscall_time",
            KeyKind::Duration,
            Off,
            "The time that each system call of these programs takes of their host's one processor; \
             for the back end uml.",
        )
        .becomes("syscall_time_ns"),
        Key::new(
            "date",
            KeyKind::Name,
            Off,
            "The date of their hosts when they boot, such as \"2030-01-01\"; for the back end uml.",
        )
        .stays(),
    ],
};

/// The end hosts.
pub static HOST: Section = Section {
    title: "Host",
    what: "TCP of the end hosts.",
    keys: &[
        Key::new("profile", KeyKind::Word(&PROFILE), Text("linux-6.12"), "").stays(),
        Key::new(
            "fq",
            KeyKind::Flag,
            Flag(false),
            "True if the sending host's egress queue is `fq`, which paces every control.",
        )
        .stays(),
        Key::new(
            "jitter",
            KeyKind::Duration,
            Text("0s"),
            "Each packet of a sender waits up to this long, without reordering.",
        )
        .becomes("jitter_ns"),
        Key::new(
            "timer_lateness",
            KeyKind::Duration,
            Text("0s"),
            "How late the sender's pacing timers fire.",
        )
        .becomes("timer_lateness_ns"),
        Key::new(
            "gso",
            KeyKind::Flag,
            Flag(false),
            "True if a sender's burst passes the path as one packet.",
        )
        .stays(),
        Key::new(
            "metrics_save",
            KeyKind::Flag,
            Flag(false),
            "True if a connection starts with the cached metrics of earlier ones of its flow.",
        )
        .stays(),
        Key::new(
            "gro",
            KeyKind::Duration,
            Text("0s"),
            "How long the receiver's card collects packets for GRO to merge; 0 for no GRO.",
        )
        .becomes("gro_ns"),
        Key::new("socket_buffers", KeyKind::Word(&SOCKET_BUFFERS), Text("raised"), "").stays(),
        Key::new(
            "receive_window",
            KeyKind::Volume,
            Off,
            "The largest window that receivers advertise, in bytes; unlimited if none.",
        ),
        Key::new(
            "ecn",
            KeyKind::Word(&ECN),
            Text("off"),
            "ECN of flows without their own setting whose control doesn't require another.",
        ),
    ],
};

/// The run.
pub static RUN: Section = Section {
    title: "Run",
    what: "How long, how often, and what to keep.",
    keys: &[
        Key::new(
            "duration",
            KeyKind::Span,
            Text("30s"),
            "The end of the run, by default after 30 s; with `stop_when`, the latest possible end.",
        )
        .becomes("duration_ns"),
        Key::new(
            "warmup",
            KeyKind::Duration,
            Text("0s"),
            "The time at the start that summaries leave out, but series don't.",
        )
        .becomes("warmup_ns"),
        Key::new("trials", KeyKind::Whole(1, MAX_TRIALS), Whole(1), ""),
        Key::new("seed", KeyKind::Whole(0, u64::MAX), Whole(1), ""),
        Key::new(
            "stop_when",
            KeyKind::Name,
            Off,
            "The run ends once the flow or entry of this name is done, or with \"all\" all sized flows.",
        )
        .stays(),
        Key::new(
            "sample_interval",
            KeyKind::Span,
            Text("100ms"),
            "Interval of the rows in the sample tables.",
        )
        .becomes("sample_interval_ns"),
        Key::new("record", KeyKind::Word(&LEVEL), Text("samples"), "").stays(),
    ],
};

/// The combinations of a study.
pub static SWEEP: Section = Section {
    title: "Sweep",
    what: "How the axes of a study are combined.",
    keys: &[
        Key::new(
            "design",
            KeyKind::Word(&DESIGN),
            Text("grid"),
            "Every combination, or a budget of them: at random, or a Latin hypercube.",
        ),
        Key::new(
            "budget",
            KeyKind::Whole(1, MAX_CELLS),
            Off,
            "Combinations of a random or Latin-hypercube design.",
        ),
        Key::new(
            "seed",
            KeyKind::Whole(0, u64::MAX),
            Whole(1),
            "Seed of the design, not of the runs.",
        ),
        Key::new("zip", KeyKind::Zip, Empty, "Axes that vary together, value by value."),
        Key::new("axes", KeyKind::Axes, Empty, "Axes given here instead of in their places."),
        Key::new("cases", KeyKind::Cases, Empty, "Named cases, each with places that it sets."),
        Key::new(
            "until",
            KeyKind::Table(&UNTIL),
            Off,
            "Trials continue until half of the 95 % interval of a metric's mean is within a bound.",
        ),
    ],
};

/// The rule for enough trials.
pub static UNTIL: Section = Section {
    title: "Until",
    what: "The rule for enough trials.",
    keys: &[
        Key::new("metric", KeyKind::Name, Required, "A column of the table `summary`."),
        Key::new(
            "within",
            KeyKind::Within,
            Required,
            "The bound, in the metric's own unit or as a part of the mean such as \"5%\".",
        ),
        Key::new("max_trials", KeyKind::Whole(2, MAX_TRIALS), Required, "The most trials."),
    ],
};
