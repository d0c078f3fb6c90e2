//! The states of a connection (RFC 9293 section 3.3.2).

/// A state, with its number in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TcpState {
    Established = 1,
    SynSent = 2,
    SynReceived = 3,
    FinWait1 = 4,
    FinWait2 = 5,
    TimeWait = 6,
    Closed = 7,
    CloseWait = 8,
    LastAck = 9,
    Closing = 11,
}

impl TcpState {
    /// Returns `true` if this end may still send data.
    pub(crate) fn may_send(self) -> bool {
        matches!(self, Self::Established | Self::CloseWait)
    }

    /// Returns `true` between the end of the handshake and the end of the connection.
    pub(crate) fn is_synchronized(self) -> bool {
        !matches!(self, Self::SynSent | Self::SynReceived | Self::Closed)
    }
}
