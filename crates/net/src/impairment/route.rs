//! A delay that changes at given times.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role, Unit};
use narrows_base::{Duration, Packet, Time};

use crate::element::{Departure, Element};
use crate::schedule::Schedule;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "route",
    title: "Route changes",
    family: "delay",
    summary: "a delay, besides the path's, that changes at given times",
    source: "crates/net/src/impairment/route.rs",
    role: Role::Impairment,
    parameters: &[
        Parameter::duration("delay", ParameterDefault::Whole(0), "initial one-way delay"),
        Parameter::new(
            "delays",
            Unit::Delays,
            ParameterDefault::Off,
            "times with the delay from then on",
        ),
        Parameter::duration(
            "every",
            ParameterDefault::Off,
            "instead, a new delay at every multiple of this",
        )
        .at_least(1_000_000),
        Parameter::duration(
            "spread",
            ParameterDefault::Whole(0),
            "with `every`: delays are uniform from `delay` to `delay` plus this",
        ),
        Parameter::new(
            "overtaking",
            Unit::Word(&["allowed", "never"]),
            ParameterDefault::Word("allowed"),
            "whether a packet may arrive before one that set out earlier",
        ),
    ],
};

/// The fate of a packet whose delay is shorter than an earlier one's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overtaking {
    /// It may arrive first, as over another route.
    #[default]
    Allowed,
    /// It waits for the earlier one, as over the same radio link.
    Never,
}

/// A line whose delay changes at given times, as when a route changes or a
/// satellite hands over. A packet keeps the delay that it set out with.
#[derive(Clone, Debug)]
pub struct Route<B> {
    delay: Duration,
    /// The changes in order, and the index of the next.
    changes: Vec<(Time, Duration)>,
    next: usize,
    overtaking: Overtaking,
    last_due: Time,
    schedule: Schedule<B>,
}

impl<B> Route<B> {
    /// `initial` until the first of `changes`; each sets the delay of packets
    /// that set out from its time on.
    ///
    /// # Panics
    /// If the times don't ascend.
    #[must_use]
    pub fn new(initial: Duration, changes: Vec<(Time, Duration)>, overtaking: Overtaking) -> Self {
        assert!(
            changes.windows(2).all(|w| w[0].0 < w[1].0),
            "the times of the changes must ascend"
        );
        let (last_due, schedule) = (Time::ZERO, Schedule::new());
        Self { delay: initial, changes, next: 0, overtaking, last_due, schedule }
    }
}

impl<B> Element<B> for Route<B> {
    fn receive(&mut self, packet: Packet<B>, now: Time) {
        while let Some(&(_, delay)) = self.changes.get(self.next).filter(|c| c.0 <= now) {
            self.delay = delay;
            self.next += 1;
        }
        let mut due = now + self.delay;
        if self.overtaking == Overtaking::Never {
            due = due.max(self.last_due);
        }
        self.last_due = due;
        self.schedule.push(now, due, packet);
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
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;

    /// 100 ns, 10 ns from 50 on, 30 ns from 70 on.
    fn departures(overtaking: Overtaking) -> Vec<(u32, u64)> {
        let changes =
            [(50, 10), (70, 30)].map(|(at, d)| (Time::from_nanos(at), Duration::from_nanos(d)));
        let mut route = Route::new(Duration::from_nanos(100), changes.to_vec(), overtaking);
        for (body, at) in [(0, 0), (1, 49), (2, 50), (3, 69), (4, 70)] {
            let packet = Packet { flow: FlowId(0), size: 1_500, ecn: Ecn::NotEct, body };
            route.receive(packet, Time::from_nanos(at));
        }
        std::iter::from_fn(|| route.poll(Time::MAX))
            .map(|d| (d.packet.body, d.at.as_nanos()))
            .collect()
    }

    #[test]
    fn a_packet_keeps_the_delay_that_it_set_out_with() {
        let expected = [(2, 60), (3, 79), (0, 100), (4, 100), (1, 149)];
        assert_eq!(departures(Overtaking::Allowed), expected);
    }

    #[test]
    fn without_overtaking_it_waits_for_the_one_before() {
        let expected = [(0, 100), (1, 149), (2, 149), (3, 149), (4, 149)];
        assert_eq!(departures(Overtaking::Never), expected);
    }
}
