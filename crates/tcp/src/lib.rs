//! TCP as in Linux: a sender, a receiver, and the segments between them.
//!
//! Nothing here sees a link, a topology or a recorder. Both ends follow the
//! three methods: `receive(segment, now)`, `poll(now)` and `next_deadline()`.
//!
//! Sequence numbers count packets, not bytes, because Linux's congestion windows
//! do; a packet is a full MSS except the last one of a transfer.

mod accecn;
mod ecn;
pub mod ends;
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
mod sysctls;
mod timer;

pub use accecn::{
    AccEcnOption, AccEcnSettings, AccurateEnd, Ace, Checks, OptionOrder, OptionSlot, OptionUse,
    SeenOption,
};
pub use ecn::EcnMode;
pub use metrics::Metrics;
pub use profile::{
    Autotuning, BufferLimits, LossDetection, PROFILES, Pacing, ReceiveWindow, SackCompression,
    TcpProfile, profile,
};
pub use receiver::{
    Receiver, ReceiverConfig, ReceiverStats, Refusals, SocketConfig, Span, ThirdPacket,
};
pub use segment::{
    Ack, Data, Datagram, HEADER, Kind, MSS, Opaque, SackBlocks, Segment, Seq, UDP_HEADER, ack_size,
    data_size,
};
pub use sender::{MakeControl, Sender, SenderConfig, SenderInfo, SenderStats, SenderView};
pub use sysctls::Sysctls;
