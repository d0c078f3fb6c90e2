//! The times of events, and how far from them things may happen.

use crate::end::EndError;
use crate::script::{Action, EventTime, PacketDirection, ScriptEvent};

const NANOS_PER_SEC: f64 = 1e9;
/// An event may be off by this part of the time since the last one: 12.5 %.
const TOLERANCE_DIVISOR: i64 = 8;

/// When an event is due, in ns since the start.
#[derive(Clone, Copy, Debug)]
pub struct EventDue {
    /// The time, or the earliest one.
    pub start: i64,
    /// The same, or the latest one.
    pub end: i64,
    /// The time that a relative one counts from.
    pub offset: i64,
    /// The time of the last event.
    pub since: Option<i64>,
    /// True if any time is right.
    pub any: bool,
}

/// The script's side of the clock.
#[derive(Debug)]
pub struct ScriptClock {
    tolerance_ns: i64,
    last: Option<i64>,
    /// The time of the last event if that was a packet to the end: from there on time counts for
    /// another packet to the end, so that delays don't add up.
    anchor: Option<i64>,
}

impl ScriptClock {
    pub fn new(tolerance_ns: i64) -> Self {
        Self { tolerance_ns, last: None, anchor: None }
    }

    /// When the next event is due.
    pub fn begin(&self, event: &ScriptEvent, now: i64) -> EventDue {
        let offset = self.anchor.filter(|_| is_anchored(event)).unwrap_or(now);
        let (start, end) = match event.when {
            EventTime::At(at) => (at, at),
            EventTime::Between(start, end) => (start, end),
            EventTime::After(after) => (offset + after, offset + after),
            EventTime::AfterBetween(start, end) => (offset + start, offset + end),
            EventTime::Any => (offset, offset),
        };
        EventDue { start, end, offset, since: self.last, any: event.when == EventTime::Any }
    }

    pub fn end(&mut self, event: &ScriptEvent, due: EventDue) {
        self.last = Some(due.start);
        self.anchor = Some(due.start).filter(|_| is_anchored(event));
    }

    /// Checks that something happened when it was due.
    pub fn check(&self, due: EventDue, at: i64, what: &str) -> Result<(), EndError> {
        let tolerance = self.tolerance(due);
        if due.any || (due.start - tolerance..=due.end + tolerance).contains(&at) {
            return Ok(());
        }
        let expected = if due.start == due.end {
            seconds(due.start)
        } else {
            format!("{} to {}", seconds(due.start), seconds(due.end))
        };
        Err(EndError::Failed(format!(
            "{what} at {} s, not at {expected} s (within {} s)",
            seconds(at),
            seconds(tolerance)
        )))
    }

    fn tolerance(&self, due: EventDue) -> i64 {
        let since = due.since.map_or(0, |since| (due.start - since) / TOLERANCE_DIVISOR);
        self.tolerance_ns.max(since)
    }

    /// By how many ns a timestamp may be off: by more the longer the script has run.
    pub fn timestamp_tolerance(&self, due: EventDue) -> i64 {
        self.tolerance_ns.max(due.start / TOLERANCE_DIVISOR)
    }
}

fn is_anchored(event: &ScriptEvent) -> bool {
    matches!(event.action, Action::Packet(PacketDirection::Inbound, _))
}

/// A time in seconds, to the microsecond.
#[expect(clippy::cast_precision_loss, reason = "shown to six digits")]
pub fn seconds(ns: i64) -> String {
    format!("{:.6}", ns as f64 / NANOS_PER_SEC)
}
