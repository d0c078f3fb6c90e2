//! Numbers of transmissions for qlog.
//!
//! QUIC numbers every transmission anew, TCP doesn't: here the n-th data packet that a
//! connection sends has number n, and an acknowledgement names the latest transmission
//! of each packet that it covers.

use std::collections::VecDeque;

use narrows_tcp::{Ack, Seq};

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    number: u64,
    acked: bool,
}

/// The transmissions of a connection that aren't acknowledged cumulatively.
#[derive(Debug, Default)]
pub(super) struct Transmissions {
    base: Seq,
    outstanding: VecDeque<Outstanding>,
    next: u64,
}

impl Transmissions {
    /// Notes a transmission of packet `seq` and returns its number.
    pub(super) fn number(&mut self, seq: Seq) -> u64 {
        let number = self.next;
        self.next += 1;
        let at = seq.wrapping_sub(self.base) as usize;
        match self.outstanding.get_mut(at) {
            Some(packet) => packet.number = number,
            // There can be no packet below the base and no gap, since the sender sends in order.
            None => self.outstanding.push_back(Outstanding { number, acked: false }),
        }
        number
    }

    /// Number of the latest transmission of packet `seq`.
    pub(super) fn latest(&self, seq: Seq) -> Option<u64> {
        let at = seq.checked_sub(self.base)? as usize;
        self.outstanding.get(at).map(|packet| packet.number)
    }

    /// The packets newly covered by an acknowledgement, as inclusive ranges in ascending order.
    pub(super) fn take_acked(&mut self, ack: &Ack) -> Vec<(u64, u64)> {
        let mut numbers = Vec::new();
        while self.base < ack.ack {
            let Some(packet) = self.outstanding.pop_front() else { break };
            self.base += 1;
            if !packet.acked {
                numbers.push(packet.number);
            }
        }
        for &(start, end) in ack.sack.as_slice() {
            for seq in start.max(self.base)..end {
                let packet = self.outstanding.get_mut((seq - self.base) as usize);
                if let Some(packet) = packet.filter(|packet| !packet.acked) {
                    packet.acked = true;
                    numbers.push(packet.number);
                }
            }
        }
        ranges(numbers)
    }
}

fn ranges(mut numbers: Vec<u64>) -> Vec<(u64, u64)> {
    numbers.sort_unstable();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == number => *end = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(ack: Seq, blocks: &[(Seq, Seq)]) -> Ack {
        Ack { ack, sack: blocks.iter().copied().collect(), ..Ack::default() }
    }

    #[test]
    fn every_transmission_is_acknowledged_once() {
        let mut sent = Transmissions::default();
        (0..6).for_each(|seq| assert_eq!(sent.number(seq), u64::from(seq)));
        assert_eq!(sent.take_acked(&ack(1, &[])), [(0, 0)]);
        assert_eq!(sent.take_acked(&ack(1, &[(2, 3), (4, 6)])), [(2, 2), (4, 5)]);
        assert_eq!(sent.number(1), 6, "a retransmission has its own number");
        assert_eq!(sent.latest(1), Some(6));
        assert_eq!(sent.number(6), 7);
        assert_eq!(sent.take_acked(&ack(3, &[(0, 1), (4, 7)])), [(6, 7)]);
        assert_eq!(sent.take_acked(&ack(7, &[])), [(3, 3)]);
        assert_eq!(sent.latest(6), None);
    }
}
