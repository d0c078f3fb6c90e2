//! Delivery opportunities from a recorded link.

use std::fmt;
use std::sync::Arc;

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role, Unit};
use narrows_base::{Bytes, Time};

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "trace",
    title: "Recorded trace",
    family: "rate",
    summary: "the delivery opportunities of a recorded link, repeated",
    source: "mahimahi's format and rule (src/frontend/link_queue.cc)",
    role: Role::Service,
    parameters: &[Parameter::new(
        "file",
        Unit::Opportunities,
        ParameterDefault::Required,
        "a file beside the specification, with the ms of each opportunity on a line",
    )],
};

const NANOS_PER_MILLI: u64 = 1_000_000;

/// Why a trace can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceError {
    /// The line with this number, from 1 on, isn't a whole number of ms.
    NotANumber(usize),
    /// The line with this number is earlier than the one before.
    Descends(usize),
    /// There is no opportunity after 0 ms, so the trace would repeat at once, for ever.
    NeverAdvances,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotANumber(line) => write!(f, "line {line} isn't a whole number of ms"),
            Self::Descends(line) => write!(f, "line {line} is earlier than the one before"),
            Self::NeverAdvances => write!(f, "the trace has no opportunity after 0 ms"),
        }
    }
}

impl std::error::Error for TraceError {}

/// A link's delivery opportunities in mahimahi's format (`link_queue.cc`), repeated.
///
/// Each lets 1,504 bytes pass at its instant: a packet of 1,500 bytes and 4 of
/// the tunnel, which each packet has. The rest of it serves the next packets in the queue; a packet
/// that doesn't fit is sent in part. An opportunity is wasted if there is nothing to send, or if a
/// packet arrives at an idle link at that instant.
///
/// Unlike mahimahi's, the packet that waits for an opportunity has already left
/// the queue: it doesn't count towards the limit, and active queue management sees it leave when
/// the packet before it is done.
#[derive(Clone, Debug)]
pub struct Trace {
    /// In ms, ascending; the trace repeats after the last.
    opportunities: Arc<[u64]>,
    /// The next opportunity, and the ms at which its round began.
    next: usize,
    round: u64,
    /// The rest of the opportunity at which the last transmission ended.
    left: u64,
    end: Time,
}

/// Bytes that pass at an opportunity, and bytes of the tunnel's header.
const OPPORTUNITY: u64 = 1_504;
const TUNNEL_HEADER: u64 = 4;

impl Trace {
    /// A trace from the times of its opportunities in ms.
    ///
    /// # Errors
    /// If they descend, or the last isn't above zero.
    pub fn new(opportunities: impl Into<Arc<[u64]>>) -> Result<Self, TraceError> {
        let opportunities = opportunities.into();
        if let Some(n) = opportunities.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(TraceError::Descends(n + 2));
        }
        if opportunities.last().is_none_or(|&last| last == 0) {
            return Err(TraceError::NeverAdvances);
        }
        Ok(Self { opportunities, next: 0, round: 0, left: 0, end: Time::ZERO })
    }

    /// A trace from the text of its file: a whole number of ms per line.
    ///
    /// # Errors
    /// If a line isn't one, and as [`new`](Self::new).
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let line = |(n, line): (usize, &str)| {
            line.trim().parse().map_err(|_| TraceError::NotANumber(n + 1))
        };
        let lines: Result<Vec<u64>, _> = text.lines().enumerate().map(line).collect();
        Self::new(lines?)
    }

    /// When a packet of `size` is finished that is at the head from `start` on, when the packet
    /// before it was finished.
    pub fn transmit(&mut self, start: Time, size: Bytes) -> Time {
        if start != self.end {
            return self.transmit_from_idle(start, size);
        }
        self.deliver(size)
    }

    /// Transmits a packet that finds the link idle: the rest of an opportunity at `start` and
    /// all earlier ones are wasted.
    pub fn transmit_from_idle(&mut self, start: Time, size: Bytes) -> Time {
        self.left = 0;
        self.skip_to(start);
        self.end = start;
        self.deliver(size)
    }

    fn deliver(&mut self, size: Bytes) -> Time {
        let mut missing = size.get() + TUNNEL_HEADER;
        while missing > self.left {
            missing -= self.left;
            self.left = OPPORTUNITY;
            self.end = self.next_time();
            self.advance();
        }
        self.left -= missing;
        self.end
    }

    fn next_time(&self) -> Time {
        Time::from_nanos((self.round + self.opportunities[self.next]) * NANOS_PER_MILLI)
    }

    fn advance(&mut self) {
        self.next += 1;
        if self.next == self.opportunities.len() {
            self.next = 0;
            self.round += self.period();
        }
    }

    fn period(&self) -> u64 {
        self.opportunities[self.opportunities.len() - 1]
    }

    /// Moves on to the first opportunity after `start`.
    fn skip_to(&mut self, start: Time) {
        if self.next_time() > start {
            return;
        }
        let start = start.as_nanos() / NANOS_PER_MILLI;
        let rounds = (start - self.round) / self.period();
        if rounds > 0 {
            (self.next, self.round) = (0, self.round + rounds * self.period());
        }
        // The last opportunity is a period after the round began: one is left.
        let passed = |&at: &u64| self.round + at <= start;
        self.next = self.opportunities.partition_point(passed);
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId, Packet};

    use super::*;
    use crate::{DropTail, Element, Limit, Link};

    /// When packets come out, in ms, from their arrivals (in us) and sizes.
    fn times(trace: &str, arrivals: &[(u64, u32)]) -> Vec<u64> {
        let queue = DropTail::new(Limit::Packets(100));
        let mut link = Link::new(queue, Trace::parse(trace).unwrap().into());
        for (n, &(micros, size)) in arrivals.iter().enumerate() {
            let packet = Packet { flow: FlowId(0), size, ecn: Ecn::NotEct, body: n };
            link.receive(packet, Time::from_nanos(micros * 1_000));
        }
        let left = std::iter::from_fn(|| link.poll(Time::from_nanos(1_000_000_000)));
        left.map(|d| d.at.as_nanos() / NANOS_PER_MILLI).collect()
    }

    #[test]
    fn a_full_packet_takes_one_opportunity_and_the_trace_repeats() {
        let arrivals = [(0, 1_500); 9];
        // 2, 2, 5, then 7, 7, 10 and so on.
        assert_eq!(times("2\n2\n5\n", &arrivals), [2, 2, 5, 7, 7, 10, 12, 12, 15]);
    }

    /// 746 + 4 bytes twice leave 4 bytes of 1,504, which the third uses.
    #[test]
    fn rest_of_an_opportunity_serves_the_next_packets() {
        let arrivals = [(0, 746), (0, 746), (0, 1_500), (0, 1_500)];
        assert_eq!(times("1\n3\n", &arrivals), [1, 1, 3, 4]);
        // Twenty-six acknowledgements of 52 bytes fit, the 27th waits.
        let acks: Vec<_> = times("1\n9\n", &[(0, 52); 27]);
        assert_eq!((acks[25], acks[26]), (1, 9));
    }

    #[test]
    fn a_packet_larger_than_an_opportunity_keeps_its_progress() {
        assert_eq!(times("1\n4\n9\n", &[(0, 3_004), (0, 1_000)]), [4, 4 + 5]);
        assert_eq!(times("1\n4\n9\n", &[(0, 4_508)]), [9]);
    }

    #[test]
    fn opportunities_without_a_packet_are_wasted() {
        // At 4 ms nothing waits; the packet of 4.5 ms leaves at 6, not twice.
        assert_eq!(times("2\n4\n6\n", &[(0, 1_500), (4_500, 1_500), (4_600, 1_500)]), [2, 6, 8]);
        assert_eq!(times("2\n4\n6\n", &[(601_000, 1_500)]), [602]);
        assert_eq!(times("2\n4\n6\n", &[(600_000, 1_500)]), [602]);
        assert_eq!(times("0\n6\n", &[(6_000, 1_500), (6_500, 1_500)]), [12, 12]);
    }

    /// The first leaves most of the opportunity at 2 ms, but the second arrives
    /// as it ends: too late.
    #[test]
    fn a_packet_that_arrives_at_an_opportunity_has_missed_it() {
        assert_eq!(times("2\n5\n", &[(0, 100), (2_000, 100)]), [2, 5]);
        assert_eq!(times("2\n5\n", &[(0, 100), (1_999, 100)]), [2, 2]);
    }

    #[test]
    fn bad_traces_are_refused() {
        assert_eq!(Trace::parse("1\nx\n").unwrap_err(), TraceError::NotANumber(2));
        assert_eq!(Trace::parse("1\n3\n2\n").unwrap_err(), TraceError::Descends(3));
        assert_eq!(Trace::parse("0\n0\n").unwrap_err(), TraceError::NeverAdvances);
        assert_eq!(Trace::parse("").unwrap_err(), TraceError::NeverAdvances);
    }
}
