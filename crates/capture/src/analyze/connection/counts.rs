//! The counters of a direction of a connection.

/// Monotonic counters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Frames with data.
    pub(crate) frames: u64,
    /// Packets with data: an offloaded frame counts as the packets that the card makes of it.
    pub(crate) packets: u64,
    pub(crate) payload: u64,
    /// Payload of the first frame.
    pub(crate) first: u64,
    /// IP bytes of those packets.
    pub(crate) wire: u64,
    pub(crate) offloaded: u64,
    /// Packets seen more than once.
    pub(crate) again: u64,
    pub(crate) again_bytes: u64,
    /// Packets that fill a hole and were retransmitted, so lost before the capture.
    pub(crate) repaired: u64,
    pub(crate) reordered: u64,
    pub(crate) reordered_bytes: u64,
    pub(crate) reordered_ns: u64,
    /// The very same packet, seen twice at once.
    pub(crate) duplicates: u64,
    /// Packets retransmitted after they were acknowledged.
    pub(crate) needless: u64,
    /// Packets that DSACK says arrived twice.
    pub(crate) spurious: u64,
    pub(crate) timeouts: u64,
    pub(crate) acks: u64,
    pub(crate) duplicate_acks: u64,
    pub(crate) keepalives: u64,
    /// Acknowledged bytes that the capture lacks.
    pub(crate) missing: u64,
    pub(crate) marked: u64,
    pub(crate) echoes: u64,
    pub(crate) stretched: u64,
    pub(crate) fragments: u64,
    pub(crate) limited_ns: u64,
    /// Times at which its sender had nothing to send.
    pub(crate) pauses: u64,
    /// Packets lost, as far as one capture shows.
    pub(crate) lost: u64,
}

/// Bytes acknowledged before the capture saw them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UnseenBytes {
    begin: u64,
    end: u64,
    since: u64,
}

impl UnseenBytes {
    /// At `time` everything up to `ack` is acknowledged; nothing from `high` on was seen.
    pub(super) fn add(&mut self, high: u64, ack: u64, time: u64) {
        if ack > high {
            let begin = if self.end == high { self.begin } else { high };
            *self = Self { begin, end: ack, since: time };
        }
    }

    /// How many of these bytes are in a packet that begins with the first of them, at most `late`
    /// ns after their acknowledgement. Hosts with several processors may capture an acknowledgement
    /// before the data that it acknowledges.
    pub(super) fn take(&mut self, begin: u64, end: u64, time: u64, late: u64) -> u64 {
        if self.begin >= self.end || begin != self.begin || time > self.since.saturating_add(late) {
            return 0;
        }
        self.begin = end.min(self.end);
        self.begin - begin
    }
}
