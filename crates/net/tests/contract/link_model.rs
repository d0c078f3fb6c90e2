//! A link with a drop-tail queue against its definition, worked out packet by
//! packet with exact fractions.

use std::collections::VecDeque;

use narrows_base::{Bytes, Duration, Rate, Stream};
use narrows_net::{Counters, DropTail, Element, Limit, Link, RateProcess};

use crate::contract::drive::{Polling, run};
use crate::contract::elements::{limit, rate};
use crate::contract::traffic::{Arrival, arrivals};
use crate::contract::{at, packet, seeds};

/// The definition: each packet's start is the arrival or the end of the one
/// before; a packet that starts at an instant no longer waits at that instant.
struct Model {
    rate: u128,
    limit: Limit,
    /// Start and size of the packets that haven't started.
    waiting: VecDeque<(u64, u64)>,
    busy_since: u64,
    busy_bytes: u64,
    end: u64,
}

impl Model {
    const fn new(rate: Rate, limit: Limit) -> Self {
        let rate = rate.as_bps() as u128;
        Self { rate, limit, waiting: VecDeque::new(), busy_since: 0, busy_bytes: 0, end: 0 }
    }

    fn backlog(&mut self, now: u64) -> (u64, u64) {
        self.waiting.retain(|&(start, _)| start > now);
        (self.waiting.iter().map(|w| w.1).sum(), self.waiting.len() as u64)
    }

    /// When the transmission of an arrival ends, or `None` if it is dropped.
    fn arrive(&mut self, now: u64, size: u64) -> Option<u64> {
        let (bytes, packets) = self.backlog(now);
        if now < self.end {
            let fits = match self.limit {
                Limit::Bytes(most) => bytes + size <= most.get(),
                Limit::Packets(most) => packets < most,
            };
            if !fits {
                return None;
            }
            self.waiting.push_back((self.end, size));
        } else if now > self.end {
            (self.busy_since, self.busy_bytes) = (now, 0);
        }
        self.busy_bytes += size;
        let took = u128::from(self.busy_bytes) * 8_000_000_000 / self.rate;
        self.end = self.busy_since + u64::try_from(took).unwrap();
        Some(self.end)
    }
}

/// Packets, and their times, that left and that were dropped.
type Fates = (Vec<(u64, u64)>, Vec<(u64, u64)>);

fn expected_fates(model: &mut Model, arrivals: &[Arrival]) -> Fates {
    let (mut left, mut dropped) = (Vec::new(), Vec::new());
    for (now, packet) in arrivals {
        match model.arrive(now.as_nanos(), u64::from(packet.size)) {
            Some(end) => left.push((packet.body, end)),
            None => dropped.push((packet.body, now.as_nanos())),
        }
    }
    (left, dropped)
}

#[test]
fn a_drop_tail_link_is_what_its_definition_says() {
    for seed in seeds(1_000) {
        let mut random = Stream::new(seed, "link model");
        let (rate, limit) = (rate(&mut random), limit(&mut random));
        let arrivals = arrivals(seed);
        let mut link = Link::new(DropTail::new(limit), RateProcess::constant(rate));
        let out = run(&mut link, &arrivals, Polling::Late(20_000), seed).unwrap();
        let left: Vec<_> =
            out.departures.iter().map(|d| (d.packet.body, d.at.as_nanos())).collect();
        let dropped: Vec<_> =
            out.dropped.iter().map(|d| (d.packet.body, d.at.as_nanos())).collect();
        let expected = expected_fates(&mut Model::new(rate, limit), &arrivals);
        assert_eq!((left, dropped), expected, "seed {seed}: {rate:?} {limit:?}");
    }
}

#[test]
fn backlog_and_counters_are_those_of_the_instant() {
    for seed in seeds(200) {
        let mut random = Stream::new(seed, "link model");
        let (rate, limit) = (rate(&mut random), limit(&mut random));
        let mut link = Link::new(DropTail::new(limit), RateProcess::constant(rate));
        let mut model = Model::new(rate, limit);
        let (mut ends, mut arrived, mut dropped) = (Vec::new(), 0, 0);
        for (now, packet) in arrivals(seed) {
            link.catch_up(now);
            let (bytes, packets) = model.backlog(now.as_nanos());
            assert_eq!(link.backlog(), Bytes::new(bytes), "seed {seed} at {now:?}");
            assert_eq!(link.backlog_packets() as u64, packets, "seed {seed} at {now:?}");
            let forwarded = || ends.iter().filter(|e: &&(u64, Bytes)| e.0 <= now.as_nanos());
            let expected = Counters {
                arrived_packets: arrived,
                dropped_packets: dropped,
                marked_packets: 0,
                forwarded_packets: forwarded().count() as u64,
                forwarded_bytes: forwarded().map(|e| e.1).sum(),
            };
            assert_eq!(link.counters(), expected, "seed {seed} at {now:?}");
            link.receive(packet, now);
            arrived += 1;
            match model.arrive(now.as_nanos(), u64::from(packet.size)) {
                Some(end) => ends.push((end, packet.bytes())),
                None => dropped += 1,
            }
        }
    }
}

#[test]
fn a_million_packets_back_to_back_take_their_exact_time() {
    let rate = 79_999_987;
    let queue = DropTail::new(Limit::Packets(100));
    let mut link = Link::new(queue, RateProcess::constant(Rate::from_bps(rate)));
    let (mut sent, mut last) = (0, at(0));
    while sent < 1_000_000 {
        while sent < 1_000_000 && link.backlog_packets() < 100 {
            link.receive(packet(sent, 1_500), last);
            sent += 1;
        }
        // Late, but before the queue runs empty: 7 ms are 47 packets.
        last += Duration::from_millis(7);
        while let Some(departure) = link.poll(last) {
            assert!(departure.at <= last);
        }
    }
    let mut end = at(0);
    while let Some(due) = link.next_deadline() {
        end = link.poll(due).unwrap().at;
    }
    let exact = 1_000_000 * 1_500 * 8_000_000_000 / u128::from(rate);
    assert_eq!(u128::from((end - at(0)).as_nanos()), exact);
    assert_eq!(link.counters().dropped_packets, 0);
}

/// The smallest case by hand: 1 Gbit/s, room for one, a tie.
#[test]
fn a_packet_that_arrives_as_another_ends_finds_its_room() {
    let rate = RateProcess::constant(Rate::from_bps(1_000_000_000));
    let mut link = Link::new(DropTail::new(Limit::Packets(1)), rate);
    link.receive(packet(0, 1_500), at(0));
    link.receive(packet(1, 1_500), at(5));
    link.receive(packet(2, 1_500), at(11_999));
    link.receive(packet(3, 1_500), at(12_000));
    let left: Vec<_> = std::iter::from_fn(|| link.poll(at(99_000)))
        .map(|d| (d.packet.body, d.at.as_nanos()))
        .collect();
    assert_eq!(left, [(0, 12_000), (1, 24_000), (3, 36_000)]);
    let dropped = link.take_dropped().unwrap();
    assert_eq!((dropped.packet.body, dropped.at), (2, at(11_999)));
}

#[test]
#[should_panic(expected = "out of order")]
fn an_arrival_before_a_poll_panics() {
    let rate = RateProcess::constant(Rate::from_bps(1_000_000_000));
    let mut link = Link::new(DropTail::new(Limit::Packets(1)), rate);
    let _ = link.poll(at(10));
    link.receive(packet(0, 1_500), at(9));
}
