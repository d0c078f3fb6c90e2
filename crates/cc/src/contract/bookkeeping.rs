//! What a sender counts, and the events that follow from it alone.

use narrows_base::Time;

use crate::progress::Progress;
use crate::samples::{Congestion, CongestionEvent, RecoveryState, StartEvent, UndoEvent};

/// The counters of a sender.
#[derive(Clone, Debug)]
pub struct Bookkeeping {
    /// The time.
    pub now: Time,
    /// Payload bytes of a full packet.
    pub mss: u32,
    /// Where it is between loss and recovery.
    pub state: RecoveryState,
    /// Packets in flight.
    pub in_flight: u32,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets lost.
    pub lost: u64,
    /// When the last packet was sent.
    pub last_sent: Option<Time>,
}

impl Bookkeeping {
    /// Of a sender that has sent nothing yet.
    #[must_use]
    pub const fn new(now: Time, mss: u32) -> Self {
        let state = RecoveryState::Open;
        Self { now, mss, state, in_flight: 0, delivered: 0, lost: 0, last_sent: None }
    }

    /// Packets sent, retransmissions left out.
    #[must_use]
    pub fn sent_total(&self) -> u64 {
        self.delivered + u64::from(self.in_flight)
    }

    /// How far the delivery is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress::new(self.delivered, self.sent_total())
    }

    /// An episode begins now, at this window.
    #[must_use]
    pub fn congestion(&self, kind: Congestion, cwnd: u32) -> CongestionEvent {
        CongestionEvent {
            now: self.now,
            kind,
            state: self.state,
            cwnd,
            in_flight: self.in_flight,
            mss: self.mss,
            delivered: self.delivered,
            lost_total: self.lost,
            progress: self.progress(),
        }
    }

    /// The episode turns out to be spurious now, at this window.
    #[must_use]
    pub const fn undo(&self, cwnd: u32) -> UndoEvent {
        let (delivered, lost_total) = (self.delivered, self.lost);
        UndoEvent { now: self.now, cwnd, delivered, lost_total }
    }

    /// Something is sent now, after nothing was in flight.
    #[must_use]
    pub const fn start(&self, app_limited: bool) -> StartEvent {
        StartEvent {
            now: self.now,
            last_sent: self.last_sent,
            app_limited,
            mss: self.mss,
            delivered: self.delivered,
        }
    }
}
