//! The calls of a link to its queue discipline.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

use narrows_base::{Bytes, Ecn, Packet, Rate, Time};
use narrows_net::{Element, Link, Queue, QueueDiscipline, RateProcess, Verdicts};

use crate::contract::{Body, at, packet};

type Log = Arc<Mutex<String>>;

/// First in, first out; marks everything, and writes down what it is asked.
struct Diary {
    log: Log,
    waiting: VecDeque<Packet<Body>>,
    timers: VecDeque<Time>,
    stuck: bool,
}

impl Diary {
    fn note(&self, what: &str, now: Time) {
        write!(self.log.lock().unwrap(), "{what}@{} ", now.as_nanos()).unwrap();
    }
}

impl QueueDiscipline<Body> for Diary {
    fn enqueue(&mut self, mut packet: Packet<Body>, now: Time, verdicts: &mut Verdicts<Body>) {
        self.note("enqueue", now);
        let _ = verdicts.mark(&mut packet);
        self.waiting.push_back(packet);
    }

    fn dequeue(&mut self, now: Time, _: &mut Verdicts<Body>) -> Option<Packet<Body>> {
        self.note("dequeue", now);
        self.waiting.pop_front()
    }

    fn backlog(&self) -> Bytes {
        self.waiting.iter().map(Packet::bytes).sum()
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn next_deadline(&self) -> Option<Time> {
        self.timers.front().copied()
    }

    fn on_deadline(&mut self, due: Time, _: &mut Verdicts<Body>) {
        self.note("timer", due);
        if !self.stuck {
            self.timers.pop_front();
        }
    }
}

/// A link at 12 us a full packet, and its queue's diary.
fn link(timers: &[u64], stuck: bool) -> (Link<Body>, Log) {
    let log = Log::default();
    let timers = timers.iter().copied().map(at).collect();
    let diary = Diary { log: Arc::clone(&log), waiting: VecDeque::new(), timers, stuck };
    let rate = RateProcess::constant(Rate::from_bps(1_000_000_000));
    (Link::new(Queue::Custom(Box::new(diary)), rate), log)
}

#[test]
fn at_one_instant_a_transmission_ends_then_a_timer_runs_then_a_packet_arrives() {
    let (mut link, log) = link(&[12_000], false);
    for (body, now) in [(0, 0), (1, 1), (2, 12_000)] {
        link.receive(packet(body, 1_500), at(now));
    }
    let calls = "enqueue@0 dequeue@0 enqueue@1 dequeue@12000 timer@12000 enqueue@12000 ";
    assert_eq!(*log.lock().unwrap(), calls);
}

#[test]
fn an_idle_link_asks_its_queue_after_a_timer_and_not_without_a_cause() {
    let (mut link, log) = link(&[5, 20_000], false);
    link.receive(packet(0, 1_500), at(10));
    for now in [11, 12_009, 12_010, 12_011, 90_000] {
        let _ = link.poll(at(now));
    }
    let calls = "timer@5 dequeue@5 enqueue@10 dequeue@10 dequeue@12010 timer@20000 dequeue@20000 ";
    assert_eq!(*log.lock().unwrap(), calls);
}

#[test]
fn a_timer_of_an_empty_queue_wakes_nobody() {
    let (mut link, _) = link(&[5_000], false);
    assert_eq!(link.next_deadline(), None);
    link.receive(packet(0, 1_500), at(0));
    assert_eq!(link.next_deadline(), Some(at(12_000)));
}

#[test]
fn marks_are_counted_and_travel_with_the_packet() {
    let (mut link, _) = link(&[], false);
    link.receive(Packet { ecn: Ecn::Ect0, ..packet(0, 1_500) }, at(0));
    link.receive(packet(1, 1_500), at(0));
    let left = std::iter::from_fn(|| link.poll(at(99_000))).map(|d| d.packet.ecn);
    assert_eq!(left.collect::<Vec<_>>(), [Ecn::Ce, Ecn::NotEct]);
    assert_eq!(link.counters().marked_packets, 1);
}

#[test]
#[should_panic(expected = "deadline stays")]
fn a_timer_that_does_not_move_on_panics() {
    let (mut link, _) = link(&[5], true);
    let _ = link.poll(at(10));
}
