//! Duplication of packets.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role};
use narrows_base::{Packet, Stream, Time};

use crate::departures::Departures;
use crate::element::{Departure, Element};

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "duplicate",
    title: "Duplication",
    family: "copies",
    summary: "sends a copy right behind a packet",
    source: "Linux netem duplicate (net/sched/sch_netem.c)",
    role: Role::Impairment,
    parameters: &[Parameter::share(
        "probability",
        ParameterDefault::Required,
        "probability of a copy",
    )],
};

/// Sends a copy right behind a packet with a probability, as `tc`'s `netem
/// duplicate` does.
#[derive(Clone, Debug)]
pub struct Duplication<B> {
    probability: f64,
    random: Stream,
    departures: Departures<B>,
    copies: u64,
}

impl<B> Duplication<B> {
    /// Copies packets with `probability`. With zero, nothing is drawn.
    ///
    /// # Panics
    /// If `probability` isn't in 0 to 1.
    #[must_use]
    pub fn new(probability: f64, random: Stream) -> Self {
        assert!((0.0..=1.0).contains(&probability), "a probability of {probability}");
        Self { probability, random, departures: Departures::new(), copies: 0 }
    }
}

impl<B: Clone> Element<B> for Duplication<B> {
    fn receive(&mut self, packet: Packet<B>, now: Time) {
        if self.random.chance(self.probability) {
            self.copies += 1;
            self.departures.push(now, packet.clone());
        }
        self.departures.push(now, packet);
    }

    fn poll(&mut self, now: Time) -> Option<Departure<B>> {
        self.departures.pop_due(now)
    }

    fn next_deadline(&self) -> Option<Time> {
        self.departures.next_deadline()
    }

    fn packet_count(&self) -> usize {
        self.departures.len()
    }

    fn copies(&self) -> u64 {
        self.copies
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;

    #[test]
    fn a_tenth_arrives_twice_in_a_row() {
        let mut duplication = Duplication::new(0.1, Stream::new(1, "duplication"));
        for body in 0..10_000 {
            let packet = Packet { flow: FlowId(0), size: 1_500, ecn: Ecn::NotEct, body };
            duplication.receive(packet, Time::from_nanos(body));
        }
        let left: Vec<_> = std::iter::from_fn(|| duplication.poll(Time::MAX)).collect();
        let twice = left.windows(2).filter(|w| w[0] == w[1]).count();
        assert!((900..1_100).contains(&twice), "{twice}");
        assert_eq!((left.len(), duplication.copies()), (10_000 + twice, twice as u64));
    }
}
