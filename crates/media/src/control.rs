//! The interface of a media control: its input and its decisions.

use std::collections::VecDeque;

use narrows_base::{Duration, Time};
use narrows_spec::scenario::Media;

use crate::number::real;

/// A packet in feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FeedbackPacket {
    /// Payload of UDP.
    pub(crate) size: u64,
    pub(crate) sent: Time,
    pub(crate) fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrived { at: Time, marked: bool },
    Lost,
}

/// Feedback, as a control sees it.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) now: Time,
    /// When the receiver sent it.
    pub(crate) at: Time,
    /// Packets of which something is known for the first time, in the order of their numbers.
    pub(crate) seen: Vec<FeedbackPacket>,
    /// The packet with the highest number of all that arrived: when it was sent and arrived.
    pub(crate) highest: (Time, Time),
    /// Bytes by which the highest number that arrived has grown.
    pub(crate) newly_acked: u64,
    /// Bytes beyond the highest number that arrived.
    pub(crate) in_flight: u64,
    pub(crate) rtt: Duration,
    pub(crate) srtt: Duration,
}

impl Report {
    pub(crate) fn has_losses(&self) -> bool {
        self.seen.iter().any(|seen| seen.fate == Fate::Lost)
    }

    pub(crate) fn has_marks(&self) -> bool {
        self.seen.iter().any(|seen| matches!(seen.fate, Fate::Arrived { marked: true, .. }))
    }
}

/// A control of real-time media. Rates are in bit/s of UDP payload, sizes in bytes.
pub(crate) trait Control: Send {
    /// Feedback arrived, while `queued` bytes wait to be sent.
    fn report(&mut self, report: &Report, queued: u64);

    /// Time passes: at least at each frame.
    fn pass(&mut self, _now: Time, _queued: u64) {}

    /// A frame was encoded.
    fn on_encoded(&mut self, _bytes: u64) {}

    /// A packet was sent; the bytes in flight include it.
    fn on_sent(&mut self, _bytes: u64, _in_flight: u64, _now: Time) {}

    /// The target rate of the encoder.
    fn media_bps(&self, queued: u64) -> f64;

    /// The rate at which packets leave; at once if none.
    fn pacing_bps(&self, queued: u64) -> Option<f64>;

    /// The most bytes in flight.
    fn window(&self) -> Option<u64> {
        None
    }

    /// Returns `true` if an overtaken packet only counts as lost after a while.
    fn allows_reordering(&self) -> bool {
        false
    }

    /// Shows the named internals.
    fn inspect(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}
}

/// No control: the highest rate, and frames leave at once.
pub(crate) struct Constant {
    bps: f64,
}

impl Constant {
    pub(crate) fn new(media: &Media) -> Self {
        Self { bps: real(media.max_bps) }
    }
}

impl Control for Constant {
    fn report(&mut self, _: &Report, _: u64) {}

    fn media_bps(&self, _: u64) -> f64 {
        self.bps
    }

    fn pacing_bps(&self, _: u64) -> Option<f64> {
        None
    }
}

/// Minutes over which the lowest delay is remembered (`BASE_HISTORY` of RFC 6817 section 2.4.2, which
/// both RFC 8298 section 4.1.2 and RFC 8698 section 5.1.1 follow).
const MINUTES: usize = 10;

/// The lowest one-way delay of the last minutes, in ms.
#[derive(Debug, Default)]
pub(crate) struct Base {
    /// A minute and its lowest delay.
    minutes: VecDeque<(u64, f64)>,
}

impl Base {
    /// Takes a delay; returns by how much it exceeds the lowest.
    pub(crate) fn excess(&mut self, delay_ms: f64, now: Time) -> f64 {
        let minute = now.as_nanos() / 60_000_000_000;
        match self.minutes.back_mut() {
            Some((last, least)) if *last == minute => *least = least.min(delay_ms),
            _ => self.minutes.push_back((minute, delay_ms)),
        }
        if self.minutes.len() > MINUTES {
            self.minutes.pop_front();
        }
        let least = self.minutes.iter().map(|&(_, least)| least).fold(f64::INFINITY, f64::min);
        delay_ms - least
    }
}

/// From one instant to another, in ms.
pub(crate) fn milliseconds(from: Time, to: Time) -> f64 {
    to.saturating_since(from).as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_delay_is_forgotten_after_ten_minutes() {
        let mut base = Base::default();
        let at = |minutes: u64| Time::from_nanos(minutes * 60_000_000_000);
        assert!(base.excess(20.0, at(0)).abs() < 1e-9);
        for minute in 1..10 {
            assert!((base.excess(50.0, at(minute)) - 30.0).abs() < 1e-9);
        }
        assert!(base.excess(50.0, at(10)).abs() < 1e-9, "the path has become longer");
    }
}
