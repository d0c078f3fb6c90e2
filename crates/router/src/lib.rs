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

mod captures;
mod config;
mod couple;
mod device;
mod forward;
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
mod sys;
mod window;

pub use captures::RouterCaptures;
pub use config::{Crossing, ForwardConfig, HostsConfig, LatenessLimits, RouterConfig};
pub use couple::{CoupleConfig, couple};
pub use forward::forward;
pub use frame::ForwardedPacket;
pub use gate::{pass, read_config};
pub use host::{HostNamespace, prepare_process};
pub use lateness::{Lateness, LatenessSummary};
pub use path::{PathEvent, RouterPath, Side};
pub use record::PathRecorder;
pub use router::{Clock, HostPair, Report, Router, RouterProgress};
