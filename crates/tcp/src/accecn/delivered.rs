//! The count of marked packets at the peer, from its flags and options (`tcp_accecn_process`).

use super::ace::{Ace, MASK};
use super::checks::Checks;
use super::option::{AccEcnOption, SeenOption};
use super::received::{FIRST_BYTES, place};

/// Fractions of the average are 1/64, and so is the weight of a new value.
const SHIFT: u32 = 6;
/// An ACK of more packets than this on average shows that ACKs are thinned (`ACK_COMP_THRESH`).
const MANY_PER_ACK: u32 = 4;
const MOST_AVERAGE: u32 = 0xffff;
/// Sent payload after which a first option is too late.
const LATE: u64 = (1 << 23) - 1;
/// Bits of a byte counter.
const COUNTER_BITS: u32 = 24;
/// The place of CE in the option.
const CE: usize = 1;

/// An ACK, as far as it concerns marks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivery {
    pub(crate) ace: Ace,
    pub(crate) option: Option<AccEcnOption>,
    /// Its timestamp in ms.
    pub(crate) stamp: u32,
    /// True if the ACK acknowledges anything new.
    pub(crate) is_progress: bool,
    /// True if the ACK answers the SYN, so that its flags aren't a counter.
    pub(crate) is_answer: bool,
    /// Packets and bytes that it says were delivered.
    pub(crate) packets: u32,
    pub(crate) bytes: u32,
    /// Marked packets that are known so far.
    pub(crate) marked: u32,
    pub(crate) mss: u32,
    /// Payload sent since the connection began.
    pub(crate) sent_bytes: u64,
}

/// The peer's counters, as far as they are known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivered {
    /// Payload by codepoint, in the option's order (`delivered_ecn_bytes`).
    bytes: [u32; 3],
    /// The place of the only codepoint that the last option reported (`est_ecnfield`).
    estimate: Option<usize>,
    /// Packets that an ACK acknowledges on average (`pkts_acked_ewma`).
    average: u32,
    /// The peer's newest timestamp.
    stamp: u32,
}

impl Delivered {
    /// Counters of a connection whose last packet had the timestamp `stamp`.
    pub(super) fn after(stamp: u32) -> Self {
        Self { stamp, ..Self::default() }
    }

    /// Payload that arrived with this place's codepoint.
    pub(super) fn bytes(&self, place: usize) -> u32 {
        self.bytes[place]
    }

    /// The marked packets that an ACK is the first to report (`__tcp_accecn_process`). A reordered
    /// ACK reports none.
    pub(super) fn take(&mut self, ack: &Delivery, checks: &mut Checks) -> u32 {
        let is_newer = ack.stamp > self.stamp;
        self.stamp = self.stamp.max(ack.stamp);
        if !ack.is_progress && !is_newer {
            return 0;
        }
        let before = self.bytes[CE];
        let knows_bytes = self.take_option(ack, checks);
        self.average_packets(ack.packets);
        if ack.is_answer {
            return 0;
        }
        let delta = ack.ace.count().wrapping_sub(ack.marked) & MASK;
        if ack.packets <= MASK {
            return delta;
        }
        // The counter may have wrapped: this is the maximum.
        let safe = ack.packets - (ack.packets.wrapping_sub(delta) & MASK);
        if knows_bytes {
            return by_bytes(ack, self.bytes[CE].wrapping_sub(before), delta, safe);
        }
        if self.average > MANY_PER_ACK << SHIFT { delta } else { safe }
    }

    fn average_packets(&mut self, packets: u32) {
        if packets == 0 {
            return;
        }
        let new = packets << SHIFT;
        let average = match self.average {
            0 => new,
            average => ((average << SHIFT) - average + new) >> SHIFT,
        };
        self.average = average.min(MOST_AVERAGE);
    }

    /// Takes the option; returns whether the bytes are known (`tcp_accecn_process_option`).
    fn take_option(&mut self, ack: &Delivery, checks: &mut Checks) -> bool {
        if checks.options_change {
            return false;
        }
        let Some(option) = &ack.option else { return self.go_on_without(ack, checks) };
        checks.see(option);
        let estimate = self.estimate;
        let (mut is_ambiguous, mut changed) = (false, None);
        for (ecn, counter) in option.by_codepoint() {
            let place = place(ecn).expect("a counter's codepoint");
            let news = self.update(place, counter);
            is_ambiguous |= news < 0;
            if news != 0 && estimate != Some(place) {
                is_ambiguous |= changed.is_some();
                changed = changed.or(Some(place));
            }
        }
        if changed.is_some() {
            self.estimate = changed;
        }
        if is_ambiguous {
            self.estimate = None;
        }
        estimate.is_some() && !is_ambiguous
    }

    /// Without an option, all bytes had the codepoint that was the only one before.
    fn go_on_without(&mut self, ack: &Delivery, checks: &mut Checks) -> bool {
        if checks.seen == SeenOption::None {
            if ack.sent_bytes >= LATE {
                checks.give_options_up();
            }
            return false;
        }
        if let Some(place) = self.estimate {
            self.bytes[place] = self.bytes[place].wrapping_add(ack.bytes);
        }
        self.estimate.is_some()
    }

    /// Takes a counter of 24 bits; returns how much it has grown (`tcp_update_ecn_bytes`).
    fn update(&mut self, place: usize, counter: u32) -> i32 {
        const SPARE: u32 = u32::BITS - COUNTER_BITS;
        let bytes = counter.wrapping_sub(FIRST_BYTES[place]);
        let delta = bytes.wrapping_sub(self.bytes[place]);
        let delta = (delta << SPARE).cast_signed() >> SPARE;
        self.bytes[place] = self.bytes[place].wrapping_add_signed(delta);
        delta
    }
}

/// The marked packets among many, of whose bytes `marked` had marks: `delta`, or more since the
/// counter wrapped.
fn by_bytes(ack: &Delivery, marked: u32, delta: u32, safe: u32) -> u32 {
    if marked == 0 {
        return delta;
    }
    if ack.packets >= 2 * (MASK + 1) {
        if ack.bytes <= marked {
            return safe;
        }
        let estimate = (u64::from(marked) * u64::from(ack.packets)).div_ceil(u64::from(ack.bytes));
        let estimate = u32::try_from(estimate).expect("no more than the packets");
        return safe.min(delta + (estimate & !MASK));
    }
    let bytes_of = |packets: u32| u64::from(packets) * u64::from(ack.mss);
    if u64::from(marked) > bytes_of(delta) {
        return safe;
    }
    if u64::from(marked) < bytes_of(safe) / 2 { delta } else { safe }
}

#[cfg(test)]
mod tests {
    use super::super::option::OptionOrder;
    use super::*;

    const MSS: u32 = 1_000;

    fn ack(packets: u32, ace: u8) -> Delivery {
        let is_progress = packets > 0;
        let (ace, bytes) = (Ace::from_bits(ace), packets * MSS);
        Delivery { ace, packets, bytes, is_progress, mss: MSS, ..Delivery::default() }
    }

    fn take(acks: &[Delivery]) -> u32 {
        let (mut delivered, mut checks) = (Delivered::default(), Checks::default());
        acks.iter().fold(0, |marked, ack| {
            marked + delivered.take(&Delivery { marked, ..*ack }, &mut checks)
        })
    }

    fn with_bytes(ack: Delivery, [e1, ce, e0]: [u32; 3]) -> Delivery {
        let option = AccEcnOption::new(OptionOrder::Ect1First, &[1 + e1, ce, 1 + e0]);
        Delivery { option: Some(option), ..ack }
    }

    #[test]
    fn few_packets_leave_no_doubt() {
        assert_eq!(take(&[ack(2, 5), ack(2, 7), ack(2, 0)]), 3);
        assert_eq!(take(&[ack(0, 6)]), 0, "a reordered one");
        assert_eq!(take(&[Delivery { stamp: 1, ..ack(0, 6) }]), 1, "a newer one");
    }

    #[test]
    fn a_counter_may_have_wrapped_unless_acks_are_thinned() {
        assert_eq!(take(&[ack(1, 5), ack(9, 5)]), 8);
        assert_eq!(take(&[ack(10, 5)]), 0);
        assert_eq!(take(&[ack(10, 4)]), 7);
    }

    #[test]
    fn bytes_tell_whether_the_counter_wrapped() {
        let start = with_bytes(ack(1, 5), [0, 0, MSS]);
        // All as before: the estimate holds.
        assert_eq!(take(&[start, with_bytes(ack(9, 5), [0, 0, 10 * MSS])]), 0);
        let marks = with_bytes(ack(1, 6), [0, MSS, MSS]);
        assert_eq!(take(&[start, marks, with_bytes(ack(9, 6), [0, 10 * MSS, MSS])]), 9);
        let many = with_bytes(ack(20, 6), [0, 9 * MSS, 13 * MSS]);
        assert_eq!(take(&[start, marks, many]), 9, "8 of 20");
        let both = with_bytes(ack(9, 6), [4 * MSS, MSS, 6 * MSS]);
        assert_eq!(take(&[start, marks, both]), 9, "bytes of two other codepoints are no estimate");
    }

    #[test]
    fn counters_wrap_and_return() {
        let mut delivered = Delivered::default();
        assert_eq!(delivered.update(CE, 0xff_ffff), -1);
        assert_eq!(delivered.update(CE, 5), 6);
        assert_eq!(delivered.update(0, 1), 0, "the first value");
    }

    #[test]
    fn a_first_option_may_come_too_late() {
        let (mut delivered, mut checks) = (Delivered::default(), Checks::default());
        delivered.take(&Delivery { sent_bytes: LATE, ..ack(1, 5) }, &mut checks);
        delivered.take(&with_bytes(ack(1, 5), [0, 0, MSS]), &mut checks);
        assert_eq!(delivered.bytes(2), 0);
    }
}
