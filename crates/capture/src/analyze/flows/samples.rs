//! The state of flows at regular instants.

use crate::analyze::connection::HalfConnection;

/// The most rows of all flows together; beyond that, the interval doubles.
const MOST_ROWS: usize = 400_000;
/// The most instants in a capture; a longer capture gets a longer interval.
const MOST_INSTANTS: u64 = 20_000;
/// The first interval, in ns.
const SHORTEST: u64 = 10_000_000;

/// The state of a flow at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    /// Since the capture began, in ns.
    pub(crate) time: u64,
    pub(crate) flow: u32,
    pub(crate) in_flight: Option<u32>,
    pub(crate) rtt: Option<u64>,
    pub(crate) srtt: Option<u64>,
    pub(crate) lowest: Option<u64>,
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    pub(crate) again: u64,
    pub(crate) received: u64,
    pub(crate) wire: u64,
    pub(crate) repairing: bool,
    /// True if it is the flow's last row.
    pub(crate) last: bool,
}

impl Row {
    pub(crate) fn of(half: &HalfConnection, flow: u32, time: u64) -> Self {
        let counts = &half.counts;
        let packets = |bytes| u32::try_from(half.packets(bytes)).unwrap_or(u32::MAX);
        let delivered = half.packets(half.payload_received());
        Self {
            time,
            flow,
            in_flight: half.in_flight().map(packets),
            rtt: half.rtt,
            srtt: half.srtt,
            lowest: half.rtts.least(),
            sent: counts.packets,
            delivered,
            lost: counts.lost,
            again: counts.again + counts.repaired,
            received: half.payload_received(),
            wire: half.payload_received() + delivered * half.overhead,
            repairing: half.outstanding.front().is_some_and(|first| first.again || first.lost),
            last: false,
        }
    }
}

/// Rows on a common grid of instants, as coarse as memory demands.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub(crate) interval: u64,
    pub(crate) held: Vec<Row>,
}

impl Default for Rows {
    fn default() -> Self {
        Self { interval: SHORTEST, held: Vec::new() }
    }
}

impl Rows {
    /// Adds the rows since the last one before something happens to a flow at `time`.
    ///
    /// `due` is the flow's next instant; nothing changes between two events, so two rows describe
    /// any gap.
    #[inline]
    pub(crate) fn before(&mut self, half: &HalfConnection, flow: u32, time: u64, due: &mut u64) {
        if time < *due {
            return;
        }
        let latest = time - time % self.interval;
        let first = due.next_multiple_of(self.interval);
        if first < latest {
            self.held.push(Row::of(half, flow, first));
        }
        self.held.push(Row::of(half, flow, latest));
        *due = latest + self.interval;
        if self.held.len() > MOST_ROWS {
            self.thin();
        }
        while time / self.interval > MOST_INSTANTS {
            self.thin();
        }
    }

    fn thin(&mut self) {
        self.interval *= 2;
        thin_to(&mut self.held, self.interval);
    }
}

/// Keeps the rows on the grid of an interval, and the last row of each flow, which may be off the
/// grid.
pub(crate) fn thin_to(rows: &mut Vec<Row>, interval: u64) {
    rows.retain(|row| row.last || row.time.is_multiple_of(interval));
}
