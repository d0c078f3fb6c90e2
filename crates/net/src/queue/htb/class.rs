//! The two token buckets of an HTB class: its own rate, and its ceiling.

use narrows_base::{Bytes, Rate, Time};

/// The mode of a class (`enum htb_cmode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// It is above its ceiling.
    CantSend,
    /// It is above its rate, and below its ceiling.
    MayBorrow,
    CanSend,
}

/// Rates and bursts of a class, in bytes of Ethernet frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The rate it may send at without borrowing.
    pub rate: Rate,
    /// The rate it may reach by borrowing.
    pub ceil: Rate,
    /// Bytes that may leave at once at its rate.
    pub burst: Bytes,
    /// Bytes that may leave at once at its ceiling.
    pub cburst: Bytes,
}

/// The longest time that counts, in ns (`mbuffer`).
const LONGEST: i64 = 60_000_000_000;
/// `tc` passes the time of a burst as a 32-bit number of ticks of this many ns.
const TICK: u64 = 64;

/// A class's tokens, in ns of transmission time.
#[derive(Clone, Debug)]
pub(super) struct Class {
    shape: Shape,
    /// The most that its buckets hold.
    depth: i64,
    ceil_depth: i64,
    tokens: i64,
    ceil_tokens: i64,
    checkpoint: Time,
    mode: Mode,
    /// When its mode changes by itself.
    next_change: Option<Time>,
}

fn depth(rate: Rate, burst: Bytes) -> i64 {
    let nanos = u128::from(burst.get()) * 8_000_000_000 / u128::from(rate.as_bps());
    let ticks = (nanos / u128::from(TICK)).min(u32::MAX.into());
    #[expect(clippy::cast_possible_truncation, reason = "it fits 32 bits")]
    let ticks = ticks as u64;
    (ticks * TICK).cast_signed()
}

impl Class {
    /// A class with full buckets.
    pub(super) fn new(shape: Shape) -> Self {
        let (depth, ceil_depth) = (depth(shape.rate, shape.burst), depth(shape.ceil, shape.cburst));
        Self {
            shape,
            depth,
            ceil_depth,
            tokens: depth,
            ceil_tokens: ceil_depth,
            checkpoint: Time::ZERO,
            mode: Mode::CanSend,
            next_change: None,
        }
    }

    pub(super) const fn mode(&self) -> Mode {
        self.mode
    }

    pub(super) const fn next_change(&self) -> Option<Time> {
        self.next_change
    }

    fn ns_since_checkpoint(&self, now: Time) -> i64 {
        (now - self.checkpoint).as_nanos().cast_signed().min(LONGEST)
    }

    /// Returns the mode `elapsed` ns after the checkpoint, and the ns until it changes by itself
    /// (`htb_class_mode`).
    fn mode_after(&self, elapsed: i64) -> (Mode, i64) {
        if self.ceil_tokens + elapsed < 0 {
            return (Mode::CantSend, -(self.ceil_tokens + elapsed));
        }
        if self.tokens + elapsed >= 0 {
            return (Mode::CanSend, 0);
        }
        (Mode::MayBorrow, -(self.tokens + elapsed))
    }

    fn enter(&mut self, (mode, wait): (Mode, i64), now: Time) {
        self.mode = mode;
        let at = Time::from_nanos(now.as_nanos() + wait.max(1).cast_unsigned());
        self.next_change = (mode != Mode::CanSend).then_some(at);
    }

    /// Changes the mode, which is due at `now` or before (`htb_do_events`).
    pub(super) fn change(&mut self, now: Time) {
        let next = self.mode_after(self.ns_since_checkpoint(now));
        self.enter(next, now);
    }

    /// Charges `bytes` sent at `now` to the ceiling and, unless the class `borrows` them, to its own
    /// rate (`htb_charge_class`).
    pub(super) fn charge(&mut self, bytes: u64, borrows: bool, now: Time) {
        let elapsed = self.ns_since_checkpoint(now);
        let cost = |rate: Rate| rate.time_to_send(Bytes::new(bytes)).as_nanos().cast_signed();
        let left = |tokens: i64, depth: i64, cost: i64| {
            ((tokens + elapsed).min(depth) - cost).max(1 - LONGEST)
        };
        self.tokens = if borrows {
            self.tokens + elapsed
        } else {
            left(self.tokens, self.depth, cost(self.shape.rate))
        };
        self.ceil_tokens = left(self.ceil_tokens, self.ceil_depth, cost(self.shape.ceil));
        self.checkpoint = now;
        let next = self.mode_after(0);
        // Tokens don't move the end of an unchanged mode.
        if next.0 != self.mode {
            self.enter(next, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::from_nanos(us * 1_000)
    }

    /// 8 and 16 Mbit/s: 1 and 0.5 us for a byte.
    fn class() -> Class {
        let bytes = Bytes::new(1_600);
        let (rate, ceil) = (Rate::from_bps(8_000_000), Rate::from_bps(16_000_000));
        Class::new(Shape { rate, ceil, burst: bytes, cburst: bytes })
    }

    #[test]
    fn a_class_sends_then_borrows_then_waits_and_back() {
        let mut class = class();
        class.charge(1_500, false, at(0));
        assert_eq!((class.mode(), class.next_change()), (Mode::CanSend, None));
        class.charge(500, false, at(0));
        // Its rate owes 400 us, its ceiling 200 us.
        assert_eq!((class.mode(), class.next_change()), (Mode::CantSend, Some(at(200))));
        class.change(at(200));
        assert_eq!((class.mode(), class.next_change()), (Mode::MayBorrow, Some(at(400))));
        // Borrowing uses up the ceiling's tokens, not those of the rate.
        class.charge(300, true, at(300));
        assert_eq!((class.mode(), class.next_change()), (Mode::CantSend, Some(at(350))));
        class.change(at(350));
        assert_eq!((class.mode(), class.next_change()), (Mode::MayBorrow, Some(at(400))));
        class.change(at(400));
        assert_eq!((class.mode(), class.next_change()), (Mode::CanSend, None));
    }

    #[test]
    fn bursts_are_counted_in_ticks_and_debts_end_after_a_minute() {
        assert_eq!(class().depth, 1_600_000);
        assert_eq!(depth(Rate::from_bps(7_000_000), Bytes::new(1_600)), 1_828_544);
        let slow = Rate::from_bps(8_000);
        let shape = Shape { rate: slow, ceil: slow, ..class().shape };
        let mut slow = Class::new(shape);
        slow.charge(1_000_000, false, at(0));
        assert_eq!(slow.next_change(), Some(Time::from_nanos(59_999_999_999)));
    }
}
