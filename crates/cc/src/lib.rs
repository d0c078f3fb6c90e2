//! Congestion controls: samples in, a window and a pacing rate out.
//!
//! The sender owns everything that Linux's TCP core owns: what is in flight, the
//! RTT, delivery-rate samples, loss detection, recovery episodes, PRR and
//! pacing. A control owns its model of the path and nothing else; it sees no
//! queue, no link and no sequence number.
//!
//! For each ACK the sender calls, in the order of Linux's `tcp_ack`:
//!
//! 1. [`CongestionControl::on_delivered`] for the RTT sample (`pkts_acked`),
//!    before the state machine and also while recovering;
//! 2. [`CongestionControl::on_congestion`], if the ACK starts an episode, or
//!    [`CongestionControl::on_undo`], if it shows that one was spurious;
//! 3. [`CongestionControl::on_ack`] (`cong_avoid` or `cong_control`);
//! 4. [`CongestionControl::control`], to learn the new window and rate.
//!
//! Windows and volumes are in packets, as in Linux.

mod bbr;
mod classic;
mod config;
pub mod contract;
mod control;
mod copa;
mod cubic;
mod dctcp;
mod delays;
mod events;
mod extreme;
mod filter;
mod fixed;
mod ledbat;
mod ledbat_pp;
mod own_control;
mod pcc;
#[cfg(test)]
mod plain;
mod prague;
mod profile;
mod progress;
mod registry;
mod reno;
mod samples;
mod slow_start;
mod vegas;
mod westwood;
mod window;

pub use bbr::transitions as bbr_transitions;
pub use config::{CcConfig, Entry};
pub use control::{CongestionControl, Control, INFINITE_SSTHRESH, Needs};
pub use events::{AckSample, CongestionEvent, DeliveredSample, LostPacket, StartEvent, UndoEvent};
pub use filter::WindowedMax;
pub use fixed::{Setting, set_fixed};
pub use own_control::{OWN_RATES, OWN_WINDOWS, RoundTrips, drop_placeholder};
pub use pcc::exponential;
pub use profile::{
    BbrProfile, CcProfile, CubicProfile, HystartClock, LINUX_4_9, LINUX_4_11, LINUX_4_17,
    LINUX_5_15, LINUX_6_1_0, LINUX_6_12, PROFILES, PacingUnits, ProbeBudget, RoundReset,
};
pub use progress::{Mark, Progress};
pub use registry::{CONTROLS, CcError, build, complete, info, validate};
pub use samples::{AtSend, Congestion, RateSample, RecoveryState, Unused};
