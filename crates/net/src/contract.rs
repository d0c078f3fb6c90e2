//! Checks the calling contract for a queue discipline described by arbitrary bytes, for fuzzing.

use narrows_base::{Bytes, Duration, Ecn, FlowId, Packet, Rate, Time};

use crate::config::{self, Choice, Info, LimitUnit, LinkChoice, QUEUES, SERVICES};
use crate::element::Element as _;
use crate::link::QueueState;
use crate::path::PathElement;
use crate::queue::Limit;

/// A full packet takes 12 us.
const RATE: Rate = Rate::from_bps(1_000_000_000);
/// How long the link may continue after the last arrival.
const AFTER: Duration = Duration::from_millis(2_000);
/// The services put behind a queue.
const BEHIND: [&str; 3] = ["constant", "cellular", "wifi"];
const MOST_ARRIVALS: usize = 2_000;

/// Puts packets through a registered queue discipline as described by `data`: the discipline, the
/// service, the capacity, the parameters, then three bytes for each arrival. Parameters that the
/// registry refuses end it.
///
/// # Panics
/// If polling late changes a result, or a packet vanishes, leaves twice or at a wrong time.
pub fn hold_queue(data: &[u8]) {
    let mut bytes = data.iter().copied();
    let mut next = move || bytes.next();
    let (Some(kind), Some(service), Some(capacity)) = (next(), next(), next()) else { return };
    let info = QUEUES[usize::from(kind) % QUEUES.len()];
    let Some(service) = config::info(SERVICES, BEHIND[usize::from(service) % BEHIND.len()]) else {
        return;
    };
    let limit = limit(info, capacity);
    let mut choice = Choice::with_defaults(info, RATE);
    for parameter in info.parameters {
        let value = next().and_then(|byte| parameter.draw(byte));
        choice =
            value.into_iter().fold(choice, |choice, value| choice.set(&parameter.key(), value));
    }
    let checked = config::check(QUEUES, &choice);
    if checked.and_then(|info| config::fits(info, &choice, limit)).is_err() {
        return;
    }
    let service = Choice::with_defaults(service, RATE);
    let parts = LinkChoice { rate: RATE, service: &service, queue: &choice, limit };
    let arrivals = arrivals(&mut next);
    let (punctual, late) = (run(parts, &arrivals, true), run(parts, &arrivals, false));
    assert_eq!(punctual, late, "polling late changes what {choice:?} does");
    punctual.check(arrivals.len());
}

fn limit(info: &Info, capacity: u8) -> Limit {
    match info.limit_unit() {
        Some(LimitUnit::Bytes(_)) => Limit::Bytes(Bytes::new(u64::from(capacity) * 4_000)),
        _ => Limit::Packets(u64::from(capacity)),
    }
}

/// Instants and packets, numbered: gaps up to 4 ms, five flows, all kinds of ECN.
fn arrivals(next: &mut impl FnMut() -> Option<u8>) -> Vec<(Time, Packet<usize>)> {
    let mut now = Time::ZERO;
    let mut arrivals = Vec::new();
    while let (Some(gap), Some(size), Some(kind)) = (next(), next(), next()) {
        now += Duration::from_nanos(u64::from(gap).pow(2) * 60);
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][usize::from(kind % 4)];
        let flow = FlowId(u32::from(kind / 4 % 5));
        let size = 40 + u32::from(size) * 1_460 / 255;
        arrivals.push((now, Packet { flow, size, ecn, body: arrivals.len() }));
        if arrivals.len() == MOST_ARRIVALS {
            break;
        }
    }
    arrivals
}

/// The output: instants, numbers and ECN.
#[derive(Debug, PartialEq)]
struct Outcome {
    departed: Vec<(Time, usize, Ecn)>,
    /// Sorted by time, since a late caller finds out late.
    dropped: Vec<(Time, usize)>,
    queue: Option<QueueState>,
    in_flight: usize,
}

impl Outcome {
    fn check(&self, arrived: usize) {
        let all = self.departed.len() + self.dropped.len() + self.in_flight;
        assert_eq!(
            all,
            arrived,
            "{} departed, {} dropped",
            self.departed.len(),
            self.dropped.len()
        );
        assert!(self.departed.windows(2).all(|pair| pair[0].0 <= pair[1].0), "out of order");
        let departed = self.departed.iter().map(|d| d.1);
        let mut numbers: Vec<_> = departed.chain(self.dropped.iter().map(|d| d.1)).collect();
        numbers.sort_unstable();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "a packet left twice");
    }
}

fn run(parts: LinkChoice<'_>, arrivals: &[(Time, Packet<usize>)], punctual: bool) -> Outcome {
    let mut link = PathElement::from(config::link(parts, 1, "path"));
    let mut departed = Vec::new();
    let mut poll = |link: &mut PathElement<usize>, now| {
        while let Some(left) = link.poll(now) {
            assert!(left.at <= now, "it left too early");
            departed.push((left.at, left.packet.body, left.packet.ecn));
        }
    };
    let end = arrivals.last().map_or(Time::ZERO, |last| last.0) + AFTER;
    for (now, packet) in
        arrivals.iter().copied().map(|(at, packet)| (at, Some(packet))).chain([(end, None)])
    {
        while let Some(due) = link.next_deadline().filter(|&due| punctual && due <= now) {
            poll(&mut link, due);
            assert!(link.next_deadline().is_none_or(|next| next > due), "the deadline stays");
        }
        if let Some(packet) = packet {
            link.receive(packet, now);
        }
    }
    poll(&mut link, end);
    let mut dropped: Vec<_> =
        std::iter::from_fn(|| link.take_dropped()).map(|d| (d.at, d.packet.body)).collect();
    dropped.sort_unstable();
    Outcome { departed, dropped, queue: link.queue(), in_flight: link.packet_count() }
}

#[cfg(test)]
mod tests {
    use narrows_base::Stream;

    use super::*;

    /// Arbitrary bytes, many arrivals for each discipline and service.
    #[test]
    fn queues_hold_the_contract_whatever_is_set() {
        for seed in 0..3_000_u64 {
            let mut random = Stream::new(seed, "contract");
            let length = 3 + random.below(900);
            let byte = |_| u8::try_from(random.below(256)).expect("a byte");
            let mut data: Vec<u8> = (0..length).map(byte).collect();
            data[0] = u8::try_from(seed % 251).expect("a byte");
            hold_queue(&data);
        }
    }

    /// On a link that takes seconds for its first packet.
    #[test]
    fn every_queue_knows_how_much_waits() {
        let rate = Rate::from_bps(1_000);
        let service = config::info(SERVICES, "constant").expect("a service");
        for info in QUEUES {
            let choices = [service, info].map(|info| Choice::with_defaults(info, rate));
            let limit = limit(info, 255);
            let parts = LinkChoice { rate, service: &choices[0], queue: &choices[1], limit };
            let mut link = PathElement::from(config::link(parts, 1, "path"));
            for n in 0..20 {
                let packet =
                    Packet { flow: FlowId(n % 3), size: 1_000 + n, ecn: Ecn::Ect1, body: n };
                link.receive(packet, Time::ZERO);
            }
            let dropped: Vec<_> =
                std::iter::from_fn(|| link.take_dropped()).map(|drop| drop.packet.body).collect();
            let waiting: Vec<_> = (1..20).filter(|n| !dropped.contains(n)).collect();
            let bytes = waiting.iter().map(|n| u64::from(1_000 + n)).sum();
            let state = link.queue().expect("a link has a queue");
            let found = (state.packets, state.backlog);
            assert_eq!(found, (waiting.len(), Bytes::new(bytes)), "{}", info.name);
            assert!(waiting.len() > 10, "{} dropped {dropped:?}", info.name);
        }
    }

    #[test]
    #[should_panic(expected = "a packet left twice")]
    fn a_packet_that_leaves_twice_is_found() {
        let twice = (Time::ZERO, 0, Ecn::NotEct);
        let outcome =
            Outcome { departed: vec![twice; 2], dropped: vec![], queue: None, in_flight: 0 };
        outcome.check(2);
    }
}
