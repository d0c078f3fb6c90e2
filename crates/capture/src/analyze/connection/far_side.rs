//! The state of a sender as its receiver sees it.
//!
//! The sender echoes the receiver's timestamps (RFC 7323), so the data say how long a round trip
//! takes and which advertised window the sender knew when it sent them.

use std::collections::VecDeque;

use super::sender_clock::SenderClock;
use super::timing::after;

/// The most advertised windows that are remembered.
const MOST_EDGES: usize = 1 << 12;

/// The most timeouts that are remembered.
const MOST_TIMEOUTS: usize = 1000;

/// The sender as seen from the receiver.
#[derive(Clone, Debug, Default)]
pub(super) struct FarSide {
    /// Smoothed RTT in ns (RFC 6298), and the time of the last sample.
    pub(super) srtt: Option<u64>,
    /// The shortest RTT, in ns.
    pub(super) least: Option<u64>,
    pub(super) clock: SenderClock,
    /// Ends of the advertised window that the sender doesn't know yet, by their timestamps.
    edges: VecDeque<(u32, u64)>,
    /// The end that it knows.
    edge: Option<u64>,
    /// Silences that new data ended.
    pub(super) pauses: u64,
    /// Silences that a retransmission ended: the times of the last data before and of it.
    pub(super) timeouts: Vec<(u64, u64)>,
    /// Silence that ended with a full packet, until the next packet shows its reason.
    pub(super) silence: Option<(u64, u64)>,
}

impl FarSide {
    pub(super) fn sample(&mut self, rtt: u64) {
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.srtt = Some(self.srtt.map_or(rtt, |srtt| srtt - srtt / 8 + rtt / 8));
    }

    /// Notes that nothing came until a retransmission.
    pub(super) fn time_out(&mut self, last: u64, time: u64) {
        if self.timeouts.len() < MOST_TIMEOUTS {
            self.timeouts.push((last, time));
        }
    }

    /// Notes the end of an advertised window. Of those with one timestamp the first counts, since its
    /// echo proves no more.
    pub(super) fn advertise(&mut self, stamp: u32, edge: u64) {
        if self.edges.back().is_some_and(|&(last, _)| !after(stamp, last)) {
            return;
        }
        if self.edges.len() >= MOST_EDGES {
            self.edges.pop_front();
        }
        self.edges.push_back((stamp, edge));
    }

    /// The end of the window that the sender knew when it echoed a timestamp.
    pub(super) fn edge_at(&mut self, echo: u32) -> Option<u64> {
        while let Some(&(stamp, edge)) = self.edges.front() {
            if after(stamp, echo) {
                break;
            }
            self.edge = Some(edge);
            self.edges.pop_front();
        }
        self.edge
    }
}
