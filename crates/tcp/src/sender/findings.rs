//! The findings about one ACK.

use narrows_base::{Duration, Time};

use crate::rate::Draft;
use crate::segment::Seq;

/// The retransmissions that an ACK allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resend {
    /// Nothing (`REXMIT_NONE`).
    Nothing,
    /// Lost packets (`REXMIT_LOST`).
    Lost,
    /// New data first, to test whether a timeout was spurious (`REXMIT_NEW`).
    New,
}

/// The state of the connection before the ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PriorState {
    pub(super) una: Seq,
    pub(super) highest_sacked: Seq,
    pub(super) sacked_out: u32,
    pub(super) pipe: u32,
    pub(super) delivered: u64,
    pub(super) lost_total: u64,
}

/// The findings about one ACK (Linux's `FLAG_*` and `tcp_sacktag_state`).
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) now: Time,
    pub(super) now_us: u64,
    pub(super) before: PriorState,
    /// The receiver's timestamp, in ms.
    pub(super) stamp: u32,
    /// The receiver's echo of our timestamp, in ms.
    pub(super) echo: u32,
    pub(super) una_advanced: bool,
    pub(super) window_update: bool,
    pub(super) data_acked: bool,
    pub(super) data_sacked: bool,
    pub(super) ece: bool,
    pub(super) dsack: bool,
    pub(super) dsack_of_probe: bool,
    /// A packet sent only once, from before the episode, arrived.
    pub(super) original_arrived: bool,
    pub(super) retransmission_acked: bool,
    pub(super) retransmission_lost: bool,
    /// True if the retransmission timer restarts.
    pub(super) sets_timer: bool,
    /// True if the receiver may have delayed the ACK.
    pub(super) ack_delayed: bool,
    /// Packets acknowledged cumulatively, and by SACK blocks.
    pub(super) acked: u32,
    pub(super) sack_delivered: u32,
    pub(super) draft: Draft,
    /// The lowest packet that arrived after a higher one.
    pub(super) reordered: Option<Seq>,
    /// When the first and the last of the newly SACKed packets left, in us.
    pub(super) first_sacked_us: Option<u64>,
    pub(super) last_sacked_us: Option<u64>,
    /// The control's RTT sample (`rs.rtt_us`).
    pub(super) rtt: Option<Duration>,
}

impl Findings {
    /// Data, a window update or progress: not a duplicate (`FLAG_NOT_DUP`).
    pub(super) fn is_not_dup(&self) -> bool {
        self.window_update || self.data_acked
    }

    /// Anything acknowledged or SACKed (`FLAG_FORWARD_PROGRESS`).
    pub(super) fn is_progress(&self) -> bool {
        self.data_acked || self.data_sacked
    }

    /// Returns `true` if the state machine must examine the ACK (`FLAG_CA_ALERT`).
    pub(super) fn alerts(&self) -> bool {
        self.data_sacked || self.ece || self.dsack
    }

    /// A packet arrived after a higher one.
    pub(super) fn note_reordered(&mut self, seq: Seq) {
        self.reordered = Some(self.reordered.map_or(seq, |low| low.min(seq)));
    }
}
