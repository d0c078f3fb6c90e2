//! When a flow sends: bursts, idle times, stalls; and echoes of timestamps.

use std::collections::VecDeque;

/// Packets this much closer than on average form a burst.
const CLOSER: u64 = 4;
/// The distance that counts as close while no RTT is known, in ns.
const CLOSE_NS: u64 = 100_000;
/// The shortest stall and the upper bound of the shortest idle time: Linux's minimum RTO, in ns.
pub(crate) const SILENCE_NS: u64 = 200_000_000;
/// A sender answers an acknowledgement within this time if it waited for it.
pub(super) const RESPONSE_NS: u64 = 500_000;
/// The most timestamps of one direction that wait for their echo.
const MOST_STAMPS: usize = 1 << 13;

/// Packets back to back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bursts {
    current: u64,
    last: Option<u64>,
    pub(crate) count: u64,
    pub(crate) packets: u64,
    pub(crate) most: u64,
    /// How many bursts had at least 1, 2, 4, 8, ... packets.
    pub(crate) at_least: [u64; 16],
}

impl Bursts {
    /// `packets` leave now; on average one leaves every `spacing` ns.
    pub(crate) fn note_departure(&mut self, time: u64, packets: u64, spacing: Option<u64>) {
        let close = spacing.map_or(CLOSE_NS, |spacing| spacing / CLOSER);
        let gap = self.last.map_or(u64::MAX, |last| time.saturating_sub(last));
        self.last = Some(time);
        if gap > close {
            self.finish();
        }
        self.current += packets;
    }

    pub(crate) fn finish(&mut self) {
        if self.current == 0 {
            return;
        }
        self.count += 1;
        self.packets += self.current;
        self.most = self.most.max(self.current);
        for (power, count) in self.at_least.iter_mut().enumerate() {
            *count += u64::from(self.current >> power > 0);
        }
        self.current = 0;
    }
}

/// Spans of one kind: their number, total and maximum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spans {
    pub(crate) count: u64,
    pub(crate) total: u64,
    pub(crate) longest: u64,
}

impl Spans {
    pub(crate) fn add(&mut self, span: u64) {
        self.count += 1;
        self.total += span;
        self.longest = self.longest.max(span);
    }
}

/// Timestamps on the way to the other end and back, the first use of each.
///
/// This is the time from the capture to the other end and back, as in Nichols's pping.
#[derive(Clone, Debug, Default)]
pub(crate) struct Echoes {
    waiting: VecDeque<(u32, u64)>,
}

impl Echoes {
    pub(crate) fn note_stamp(&mut self, stamp: u32, time: u64) {
        if self.waiting.back().is_some_and(|&(last, _)| !after(stamp, last)) {
            return;
        }
        if self.waiting.len() >= MOST_STAMPS {
            self.waiting.pop_front();
        }
        self.waiting.push_back((stamp, time));
    }

    /// The time until the first echo of a stamp, if this is it.
    pub(crate) fn take_echo(&mut self, stamp: u32, time: u64) -> Option<u64> {
        while let Some(&(first, sent)) = self.waiting.front() {
            if after(first, stamp) {
                return None;
            }
            self.waiting.pop_front();
            if first == stamp {
                return Some(time.saturating_sub(sent));
            }
        }
        None
    }
}

/// Returns true if one timestamp comes after another (RFC 7323, section 5.2).
pub(crate) fn after(one: u32, other: u32) -> bool {
    one.wrapping_sub(other).cast_signed() > 0
}
