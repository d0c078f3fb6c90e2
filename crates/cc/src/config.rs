//! What a control is built from, and what the registry holds of it.

use narrows_base::registry::{Info, Values};
use narrows_base::{Duration, Stream};

use crate::control::CongestionControl;
use crate::profile::CcProfile;

/// What a control starts with.
#[derive(Clone, Debug)]
pub struct CcConfig<'a> {
    /// Payload bytes of a full packet.
    pub mss: u32,
    /// Initial window in packets.
    pub initial_cwnd: u32,
    /// The handshake's RTT, where there was a handshake.
    pub initial_rtt: Option<Duration>,
    /// Which kernel's behaviour.
    pub profile: &'a CcProfile,
    /// The control's own chance.
    pub random: Stream,
    /// Options by their keys; [`build`](crate::build) adds the defaults of those left out.
    pub options: Values,
}

/// A control that can be built.
#[derive(Debug)]
pub struct Entry {
    /// What can be said of it.
    pub info: Info,
    /// Builds it from a configuration with all options, each of which was checked.
    pub(crate) build: fn(CcConfig) -> Box<dyn CongestionControl>,
}
