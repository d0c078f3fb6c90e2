//! How far a flow has come, without a sequence number.

/// A point in a flow's data: the end of everything sent when it was set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark(u64);

impl Mark {
    /// Before the first packet.
    pub const START: Self = Self(0);

    /// The point `packets` later.
    #[must_use]
    pub const fn later(self, packets: u64) -> Self {
        Self(self.0 + packets)
    }
}

/// The data sent and acknowledged. A control can set a mark and ask later whether it is
/// acknowledged, and it can count packets between two samples, without seeing sequence numbers.
///
/// ```
/// use narrows_cc::Progress;
///
/// let round_end = Progress::new(3, 10).mark();
/// assert!(!Progress::new(9, 14).has_reached(round_end));
/// assert!(Progress::new(10, 15).has_reached(round_end));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    acked: u64,
    sent: u64,
}

impl Progress {
    /// A flow that has sent `sent` new packets, the first `acked` of them acknowledged
    /// cumulatively; for senders.
    #[must_use]
    pub const fn new(acked: u64, sent: u64) -> Self {
        Self { acked, sent }
    }

    /// The end of the data sent so far (`snd_nxt`).
    #[must_use]
    pub const fn mark(self) -> Mark {
        Mark(self.sent)
    }

    /// The end of the data acknowledged so far (`snd_una`).
    #[must_use]
    pub const fn acked_mark(self) -> Mark {
        Mark(self.acked)
    }

    /// Returns `true` if everything sent before the mark is acknowledged (`!before(snd_una,
    /// mark)`).
    #[must_use]
    pub const fn has_reached(self, mark: Mark) -> bool {
        self.acked >= mark.0
    }

    /// Returns `true` if something sent after the mark is acknowledged, too (`after(snd_una,
    /// mark)`).
    #[must_use]
    pub const fn has_passed(self, mark: Mark) -> bool {
        self.acked > mark.0
    }

    /// Packets sent and not acknowledged cumulatively (`packets_out`).
    #[must_use]
    pub const fn outstanding(self) -> u64 {
        self.sent - self.acked
    }

    /// Packets acknowledged cumulatively since `earlier`.
    #[must_use]
    pub const fn acked_since(self, earlier: Self) -> u64 {
        self.acked - earlier.acked
    }

    /// New packets sent since `earlier`.
    #[must_use]
    pub const fn sent_since(self, earlier: Self) -> u64 {
        self.sent - earlier.sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_reached_by_what_came_before_it_and_passed_by_what_came_after() {
        let mark = Progress::new(3, 10).mark();
        let at = |acked| Progress::new(acked, 15);
        assert_eq!([9, 10, 11].map(|acked| at(acked).has_reached(mark)), [false, true, true]);
        assert_eq!([9, 10, 11].map(|acked| at(acked).has_passed(mark)), [false, false, true]);
        assert!(Progress::default().has_reached(Mark::START));
        let later = Progress::new(3, 10).acked_mark().later(4);
        assert_eq!([6, 7, 8].map(|acked| at(acked).has_reached(later)), [false, true, true]);
    }

    #[test]
    fn two_samples_tell_what_happened_between_them() {
        let (before, now) = (Progress::new(3, 10), Progress::new(7, 12));
        assert_eq!((now.acked_since(before), now.sent_since(before)), (4, 2));
        assert_eq!(now.outstanding(), 5);
    }
}
