//! What the flow had in flight and had lost when a packet was sent.
//!
//! The specification keeps both with each packet. A packet that knows how much was
//! delivered before it was sent left between two ACKs; these tell the same.

use std::collections::VecDeque;

use crate::AckSample;

/// The flow between an ACK and the next.
#[derive(Clone, Copy, Debug)]
struct Interval {
    delivered: u64,
    lost: u64,
    /// Most packets in flight before the next ACK.
    in_flight: u32,
}

/// A window's worth of ACKs.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    intervals: VecDeque<Interval>,
}

impl History {
    /// An ACK comes in: what was sent since the last one is in flight now.
    pub(super) fn begin_ack(&mut self, sample: &AckSample) {
        if let Some(latest) = self.intervals.back_mut() {
            latest.in_flight = latest.in_flight.max(sample.prior_in_flight);
        }
    }

    /// Packets in flight when the sampled packet was sent (`tx_in_flight`) and packets
    /// lost since (`rs.lost`).
    pub(super) fn at_send(&mut self, prior_delivered: u64, sample: &AckSample) -> (u32, u64) {
        while self.intervals.get(1).is_some_and(|next| next.delivered <= prior_delivered) {
            self.intervals.pop_front();
        }
        match self.intervals.front() {
            Some(then) => (then.in_flight, sample.lost_total.saturating_sub(then.lost)),
            None => (sample.prior_in_flight, sample.lost_total),
        }
    }

    /// The ACK was taken in.
    pub(super) fn end_ack(&mut self, sample: &AckSample) {
        let interval = Interval {
            delivered: sample.delivered,
            lost: sample.lost_total,
            in_flight: sample.in_flight,
        };
        match self.intervals.back_mut() {
            Some(latest) if latest.delivered == sample.delivered => {
                // Nothing was delivered: later packets carry the same mark.
                latest.lost = sample.lost_total;
                latest.in_flight = latest.in_flight.max(sample.in_flight);
            }
            _ => self.intervals.push_back(interval),
        }
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Duration, Time};

    use super::*;
    use crate::RecoveryState;

    fn ack(delivered: u64, in_flight: u32, prior_in_flight: u32, lost_total: u64) -> AckSample {
        AckSample {
            now: Time::ZERO,
            mss: 1448,
            acked: 1,
            lost: 0,
            in_flight,
            prior_in_flight,
            delivered,
            delivered_at: Time::ZERO,
            lost_total,
            rate: None,
            rtt: None,
            srtt: Duration::ZERO,
            min_rtt: Duration::MAX,
            ack_delayed: false,
            state: RecoveryState::Open,
            may_grow: true,
            cwnd_limited: true,
            departure: Time::ZERO,
        }
    }

    #[test]
    fn a_packet_was_sent_between_two_acks() {
        let mut history = History::default();
        for sample in [ack(1, 9, 10, 0), ack(2, 10, 11, 0), ack(3, 11, 12, 4)] {
            history.begin_ack(&sample);
            history.end_ack(&sample);
        }
        let now = ack(9, 5, 12, 7);
        assert_eq!(history.at_send(1, &now), (11, 7), "between the first and the second");
        assert_eq!(history.at_send(2, &now), (12, 7));
        assert_eq!(history.at_send(3, &now), (11, 3), "four losses were known by then");
        assert_eq!(History::default().at_send(0, &now), (12, 7));
    }
}
