//! A STARTUP that fills no more than the bottleneck's capacity, estimated from the spacing of
//! ACKs (Hoe, "Improving the Start-up Behavior of a Congestion Control Scheme for TCP", SIGCOMM
//! 1996, after Keshav's packet pairs, SIGCOMM 1991).
//!
//! Packets that leave faster than the bottleneck can forward them arrive at its rate. So where two
//! ACKs are farther apart than the packets that they cover were, the packets between them show a
//! rate that isn't above the capacity, unless the ACKs were held back and then released together.
//! Cross traffic between the packets only lowers that rate, so the highest one counts. Too high an
//! estimate leaves BBR unchanged.

use narrows_base::Time;

use crate::bbr::units;
use crate::events::AckSample;

/// The path spread packets if their ACKs are over 1/8 farther apart than the packets were.
const SPREAD: u64 = 8;

/// An ACK, and when the packet that it covers left.
#[derive(Clone, Copy, Debug)]
struct Pair {
    acked: Time,
    sent: Time,
    delivered: u64,
}

/// The highest rate at which the path spread packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Capacity {
    last: Option<Pair>,
    bw: u32,
}

impl Capacity {
    /// Takes an ACK; one without an RTT sample ends the pair.
    pub(super) fn update(&mut self, sample: &AckSample) {
        let pair = sample.rtt.map(|rtt| Pair {
            acked: sample.now,
            sent: Time::ZERO + sample.now.saturating_since(Time::ZERO + rtt),
            delivered: sample.delivered,
        });
        if let (Some(before), Some(now)) = (self.last, pair) {
            self.bw = self.bw.max(dispersion(before, now).unwrap_or(0));
        }
        self.last = pair;
    }

    /// The estimated capacity, once the path has spread packets.
    pub(super) fn bw(&self) -> Option<u32> {
        (self.bw > 0).then_some(self.bw)
    }
}

/// The rate of the packets between two ACKs if the path spread them.
fn dispersion(before: Pair, now: Pair) -> Option<u32> {
    let apart = now.acked.saturating_since(before.acked).as_micros();
    let sent_apart = now.sent.saturating_since(before.sent).as_micros();
    let packets = now.delivered.saturating_sub(before.delivered);
    let spread = packets > 0 && apart > sent_apart + sent_apart / SPREAD;
    spread.then(|| units::bandwidth(packets, apart))
}

#[cfg(test)]
mod tests {
    use super::*;
    use narrows_base::Duration;

    const RTT_US: u64 = 40_000;

    /// The capacity of packets that left at `sent` and were acknowledged at `acked` (us).
    fn capacity_of(acks: &[(u64, u64)]) -> Option<u32> {
        let mut capacity = Capacity::default();
        for (n, &(sent, acked)) in acks.iter().enumerate() {
            capacity.update(&AckSample {
                now: Time::ZERO + Duration::from_micros(RTT_US + acked),
                rtt: Some(Duration::from_micros(RTT_US + acked - sent)),
                delivered: n as u64 + 1,
                ..AckSample::plain(1, 1448, 10)
            });
        }
        capacity.bw()
    }

    #[test]
    fn packets_sent_together_show_the_bottleneck() {
        let ms = units::bandwidth(1, 1_000);
        assert_eq!(capacity_of(&[(0, 0), (0, 1_000)]), Some(ms));
        assert_eq!(
            capacity_of(&[(0, 0), (0, 1_000), (0, 3_000)]),
            Some(ms),
            "cross traffic in between"
        );
    }

    #[test]
    fn packets_that_stay_as_far_apart_show_nothing() {
        assert_eq!(capacity_of(&[(0, 0), (2_000, 2_000), (4_000, 4_000)]), None);
        assert_eq!(capacity_of(&[(0, 0), (2_000, 2_240)]), None, "less than an eighth");
        assert_eq!(capacity_of(&[(0, 1_000), (2_000, 2_000)]), None, "the queue became shorter");
    }

    #[test]
    fn an_ack_without_a_round_trip_ends_the_pair() {
        let mut capacity = Capacity::default();
        for at_us in [1, 2, 3] {
            let now = Time::ZERO + Duration::from_micros(RTT_US * at_us);
            capacity.update(&AckSample { now, delivered: at_us, ..AckSample::plain(1, 1448, 10) });
        }
        assert_eq!(capacity.bw(), None);
    }
}
