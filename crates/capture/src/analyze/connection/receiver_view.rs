//! Infers from a capture at the receiver what limited the sender.

use super::half_connection::{HalfConnection, USUAL_PAYLOAD};
use crate::decode::CapturedSegment;

/// A silence of more round trips than this is more than a wait for acknowledgements.
const ROUND_TRIPS: u64 = 2;
/// The shortest silence that counts, in ns: delayed acknowledgements cause shorter ones.
const SHORTEST_NS: u64 = 50_000_000;

impl HalfConnection {
    pub(super) fn on_far_rtt(&mut self, rtt: u64) {
        self.far.sample(rtt);
        self.timeline.note_far_rtt(rtt);
    }

    /// Uses the handshake's RTT until data give a sample.
    pub(super) fn expect_far_rtt(&mut self, rtt: Option<u64>) {
        self.far.srtt = self.far.srtt.or(rtt);
        self.far.least = self.far.least.or(rtt);
    }

    /// Notes how long data were under way, by their sender's clock.
    pub(super) fn note_one_way_delay(&mut self, segment: &CapturedSegment) {
        if let Some((stamp, _)) = segment.timestamps {
            self.timeline.note_one_way_delay(self.far.clock.delay(stamp, segment.time));
        }
    }

    /// Returns whether the one-way delays in the timeline can be used.
    pub(crate) fn shows_one_way_delays(&self) -> bool {
        self.far.clock.is_usual()
    }

    /// The number of silences that new data ended.
    pub(crate) fn far_pauses(&self) -> u64 {
        self.far.pauses
    }

    /// When the last data before each timeout of the sender came, and the first after it.
    pub(crate) fn far_timeouts(&self) -> &[(u64, u64)] {
        &self.far.timeouts
    }

    /// Notes an advertised window.
    pub(super) fn advertise(&mut self, segment: &CapturedSegment) {
        let Some((stamp, _)) = segment.timestamps else { return };
        let Some((una, window)) = self.una.zip(self.window) else { return };
        self.far.advertise(stamp, una + window);
    }

    /// Checks whether data reach the edge of the last window that their sender had seen.
    pub(super) fn check_far_limit(&mut self, segment: &CapturedSegment) {
        let Some((_, echo)) = segment.timestamps else { return };
        let edge = self.far.edge_at(echo);
        let room = edge.zip(self.high).map(|(edge, high)| edge.saturating_sub(high));
        if room.is_some_and(|room| room < self.mss.unwrap_or(USUAL_PAYLOAD)) {
            self.timeline.note_far_limit();
        }
    }

    /// Notes a long silence before these data.
    ///
    /// A sender whose timer expired sends one packet and waits for its acknowledgement, for the
    /// shortest round trip, since no queue is left; one whose application has written again sends
    /// all it has.
    pub(super) fn note_far_silence(&mut self, time: u64, payload: u64, again: bool) {
        let rtt = self.far.srtt.unwrap_or(0);
        let silence = time.saturating_sub(self.last_data);
        if let Some((from, to)) = self.far.silence.take() {
            let timeout = again || silence > self.far.least.unwrap_or(0) / 2;
            self.end_far_silence(from, to, timeout.then(|| from.saturating_sub(rtt)));
        }
        if self.last_data == 0 || self.zero_since.is_some() {
            return;
        }
        if silence > (ROUND_TRIPS * rtt).max(SHORTEST_NS) {
            let (from, full) = (self.last_data + rtt, payload >= self.mss.unwrap_or(USUAL_PAYLOAD));
            if full && !again {
                self.far.silence = Some((from, time));
            } else {
                self.end_far_silence(from, time, again.then_some(self.last_data));
            }
        }
    }

    /// Notes a silence that was a pause of the application, or a timeout after the data of `last`.
    fn end_far_silence(&mut self, from: u64, to: u64, last: Option<u64>) {
        self.timeline.note_silence(from, to, last.is_some());
        match last {
            Some(last) => self.far.time_out(last, to),
            None => self.far.pauses += 1,
        }
    }
}
