//! The flows of one capture.

use super::table::Flows;
use crate::decode::CapturedSegment;

/// The flows of one capture, on a clock that begins with it.
pub(crate) struct CaptureFlows {
    pub(crate) flows: Flows,
    pub(crate) origin: Option<u64>,
    /// The latest instant, in ns from the origin.
    pub(crate) end: u64,
    /// Segments that were earlier than one before them.
    pub(crate) backwards: u64,
}

impl CaptureFlows {
    pub(crate) fn new(packets: bool, origin: Option<u64>) -> Self {
        Self { flows: Flows::new(packets), origin, end: 0, backwards: 0 }
    }

    #[inline]
    pub(crate) fn on(&mut self, mut segment: CapturedSegment) {
        let origin = *self.origin.get_or_insert(segment.time);
        segment.time = segment.time.saturating_sub(origin);
        self.backwards += u64::from(segment.time < self.end);
        self.end = self.end.max(segment.time);
        self.flows.on(&segment);
    }
}
