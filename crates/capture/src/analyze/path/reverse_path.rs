//! Acknowledgements without data between the captures: how many were lost, and their delay.

use std::collections::VecDeque;

use serde::Serialize;

use super::early::EarlyArrivals;
use crate::analyze::times::{TimeSamples, Times};
use crate::decode::CapturedSegment;

/// An acknowledgement that takes longer than this many ns counts as lost.
const LOST_AFTER: u64 = 10_000_000_000;
/// The most acknowledgements under way, and the most with which an arriving one is compared.
const MOST_UNDER_WAY: usize = 1 << 14;
const MOST_COMPARED: usize = 512;

/// The fields that tell one acknowledgement from the next.
type Content = (u32, u32, u16, Option<(u32, u32)>, Option<(u32, u32)>);

/// The fate of a flow's acknowledgements on their way to the sender.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReversePathReport {
    /// Acknowledgements that passed the capture nearer to the receiver.
    pub sent: u64,
    /// The number of these that never passed the other capture.
    pub lost: u64,
    /// One-way delay minus its minimum, in ms.
    pub delay_variation_ms: Times,
}

/// The acknowledgements of one direction between the captures.
#[derive(Clone, Debug, Default)]
pub(super) struct ReversePath {
    under_way: VecDeque<(Content, u64)>,
    early: EarlyArrivals<Content>,
    sent: u64,
    lost: u64,
    delays: TimeSamples,
    last_arrival: u64,
}

fn content(segment: &CapturedSegment) -> Content {
    let first = segment.sacks().first().copied();
    (segment.seq, segment.ack, segment.window, segment.timestamps, first)
}

impl ReversePath {
    pub(super) fn leave(&mut self, segment: &CapturedSegment) {
        self.sent += 1;
        let content = content(segment);
        if self.early.take(&content, segment.time) {
            self.time(segment.time, segment.time);
            return;
        }
        self.under_way.push_back((content, segment.time));
        let over = segment.time.saturating_sub(LOST_AFTER);
        while self.under_way.len() > MOST_UNDER_WAY
            || self.under_way.front().is_some_and(|&(_, time)| time < over)
        {
            self.under_way.pop_front();
            self.lost += 1;
        }
    }

    pub(super) fn arrive(&mut self, segment: &CapturedSegment) {
        let wanted = content(segment);
        let mut compared = self.under_way.iter().take(MOST_COMPARED);
        let at = compared.position(|&(content, _)| content == wanted);
        if let Some((_, time)) = at.and_then(|at| self.under_way.remove(at)) {
            self.time(time, segment.time);
            return;
        }
        self.early.add(wanted, segment.time);
    }

    fn time(&mut self, departure: u64, arrival: u64) {
        self.delays.add(arrival.saturating_sub(departure));
        self.last_arrival = self.last_arrival.max(arrival);
    }

    /// Reports at the end. An acknowledgement too young to have arrived doesn't count as lost.
    pub(super) fn finish(self) -> ReversePathReport {
        let (_, most) = self.delays.histogram.extremes().unwrap_or_default();
        let certain = self.last_arrival.saturating_sub(most);
        let missing = self.under_way.iter().filter(|&&(_, time)| time < certain).count();
        ReversePathReport {
            sent: self.sent,
            lost: self.lost + missing as u64,
            delay_variation_ms: Times::above_least(&self.delays),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::early::APART;
    use super::*;

    fn acknowledgement(ack: u32, time: u64) -> CapturedSegment {
        CapturedSegment { ack, time, ..CapturedSegment::default() }
    }

    /// Passes acknowledgements that seem to arrive `early` ns before they depart.
    fn pass(early: u64, packets: u32) -> ReversePathReport {
        let mut path = ReversePath::default();
        for number in 0..packets {
            let time = u64::from(number) * 20_000_000;
            path.arrive(&acknowledgement(number, time));
            path.leave(&acknowledgement(number, time + early));
        }
        path.finish()
    }

    #[test]
    fn acknowledgements_that_take_no_time_are_not_lost() {
        let report = pass(0, 1000);
        assert_eq!((report.sent, report.lost), (1000, 0));
        assert_eq!(report.delay_variation_ms.mean, Some(0.0));
    }

    #[test]
    fn clocks_that_run_apart_a_little_lose_no_acknowledgement() {
        assert_eq!(pass(APART, 10).lost, 0);
    }

    #[test]
    fn an_acknowledgement_that_passed_one_capture_only_is_lost() {
        let mut path = ReversePath::default();
        path.arrive(&acknowledgement(0, 0));
        path.leave(&acknowledgement(1, 0));
        path.leave(&acknowledgement(2, 1));
        path.arrive(&acknowledgement(2, 2));
        path.leave(&acknowledgement(0, APART + 1));
        let report = path.finish();
        assert_eq!((report.sent, report.lost), (3, 1), "the last one may be under way");
    }
}
