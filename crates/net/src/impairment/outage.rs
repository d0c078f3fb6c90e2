//! Outages, during which nothing gets through.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role, Unit};
use narrows_base::{Duration, Packet, Time};

use super::filter::{Fate, Rule};
use crate::element::DropReason;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "outage",
    title: "Outages",
    family: "loss",
    summary: "outages, during which nothing gets through",
    source: "crates/net/src/impairment/outage.rs",
    role: Role::Impairment,
    parameters: &[
        Parameter::new(
            "outages",
            Unit::Spans,
            ParameterDefault::Off,
            "start times with the duration of each",
        ),
        Parameter::duration(
            "every",
            ParameterDefault::Off,
            "instead, an outage at every multiple of this",
        )
        .at_least(1_000_000),
        Parameter::duration("lasts", ParameterDefault::Whole(0), "with `every`: the duration"),
        Parameter::new(
            "mode",
            Unit::Word(&["drop", "hold"]),
            ParameterDefault::Word("drop"),
            "fate of packets: lost, or held until the end",
        ),
    ],
};

/// The fate of packets that arrive during an outage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutageMode {
    /// They are lost.
    #[default]
    Drop,
    /// They leave together when it ends, as when a base station forwards them
    /// at a handover.
    Hold,
}

/// Passes packets on at once, except during outages.
#[derive(Clone, Debug)]
pub struct Outage {
    /// Beginnings and ends, in order; an outage ends before its end.
    outages: Vec<(Time, Time)>,
    next: usize,
    mode: OutageMode,
}

impl Outage {
    /// Outages that begin at these times, each with its duration.
    ///
    /// # Panics
    /// If they overlap or don't ascend.
    #[must_use]
    pub fn new(outages: &[(Time, Duration)], mode: OutageMode) -> Self {
        let outages: Vec<_> = outages.iter().map(|&(at, span)| (at, at + span)).collect();
        assert!(
            outages.windows(2).all(|w| w[0].1 <= w[1].0),
            "outages must ascend and not overlap"
        );
        Self { outages, next: 0, mode }
    }

    /// The end of the outage that `now` lies in.
    fn ends(&mut self, now: Time) -> Option<Time> {
        while self.outages.get(self.next).is_some_and(|outage| outage.1 <= now) {
            self.next += 1;
        }
        self.outages.get(self.next).filter(|outage| outage.0 <= now).map(|outage| outage.1)
    }
}

impl<B> Rule<B> for Outage {
    fn fate(&mut self, _: &Packet<B>, now: Time) -> Fate {
        match (self.ends(now), self.mode) {
            (None, _) => Fate::Passes(now),
            (Some(end), OutageMode::Hold) => Fate::Passes(end),
            (Some(_), OutageMode::Drop) => Fate::Dropped(DropReason::Outage),
        }
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;
    use crate::{Element as _, Filter};

    /// Outages from 10 to 20 and from 20 to 25 ns.
    fn departures(mode: OutageMode) -> (Vec<(u64, u64)>, usize) {
        let outages =
            [(10, 10), (20, 5)].map(|(at, d)| (Time::from_nanos(at), Duration::from_nanos(d)));
        let mut outage = Filter::new(Outage::new(&outages, mode));
        for body in [9, 10, 19, 20, 24, 25] {
            let packet = Packet { flow: FlowId(0), size: 1_500, ecn: Ecn::NotEct, body };
            outage.receive(packet, Time::from_nanos(body));
        }
        let dropped = std::iter::from_fn(|| outage.take_dropped()).count();
        let left = std::iter::from_fn(|| outage.poll(Time::MAX));
        (left.map(|d| (d.packet.body, d.at.as_nanos())).collect(), dropped)
    }

    #[test]
    fn packets_of_an_outage_are_lost() {
        assert_eq!(departures(OutageMode::Drop), (vec![(9, 9), (25, 25)], 4));
    }

    #[test]
    fn or_leave_at_its_end() {
        let expected = vec![(9, 9), (10, 20), (19, 20), (20, 25), (24, 25), (25, 25)];
        assert_eq!(departures(OutageMode::Hold), (expected, 0));
    }
}
