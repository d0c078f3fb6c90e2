//! The buffer model: no more than half of the flow's own share of the bottleneck's
//! buffer (Cardwell et al., BBR update at IETF 98, "modeling available buffer space").

use std::collections::VecDeque;

use narrows_base::{Duration, Time};

use crate::bbr::units::{GAIN_SCALE, UNIT, packets_in};

/// A pause between two ACKs counts as sending for at most this long.
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
const SECOND_US: u64 = 1_000_000;
/// The room grows to at most this many times its size.
const MOST: u64 = (UNIT as u64) << 12;

/// RTT samples of the first round of one recovery.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    began: Time,
    sum_us: u64,
    samples: u64,
}

/// Estimates the RTT with a full buffer.
#[derive(Clone, Debug)]
pub(super) struct BufferModel {
    memory: Duration,
    recoveries: VecDeque<Recovery>,
    /// True if the latest recovery is in its first round.
    first_round: bool,
    /// The growth of the room per second of sending since the latest recovery, as a gain.
    growth: u32,
    /// Its growth so far, as a gain.
    grown: u64,
    /// Time of sending since its last growth, in us.
    active_us: u64,
    last_ack: Option<Time>,
}

impl BufferModel {
    /// A model that remembers recoveries for `memory`, whose room grows by `growth` a second.
    pub(super) const fn new(memory: Duration, growth: u32) -> Self {
        Self {
            memory,
            recoveries: VecDeque::new(),
            first_round: false,
            growth,
            grown: UNIT as u64,
            active_us: 0,
            last_ack: None,
        }
    }

    /// A recovery begins.
    pub(super) fn begin_recovery(&mut self, now: Time) {
        self.recoveries.push_back(Recovery { began: now, sum_us: 0, samples: 0 });
        self.first_round = true;
        (self.grown, self.active_us) = (UNIT.into(), 0);
    }

    /// Grows the room for the time since the last ACK if the flow was sending.
    fn grow(&mut self, now: Time) {
        let pause = self.last_ack.map_or(Duration::ZERO, |last| now.saturating_since(last));
        self.last_ack = Some(now);
        self.active_us += pause.min(LONGEST_PAUSE).as_micros();
        while self.active_us >= SECOND_US {
            self.active_us -= SECOND_US;
            self.grown = ((self.grown * u64::from(self.growth)) >> GAIN_SCALE).min(MOST);
        }
    }

    /// Its first round is over.
    pub(super) const fn end_round(&mut self) {
        self.first_round = false;
    }

    /// Takes the RTT sample of an ACK, and forgets old recoveries.
    pub(super) fn update(&mut self, now: Time, rtt: Option<Duration>) {
        self.grow(now);
        let memory = self.memory;
        while self.recoveries.front().is_some_and(|old| now.saturating_since(old.began) > memory) {
            self.recoveries.pop_front();
        }
        if let (true, Some(rtt), Some(latest)) = (self.first_round, rtt, self.recoveries.back_mut())
        {
            latest.sum_us += rtt.as_micros();
            latest.samples += 1;
        }
    }

    /// The mean RTT in us with a full buffer, if losses have shown it.
    pub(super) fn full_rtt_us(&self) -> Option<u64> {
        let sum: u64 = self.recoveries.iter().map(|recovery| recovery.sum_us).sum();
        let samples: u64 = self.recoveries.iter().map(|recovery| recovery.samples).sum();
        sum.checked_div(samples)
    }

    /// Packets that a flow of bandwidth `bw` may queue.
    pub(super) fn allowed_queue(&self, bw: u32, min_rtt_us: u32) -> Option<u32> {
        let queue_us = self.full_rtt_us()?.saturating_sub(u64::from(min_rtt_us));
        let room = (packets_in(bw, queue_us) / 2).saturating_mul(self.grown) >> GAIN_SCALE;
        Some(u32::try_from(room).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model after a recovery whose RTT was 100 ms, at 4 packets a ms and 40 ms without a queue.
    fn model_after_recovery(growth: u32) -> BufferModel {
        let mut model = BufferModel::new(Duration::from_secs(100), growth);
        model.begin_recovery(Time::ZERO);
        model.update(Time::ZERO, Some(Duration::from_millis(100)));
        model.end_round();
        model
    }

    /// The room after ACKs that are `gap_ms` apart, for `seconds`.
    fn room(model: &mut BufferModel, gap_ms: u64, seconds: u64) -> u32 {
        for at_ms in (0..=1000 * seconds).step_by(usize::try_from(gap_ms).expect("small")) {
            model.update(Time::ZERO + Duration::from_millis(at_ms), None);
        }
        let packets_per_ms = (4 << crate::bbr::units::BW_SCALE) / 1000;
        model.allowed_queue(packets_per_ms, 40_000).expect("a loss was seen")
    }

    #[test]
    fn the_room_grows_by_its_factor_in_each_second_of_sending() {
        let quarter = UNIT + UNIT / 4;
        assert_eq!(room(&mut model_after_recovery(UNIT), 10, 5), 119);
        assert_eq!(room(&mut model_after_recovery(quarter), 10, 1), 148);
        assert_eq!(room(&mut model_after_recovery(quarter), 10, 4), 119 * 625 / 256);
    }

    #[test]
    fn pauses_and_losses_hold_it_back() {
        let quarter = UNIT + UNIT / 4;
        // Of each second without an ACK a fifth counts.
        assert_eq!(room(&mut model_after_recovery(quarter), 1000, 4), 119);
        let mut model = model_after_recovery(quarter);
        let grown = room(&mut model, 10, 4);
        model.begin_recovery(Time::ZERO + Duration::from_secs(4));
        model.end_round();
        assert!(model.allowed_queue(1 << 14, 40_000).expect("two losses") < grown);
        assert_eq!(model.grown, u64::from(UNIT));
    }
}
