//! A flow round by round, from which its control can be identified.

/// The most rounds kept for a flow; fewer suffice to identify the control.
const MOST: usize = 8192;

/// One round trip, from the sending of a number to its acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Round {
    /// When it began, in ns.
    pub begin: u64,
    /// When it ended, in ns.
    pub end: u64,
    /// Maximum bytes in flight in it.
    pub most: u64,
    /// Minimum bytes in flight in it, after acknowledgements.
    pub least: u64,
    /// Bytes delivered in it.
    pub delivered: u64,
    /// Bytes sent in it, including retransmissions.
    pub sent: u64,
    /// Packets retransmitted in it.
    pub again: u32,
    /// Minimum RTT in it, in ns; none without a sample.
    pub rtt: Option<u64>,
    /// True if the receiver's window or the application limited the sender.
    pub limited: bool,
}

/// Divides the time of a flow into rounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    done: Vec<Round>,
    now: Round,
    /// The round is over once this number is acknowledged.
    edge: u64,
    begun: bool,
}

impl Rounds {
    pub(crate) fn note_departure(&mut self, time: u64, bytes: u64, again: u32, in_flight: u64) {
        if !self.begun {
            self.begun = true;
            self.now = Round { begin: time, least: u64::MAX, ..Round::default() };
        }
        self.now.sent += bytes;
        self.now.again += again;
        self.now.most = self.now.most.max(in_flight);
    }

    pub(crate) fn mark_limited(&mut self) {
        self.now.limited = true;
    }

    pub(crate) fn sample(&mut self, rtt: u64) {
        self.now.rtt = Some(self.now.rtt.map_or(rtt, |least| least.min(rtt)));
    }

    /// Takes an acknowledgement: everything below `una` arrived, `high` is next.
    pub(crate) fn note_ack(&mut self, time: u64, una: u64, high: u64, bytes: u64, in_flight: u64) {
        self.now.delivered += bytes;
        self.now.least = self.now.least.min(in_flight);
        if !self.begun || una < self.edge {
            return;
        }
        self.edge = high.max(una + 1);
        if self.done.len() < MOST && self.now.sent > 0 {
            self.done.push(Round { end: time, ..self.now });
        }
        self.now = Round { begin: time, least: in_flight, most: in_flight, ..Round::default() };
    }

    pub(crate) fn finished_rounds(&self) -> &[Round] {
        &self.done
    }
}
