//! How far ACKs run ahead of the bandwidth (`bbr_update_ack_aggregation`).

use super::units::packets_in;

/// Rounds in each of the filter's two slots.
const SLOT_ROUNDS: u32 = 5;
/// An epoch ends after this many packets.
const EPOCH_PACKETS: u64 = 1 << 20;
/// The window allows for at most this much time of aggregation, in us.
const MAX_US: u64 = 100_000;
/// Largest value that Linux's 16-bit slots hold.
const SLOT_MAX: u64 = 0xffff;

/// Extra packets acknowledged, as a maximum over five to ten rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    epoch_us: u64,
    epoch_acked: u64,
    slots: [u64; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    /// Begins an epoch at `now_us`.
    pub(super) const fn begin_epoch(&mut self, now_us: u64) {
        self.epoch_us = now_us;
        self.epoch_acked = 0;
    }

    /// Takes `acked` packets delivered at `delivered_us` on a path of `bw`.
    pub(super) fn update(&mut self, acked: u32, delivered_us: u64, bw: u32, cwnd: u32) {
        let acked = u64::from(acked);
        let span = delivered_us.saturating_sub(self.epoch_us);
        let mut expected = packets_in(bw, span);
        if self.epoch_acked <= expected || self.epoch_acked + acked >= EPOCH_PACKETS {
            self.begin_epoch(delivered_us);
            expected = 0;
        }
        self.epoch_acked = (self.epoch_acked + acked).min(EPOCH_PACKETS - 1);
        let extra = (self.epoch_acked - expected).min(u64::from(cwnd)).min(SLOT_MAX);
        let slot = &mut self.slots[self.current];
        *slot = extra.max(*slot);
    }

    /// Ages the filter at the start of a round, before its first sample.
    pub(super) const fn begin_round(&mut self) {
        self.begin_round_of(SLOT_ROUNDS);
    }

    /// Ages the filter as [`Self::begin_round`] does, with slots of `slot_rounds` rounds.
    pub(super) const fn begin_round_of(&mut self, slot_rounds: u32) {
        self.rounds += 1;
        if self.rounds >= slot_rounds {
            self.rounds = 0;
            self.current ^= 1;
            self.slots[self.current] = 0;
        }
    }

    /// The maximum.
    pub(super) fn extra_acked(&self) -> u64 {
        self.slots[0].max(self.slots[1])
    }

    /// Packets that the window adds for it (`bbr_ack_aggregation_cwnd`).
    pub(super) fn allowance(&self, bw: u32) -> u32 {
        let packets = self.extra_acked().min(packets_in(bw, MAX_US));
        u32::try_from(packets).expect("16 bits")
    }
}
