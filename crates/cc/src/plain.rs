//! Samples for tests.

use narrows_base::Duration;

use crate::events::AckSample;

impl AckSample {
    /// An ACK of `acked` packets with `in_flight` before and after it, without further information.
    pub(crate) fn plain(acked: u32, mss: u32, in_flight: u32) -> Self {
        Self {
            mss,
            acked,
            in_flight,
            prior_in_flight: in_flight,
            delivered: 1_000,
            srtt: Duration::from_millis(40),
            min_rtt: Duration::from_millis(40),
            may_grow: true,
            cwnd_limited: true,
            ..Self::default()
        }
    }
}
