//! Token buckets, for rates with bursts.

use narrows_base::{Bytes, Rate, Time};

/// A token bucket that counts in time, as in Linux: a packet costs its transmission time at the
/// rate, in whole ns (`sch_tbf.c`, `act_police.c`).
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    rate: Rate,
    /// Tokens of a full bucket, in ns.
    depth: u64,
    /// Tokens at the checkpoint, in ns.
    tokens: u64,
    checkpoint: Time,
}

impl Bucket {
    /// A full bucket.
    ///
    /// # Panics
    /// If the rate or the depth is zero.
    pub(crate) fn new(rate: Rate, depth: Bytes) -> Self {
        assert!(rate.as_bps() > 0, "a token bucket needs a rate above zero");
        assert!(depth > Bytes::ZERO, "a token bucket needs a burst above zero");
        let depth = rate.time_to_send(depth).as_nanos();
        Self { rate, depth, tokens: depth, checkpoint: Time::ZERO }
    }

    fn cost(&self, size: u64) -> u64 {
        self.rate.time_to_send(Bytes::new(size)).as_nanos()
    }

    fn tokens_at(&self, now: Time) -> u64 {
        self.tokens.saturating_add((now - self.checkpoint).as_nanos()).min(self.depth)
    }

    /// When `size` bytes may pass, as of `now`, or `now` itself if they may. More than the bucket
    /// holds never may.
    pub(crate) fn ready(&self, size: u64, now: Time) -> Time {
        let (cost, tokens) = (self.cost(size), self.tokens_at(now));
        if cost > self.depth {
            return Time::MAX;
        }
        Time::from_nanos(now.as_nanos() + cost.saturating_sub(tokens))
    }

    /// Takes the tokens of `size` bytes that pass at `now`.
    pub(crate) fn take(&mut self, size: u64, now: Time) {
        self.tokens = self.tokens_at(now) - self.cost(size);
        self.checkpoint = now;
    }
}
