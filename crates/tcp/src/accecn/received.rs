//! Counters of received codepoints, and the rules for the option that reports them.

use narrows_base::{Duration, Ecn, Time};

use super::ace::Ace;
use super::checks::Checks;
use super::option::{AccEcnOption, Fit, OptionOrder, SeenOption};
use super::settings::{AccEcnSettings, OptionUse};

/// The largest number of marked packets that wait for a header to report them.
const MOST_UNREPORTED: u32 = 15;
/// The number of unreported packets with which an ACK leaves at once (`TCP_ACCECN_ACE_MAX_DELTA`).
const PRESSING: u32 = 6;
/// When one of these bits of a byte counter changes, an option is due: every 4 MiB.
const HIGH_BITS: u32 = !0 << 22;
/// The number of options due after a change of codepoint: the second one surely has the new value.
const AFTER_CHANGE: u8 = 2;

/// The first values of the byte counters, in the option's order: not all are zero, to detect a
/// middlebox that zeroes them.
pub(super) const FIRST_BYTES: [u32; 3] = [1, 0, 1];

/// The place of a codepoint in Linux's option; `None` for Not-ECT.
pub(super) fn place(ecn: Ecn) -> Option<usize> {
    match ecn {
        Ecn::NotEct => None,
        Ecn::Ect1 => Some(0),
        Ecn::Ce => Some(1),
        Ecn::Ect0 => Some(2),
    }
}

/// The place of a packet's option beside others.
#[derive(Clone, Copy, Debug)]
pub struct OptionSlot {
    /// Bytes of the options other than SACK blocks.
    pub others: usize,
    /// The number of SACK blocks to send.
    pub blocks: usize,
    /// The first packet of the duplicate that the blocks report.
    pub duplicate: Option<u32>,
    /// When the packet leaves.
    pub now: Time,
    /// The smoothed round trip of this end.
    pub srtt: Duration,
}

/// Bytes of timestamps with their padding.
const STAMPS: usize = 12;

impl OptionSlot {
    /// The place in a packet that leaves at `now` with timestamps and no SACK blocks.
    #[must_use]
    pub fn beside_timestamps(now: Time) -> Self {
        Self { others: STAMPS, blocks: 0, duplicate: None, now, srtt: Duration::ZERO }
    }
}

/// The counters of an end (`received_ce`, `received_ecn_bytes`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceivedCounters {
    marked: u32,
    /// Marked packets that no header has reported (`received_ce_pending`).
    unreported: u32,
    /// Payload by codepoint, in the option's order.
    bytes: [u32; 3],
    /// The codepoint of the last packet (`prev_ecnfield`).
    last: Ecn,
    /// Fields that the next option needs (`accecn_minlen`).
    needed: u8,
    /// Packets that need an option (`accecn_opt_demand`).
    due: u8,
    /// When the last option left.
    sent_at: Time,
    /// The duplicate that was reported beside it, if it left in the last packet.
    beside: Option<u32>,
    /// The peer's newest timestamp in ms.
    stamp: u32,
}

impl ReceivedCounters {
    /// Begins with the peer's packet of the handshake, which arrived with this codepoint.
    pub(super) fn begin(&mut self, ecn: Ecn, due: u8) {
        (self.last, self.due) = (ecn, due);
    }

    /// Counts an answer to the SYN that arrived with a mark.
    pub(super) fn count_answer(&mut self) {
        self.marked += 1;
        self.unreported += 1;
    }

    /// Asks for an option in at least this many packets.
    pub(super) fn demand(&mut self, packets: u8) {
        self.due = self.due.max(packets);
    }

    /// Counts packets that arrived as one with `len` bytes of payload; returns whether their codepoint
    /// differs from the last one (`tcp_ecn_received_counters`).
    pub(super) fn note(&mut self, ecn: Ecn, packets: u32, len: u32) -> bool {
        let is_marked = ecn == Ecn::Ce;
        if is_marked {
            self.marked = self.marked.wrapping_add(packets);
            self.unreported = (self.unreported + packets).min(MOST_UNREPORTED);
        }
        if let Some(place) = place(ecn).filter(|_| len > 0) {
            let before = self.bytes[place];
            self.bytes[place] = before.wrapping_add(len);
            self.needed = self.needed.max(u8::try_from(place + 1).expect("three fields"));
            if (self.bytes[place] ^ before) & HIGH_BITS != 0 {
                self.demand(1);
            }
        }
        let is_edge = self.last != ecn;
        if is_edge || is_marked {
            (self.last, self.due) = (ecn, AFTER_CHANGE);
        }
        is_edge
    }

    /// Returns `true` if an ACK must report marks soon. Only a packet with a newer timestamp than all
    /// before asks for that: one that was reordered doesn't.
    pub(super) fn must_report_soon(&mut self, stamp: u32) -> bool {
        let is_news = stamp > self.stamp;
        self.stamp = self.stamp.max(stamp);
        is_news && self.unreported >= PRESSING
    }

    pub(super) fn received_ce(&self) -> u32 {
        self.marked
    }

    /// Payload that arrived with this place's codepoint.
    pub(super) fn bytes(&self, place: usize) -> u32 {
        self.bytes[place]
    }

    /// Returns the count for the header of a packet to send (`tcp_accecn_set_ace`).
    pub(super) fn report(&mut self) -> Ace {
        self.unreported = 0;
        Ace::of_count(self.marked)
    }

    /// True if data from `seq` on, which just arrived again, were already reported as a duplicate
    /// by a packet with an option: the path seems to drop packets with the option.
    pub(super) fn is_option_dropped(&self, seq: u32) -> bool {
        self.beside == Some(seq)
    }

    /// Returns the option of a packet, if it has one, and the number of SACK blocks beside it
    /// (`tcp_established_options`).
    pub(super) fn compose(
        &mut self,
        slot: &OptionSlot,
        settings: &AccEcnSettings,
        checks: &Checks,
    ) -> Option<(AccEcnOption, usize)> {
        self.beside = None;
        if !self.wants_option(slot, settings, checks) {
            return None;
        }
        let fit = Fit::find(self.needed, slot.others, slot.blocks)?;
        (self.needed, self.sent_at, self.beside) = (0, slot.now, slot.duplicate);
        self.due = self.due.saturating_sub(1);
        Some((self.option(fit.fields), fit.blocks))
    }

    fn wants_option(&self, slot: &OptionSlot, settings: &AccEcnSettings, checks: &Checks) -> bool {
        if !may_send(settings, checks) {
            return false;
        }
        let since = slot.now.saturating_since(self.sent_at).as_micros();
        let is_beacon =
            settings.beacons > 0 && since.saturating_mul(settings.beacons) >= slot.srtt.as_micros();
        settings.option >= OptionUse::Full || self.due > 0 || is_beacon
    }

    fn option(&self, fields: u8) -> AccEcnOption {
        let mut counters = FIRST_BYTES;
        for (counter, bytes) in counters.iter_mut().zip(self.bytes) {
            *counter = counter.wrapping_add(bytes);
        }
        AccEcnOption::new(OptionOrder::Ect1First, &counters[..usize::from(fields)])
    }
}

/// Returns `true` if options may be sent and, as far as the ends know, pass the path.
pub(super) fn may_send(settings: &AccEcnSettings, checks: &Checks) -> bool {
    let passes = settings.option >= OptionUse::Always || !checks.options_vanish;
    settings.option != OptionUse::Never && checks.seen != SeenOption::None && passes
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: AccEcnSettings =
        AccEcnSettings { option: OptionUse::Sparse, beacons: 3, falls_back: true };

    fn slot(now_ms: u64) -> OptionSlot {
        let now = Time::ZERO + Duration::from_millis(now_ms);
        let srtt = Duration::from_millis(30);
        OptionSlot { others: 12, blocks: 0, duplicate: None, now, srtt }
    }

    #[test]
    fn options_are_sparse_when_nothing_changes() {
        let checks = Checks { seen: SeenOption::Counters, ..Checks::default() };
        let mut received = ReceivedCounters::default();
        let sends = |received: &mut ReceivedCounters, ms| {
            received.compose(&slot(ms), &SETTINGS, &checks).is_some()
        };
        assert!(received.note(Ecn::Ect0, 1, 1_000), "a change");
        assert_eq!([1, 2, 3].map(|ms| sends(&mut received, ms)), [true, true, false]);
        assert!(!received.note(Ecn::Ect0, 1, 1_000));
        assert_eq!([11, 12].map(|ms| sends(&mut received, ms)), [false, true], "10 ms later");
        received.note(Ecn::Ect0, 1, 1 << 22);
        assert!(sends(&mut received, 13), "4 MiB more");
    }

    #[test]
    fn a_mark_is_reported_by_flags_and_bytes() {
        let checks = Checks { seen: SeenOption::Empty, ..Checks::default() };
        let mut received = ReceivedCounters::default();
        received.note(Ecn::Ect1, 1, 1_000);
        received.note(Ecn::Ce, 1, 500);
        assert_eq!(received.report(), Ace::of_count(1));
        let option = received.compose(&slot(1), &SETTINGS, &checks).map(|one| one.0);
        assert_eq!(option.map(|one| one.counters().to_vec()), Some(vec![1_001, 500, 1]));
    }

    #[test]
    fn many_marks_without_an_ack_press() {
        let mut received = ReceivedCounters::default();
        received.note(Ecn::Ce, 5, 5_000);
        assert!(!received.must_report_soon(1));
        received.note(Ecn::Ce, 1, 1_000);
        assert!(!received.must_report_soon(1), "the timestamp isn't new");
        assert!(received.must_report_soon(2));
        received.report();
        assert!(!received.must_report_soon(3));
    }
}
