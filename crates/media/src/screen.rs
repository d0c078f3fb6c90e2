//! The receiver's screen: frames shown, freezes, delay.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use narrows_base::{Duration, Time};

use crate::number::real;

/// Frames over whose durations the mean is taken.
const FRAMES: usize = 30;
/// A freeze is longer than the mean by this much.
const LONGER: Duration = Duration::from_millis(150);

/// The frames that the receiver shows, which the recorder learns from the sender. Only one thread runs a
/// network; the lock lets it run on any.
pub(crate) type SharedScreen = Arc<Mutex<Screen>>;

/// The screen for a moment.
pub(crate) fn lock_screen(screen: &SharedScreen) -> MutexGuard<'_, Screen> {
    screen.lock().expect("a host that panicked ended the run")
}

/// A frame that was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShownFrame {
    pub(crate) frame: u32,
    pub(crate) captured: Time,
    pub(crate) at: Time,
    pub(crate) bytes: u64,
}

/// Shows frames, and counts freezes.
///
/// A freeze is as in `freezeCount` and `totalFreezesDuration` of "Identifiers for WebRTC's Statistics
/// API" (W3C): the time from one shown frame to the next is at least three times the mean of the last
/// 30 such times, and at least 150 ms more than it.
#[derive(Debug)]
pub(crate) struct Screen {
    jitter_buffer: Duration,
    /// The least delay from capture to completeness.
    fastest: Option<Duration>,
    last: Option<Time>,
    durations: VecDeque<Duration>,
    freezes: u64,
    frozen: Duration,
    lost: u64,
    /// Frames that the recorder hasn't taken.
    shown: VecDeque<ShownFrame>,
}

impl Screen {
    pub(crate) fn new(jitter_buffer_ns: u64) -> Self {
        Self {
            jitter_buffer: Duration::from_nanos(jitter_buffer_ns),
            fastest: None,
            last: None,
            durations: VecDeque::with_capacity(FRAMES),
            freezes: 0,
            frozen: Duration::ZERO,
            lost: 0,
            shown: VecDeque::new(),
        }
    }

    /// A frame can be decoded at `now`.
    pub(crate) fn show(&mut self, frame: u32, captured: Time, bytes: u64, now: Time) {
        let delay = now.saturating_since(captured);
        let fastest = self.fastest.map_or(delay, |least| least.min(delay));
        self.fastest = Some(fastest);
        let planned = captured + fastest + self.jitter_buffer;
        let at = now.max(planned).max(self.last.unwrap_or(now));
        if let Some(last) = self.last.replace(at) {
            self.measure_gap(at.saturating_since(last));
        }
        self.shown.push_back(ShownFrame { frame, captured, at, bytes });
    }

    /// So much time was between two frames.
    fn measure_gap(&mut self, duration: Duration) {
        if !self.durations.is_empty() {
            let total: Duration = self.durations.iter().copied().sum();
            let mean = total / self.durations.len() as u64;
            if duration >= (mean * 3).max(mean + LONGER) {
                self.freezes += 1;
                self.frozen += duration;
            }
        }
        if self.durations.len() == FRAMES {
            self.durations.pop_front();
        }
        self.durations.push_back(duration);
    }

    /// So many frames will never be shown.
    pub(crate) fn lose(&mut self, frames: u32) {
        self.lost += u64::from(frames);
    }

    /// Takes the next frame that was shown up to `now`.
    pub(crate) fn take(&mut self, now: Time) -> Option<ShownFrame> {
        let due = self.shown.front().is_some_and(|frame| frame.at <= now);
        if due { self.shown.pop_front() } else { None }
    }

    #[cfg(test)]
    pub(crate) fn lost_frames(&self) -> u64 {
        self.lost
    }

    pub(crate) fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("freezes", real(self.freezes));
        visit("frozen_s", self.frozen.as_secs_f64());
        visit("lost_frames", real(self.lost));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(at: u64) -> Time {
        Time::from_nanos(at * 1_000_000)
    }

    fn frozen(times: &[u64]) -> (u64, u64) {
        let mut screen = Screen::new(0);
        for (number, &at) in times.iter().enumerate() {
            screen.show(u32::try_from(number).expect("few"), ms(at), 1, ms(at));
        }
        (screen.freezes, screen.frozen.as_micros() / 1_000)
    }

    #[test]
    fn a_freeze_is_both_three_times_the_mean_and_150_ms_longer() {
        // With frames each 40 ms, 190 ms and more are a freeze: 150 ms more than the mean.
        assert_eq!(frozen(&[0, 40, 80, 120, 309]), (0, 0));
        assert_eq!(frozen(&[0, 40, 80, 120, 310]), (1, 190));
        // With frames each 100 ms, 300 ms and more: three times the mean.
        assert_eq!(frozen(&[0, 100, 200, 499]), (0, 0));
        assert_eq!(frozen(&[0, 100, 200, 500, 600]), (1, 300));
    }

    #[test]
    fn frames_wait_for_the_jitter_buffer_and_for_their_predecessors() {
        let mut screen = Screen::new(50_000_000);
        screen.show(0, ms(0), 10, ms(20)); // 20 ms is the fastest so far: shown at 70 ms
        screen.show(1, ms(40), 10, ms(150)); // late: at once
        screen.show(2, ms(80), 10, ms(151)); // its time was 150 ms
        assert_eq!(screen.take(ms(69)), None);
        let at = |frame: Option<ShownFrame>| frame.map(|shown| (shown.frame, shown.at));
        assert_eq!(at(screen.take(ms(70))), Some((0, ms(70))));
        assert_eq!(at(screen.take(ms(200))), Some((1, ms(150))));
        assert_eq!(at(screen.take(ms(200))), Some((2, ms(151))));
    }
}
