//! Generic receive offload: packets that arrive close together reach TCP as one
//! (net/core/gro.c, net/ipv4/tcp_offload.c).

use narrows_base::{Duration, Time};

use crate::segment::Data;

/// The most packets merged into one: 64 KiB.
const MAX_PACKETS: usize = 45;

/// Holds arrivals for a network card's interrupt moderation, and merges those in order.
#[derive(Debug)]
pub(super) struct Gro {
    window: Duration,
    segments: Vec<Data>,
    /// When held packets are passed on, or [`Time::MAX`].
    deadline: Time,
}

impl Gro {
    /// Packets within `window` of the first are passed on together.
    pub(super) fn new(window: Duration) -> Self {
        Self { window, segments: Vec::new(), deadline: Time::MAX }
    }

    pub(super) fn hold(&mut self, data: Data, now: Time) {
        if self.segments.is_empty() {
            self.deadline = now + self.window;
        }
        self.segments.push(data);
    }

    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Takes all held packets once they are due.
    pub(super) fn take_due(&mut self, now: Time) -> Option<Vec<Data>> {
        if self.deadline > now {
            return None;
        }
        self.deadline = Time::MAX;
        Some(std::mem::take(&mut self.segments))
    }
}

/// Divides arrivals into merged units: consecutive packets with the same timestamp and
/// codepoint, up to one with PSH, which ends a sender's burst (`tcp_gro_receive`).
pub(super) fn units(arrivals: &[Data]) -> impl Iterator<Item = &[Data]> {
    arrivals
        .chunk_by(|a, b| b.seq == a.seq + 1 && a.ts == b.ts && a.ecn == b.ecn && !a.psh)
        .flat_map(|unit| unit.chunks(MAX_PACKETS))
}

#[cfg(test)]
mod tests {
    use narrows_base::Ecn;

    use super::*;
    use crate::accecn::Ace;

    fn data(seq: u32, psh: bool, ts: u32) -> Data {
        let (cwr, ecn) = (false, Ecn::NotEct);
        let (count, len, fin, retransmission, ts_echo) = (1, 1448, false, false, 0);
        Data { seq, count, len, psh, fin, retransmission, ts, ts_echo, cwr, ace: Ace::NONE, ecn }
    }

    #[test]
    fn bursts_merge_and_gaps_part() {
        let arrivals = [
            data(0, false, 1),
            data(1, true, 1),
            data(2, false, 1),
            data(3, false, 2),
            data(5, false, 2),
        ];
        let sizes: Vec<usize> = units(&arrivals).map(<[Data]>::len).collect();
        assert_eq!(sizes, [2, 1, 1, 1]);
    }

    #[test]
    fn a_unit_holds_64_kib_at_most() {
        let arrivals: Vec<Data> = (0..100).map(|seq| data(seq, false, 1)).collect();
        let sizes: Vec<usize> = units(&arrivals).map(<[Data]>::len).collect();
        assert_eq!(sizes, [45, 45, 10]);
    }
}
