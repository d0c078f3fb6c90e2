//! Acknowledgements without data between the captures: how many were lost, and their delay.

use std::collections::VecDeque;

use serde::Serialize;

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
        self.under_way.push_back((content(segment), segment.time));
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
        let Some(at) = compared.position(|&(content, _)| content == wanted) else { return };
        let Some((_, time)) = self.under_way.remove(at) else { return };
        self.delays.add(segment.time.saturating_sub(time));
        self.last_arrival = segment.time;
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
