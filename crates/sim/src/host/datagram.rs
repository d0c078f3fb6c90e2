//! Hosts that exchange datagrams without any control: a source at a constant rate, and a sink that
//! counts them or sends them back.

use std::collections::VecDeque;

use narrows_base::{Duration, Ecn, FlowId, Packet, RangeSet, Time};
use narrows_cc::{INFINITE_SSTHRESH, RecoveryState};
use narrows_spec::scenario::Workload;
use narrows_tcp::{Datagram, Kind, Segment, SenderStats, SenderView};

use super::chain::Plan;
use super::contract::{Host, HostOutput, ReceivingSide, SendingSide};

/// When datagrams leave, and how long they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagrams {
    /// Bytes of payload of each.
    len: u16,
    /// How many leave at once.
    burst: u64,
    /// The time of `per` datagrams is this many ns, so that no rounding adds up.
    nanos: u64,
    per: u64,
    /// True if the other end sends them back.
    echoed: bool,
}

/// Bits in ns of a byte at 1 bit/s.
const BYTE_NANOS: u128 = 8_000_000_000;

impl Datagrams {
    /// The datagrams of a workload; none for what isn't one of datagrams.
    pub(crate) fn of(workload: Option<&Workload>) -> Option<Self> {
        let length = |bytes: u64| u16::try_from(bytes).expect("the scenario was checked");
        match *workload? {
            Workload::Udp { rate_bps, size_bytes, burst } => {
                // As many datagrams as the rate has bits take whole ns.
                let nanos = u128::from(size_bytes) * BYTE_NANOS;
                let nanos = u64::try_from(nanos).expect("a datagram is short");
                let len = length(size_bytes);
                Some(Self { len, burst, nanos, per: rate_bps, echoed: false })
            }
            Workload::Ping { interval_ns, size_bytes } => {
                let len = length(size_bytes);
                Some(Self { len, burst: 1, nanos: interval_ns, per: 1, echoed: true })
            }
            _ => None,
        }
    }

    /// When the datagram of this number leaves, after the first.
    fn offset(&self, number: u64) -> Duration {
        let first = u128::from(number / self.burst * self.burst);
        let nanos = first * u128::from(self.nanos) / u128::from(self.per);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX / 2))
    }
}

/// The round-trip times that echoes show.
#[derive(Clone, Copy, Debug)]
struct RoundTrips {
    latest: Duration,
    smoothed: Duration,
    lowest: Duration,
}

impl RoundTrips {
    /// Takes a sample, smoothed as in RFC 6298 section 2.
    fn update(past: Option<Self>, rtt: Duration) -> Self {
        let Some(past) = past else { return Self { latest: rtt, smoothed: rtt, lowest: rtt } };
        let smoothed = (past.smoothed.as_nanos() * 7 + rtt.as_nanos()) / 8;
        let (smoothed, lowest) = (Duration::from_nanos(smoothed), past.lowest.min(rtt));
        Self { latest: rtt, smoothed, lowest }
    }
}

/// Sends datagrams at its rate, whether or not they arrive.
pub(crate) struct Source {
    flow: FlowId,
    ecn: Ecn,
    what: Datagrams,
    start: Time,
    stop: Option<Time>,
    /// Datagrams sent, and those that came back, each once.
    sent: u64,
    returned: ArrivedDatagrams,
    round_trips: Option<RoundTrips>,
    /// An RTT that the recorder hasn't taken yet.
    rtt: Option<Duration>,
}

impl Source {
    pub(crate) fn new(flow: FlowId, ecn: Ecn, what: Datagrams, plan: &Plan) -> Self {
        let (start, stop) = (plan.start, plan.stop);
        let (sent, returned, round_trips, rtt) = (0, ArrivedDatagrams::default(), None, None);
        Self { flow, ecn, what, start, stop, sent, returned, round_trips, rtt }
    }
}

impl Host for Source {
    fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        if let Kind::Echo(datagram) = &packet.body.kind {
            if !self.returned.is_new(datagram.number) {
                return;
            }
            let rtt = now.saturating_since(datagram.sent);
            self.round_trips = Some(RoundTrips::update(self.round_trips, rtt));
            self.rtt = Some(rtt);
        }
    }

    fn advance(&mut self, now: Time, out: &mut HostOutput) -> Time {
        loop {
            let due = self.next_deadline().unwrap_or(Time::MAX);
            if due > now {
                return due;
            }
            let datagram = Datagram { number: self.sent, len: self.what.len, sent: now };
            self.sent += 1;
            let segment = Segment { instance: 0, kind: Kind::Datagram(datagram) };
            out.packets.push(segment.into_packet(self.flow, self.ecn));
        }
    }

    fn next_deadline(&self) -> Option<Time> {
        let due = self.start + self.what.offset(self.sent);
        self.stop.is_none_or(|stop| due < stop).then_some(due)
    }
}

impl SendingSide for Source {
    fn flow(&self) -> FlowId {
        self.flow
    }

    fn stop_at(&mut self, at: Time) {
        self.stop = Some(at);
    }

    fn stats(&self) -> SenderStats {
        SenderStats { sent: self.sent, delivered: self.returned.count, ..SenderStats::default() }
    }

    fn view(&self) -> Option<SenderView> {
        let seen = self.round_trips;
        Some(SenderView {
            cwnd: 0,
            ssthresh: INFINITE_SSTHRESH,
            in_flight: 0,
            rtt: seen.map(|seen| seen.latest),
            srtt: seen.map(|seen| seen.smoothed),
            min_rtt: seen.map(|seen| seen.lowest),
            pacing_rate: None,
            delivery_rate: None,
            state: RecoveryState::Open,
            cca_state: "",
        })
    }

    fn inspect(&self, _: Time, _: &mut dyn FnMut(&'static str, f64)) {}

    fn take_rtt(&mut self) -> Option<Duration> {
        self.rtt.take()
    }
}

/// The datagrams that arrived: the network may duplicate some.
#[derive(Debug, Default)]
struct ArrivedDatagrams {
    numbers: RangeSet<u64>,
    count: u64,
}

impl ArrivedDatagrams {
    /// Notes a datagram; returns whether it hadn't arrived before.
    fn is_new(&mut self, number: u64) -> bool {
        let before = self.count;
        self.numbers.insert(number, number + 1, |start, end| self.count += end - start);
        self.count > before
    }
}

/// Receives datagrams, and sends them back if they are to be echoed.
pub(crate) struct Sink {
    flow: FlowId,
    ecn: Ecn,
    echoes: bool,
    bytes: u64,
    arrived: ArrivedDatagrams,
    waiting: VecDeque<(Time, Datagram)>,
}

impl Sink {
    pub(crate) fn new(flow: FlowId, ecn: Ecn, what: Datagrams) -> Self {
        let (arrived, waiting) = (ArrivedDatagrams::default(), VecDeque::new());
        Self { flow, ecn, echoes: what.echoed, bytes: 0, arrived, waiting }
    }
}

impl Host for Sink {
    fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        if let Kind::Datagram(datagram) = &packet.body.kind {
            if self.arrived.is_new(datagram.number) {
                self.bytes += u64::from(datagram.len);
            }
            if self.echoes {
                self.waiting.push_back((now, *datagram));
            }
        }
    }

    fn advance(&mut self, _: Time, out: &mut HostOutput) -> Time {
        for (_, datagram) in self.waiting.drain(..) {
            let segment = Segment { instance: 0, kind: Kind::Echo(datagram) };
            out.packets.push(segment.into_packet(self.flow, self.ecn));
        }
        Time::MAX
    }

    fn next_deadline(&self) -> Option<Time> {
        self.waiting.front().map(|&(at, _)| at)
    }
}

impl ReceivingSide for Sink {
    fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn departures(workload: &Workload, end_ms: u64) -> Vec<u64> {
        let what = Datagrams::of(Some(workload)).expect("datagrams");
        let plan = Plan {
            start: Time::ZERO,
            stop: None,
            repeat_gap: None,
            while_flows: None,
            deadline_ns: None,
        };
        let mut source = Source::new(FlowId(0), Ecn::NotEct, what, &plan);
        let end = Time::ZERO + Duration::from_millis(end_ms);
        let mut seen = Vec::new();
        let mut out = HostOutput::default();
        while let Some(now) = source.next_deadline().filter(|&at| at < end) {
            source.advance(now, &mut out);
            seen.extend(out.packets.drain(..).map(|_| now.as_micros()));
        }
        seen
    }

    #[test]
    fn datagrams_leave_at_the_rate_without_adding_up_what_is_rounded() {
        // 1200 bytes at 7 Mbit/s: one in 1371.4 us.
        let udp = Workload::Udp { rate_bps: 7_000_000, size_bytes: 1_200, burst: 1 };
        let seen = departures(&udp, 9_600);
        assert_eq!(seen[..4], [0, 1_371, 2_742, 4_114]);
        assert_eq!((seen.len(), seen[6_999]), (7_000, 9_598_628), "7000 in 9.6 s");
    }

    #[test]
    fn a_burst_leaves_at_once() {
        let udp = Workload::Udp { rate_bps: 9_600_000, size_bytes: 1_200, burst: 3 };
        assert_eq!(departures(&udp, 6), [0, 0, 0, 3_000, 3_000, 3_000]);
        let ping = Workload::Ping { interval_ns: 2_000_000, size_bytes: 56 };
        assert_eq!(departures(&ping, 6), [0, 2_000, 4_000]);
    }
}
