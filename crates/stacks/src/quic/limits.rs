//! Limits of buffers and windows, as for TCP.

use narrows_sim::stacks::Connecting;
use narrows_spec::scenario::SocketBuffers;
use narrows_spec::stacks::option;

/// Limits with raised buffers, as for TCP.
const RAISED: u64 = 64 << 20;
/// Limits with unlimited ones: more than any path of a specification holds.
const UNLIMITED: u64 = 1 << 32;

/// The limits that a flow sets; `None` leaves the stack's own value.
pub(crate) struct Limits {
    /// The initial congestion window in packets, for the sending end.
    pub(crate) initial_window: Option<u64>,
    /// Packets after which the other end acknowledges at once (draft-ietf-quic-ack-frequency).
    pub(crate) ack_threshold: Option<u64>,
    /// The send buffer in bytes.
    pub(crate) send_window: Option<u64>,
    /// The receive window of a stream in bytes.
    pub(crate) receive_window: Option<u64>,
}

impl Limits {
    pub(super) fn of(connecting: &Connecting) -> Self {
        let send_window = match connecting.buffers {
            SocketBuffers::Stock => None,
            SocketBuffers::Raised => Some(RAISED),
            SocketBuffers::Unlimited => Some(UNLIMITED),
        };
        let options = &connecting.flow.options;
        Self {
            initial_window: option(options, "initial_window"),
            ack_threshold: option(options, "ack_threshold"),
            send_window,
            receive_window: connecting.flow.receive_window_bytes.or(send_window),
        }
    }
}
