//! A flow round by round: what its control can be told from.

/// Rounds of one flow that are kept; the control shows itself in fewer.
const MOST: usize = 8192;

/// One round trip, from a number's sending to its acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Round {
    /// When it began, in ns.
    pub begin: u64,
    /// When it ended, in ns.
    pub end: u64,
    /// Most bytes in flight in it.
    pub most: u64,
    /// Fewest bytes in flight in it, as acknowledgements left them.
    pub least: u64,
    /// Bytes delivered in it.
    pub delivered: u64,
    /// Bytes sent in it, those sent again included.
    pub sent: u64,
    /// Packets sent again in it.
    pub again: u32,
    /// Least RTT in it, in ns; none without a sample.
    pub rtt: Option<u64>,
    /// Whether the receiver's window or the application held the sender back.
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
    pub(crate) fn sent(&mut self, time: u64, bytes: u64, again: u32, in_flight: u64) {
        if !self.begun {
            self.begun = true;
            self.now = Round { begin: time, least: u64::MAX, ..Round::default() };
        }
        self.now.sent += bytes;
        self.now.again += again;
        self.now.most = self.now.most.max(in_flight);
    }

    pub(crate) fn limited(&mut self) {
        self.now.limited = true;
    }

    pub(crate) fn sample(&mut self, rtt: u64) {
        self.now.rtt = Some(self.now.rtt.map_or(rtt, |least| least.min(rtt)));
    }

    /// An acknowledgement: everything below `una` arrived, `high` is next.
    pub(crate) fn acknowledged(
        &mut self,
        time: u64,
        una: u64,
        high: u64,
        bytes: u64,
        in_flight: u64,
    ) {
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

    pub(crate) fn done(&self) -> &[Round] {
        &self.done
    }
}
