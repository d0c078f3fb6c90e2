//! Delay as in netem: jitter that reorders, and packets sent ahead.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role, Unit};
use narrows_base::{Duration, Packet, Stream, Time};

use crate::element::{Departure, DropReason, DroppedPacket, Element};
use crate::schedule::Schedule;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "netem",
    title: "netem delay",
    family: "delay",
    summary: "a delay with noise that reorders, and packets sent ahead",
    source: "Linux netem delay, reorder and limit (net/sched/sch_netem.c)",
    role: Role::Impairment,
    parameters: &[
        Parameter::duration("delay", ParameterDefault::Whole(0), "one way, besides the path's"),
        Parameter::duration(
            "jitter",
            ParameterDefault::Whole(0),
            "delays are uniform within plus or minus this",
        ),
        Parameter::share(
            "reorder",
            ParameterDefault::Number(0.0),
            "probability that a packet is sent at once, ahead of delayed ones",
        ),
        Parameter::new(
            "gap",
            Unit::Whole,
            ParameterDefault::Whole(0),
            "reorder only every gap-th packet; 0: every one",
        )
        .at_most(u32::MAX as u64),
        Parameter::packets(
            "limit",
            ParameterDefault::Off,
            "the most packets held at a time; others are dropped; tc's default is 1000",
        )
        .positive(),
    ],
};

/// The parameters of `tc`'s netem for delay; with Linux's defaults nothing happens. Its
/// correlations and its tables of distributions aren't modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NetemParams {
    /// The delay.
    pub delay: Duration,
    /// Delays are uniform from `delay` minus this to `delay` plus this, but not below zero.
    pub jitter: Duration,
    /// The probability that a packet is sent at once, ahead of delayed ones, when its turn comes by
    /// `gap`.
    pub reorder: f64,
    /// The number of packets from one turn to the next; 0 means 1 if there is a `reorder`, as in
    /// `tc`.
    pub gap: u32,
    /// The most packets that it holds; no limit if `None`, unlike in `tc`, whose default is 1,000.
    pub limit: Option<usize>,
}

/// A delay with noise (Linux `sch_netem.c`, `netem_enqueue`). Packets leave in
/// the order of their times, so that noise reorders close ones.
#[derive(Clone, Debug)]
pub struct Netem<B> {
    params: NetemParams,
    gap: u32,
    /// Delayed packets since the last one sent ahead.
    counter: u32,
    random: Stream,
    schedule: Schedule<B>,
    /// When the packets leave that count towards the limit, if there is one.
    leaving: BinaryHeap<Reverse<Time>>,
    dropped: VecDeque<DroppedPacket<B>>,
}

impl<B> Netem<B> {
    /// A line with this delay and noise. Without jitter and reordering nothing
    /// is drawn from `random`.
    ///
    /// # Panics
    /// If `reorder` isn't in 0 to 1.
    #[must_use]
    pub fn new(params: &NetemParams, random: Stream) -> Self {
        assert!((0.0..=1.0).contains(&params.reorder), "a probability of {}", params.reorder);
        let gap = if params.reorder > 0.0 { params.gap.max(1) } else { 0 };
        Self {
            params: *params,
            gap,
            counter: 0,
            random,
            schedule: Schedule::new(),
            leaving: BinaryHeap::new(),
            dropped: VecDeque::new(),
        }
    }

    /// Returns `true` if it holds as many packets as it may. Packets that are due don't count, even
    /// if nobody has taken them yet.
    fn is_full(&mut self, now: Time) -> bool {
        let Some(limit) = self.params.limit else { return false };
        while self.leaving.peek().is_some_and(|at| at.0 <= now) {
            self.leaving.pop();
        }
        self.leaving.len() >= limit
    }

    fn schedule_exit(&mut self, packet: Packet<B>, now: Time, until: Time) {
        if self.params.limit.is_some() {
            self.leaving.push(Reverse(until));
        }
        self.schedule.push(now, until, packet);
    }

    fn draw(&mut self) -> Duration {
        let NetemParams { delay, jitter, .. } = self.params;
        if jitter.is_zero() {
            return delay;
        }
        let noise = Duration::from_nanos(self.random.below(2 * jitter.as_nanos()));
        (delay + noise).saturating_sub(jitter)
    }

    fn goes_ahead(&mut self) -> bool {
        self.gap > 0 && self.counter >= self.gap - 1 && self.random.chance(self.params.reorder)
    }
}

impl<B> Element<B> for Netem<B> {
    fn receive(&mut self, packet: Packet<B>, now: Time) {
        if self.is_full(now) {
            self.dropped.push_back(DroppedPacket { packet, at: now, reason: DropReason::Overflow });
        } else if self.goes_ahead() {
            self.counter = 0;
            self.schedule_exit(packet, now, now);
        } else {
            self.counter = self.counter.saturating_add(1);
            let until = now + self.draw();
            self.schedule_exit(packet, now, until);
        }
    }

    fn poll(&mut self, now: Time) -> Option<Departure<B>> {
        self.schedule.pop_due(now)
    }

    fn next_deadline(&self) -> Option<Time> {
        self.schedule.next_deadline()
    }

    fn packet_count(&self) -> usize {
        self.schedule.len()
    }

    fn take_dropped(&mut self) -> Option<DroppedPacket<B>> {
        self.dropped.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;

    const MILLI: u64 = 1_000_000;

    /// The order and times in which packets leave that arrive `gap` ns apart.
    fn departures(params: NetemParams, count: u64, gap: u64) -> Vec<(u64, u64)> {
        let mut netem = Netem::new(&params, Stream::new(1, "netem"));
        for body in 0..count {
            let packet = Packet { flow: FlowId(0), size: 1_500, ecn: Ecn::NotEct, body };
            netem.receive(packet, Time::from_nanos(body * gap));
        }
        let leave = std::iter::from_fn(|| netem.poll(Time::MAX));
        leave.map(|d| (d.packet.body, d.at.as_nanos())).collect()
    }

    #[test]
    fn without_noise_it_is_a_line() {
        let params = NetemParams { delay: Duration::from_millis(5), ..NetemParams::default() };
        let expected: Vec<_> = (0..9).map(|n| (n, 5 * MILLI + n)).collect();
        assert_eq!(departures(params, 9, 1), expected);
    }

    #[test]
    fn delays_are_uniform_around_the_delay_and_reorder_close_packets() {
        let (delay, jitter) = (Duration::from_millis(5), Duration::from_millis(2));
        let params = NetemParams { delay, jitter, ..NetemParams::default() };
        let gap = MILLI / 10;
        let left = departures(params, 20_000, gap);
        let delays: Vec<_> = left.iter().map(|&(body, at)| at - body * gap).collect();
        assert!(delays.iter().all(|d| (3 * MILLI..7 * MILLI).contains(d)));
        let mean = delays.iter().sum::<u64>() / 20_000;
        assert!(mean.abs_diff(5 * MILLI) < MILLI / 50, "{mean}");
        assert!(left.windows(2).filter(|w| w[0].0 > w[1].0).count() > 5_000);
        assert!(left.windows(2).all(|w| w[0].1 <= w[1].1));
    }

    /// Of packets 1 ms apart that each stay for 5 ms, three fit, however late they are taken.
    #[test]
    fn more_packets_than_its_limit_are_dropped() {
        let delay = Duration::from_millis(5);
        let params = NetemParams { delay, limit: Some(3), ..NetemParams::default() };
        for late in [false, true] {
            let mut netem = Netem::new(&params, Stream::new(1, "netem"));
            let mut left = Vec::new();
            for body in 0..12 {
                let now = Time::from_nanos(body * MILLI);
                if !late {
                    left.extend(std::iter::from_fn(|| netem.poll(now)).map(|d| d.packet.body));
                }
                let packet = Packet { flow: FlowId(0), size: 1_500, ecn: Ecn::NotEct, body };
                netem.receive(packet, now);
            }
            left.extend(std::iter::from_fn(|| netem.poll(Time::MAX)).map(|d| d.packet.body));
            let dropped: Vec<_> =
                std::iter::from_fn(|| netem.take_dropped()).map(|d| d.packet.body).collect();
            assert_eq!(left, [0, 1, 2, 5, 6, 7, 10, 11]);
            assert_eq!(dropped, [3, 4, 8, 9]);
        }
    }

    #[test]
    fn every_fifth_packet_goes_ahead_with_certainty() {
        let delay = Duration::from_millis(5);
        let params = NetemParams { delay, reorder: 1.0, gap: 5, ..NetemParams::default() };
        let ahead: Vec<_> =
            departures(params, 20, 1).iter().filter(|p| p.1 == p.0).map(|p| p.0).collect();
        assert_eq!(ahead, [4, 9, 14, 19]);
    }

    #[test]
    fn a_quarter_goes_ahead_by_chance() {
        let delay = Duration::from_millis(5);
        let params = NetemParams { delay, reorder: 0.25, ..NetemParams::default() };
        let ahead = departures(params, 20_000, 1).iter().filter(|p| p.1 == p.0).count();
        assert!((4_800..5_200).contains(&ahead), "{ahead}");
    }
}
