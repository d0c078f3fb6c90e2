//! Elements one after the other.

use narrows_base::{Bytes, Ecn, Packet, Time};
use narrows_net::config::AnyLink;
use narrows_net::{AnyServed, Counters, Departure, Dropped, Element, Link, RandomLoss};

use crate::frame::{Frame, has_data, mark};
use crate::path::{Passage, Witness};

enum Stage {
    Link(Link<Frame>),
    Served(AnyServed<Frame>),
    Impairment(Box<dyn Element<Frame> + Send>),
}

/// Calls a method that every kind of element has.
macro_rules! of {
    ($stage:expr, $element:ident => $call:expr) => {
        match $stage {
            Stage::Link($element) => $call,
            Stage::Served($element) => $call,
            Stage::Impairment($element) => $call,
        }
    };
}

impl Stage {
    const fn is_link(&self) -> bool {
        !matches!(self, Self::Impairment(_))
    }

    fn poll(&mut self, now: Time) -> Option<Departure<Frame>> {
        of!(self, element => element.poll(now))
    }

    fn take_dropped(&mut self) -> Option<Dropped<Frame>> {
        of!(self, element => element.take_dropped())
    }
}

/// Impairments, perhaps a link, and more impairments.
///
/// Every element may be polled late, and what leaves one goes into the next at the instant
/// that it was due. Hence the chain as a whole may be polled late, too.
#[derive(Default)]
pub(crate) struct Chain {
    stages: Vec<Stage>,
    /// Loses packets with data right behind the link.
    loss: Option<RandomLoss>,
}

impl Chain {
    pub(crate) fn add_link(&mut self, link: AnyLink<Frame>, loss: RandomLoss) {
        self.stages.push(match link {
            AnyLink::Link(link) => Stage::Link(link),
            AnyLink::Served(link) => Stage::Served(link),
        });
        self.loss = Some(loss);
    }

    pub(crate) fn add(&mut self, impairment: Box<dyn Element<Frame> + Send>) {
        self.stages.push(Stage::Impairment(impairment));
    }

    /// Takes a packet at `now`, until which the chain has been settled, and hands on to `out`
    /// what comes out at once.
    pub(crate) fn receive(
        &mut self,
        packet: Packet<Frame>,
        now: Time,
        witness: Witness<'_>,
        out: &mut dyn FnMut(Departure<Frame>),
    ) {
        self.put(0, Departure { at: now, packet }, witness, out);
    }

    /// Settles what happens until `now`; what comes out goes to `out`.
    pub(crate) fn catch_up(
        &mut self,
        now: Time,
        witness: Witness<'_>,
        out: &mut dyn FnMut(Departure<Frame>),
    ) {
        for i in 0..self.stages.len() {
            while let Some(departure) = self.stages[i].poll(now) {
                self.leave(i, departure, witness, out);
            }
            self.tell_drops(i, witness);
        }
    }

    /// Puts a packet into a stage, or out if there is none.
    fn put(
        &mut self,
        stage: usize,
        departure: Departure<Frame>,
        witness: Witness<'_>,
        out: &mut dyn FnMut(Departure<Frame>),
    ) {
        let Some(element) = self.stages.get_mut(stage) else { return out(departure) };
        let Departure { at, packet } = departure;
        if element.is_link() {
            witness(at, Passage::Arrived, &packet);
        }
        of!(element, element => element.receive(packet, at));
        self.tell_drops(stage, witness);
    }

    fn leave(
        &mut self,
        stage: usize,
        mut departure: Departure<Frame>,
        witness: Witness<'_>,
        out: &mut dyn FnMut(Departure<Frame>),
    ) {
        if self.stages[stage].is_link() {
            let packet = &mut departure.packet;
            if packet.ecn == Ecn::Ce {
                mark(&mut packet.body);
            }
            witness(departure.at, Passage::Forwarded, packet);
            let strikes = |loss: &mut RandomLoss| loss.strikes();
            if has_data(&packet.body) && self.loss.as_mut().is_some_and(strikes) {
                return witness(departure.at, Passage::Lost, packet);
            }
        }
        self.put(stage + 1, departure, witness, out);
    }

    fn tell_drops(&mut self, stage: usize, witness: Witness<'_>) {
        let element = &mut self.stages[stage];
        let passage = if element.is_link() { Passage::Dropped } else { Passage::Lost };
        while let Some(dropped) = element.take_dropped() {
            witness(dropped.at, passage, &dropped.packet);
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Time> {
        let deadline = |stage: &Stage| of!(stage, element => element.next_deadline());
        self.stages.iter().filter_map(deadline).min()
    }

    /// The link's counters and what waits there (bytes, packets).
    pub(crate) fn queue(&self) -> (Counters, Bytes, usize) {
        let state = |stage: &Stage| match stage {
            Stage::Link(l) => Some((l.counters(), l.backlog(), l.backlog_packets())),
            Stage::Served(l) => Some((l.counters(), l.backlog(), l.backlog_packets())),
            Stage::Impairment(_) => None,
        };
        self.stages.iter().find_map(state).unwrap_or_default()
    }
}
