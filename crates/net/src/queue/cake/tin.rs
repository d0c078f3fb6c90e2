//! A tin of CAKE: the queues of one class of traffic.

use narrows_base::{Duration, Packet, Rate, Stream, Time};

use super::cobalt::{Control, Params};
use super::diffserv::Share;
use super::pace::Pace;
use super::turns::Turns;
use super::ways::{QUEUES, Ways};
use crate::queue::waiting::{FRAME, Waiting};

#[derive(Clone, Debug)]
pub(super) struct Flow<B> {
    pub(super) waiting: Waiting<B>,
    pub(super) control: Control,
}

/// The queues of a class, their turns, and what the class may use.
#[derive(Clone, Debug)]
pub(super) struct Tin<B> {
    pub(super) params: Params,
    pub(super) flows: Vec<Flow<B>>,
    pub(super) turns: Turns,
    ways: Ways,
    pace: Option<Pace>,
    /// From when on it is within its share.
    next: Time,
    quantum: i64,
    /// Bytes left of its turn, where nothing is shaped.
    deficit: i64,
    packets: usize,
}

impl<B> Tin<B> {
    pub(super) fn new(share: Share, rtt: Duration, by_host: bool, rounding: Stream) -> Self {
        let pace = share.rate.map(Pace::new);
        let empty = || Flow { waiting: Waiting::new(), control: Control::default() };
        let full = u64::from(FRAME);
        let part = |rate: Rate| (rate.as_bytes_per_sec() >> 12).clamp(300, full);
        Self {
            params: Params::new(rtt, pace),
            flows: std::iter::repeat_with(empty).take(QUEUES as usize).collect(),
            turns: Turns::new(QUEUES as usize, share.rate.map_or(full, part), by_host, rounding),
            ways: Ways::new(),
            pace,
            next: Time::ZERO,
            quantum: share.quantum,
            deficit: 0,
            packets: 0,
        }
    }

    /// The flows that may have packets.
    pub(super) fn turns_of(&self) -> impl Iterator<Item = usize> {
        self.turns.active()
    }

    pub(super) const fn pace(&self) -> Option<Pace> {
        self.pace
    }

    /// The queue of the flow with this hash.
    pub(super) fn queue(&mut self, hash: u32) -> usize {
        let turns = &self.turns;
        self.ways.queue(hash, |queue| turns.holds(queue))
    }

    pub(super) fn push(&mut self, flow: usize, packet: Packet<B>, now: Time) {
        // An idle time gives no credit.
        if self.packets == 0 {
            self.next = self.next.max(now);
        }
        self.packets += 1;
        self.flows[flow].waiting.push(packet, now);
        self.turns.join(flow);
    }

    pub(super) fn pop(&mut self, flow: usize) -> Option<(Time, Packet<B>)> {
        let popped = self.flows[flow].waiting.pop()?;
        self.packets -= 1;
        Some(popped)
    }

    /// The flow whose turn it is.
    pub(super) fn current(&mut self, decaying: bool) -> Option<usize> {
        let flows = &self.flows;
        self.turns.current(decaying, |flow| flows[flow].waiting.len() > 0)
    }

    /// Ends the turn of a flow without packets.
    pub(super) fn end_turn(&mut self, flow: usize, now: Time) {
        let control = &mut self.flows[flow].control;
        control.on_empty(&self.params, now);
        self.turns.end(flow, control.is_at_rest(now));
    }

    /// Counts a packet that leaves or is dropped at `now` (`cake_advance_shaper`).
    pub(super) fn count(&mut self, bytes: u64, now: Time) {
        let Some(pace) = self.pace else { return };
        let time = pace.time(bytes);
        self.next = if self.next < now { self.next + time } else { self.next.max(now + time) };
    }

    /// Counts a packet of a flow against its turn and the tin's.
    pub(super) fn spend(&mut self, flow: usize, bytes: u64) {
        self.turns.spend(flow, bytes);
        self.deficit -= bytes.cast_signed();
    }

    /// How long until it is within its share, in ns; zero or less if it is.
    fn early(&self, now: Time) -> i64 {
        self.next.as_nanos().cast_signed() - now.as_nanos().cast_signed()
    }
}

/// The tin whose turn it is under a shaper: the last of those within their shares, else the one that
/// will be soonest.
pub(super) fn next_shaped<B>(tins: &[Tin<B>], now: Time) -> Option<usize> {
    let mut best: Option<(usize, i64)> = None;
    for (number, tin) in tins.iter().enumerate().filter(|(_, tin)| tin.turns.busy()) {
        let early = tin.early(now);
        if early <= 0 || best.is_none_or(|(_, least)| early <= least) {
            best = Some((number, early));
        }
    }
    best.map(|(number, _)| number)
}

/// The tin whose turn it is, from `current` on, where nothing is shaped: deficit round robin.
pub(super) fn in_turn<B>(tins: &mut [Tin<B>], mut current: usize) -> Option<usize> {
    if !tins.iter().any(|tin| tin.turns.busy()) {
        return None;
    }
    while tins[current].deficit < 0 || !tins[current].turns.busy() {
        let tin = &mut tins[current];
        if tin.deficit <= 0 {
            tin.deficit += tin.quantum;
        }
        current = (current + 1) % tins.len();
    }
    Some(current)
}
