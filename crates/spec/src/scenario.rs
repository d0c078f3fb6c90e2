//! One run, as plain data: the whole input of the simulator.
//!
//! Python writes it as canonical JSON (integers in ns, bytes and bit/s); nothing here has a
//! default, so a scenario states exactly what ran. What a flow's own host may have stands there
//! only where it does; else [`Host`] holds for it.

use std::collections::BTreeMap;

use narrows_base::Dscp;
use narrows_base::registry::Values;
use serde::{Deserialize, Deserializer, Serialize};

use crate::law::Law;
pub use narrows_base::Level;
pub use narrows_net::Limit;
pub use narrows_net::path::{
    Direction, FIRST_LINK, Impairment, ImpairmentPlace, LinkConfig, PathConfig,
};
pub use narrows_tcp::EcnMode;

/// Everything that determines the outcome of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// The bottleneck.
    pub path: PathConfig,
    /// The flows that share it, in the order of their ids.
    #[serde(deserialize_with = "without_spare_room")]
    pub flows: Vec<Flow>,
    /// The end hosts.
    pub host: Host,
    /// The duration, and what to keep.
    pub run: Run,
    /// The changes during the run, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// A list that has grown while it was read takes up to twice its room.
fn without_spare_room<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Flow>, D::Error> {
    let mut flows = Vec::deserialize(from)?;
    flows.shrink_to_fit();
    Ok(flows)
}

/// A change in the course of a run, after everything else of its instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When, in ns.
    pub at_ns: u64,
    /// The link whose rate changes, by name; the first if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The rate of the link from then on, in bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// The path's two-way delay from then on, in ns. Packets on the way keep theirs, and none
    /// overtakes another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_ns: Option<u64>,
    /// The path's loss from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// The flow or the flows of an entry that change, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// True if the flow stops: its application writes no more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
    /// The window of a flow whose control is `fixed`, in packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_packets: Option<u32>,
    /// The pacing rate of such a flow, in payload bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing_rate_bps: Option<u64>,
    /// True if the run ends here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub end: bool,
}

impl Scenario {
    /// Ends the run at an instant, by a change that takes the place of all later ones, unless it
    /// ends before.
    pub fn end_at(&mut self, at_ns: u64) {
        self.changes.retain(|change| change.at_ns <= at_ns);
        if self.changes.last().is_some_and(|change| change.end) {
            return;
        }
        self.changes.push(Change { at_ns, end: true, ..Change::default() });
    }
}

/// Unsent data from which on an application that pauses writes no more, in bytes: little, so that
/// it is silent soon.
const LOWAT_OF_PAUSING: u64 = 32 * 1024;

impl Flow {
    /// Unsent data from which on the application writes no more (`TCP_NOTSENT_LOWAT`), in bytes;
    /// none for what only the send buffer limits.
    #[must_use]
    pub fn notsent_lowat(&self) -> Option<u64> {
        let pauses = self.workload.as_ref().is_some_and(Workload::pauses);
        self.notsent_lowat_bytes.or(pauses.then_some(LOWAT_OF_PAUSING))
    }

    /// Returns `true` if programs make the flow's packets, not a sender with data.
    #[must_use]
    pub const fn has_programs(&self) -> bool {
        !self.server.is_empty() || !self.client.is_empty()
    }

    /// Returns `true` if the flow has more than one connection: a chain, or open-loop arrivals.
    #[must_use]
    pub fn has_several_connections(&self) -> bool {
        self.repeat_gap_ns.is_some()
            || matches!(self.workload, Some(Workload::Arrivals { .. } | Workload::Web { .. }))
    }
}

/// One flow, or a chain of successive ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Unique name.
    pub name: String,
    /// Name of its congestion control.
    pub cca: String,
    /// The transport stack of another project that its hosts have instead of the simulator's TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Options of the control by their keys; those left out have their defaults.
    pub options: Values,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// When it connects, in ns.
    pub start_ns: u64,
    /// When the application stops writing, in ns.
    pub stop_ns: Option<u64>,
    /// How much it sends, in payload bytes; endless if none.
    pub size_bytes: Option<u64>,
    /// When and how much it writes, if it neither always sends nor has a size.
    pub workload: Option<Workload>,
    /// How long a transfer may take without being late, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
    /// The largest receive window that its receiver advertises, in bytes; unlimited if none.
    pub receive_window_bytes: Option<u64>,
    /// Unsent data from which on its application writes no more (`TCP_NOTSENT_LOWAT`), in bytes; as
    /// much as the send buffer takes if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notsent_lowat_bytes: Option<u64>,
    /// Its own two-way delay in ns, instead of the path's.
    pub rtt_ns: Option<u64>,
    /// True if it is reversed: its data cross the reverse link, its ACKs the links.
    pub reverse: bool,
    /// The links that it crosses, by name, in the order of the path; all if none.
    pub links: Option<Vec<String>>,
    /// Repeat: the next flow connects this many ns after the last one completed.
    pub repeat_gap_ns: Option<u64>,
    /// Repeat until the flow of this name, or all of an entry with a count, are done.
    #[serde(rename = "while")]
    pub while_flow: Option<String>,
    /// The DSCP of its data; 0 if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// The profile of its own hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// True if the egress queue of its own sending host is `fq`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fq: Option<bool>,
    /// The kernel of its own hosts, by the name that it was built under; for real kernels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The line rate of its own sending host's card, in bit/s; for real kernels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_rate_bps: Option<u64>,
    /// Settings below `net.ipv4` of its own hosts; for real kernels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctls: BTreeMap<String, String>,
    /// The program that serves, with its arguments, if programs make the flow's packets; for real
    /// kernels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server: Vec<String>,
    /// The program that connects to it, with its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client: Vec<String>,
    /// Which of the two sends the data, and so stands before the bottleneck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<Program>,
    /// The time that each system call of a program takes of its host's processor, in ns; none is
    /// taken by default. For guests in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syscall_time_ns: Option<u64>,
    /// The date of the programs' hosts when they boot (year-month-day). For guests in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

/// One of the two programs of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// The one that serves.
    Server,
    /// The one that connects.
    Client,
}

/// The behaviour of an application that doesn't always send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Workload {
    /// New connections, whether or not the earlier ones are done.
    Arrivals {
        /// From one to the next, in ns.
        gap_ns: Law,
        /// Payload of each, in bytes.
        size_bytes: Law,
    },
    /// One connection that sends as much as possible for a while, then nothing for a while.
    OnOff {
        /// How long it sends, in ns.
        on_ns: Law,
        /// How long it sends the first time, in ns, if that differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_ns: Option<u64>,
        /// How long it doesn't, in ns.
        off_ns: Law,
    },
    /// One connection with an answer to each request, and the next request a while after the answer
    /// was received.
    Requests {
        /// From the end of an answer to the next request, in ns.
        think_ns: Law,
        /// Payload of an answer, in bytes.
        size_bytes: Law,
    },
    /// One connection with the chunks that a video player requests.
    Video {
        /// Bits for a second of the video.
        bitrate_bps: u64,
        /// Length of a chunk, in ns.
        chunk_ns: u64,
        /// How much must be buffered before it plays, at first and after an interruption, in ns.
        start_ns: u64,
        /// How much the player buffers at most, in ns.
        buffer_ns: u64,
    },
    /// One connection with the chunks of a video whose bitrate the player chooses by the level of
    /// its buffer.
    AdaptiveVideo {
        /// Bits for a second of the video, to choose from.
        bitrates_bps: Vec<u64>,
        /// Length of a chunk, in ns.
        chunk_ns: u64,
        /// How much must be buffered before it plays, at first and after an interruption, in ns.
        start_ns: u64,
        /// How much the player buffers at most, in ns.
        buffer_ns: u64,
    },
    /// Web pages one after another: objects that depend on one another.
    Web {
        /// Payload of a page's first object, in bytes.
        html_bytes: Law,
        /// Its further objects.
        objects: u64,
        /// Payload of each of them, in bytes.
        object_bytes: Law,
        /// Levels of these objects; one of a level refers to those of the next.
        levels: u64,
        /// Connections at most; a single one carries all objects at once, in order.
        connections: u64,
        /// From the end of a page to the next, in ns.
        think_ns: Law,
    },
    /// Datagrams at a constant rate.
    Udp {
        /// Bits of payload in a second.
        rate_bps: u64,
        /// Payload of a datagram, in bytes.
        size_bytes: u64,
        /// Datagrams that leave at once.
        burst: u64,
    },
    /// Datagrams that the other end sends back.
    Ping {
        /// From one to the next, in ns.
        interval_ns: u64,
        /// Payload of a datagram, in bytes.
        size_bytes: u64,
    },
    /// Frames of a video call.
    Media(Media),
}

/// A flow of real-time media.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Media {
    /// The control that sets its rate.
    pub control: MediaControl,
    /// Lowest and highest rate of the encoder, in bit/s.
    pub min_bps: u64,
    /// Highest rate of the encoder, in bit/s.
    pub max_bps: u64,
    /// Frames in a second.
    pub fps: u64,
    /// Largest payload of UDP in a packet.
    pub packet_bytes: u64,
    /// How long the encoder keeps a rate before it takes another, in ns.
    pub reaction_ns: u64,
    /// Deviations of the sizes of frames from the mean, to either side, in millionths.
    pub deviation_ppm: Law,
    /// Size of a key frame as a multiple of the mean.
    pub key_frame: u64,
    /// How long after the fastest frame's delay each frame is shown at the earliest, in ns.
    pub jitter_buffer_ns: u64,
    /// From one feedback packet to the next, in ns.
    pub feedback_ns: u64,
}

/// A control of real-time media.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaControl {
    /// NADA (RFC 8698).
    Nada,
    /// `SCReAM` (RFC 8298).
    Scream,
    /// `SCReAM` that subtracts the target from the rate by which it changes it, as its authors' program does.
    ScreamProgram,
    /// A constant rate.
    None,
}

impl Workload {
    /// Returns `true` for a workload of datagrams, without a connection and its control.
    #[must_use]
    pub const fn is_of_datagrams(&self) -> bool {
        matches!(self, Self::Udp { .. } | Self::Ping { .. } | Self::Media(_))
    }

    /// Returns `true` if the application writes to the same connection again after a pause.
    fn pauses(&self) -> bool {
        !self.is_of_datagrams() && !matches!(self, Self::Arrivals { .. })
    }
}

/// The `cca` of a flow without a connection.
pub const NO_CONTROL: &str = "none";

/// Settings of the end hosts' TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The kernel's profile: "linux-6.12" and so on.
    pub profile: String,
    /// True if the sending host's egress queue is `fq`, which paces every control.
    pub fq: bool,
    /// Processing noise: each packet of the sender waits up to this long, in order, in ns.
    pub jitter_ns: u64,
    /// How late the sender's pacing timers fire, in ns.
    pub timer_lateness_ns: u64,
    /// True if a sender's burst passes the path as one packet (GSO through software queues).
    pub gso: bool,
    /// True if a connection starts with the cached metrics of earlier ones of its flow
    /// (`tcp_no_metrics_save = 0`).
    pub metrics_save: bool,
    /// How long the receiver's card collects packets for GRO to merge, in ns; 0 for no GRO.
    pub gro_ns: u64,
    /// Socket buffers.
    pub socket_buffers: SocketBuffers,
}

/// Limits of the send buffer and the receive window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SocketBuffers {
    /// The profile's `tcp_rmem` and `tcp_wmem`.
    Stock,
    /// Maxima of 64 MiB, as testbeds set them.
    Raised,
    /// No limit at all.
    Unlimited,
}

/// The duration of a run, and what to keep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The end, in ns; with `stop_when` the latest one.
    pub duration_ns: u64,
    /// Start of the span of summaries, in ns.
    pub warmup_ns: u64,
    /// End early: when the flow of this name is done, or "all" sized flows are.
    pub stop_when: Option<String>,
    /// Distance of the rows in the sample tables, in ns.
    pub sample_interval_ns: u64,
    /// How much to record.
    pub record: Level,
}
