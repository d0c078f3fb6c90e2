//! Gentle recovery: a proportional rate reduction towards one BDP (Cardwell et al.,
//! IETF 98: "PRR-inspired packet scheduling during loss recovery"; RFC 6937).

use crate::events::AckSample;

/// A recovery: its state at the start, and its target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prr {
    /// Packets in flight at which the reduction ends.
    target: u32,
    /// In flight before the losses were known.
    prior: u32,
    /// Packets delivered by the first ACK.
    acked: u64,
    /// The sample's counters after the first ACK.
    in_flight: u64,
    delivered: u64,
    lost: u64,
}

impl Prr {
    /// Begins on the ACK that showed the losses.
    pub(super) fn new(sample: &AckSample, target: u32) -> Self {
        Self {
            target,
            prior: sample.prior_in_flight.max(1),
            acked: u64::from(sample.acked),
            in_flight: u64::from(sample.in_flight),
            delivered: sample.delivered,
            lost: sample.lost_total,
        }
    }

    /// The window after an ACK (RFC 6937 section 3, slow-start reduction bound).
    pub(super) fn cwnd(&self, sample: &AckSample) -> u32 {
        let since = sample.delivered.saturating_sub(self.delivered);
        let lost = sample.lost_total.saturating_sub(self.lost);
        let pipe = u64::from(sample.in_flight);
        // Packets sent: the growth of the flight, plus packets delivered and lost.
        let out = (pipe + since + lost).saturating_sub(self.in_flight);
        let delivered = since + self.acked;
        let target = u64::from(self.target);
        let room = if pipe > target {
            delivered.saturating_mul(target).div_ceil(u64::from(self.prior)).saturating_sub(out)
        } else {
            let owed = delivered.saturating_sub(out).max(u64::from(sample.acked)) + 1;
            owed.min(target - pipe)
        };
        // The first retransmission always leaves.
        let room = room.max(u64::from(out == 0));
        u32::try_from(pipe + room).unwrap_or(u32::MAX)
    }
}
