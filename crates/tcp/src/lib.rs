//! TCP as Linux runs it: a sender, a receiver, and what passes between them.
//!
//! Nothing here sees a link, a topology or a recorder. Both ends follow the
//! three verbs: `receive(segment, now)`, `poll(now)` and `next_deadline()`.
//!
//! Sequence numbers count packets, not bytes, because Linux's congestion windows
//! do; a packet is a full MSS except the last one of a transfer.

mod ecn;
mod flight_log;
mod metrics;
mod outbox;
mod pacer;
mod profile;
mod rate;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
mod timer;

pub use ecn::EcnMode;
pub use metrics::Metrics;
pub use profile::{
    BufferLimits, LossDetection, PROFILES, Pacing, ReceiveWindow, TcpProfile, profile,
};
pub use receiver::{Receiver, ReceiverConfig, ReceiverStats};
pub use segment::{Ack, Data, Kind, SackBlocks, Segment, Seq, ack_size, data_size};
pub use sender::{MakeControl, Sender, SenderConfig, SenderStats, SenderView};

/// Payload bytes of a full packet: MTU 1500 less IP, TCP and timestamps.
pub const MSS: u32 = 1448;
/// Bytes of IP and TCP header with timestamps.
pub const HEADER: u32 = 52;
