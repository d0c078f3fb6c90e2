//! Helpers of the tests.

use narrows_base::{Duration, Time};
use narrows_spec::law::Law;
use narrows_spec::scenario::{Media, MediaControl};

use crate::control::{Fate, FeedbackPacket, Report};

pub(crate) fn ms(at: u64) -> Time {
    Time::from_nanos(at * 1_000_000)
}

/// Feedback at `now` for packets of 1000 bytes sent 50 ms before they arrived, plus `queued`.
pub(crate) fn report(now: u64, arrived: &[u64], queued: u64, lost: usize) -> Report {
    let one = |&at: &u64| {
        let (sent, at) = (ms(at - 50 - queued), ms(at));
        FeedbackPacket { size: 1_000, sent, fate: Fate::Arrived { at, marked: false } }
    };
    let last = *arrived.last().expect("one");
    let gone = FeedbackPacket { size: 1_000, sent: ms(last - 50 - queued), fate: Fate::Lost };
    let mut seen: Vec<FeedbackPacket> = arrived.iter().map(one).collect();
    seen.extend(vec![gone; lost]);
    let rtt = Duration::from_millis(100);
    Report {
        now: ms(now),
        at: ms(now - 50),
        newly_acked: 1_000 * seen.len() as u64,
        in_flight: 5_000,
        highest: (ms(last - 50 - queued), ms(last)),
        seen,
        rtt,
        srtt: rtt,
    }
}

/// A flow from 0.1 to 2.4 Mbit/s with 30 frames a second, all of the mean size.
pub(crate) fn media(control: MediaControl) -> Media {
    Media {
        control,
        min_bps: 96_000,
        max_bps: 2_400_000,
        fps: 30,
        packet_bytes: 1_032,
        reaction_ns: 200_000_000,
        deviation_ppm: Law::Constant(0),
        key_frame: 3,
        jitter_buffer_ns: 0,
        feedback_ns: 100_000_000,
    }
}
