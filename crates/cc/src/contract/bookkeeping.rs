//! A sender's counters, and the events that depend only on them.

use narrows_base::Time;

use crate::events::{CongestionEvent, StartEvent, UndoEvent};
use crate::progress::Progress;
use crate::samples::{Congestion, RecoveryState};

/// The counters of a sender.
#[derive(Clone, Debug)]
pub struct Bookkeeping {
    /// The time.
    pub now: Time,
    /// Payload bytes of a full packet.
    pub mss: u32,
    /// The state of loss recovery.
    pub state: RecoveryState,
    /// Packets in flight.
    pub in_flight: u32,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets lost.
    pub lost: u64,
    /// The most packets that had been sent when the sender last noted it: a loss leaves fewer in
    /// flight, but takes back nothing that was sent.
    pub sent: u64,
    /// When the last packet was sent.
    pub last_sent: Option<Time>,
}

impl Bookkeeping {
    /// The counters of a sender that has sent nothing yet.
    #[must_use]
    pub const fn new(now: Time, mss: u32) -> Self {
        let state = RecoveryState::Open;
        Self { now, mss, state, in_flight: 0, delivered: 0, lost: 0, sent: 0, last_sent: None }
    }

    /// Packets sent, without retransmissions.
    #[must_use]
    pub fn sent_total(&self) -> u64 {
        self.sent.max(self.delivered + u64::from(self.in_flight))
    }

    /// The progress of the delivery.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress::new(self.delivered, self.sent_total())
    }

    /// The event of an episode that begins now, at this window.
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

    /// The event of an episode that is recognised as spurious now, at this window.
    #[must_use]
    pub const fn undo(&self, cwnd: u32) -> UndoEvent {
        let (delivered, lost_total) = (self.delivered, self.lost);
        UndoEvent { now: self.now, cwnd, delivered, lost_total }
    }

    /// The event of sending now, after nothing was in flight.
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
