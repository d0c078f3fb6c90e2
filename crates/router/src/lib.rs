//! Carries real packets between pairs of network namespaces through a
//! [`narrows_net::Link`], in real time (Linux only).
//!
//! ```text
//! sender - TUN - Link - RandomLoss - Line - TUN - receiver
//!             \________ Line ________________/
//! ```
//!
//! The queue, the rate and the delays are those of `narrows_net`; none of them is implemented again
//! here. The link runs in virtual time, so that a late router delays packets but never changes the
//! rate. How late each packet was released is recorded.
//!
//! For guests in virtual time [`couple`] does the same with the packets that a gate in each guest
//! hands over.

#[expect(unsafe_code, reason = "recvmmsg(2), which the standard library doesn't have")]
mod batch;
mod captures;
mod config;
mod couple;
mod device;
mod frame;
mod frames;
mod gate;
mod handoff;
mod host;
mod lateness;
mod link_message;
mod path;
mod ports;
mod record;
mod router;
mod spin;
mod super_packet;
#[expect(unsafe_code, reason = "system calls that the standard library doesn't have")]
mod sys;
mod window;

pub use captures::Captures;
pub use config::{Crossing, HostsConfig, LatenessLimits, RouterConfig};
pub use couple::{CoupleConfig, couple};
pub use frame::Frame;
pub use gate::{pass, read_config};
pub use host::{Host, prepare_process};
pub use lateness::{Lateness, LatenessSummary};
pub use path::{Path, PathEvent, Side};
pub use record::Recorder;
pub use router::{Clock, Pair, Progress, Report, Router};
pub use sys::{die_with_parent, dies_with_us, normal_scheduling, real_time_scheduling};
