//! The configuration of a control, and its entry in the registry.

use narrows_base::registry::{Info, Values};
use narrows_base::{Duration, Stream};

use crate::control::CongestionControl;
use crate::profile::CcProfile;

/// The initial configuration of a control.
#[derive(Clone, Debug)]
pub struct CcConfig<'a> {
    /// Payload bytes of a full packet.
    pub mss: u32,
    /// Initial window in packets.
    pub initial_cwnd: u32,
    /// The handshake's RTT, if there was a handshake.
    pub initial_rtt: Option<Duration>,
    /// The kernel's profile.
    pub profile: &'a CcProfile,
    /// The control's random stream.
    pub random: Stream,
    /// Options by their keys; [`build`](crate::build) adds the defaults of those left out.
    pub options: &'a Values,
}

/// A control that can be built.
#[derive(Debug)]
pub struct Entry {
    /// Its description.
    pub info: Info,
    /// Builds it from a configuration with all options, each of which was checked.
    pub(crate) build: fn(CcConfig) -> Box<dyn CongestionControl>,
}
