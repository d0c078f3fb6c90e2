//! A pipe is the same as the link and the line that it was made of.

use narrows_base::{Stream, Time};
use narrows_net::{CopyLine, Departure, DropTail, Element, Link, Pipe, QueueState, RateProcess};

use crate::contract::elements::{delay, limit, rate};
use crate::contract::traffic::arrivals;
use crate::contract::{Body, Outcome, seeds};

/// A link and a line, as one or apart.
enum Both {
    One(Box<Pipe<Body>>),
    Two(Box<Link<Body>>, CopyLine<Body>),
}

impl Both {
    fn new(seed: u64) -> Self {
        let mut random = Stream::new(seed, "pipe");
        let rate = RateProcess::constant(rate(&mut random));
        let link = Link::new(DropTail::new(limit(&mut random)), rate);
        Self::Two(Box::new(link), CopyLine::new(delay(&mut random)))
    }

    fn join(self) -> Self {
        match self {
            Self::Two(link, line) => {
                Self::One(Box::new(Pipe::of(&link, &line).expect("a plain link")))
            }
            one @ Self::One(_) => one,
        }
    }

    fn split(self) -> Self {
        match self {
            Self::One(pipe) => {
                let (link, line) = pipe.split();
                Self::Two(Box::new(link), line)
            }
            two @ Self::Two(..) => two,
        }
    }

    /// Takes out what is due, and returns the state of the queue then.
    fn settle(&mut self, now: Time, out: &mut Outcome) -> QueueState {
        match self {
            Self::One(pipe) => {
                take(&mut **pipe, now, out);
                pipe.catch_up(now);
                pipe.queue()
            }
            Self::Two(link, line) => {
                for Departure { at, packet } in std::iter::from_fn(|| link.poll(now)) {
                    line.receive(packet, at);
                }
                link.catch_up(now);
                out.dropped.extend(std::iter::from_fn(|| link.take_dropped()));
                take(line, now, out);
                link.queue()
            }
        }
    }

    fn first(&mut self) -> &mut dyn Element<Body> {
        match self {
            Self::One(pipe) => &mut **pipe,
            Self::Two(link, _) => &mut **link,
        }
    }

    fn packet_count(&self) -> usize {
        match self {
            Self::One(pipe) => pipe.packet_count(),
            Self::Two(link, line) => link.packet_count() + line.packet_count(),
        }
    }
}

fn take(element: &mut dyn Element<Body>, now: Time, out: &mut Outcome) {
    out.departures.extend(std::iter::from_fn(|| element.poll(now)));
    out.dropped.extend(std::iter::from_fn(|| element.take_dropped()));
}

/// All that comes out, and the state at each arrival, if the pipe is split at the arrival of this
/// number, before or after it.
fn through(mut both: Both, seed: u64, split: usize) -> (Outcome, Vec<(QueueState, usize)>) {
    let (mut out, mut states) = (Outcome::default(), Vec::new());
    for (number, (now, packet)) in arrivals(seed).into_iter().enumerate() {
        states.push((both.settle(now, &mut out), both.packet_count()));
        if number == split && seed.is_multiple_of(2) {
            both = both.split();
        }
        both.first().receive(packet, now);
        if number == split {
            both = both.split();
        }
        states.push((both.settle(now, &mut out), both.packet_count()));
    }
    states.push((both.settle(Time::from_nanos(u64::MAX / 2), &mut out), both.packet_count()));
    (out, states)
}

#[test]
fn a_pipe_is_the_same_as_its_link_and_its_line() {
    for seed in seeds(1_000) {
        let expected = through(Both::new(seed), seed, usize::MAX);
        assert_eq!(through(Both::new(seed).join(), seed, usize::MAX), expected, "seed {seed}");
    }
}

#[test]
fn a_split_pipe_goes_on_as_if_it_had_never_been_one() {
    for seed in seeds(1_000) {
        let arrivals = u64::try_from(arrivals(seed).len()).unwrap();
        let split = usize::try_from(Stream::new(seed, "split").below(arrivals)).unwrap();
        let expected = through(Both::new(seed), seed, usize::MAX);
        let found = through(Both::new(seed).join(), seed, split);
        assert_eq!(found, expected, "seed {seed}, split at {split}");
    }
}

/// Each packet is noted once, between the link and the end of the line; those lost there never
/// come out.
#[test]
fn packets_are_noted_on_the_line() {
    for seed in seeds(300) {
        let Both::One(mut pipe) = Both::new(seed).join() else { unreachable!() };
        let Both::Two(mut link, line) = Both::new(seed) else { unreachable!() };
        let (mut noted, mut left, mut lost, mut out) = (vec![], vec![], 0, Outcome::default());
        for (now, packet) in arrivals(seed) {
            left.extend(std::iter::from_fn(|| link.poll(now)));
            loop {
                let head_is_noted = pipe.is_head_noted();
                let Some(exit) = pipe.poll(now) else { break };
                if !head_is_noted {
                    noted.push(Departure { at: exit.at - line.delay(), packet: exit.packet });
                }
                out.departures.push(exit);
            }
            if packet.body.is_multiple_of(3) {
                while let Some(departure) = pipe.note_sent(now) {
                    noted.push(departure);
                    if departure.packet.body.is_multiple_of(5) {
                        pipe.lose_noted();
                        lost += 1;
                    }
                }
                assert_eq!(noted, left, "seed {seed}");
            }
            link.receive(packet, now);
            pipe.receive(packet, now);
        }
        take(&mut *pipe, Time::from_nanos(u64::MAX / 2), &mut out);
        assert_eq!(out.departures.len() + lost + out.dropped.len(), arrivals(seed).len());
    }
}
