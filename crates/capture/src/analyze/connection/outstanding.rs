//! Data sent by a flow and not yet acknowledged.

use std::collections::VecDeque;
use std::ops::Range;

/// The most entries of one flow; beyond that, older ones are dropped (a window of 380 MB).
const MOST: usize = 1 << 18;
/// Beyond this number, entries are no longer split: insertion would take too long.
const MOST_TO_SPLIT: usize = 1 << 13;

/// Entries that are looked at for retransmitted ones; a sender after a timeout has fewer.
const MOST_TO_LOOK_AT: usize = 1024;

/// A range of sequence numbers sent at once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SentRange {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// When it was first seen; for a hole, when the data after it were.
    pub(crate) time: u64,
    /// Its timestamp; for a hole, that of the data after it.
    pub(crate) stamp: Option<u32>,
    /// IPv4 identification.
    pub(crate) id: u16,
    /// True if it was seen more than once.
    pub(crate) again: bool,
    pub(crate) sacked: bool,
    /// True if it is deemed lost and wasn't seen again since.
    pub(crate) lost: bool,
    /// True if it is a hole, never seen at the capture.
    pub(crate) unseen: bool,
    /// True if it is a SYN or FIN, a number without a byte.
    pub(crate) control: bool,
}

impl SentRange {
    pub(crate) fn length(&self) -> u64 {
        self.end - self.begin
    }
}

/// Consecutive entries from the acknowledged number to the highest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outstanding {
    entries: VecDeque<SentRange>,
    /// Bytes selectively acknowledged.
    pub(crate) sacked: u64,
    /// Bytes deemed lost.
    pub(crate) lost: u64,
    /// Bytes dropped because there were too many entries.
    pub(crate) given_up: u64,
}

impl Outstanding {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn front(&self) -> Option<&SentRange> {
        self.entries.front()
    }

    /// All bytes.
    pub(crate) fn span(&self) -> u64 {
        match (self.entries.front(), self.entries.back()) {
            (Some(first), Some(last)) => last.end - first.begin,
            _ => 0,
        }
    }

    /// Bytes in flight as the sender would count them.
    pub(crate) fn in_flight(&self) -> u64 {
        self.span().saturating_sub(self.sacked + self.lost)
    }

    /// Adds an entry beyond all others.
    pub(crate) fn push(&mut self, sent: SentRange) {
        debug_assert!(self.entries.back().is_none_or(|last| last.end == sent.begin));
        if self.entries.len() >= MOST
            && let Some(oldest) = self.entries.pop_front()
        {
            self.given_up += oldest.length();
            self.discount(oldest);
        }
        self.entries.push_back(sent);
    }

    fn discount(&mut self, sent: SentRange) {
        self.sacked -= if sent.sacked { sent.length() } else { 0 };
        self.lost -= if sent.lost { sent.length() } else { 0 };
    }

    /// Removes everything below `ack`; `each` gets every part of it.
    pub(crate) fn acknowledge(&mut self, ack: u64, mut each: impl FnMut(&SentRange)) {
        while let Some(first) = self.entries.front_mut() {
            if first.begin >= ack {
                return;
            }
            let mut part = *first;
            part.end = part.end.min(ack);
            first.begin = part.end;
            if first.begin == first.end {
                self.entries.pop_front();
            }
            self.discount(part);
            each(&part);
        }
    }

    /// The entries that overlap a range, cut at its ends where that is cheap.
    pub(crate) fn within(&mut self, begin: u64, end: u64) -> Range<usize> {
        self.split(begin);
        self.split(end);
        let first = self.entries.partition_point(|sent| sent.end <= begin);
        let last = self.entries.partition_point(|sent| sent.begin < end);
        first..last.max(first)
    }

    fn split(&mut self, at: u64) {
        if self.entries.len() > MOST_TO_SPLIT {
            return;
        }
        let index = self.entries.partition_point(|sent| sent.end <= at);
        let Some(sent) = self.entries.get_mut(index).filter(|sent| sent.begin < at) else { return };
        let rest = SentRange { begin: at, ..*sent };
        sent.end = at;
        self.entries.insert(index + 1, rest);
    }

    pub(crate) fn get(&self, index: usize) -> &SentRange {
        &self.entries[index]
    }

    /// Notes that an entry was seen again.
    pub(crate) fn repeat(&mut self, index: usize, id: u16) {
        let sent = &mut self.entries[index];
        self.lost -= if sent.lost { sent.length() } else { 0 };
        (sent.again, sent.lost, sent.id) = (true, false, id);
    }

    /// Returns whether any of the first entries was seen more than once.
    pub(crate) fn any_repeated(&self) -> bool {
        self.entries.iter().take(MOST_TO_LOOK_AT).any(|sent| sent.again)
    }

    /// Fills a hole.
    pub(crate) fn fill(&mut self, index: usize, time: u64, late: bool) {
        let sent = &mut self.entries[index];
        self.lost -= if sent.lost { sent.length() } else { 0 };
        (sent.unseen, sent.lost) = (false, false);
        // Data retransmitted upstream can't be timed, like those retransmitted here.
        (sent.again, sent.time) = (late, time);
    }

    /// Marks an entry in a SACK block; returns it if that is new.
    pub(crate) fn sack(&mut self, index: usize) -> Option<SentRange> {
        let sent = &mut self.entries[index];
        if sent.sacked {
            return None;
        }
        let before = *sent;
        (sent.sacked, sent.lost) = (true, false);
        self.sacked += before.length();
        self.lost -= if before.lost { before.length() } else { 0 };
        Some(before)
    }

    /// Deems data between two numbers lost unless selectively acknowledged.
    pub(crate) fn lose(&mut self, begin: u64, end: u64) {
        let first = self.entries.partition_point(|sent| sent.begin < begin);
        for sent in self.entries.range_mut(first..) {
            if sent.end > end {
                return;
            }
            if !(sent.sacked || sent.again || sent.lost) {
                sent.lost = true;
                self.lost += sent.length();
            }
        }
    }
}
