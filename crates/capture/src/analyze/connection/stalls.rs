//! Stalls of a sender and why each happened.
//!
//! The reasons are those of J. Zhou et al., "Demystifying and mitigating TCP stalls at the server
//! side" (CoNEXT 2015) that a capture at the sender shows.

use serde::Serialize;

/// The most stalls of a flow that are remembered one by one.
const MOST: usize = 1000;

/// Why nothing was seen for so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StallReason {
    /// The acknowledgement came at last: nothing was retransmitted.
    Delay,
    /// The retransmission of the first packet was lost too.
    LostRetransmission,
    /// The timer expired again before anything was acknowledged: the path lost everything.
    Outage,
    /// Too few packets were in flight for three duplicate acknowledgements.
    SmallWindow,
    /// The last packets in flight were lost, so nothing arrived that could show it.
    Tail,
    /// Packets behind the lost one arrived, but too few to show the loss, or their
    /// acknowledgements were lost.
    FewAcknowledgements,
}

/// A time in which something was in flight and nothing was seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stall {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// When the last acknowledgement came: probes of the sender may have left since.
    pub(crate) heard: u64,
    pub(crate) reason: StallReason,
}

/// The data in flight when a retransmission ended a stall.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    /// The first packet had been retransmitted before.
    pub(crate) again: bool,
    pub(crate) packets: u64,
    pub(crate) sacked: u64,
}

/// The stalls of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stalls {
    pub(crate) done: Vec<Stall>,
    /// The one that the event of this instant ends.
    ending: Option<(u64, u64, u64)>,
    /// The last stall ended with a retransmission that isn't acknowledged yet.
    repeating: bool,
}

impl Stalls {
    /// Notes that the event at `end` is the first since `begin`, and the last acknowledgement.
    pub(crate) fn end(&mut self, begin: u64, end: u64, heard: u64) {
        self.ending = Some((begin, end, heard));
    }

    pub(crate) fn on_acknowledgement(&mut self, advanced: bool) {
        self.conclude(StallReason::Delay);
        self.repeating &= !advanced;
    }

    pub(crate) fn on_new_data(&mut self) {
        self.ending = None;
    }

    pub(crate) fn on_retransmission(&mut self, found: InFlight) {
        if self.ending.is_none() {
            return;
        }
        self.conclude(match found {
            _ if self.repeating => StallReason::Outage,
            InFlight { again: true, .. } => StallReason::LostRetransmission,
            InFlight { sacked: 1.., .. } => StallReason::FewAcknowledgements,
            InFlight { packets: ..=3, .. } => StallReason::SmallWindow,
            _ => StallReason::Tail,
        });
        self.repeating = true;
    }

    fn conclude(&mut self, reason: StallReason) {
        if let Some((begin, end, heard)) = self.ending.take()
            && self.done.len() < MOST
        {
            self.done.push(Stall { begin, end, heard: heard.min(begin), reason });
        }
    }
}
