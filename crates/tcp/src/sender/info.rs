//! The state of a sender in the words of `struct tcp_info`.

use super::connection::Connection;

/// Counts of packets and timers, as `struct tcp_info` has them beside a [`SenderView`](super::SenderView).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderInfo {
    /// Packets sent and not acknowledged.
    pub unacked: u32,
    /// The number of them that were SACKed.
    pub sacked: u32,
    /// The number that is marked lost.
    pub lost: u32,
    /// The number whose retransmission is in flight.
    pub retrans: u32,
    /// Largest reordering seen, in packets.
    pub reordering: u32,
    /// How often packets were reordered (`reord_seen`).
    pub reorderings: u32,
    /// Timeouts since something new was acknowledged (`icsk_retransmits`).
    pub retransmits: u32,
    /// How often the timeout was doubled (`icsk_backoff`).
    pub backoff: u32,
    /// Probes of a closed receive window without an answer (`icsk_probes_out`).
    pub probes: u32,
    /// The timeout, in us.
    pub rto_us: u64,
    /// The receive window as last advertised, in bytes.
    pub snd_wnd: u32,
    /// Payload written and not sent, in bytes.
    pub notsent_bytes: u64,
    /// True if the application waits for room in the send buffer (`SOCK_NOSPACE`).
    pub waits_for_room: bool,
    /// Payload that the application waits to write, in bytes; none if it has no end.
    pub unwritten_bytes: Option<u64>,
}

impl Connection {
    pub(super) fn info(&self) -> SenderInfo {
        SenderInfo {
            unacked: self.board.packets_out(),
            sacked: self.board.sacked_out(),
            lost: self.board.lost_out(),
            retrans: self.board.retrans_out(),
            reordering: self.rack.reordering(),
            reorderings: self.rack.reorderings(),
            retransmits: self.episode.timeouts(),
            backoff: self.rtt.backoff(),
            probes: self.counters.window_probes,
            rto_us: self.rtt.rto_us(),
            snd_wnd: self.window.advertised_window(),
            notsent_bytes: self.unsent.queued_bytes(),
            waits_for_room: self.send_buffer.waits(),
            unwritten_bytes: self.unsent.unwritten_bytes(),
        }
    }
}
