//! The buffer model: no more than half of the flow's own share of the bottleneck's
//! buffer (Cardwell et al., BBR update at IETF 98, "modeling available buffer space").

use std::collections::VecDeque;

use narrows_base::{Duration, Time};

use crate::bbr::units::packets_in;

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
    /// Whether the latest recovery is in its first round.
    first_round: bool,
}

impl BufferModel {
    /// A model that remembers recoveries for `memory`.
    pub(super) const fn new(memory: Duration) -> Self {
        Self { memory, recoveries: VecDeque::new(), first_round: false }
    }

    /// A recovery begins.
    pub(super) fn begin_recovery(&mut self, now: Time) {
        self.recoveries.push_back(Recovery { began: now, sum_us: 0, samples: 0 });
        self.first_round = true;
    }

    /// Its first round is over.
    pub(super) const fn end_round(&mut self) {
        self.first_round = false;
    }

    /// Takes the RTT sample of an ACK, and forgets old recoveries.
    pub(super) fn update(&mut self, now: Time, rtt: Option<Duration>) {
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
    pub(super) fn room(&self, bw: u32, min_rtt_us: u32) -> Option<u32> {
        let queue_us = self.full_rtt_us()?.saturating_sub(u64::from(min_rtt_us));
        Some(u32::try_from(packets_in(bw, queue_us) / 2).unwrap_or(u32::MAX))
    }
}
