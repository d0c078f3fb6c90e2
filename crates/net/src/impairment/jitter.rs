//! Noise in the delay.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role};
use narrows_base::{Duration, Packet, Stream, Time};

use crate::departures::Departures;
use crate::element::{Departure, Element};

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "jitter",
    title: "Jitter",
    family: "delay",
    summary: "noise in the delay that keeps the order",
    source: "crates/net/src/impairment/jitter.rs",
    role: Role::Impairment,
    parameters: &[Parameter::duration(
        "max",
        ParameterDefault::Required,
        "uniform from zero to this",
    )],
};

/// Noise that keeps the order: each packet waits for a uniform time between zero
/// and a maximum, and for the packet before it.
///
/// This models a busy host: each packet takes its own time, and none overtakes another.
#[derive(Clone, Debug)]
pub struct Jitter<B> {
    max: Duration,
    random: Stream,
    departures: Departures<B>,
}

impl<B> Jitter<B> {
    /// Noise of at most `max` (inclusive, in whole ns). A `max` of zero delays
    /// nothing and draws nothing.
    #[must_use]
    pub const fn new(max: Duration, random: Stream) -> Self {
        Self { max, random, departures: Departures::new() }
    }

    #[inline]
    fn draw(&mut self) -> Duration {
        if self.max.is_zero() {
            return Duration::ZERO;
        }
        Duration::from_nanos(self.random.below(self.max.as_nanos() + 1))
    }
}

impl<B> Element<B> for Jitter<B> {
    #[inline]
    fn receive(&mut self, packet: Packet<B>, now: Time) {
        let due = (now + self.draw()).max(self.departures.last_due());
        self.departures.push(due, packet);
    }

    #[inline]
    fn poll(&mut self, now: Time) -> Option<Departure<B>> {
        self.departures.pop_due(now)
    }

    #[inline]
    fn next_deadline(&self) -> Option<Time> {
        self.departures.next_deadline()
    }

    fn packet_count(&self) -> usize {
        self.departures.len()
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;

    fn delays(max: u64, gap: u64, count: u64) -> Vec<u64> {
        let mut jitter = Jitter::new(Duration::from_nanos(max), Stream::new(1, "jitter"));
        for body in 0..count {
            let packet = Packet { flow: FlowId(0), size: 1500, ecn: Ecn::NotEct, body };
            jitter.receive(packet, Time::from_nanos(body * gap));
        }
        (0..count)
            .map(|n| {
                let departure = jitter.poll(Time::MAX).unwrap();
                assert_eq!(departure.packet.body, n, "the order changed");
                departure.at.as_nanos() - n * gap
            })
            .collect()
    }

    #[test]
    fn distant_packets_wait_uniformly_up_to_the_maximum() {
        let delays = delays(9, 100, 20_000);
        let counts: Vec<_> = (0..=9).map(|d| delays.iter().filter(|&&x| x == d).count()).collect();
        assert!(counts.iter().all(|n| (1_850..2_150).contains(n)), "{counts:?}");
        assert_eq!(counts.iter().sum::<usize>(), delays.len());
    }

    #[test]
    fn close_packets_wait_for_each_other_but_not_beyond_the_maximum() {
        let delays = delays(1_000, 100, 20_000);
        assert!(delays.iter().all(|&d| d <= 1_000));
        // Waiting for the previous packet makes the mean larger than max / 2.
        assert!(delays.iter().sum::<u64>() / 20_000 > 600);
    }

    #[test]
    fn without_noise_nothing_waits() {
        assert!(delays(0, 1, 100).iter().all(|&d| d == 0));
    }
}
