//! UDP, QUIC and pings in a capture: how many, how large, how late.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use serde::Serialize;

use super::spin::{QuicFlow, QuicReport};
use super::times::{TimeSamples, Times};
use super::units::{float, mbps, seconds};
use crate::decode::{Endpoint, IpDatagram};

/// The most pairs of ends that are followed.
const MOST_FLOWS: usize = 4096;
/// The most flows that are reported, those with the most packets.
const MOST_REPORTED: usize = 20;
/// The most pings of one pair that wait for their answer.
const MOST_WAITING: usize = 1 << 16;

/// Pings from one address to another.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PingReport {
    /// "source>destination".
    pub name: String,
    /// Requests in the capture.
    pub sent: u64,
    /// Requests whose answer is in the capture, too.
    pub answered: u64,
    /// From the request to its first answer, in ms.
    pub rtt_ms: Times,
}

/// Datagrams of UDP from one end to another.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UdpReport {
    /// "source>destination", each an address and a port.
    pub name: String,
    /// How many.
    pub packets: u64,
    /// Their payload.
    pub payload_bytes: u64,
    /// From the first to the last, in s.
    pub duration_s: f64,
    /// Payload over that time, in Mbit/s.
    pub rate_mbps: Option<f64>,
    /// The longest time between two, in s.
    pub longest_gap_s: f64,
}

#[derive(Clone, Debug, Default)]
struct Pings {
    sent: u64,
    waiting: BTreeMap<(u16, u16), u64>,
    rtts: TimeSamples,
    answered: u64,
}

#[derive(Clone, Debug, Default)]
struct Stream {
    packets: u64,
    payload: u64,
    first: u64,
    last: u64,
    gap: u64,
}

/// Everything that isn't TCP in a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Datagrams {
    pings: BTreeMap<(u128, u128), Pings>,
    streams: BTreeMap<(Endpoint, Endpoint), Stream>,
    /// Connections that may be QUIC, by their ends, the lower one first.
    quic: BTreeMap<(Endpoint, Endpoint), QuicFlow>,
}

impl Datagrams {
    pub(crate) fn on(&mut self, time: u64, datagram: IpDatagram) {
        match datagram {
            IpDatagram::Udp { source, destination, payload, begin } => {
                let key = (source, destination);
                if self.streams.len() < MOST_FLOWS || self.streams.contains_key(&key) {
                    self.streams.entry(key).or_default().on(time, payload);
                    let ends = (source.min(destination), source.max(destination));
                    let end = usize::from(source > destination);
                    let ports = [ends.0.port, ends.1.port];
                    let flow = self.quic.entry(ends).or_insert_with(|| QuicFlow::between(ports));
                    flow.on(time, end, payload, begin);
                }
            }
            IpDatagram::Echo { source, destination, id, reply } => {
                let key = (source, destination);
                if self.pings.len() < MOST_FLOWS || self.pings.contains_key(&key) {
                    self.pings.entry(key).or_default().on(time, id, reply);
                }
            }
        }
    }

    pub(crate) fn pings(&self) -> Vec<PingReport> {
        let report = |(ends, pings): (&(u128, u128), &Pings)| PingReport {
            name: format!("{}>{}", host(ends.0), host(ends.1)),
            sent: pings.sent,
            answered: pings.answered,
            rtt_ms: Times::of(&pings.rtts),
        };
        let mut found: Vec<PingReport> = self.pings.iter().map(report).collect();
        found.sort_by_key(|ping| std::cmp::Reverse(ping.sent));
        found.truncate(MOST_REPORTED);
        found
    }

    pub(crate) fn streams(&self) -> Vec<UdpReport> {
        let report = |(ends, stream): (&(Endpoint, Endpoint), &Stream)| UdpReport {
            name: format!("{}>{}", ends.0, ends.1),
            packets: stream.packets,
            payload_bytes: stream.payload,
            duration_s: seconds(stream.last - stream.first),
            rate_mbps: mbps(stream.payload, stream.last - stream.first),
            longest_gap_s: seconds(stream.gap),
        };
        let mut found: Vec<UdpReport> = self.streams.iter().map(report).collect();
        found.sort_by_key(|stream| std::cmp::Reverse(stream.packets));
        found.truncate(MOST_REPORTED);
        found
    }

    /// The connections of QUIC.
    pub(crate) fn quic(&self) -> Vec<QuicReport> {
        let report = |(&(one, other), flow): (&(Endpoint, Endpoint), &QuicFlow)| {
            let [one_name, other_name] = [one, other].map(|end| end.to_string());
            flow.report([&one_name, &other_name])
        };
        let mut found: Vec<QuicReport> = self.quic.iter().filter_map(report).collect();
        found.sort_by_key(|quic| std::cmp::Reverse(quic.packets.iter().sum::<u64>()));
        found.truncate(MOST_REPORTED);
        found
    }
}

fn host(address: u128) -> String {
    let address = Ipv6Addr::from(address);
    address.to_ipv4_mapped().map_or_else(|| address.to_string(), |short| short.to_string())
}

impl Pings {
    fn on(&mut self, time: u64, id: (u16, u16), reply: bool) {
        if !reply {
            self.sent += 1;
            if self.waiting.len() < MOST_WAITING {
                self.waiting.insert(id, time);
            }
        } else if let Some(sent) = self.waiting.remove(&id) {
            self.answered += 1;
            self.rtts.add(time.saturating_sub(sent));
        }
    }
}

impl Stream {
    fn on(&mut self, time: u64, payload: u32) {
        if self.packets == 0 {
            (self.first, self.last) = (time, time);
        }
        self.packets += 1;
        self.payload += u64::from(payload);
        self.gap = self.gap.max(time.saturating_sub(self.last));
        self.last = self.last.max(time);
    }
}

/// Describes the datagrams of a file, a line for each flow; `decrypted` if packets of QUIC are.
pub(crate) fn lines(
    pings: &[PingReport],
    quic: &[QuicReport],
    streams: &[UdpReport],
    decrypted: bool,
) -> Vec<String> {
    let ping = |ping: &PingReport| {
        let rtt = ping.rtt_ms.mean.zip(ping.rtt_ms.min);
        let rtt = rtt.map_or(String::new(), |(mean, least)| {
            format!(", RTT {mean:.2} ms on average and {least:.2} ms at least")
        });
        let (sent, answered) = (ping.sent, ping.answered);
        let lost = 100.0 * float(sent - answered) / float(sent.max(1));
        format!("ping {}: {answered} of {sent} answered ({lost:.1} % lost){rtt}", ping.name)
    };
    let stream = |stream: &UdpReport| {
        let rate = stream.rate_mbps.map_or(String::new(), |rate| format!(", {rate:.3} Mbit/s"));
        let (name, packets, gap) = (&stream.name, stream.packets, stream.longest_gap_s);
        format!("UDP {name}: {packets} packets{rate}, the longest gap {gap:.3} s")
    };
    let quic = quic.iter().map(|quic| quic.line(decrypted));
    pings.iter().map(ping).chain(quic).chain(streams.iter().map(stream)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pings_are_matched_with_their_answers() {
        let mut found = Datagrams::default();
        let echo =
            |number, reply| IpDatagram::Echo { source: 1, destination: 2, id: (7, number), reply };
        for number in 0..3 {
            found.on(u64::from(number) * 1_000_000_000, echo(number, false));
        }
        found.on(2_020_000_000, echo(2, true));
        found.on(2_030_000_000, echo(2, true));
        let pings = found.pings();
        assert_eq!((pings[0].sent, pings[0].answered, pings[0].rtt_ms.min), (3, 1, Some(20.0)));
    }

    #[test]
    fn a_stream_has_a_rate_and_a_longest_gap() {
        let mut found = Datagrams::default();
        let (source, destination) = (Endpoint { address: 1, port: 2 }, Endpoint::default());
        for ms in [0, 10, 20, 100] {
            let begin = None;
            let datagram = IpDatagram::Udp { source, destination, payload: 1000, begin };
            found.on(ms * 1_000_000, datagram);
        }
        let stream = &found.streams()[0];
        assert_eq!((stream.packets, stream.rate_mbps), (4, Some(0.32)));
        assert!((stream.longest_gap_s - 0.08).abs() < 1e-9);
    }
}
