//! The router's records: CSV files with a header, written in one go at the end, and captures.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Result;
use std::ops::RangeInclusive;
use std::path::Path as FilePath;

use narrows_base::{FlowId, Heading, Packet, Time};
use narrows_pcapng::Ending;
use narrows_spec::scenario::{Flow, Run};
use twox_hash::XxHash64;

use crate::captures::RouterCaptures;
use crate::frame::{ForwardedPacket, has_data};
use crate::path::{PathEvent, RouterPath, Side};

const QUEUE: &str = "time_ns,link,backlog_bytes,backlog_packets,arrived_packets,dropped_packets,\
marked_packets,forwarded_packets,forwarded_bytes\n";
const FLOWS: &str = "time_ns,flow,wire_bytes,dropped,sent,delivered,payload_bytes\n";
const PROGRAMS: &str = "time_ns,flow,from,size,content\n";
const DELAYS: &str = "flow,delay_us,packets\n";
const PACKETS: &str = "time_ns,event,flow,size\n";

/// Counters of a flow's packets on the path.
#[derive(Clone, Copy, Debug, Default)]
struct FlowCounters {
    /// IP bytes of its data that left the last link of its route.
    wire_bytes: u64,
    /// Its packets with data that a queue dropped or that were lost at random.
    dropped: u64,
    /// Packets with data that left the sending host.
    sent: u64,
    /// Packets with data that reached the receiving host.
    delivered: u64,
    /// Their TCP or UDP payload, in bytes.
    payload_bytes: u64,
}

/// Counters of each flow, samples, the packet log, and captures.
pub struct PathRecorder {
    flows: Vec<FlowCounters>,
    queue_rows: String,
    flow_rows: String,
    /// Which flows belong to programs, and a row for each packet that a host of theirs sends.
    noted: Vec<bool>,
    programs: String,
    /// The part of the run whose arrivals count, and how often each one-way delay of a flow's data
    /// occurred in it, in microseconds.
    counted: RangeInclusive<Time>,
    delays: Vec<BTreeMap<u64, u64>>,
    log: Option<Vec<(Time, PathEvent, u32, u32)>>,
    captures: Option<RouterCaptures>,
}

impl PathRecorder {
    /// Keeps every packet's event if `log_packets`.
    #[must_use]
    pub fn new(flows: usize, log_packets: bool, captures: Option<RouterCaptures>) -> Self {
        Self {
            flows: vec![FlowCounters::default(); flows],
            queue_rows: QUEUE.into(),
            flow_rows: FLOWS.into(),
            noted: vec![false; flows],
            programs: PROGRAMS.into(),
            counted: Time::ZERO..=Time::MAX,
            delays: vec![BTreeMap::new(); flows],
            log: log_packets.then(Vec::new),
            captures,
        }
    }

    /// Notes the time and length of each packet that hosts of programs send, and a digest of its
    /// bytes (XXH64): the first row that differs shows where two runs part.
    #[must_use]
    pub fn noting_programs(mut self, flows: &[Flow]) -> Self {
        self.noted = flows.iter().map(Flow::has_programs).collect();
        self
    }

    /// Counts one-way delays from the warm-up to the end of the run only.
    #[must_use]
    pub fn counting(mut self, run: &Run) -> Self {
        self.counted = Time::from_nanos(run.warmup_ns)..=Time::from_nanos(run.duration_ns);
        self
    }

    /// Notes an event of a packet.
    pub fn packet(&mut self, at: Time, event: PathEvent, packet: &Packet<ForwardedPacket>) {
        let flow = &mut self.flows[packet.flow.index()];
        match event {
            PathEvent::Dropped | PathEvent::Lost => {
                flow.dropped += u64::from(has_data(&packet.body));
            }
            PathEvent::Crossed if has_data(&packet.body) => {
                flow.wire_bytes += u64::from(packet.size);
            }
            PathEvent::Crossed | PathEvent::Forwarded | PathEvent::Arrived => {}
        }
        if let Some(log) = &mut self.log {
            log.push((at, event, packet.flow.0, packet.size));
        }
        match (&mut self.captures, event) {
            (Some(captures), PathEvent::Arrived) => captures.note_arrival(at, &packet.body),
            (Some(captures), PathEvent::Forwarded) => captures.departs(at, &packet.body),
            _ => {}
        }
    }

    /// Counts a packet with data that leaves the sending host, and notes any packet of a program.
    pub(crate) fn count_sent(&mut self, side: Side, at: Time, packet: &Packet<ForwardedPacket>) {
        let flow = packet.flow.index();
        if side == Side::Sender {
            self.flows[flow].sent += u64::from(has_data(&packet.body));
        }
        if self.noted[flow] {
            let from = if side == Side::Sender { "sender" } else { "receiver" };
            let (at, size) = (at.as_nanos(), packet.size);
            let content = XxHash64::oneshot(0, &packet.body);
            _ = writeln!(self.programs, "{at},{flow},{from},{size},{content:016x}");
        }
    }

    /// Counts a packet of a flow that reaches the receiving host, with its payload in bytes.
    pub(crate) fn receives(&mut self, flow: FlowId, payload: usize) {
        let flow = &mut self.flows[flow.index()];
        flow.delivered += u64::from(payload > 0);
        flow.payload_bytes += payload as u64;
    }

    /// Counts the one-way delay (RFC 7679) of a packet with data that reaches its host.
    pub(crate) fn count_delay(&mut self, at: Time, packet: &Packet<ForwardedPacket>) {
        if self.counted.contains(&at) {
            let ns = at.saturating_since(packet.body.sent).as_nanos();
            *self.delays[packet.flow.index()].entry((ns + 500) / 1000).or_default() += 1;
        }
    }

    /// Notes that a packet leaves a host, or reaches it.
    pub(crate) fn at_host(&mut self, side: Side, heading: Heading, at: Time, packet: &[u8]) {
        if let Some(captures) = &mut self.captures {
            captures.at_host(side, heading, at, packet);
        }
    }

    /// Notes that a packet of the receiver is handed to the sender.
    pub(crate) fn note_return(&mut self, at: Time, packet: &Packet<ForwardedPacket>) {
        if let Some(captures) = &mut self.captures {
            captures.returns(at, &packet.body);
        }
    }

    /// Adds a row for each link's queue and for each flow; the path has reached `at`.
    pub fn sample(&mut self, at: Time, path: &RouterPath) {
        let at = at.as_nanos();
        for (link, queue) in path.queues().enumerate() {
            let (c, packets) = (queue.counters, queue.packets);
            let (arrived, dropped) = (c.arrived_packets, c.dropped_packets);
            let (forwarded, bytes) = (c.forwarded_packets, c.forwarded_bytes.get());
            let (backlog, marked) = (queue.backlog.get(), c.marked_packets);
            let out = &mut self.queue_rows;
            _ = write!(out, "{at},{link},{backlog},{packets},{arrived},{dropped},");
            _ = writeln!(out, "{marked},{forwarded},{bytes}");
        }
        for (i, flow) in self.flows.iter().enumerate() {
            let FlowCounters { wire_bytes, dropped, sent, delivered, payload_bytes } = flow;
            _ = write!(self.flow_rows, "{at},{i},{wire_bytes},{dropped},");
            _ = writeln!(self.flow_rows, "{sent},{delivered},{payload_bytes}");
        }
    }

    /// Completes the captures; returns how each file ended.
    ///
    /// # Errors
    /// If one couldn't be written.
    pub fn finish_captures(&mut self) -> Result<BTreeMap<String, Ending>> {
        self.captures.take().map_or_else(|| Ok(BTreeMap::new()), RouterCaptures::finish)
    }

    /// Writes `router_queue.csv`, `router_flows.csv` and `router_delays.csv`; also
    /// `router_packets.csv` if there is a log, and `router_programs.csv` if there are programs.
    ///
    /// # Errors
    /// If a file can't be written.
    pub fn write(&self, directory: &FilePath) -> Result<()> {
        std::fs::write(directory.join("router_queue.csv"), &self.queue_rows)?;
        std::fs::write(directory.join("router_flows.csv"), &self.flow_rows)?;
        std::fs::write(directory.join("router_delays.csv"), self.delay_rows())?;
        if self.noted.contains(&true) {
            std::fs::write(directory.join("router_programs.csv"), &self.programs)?;
        }
        let Some(log) = &self.log else { return Ok(()) };
        let mut rows = String::from(PACKETS);
        for (at, event, flow, size) in log {
            _ = writeln!(rows, "{},{},{flow},{size}", at.as_nanos(), name(*event));
        }
        std::fs::write(directory.join("router_packets.csv"), rows)
    }

    fn delay_rows(&self) -> String {
        let mut rows = String::from(DELAYS);
        for (flow, delays) in self.delays.iter().enumerate() {
            for (delay, packets) in delays {
                _ = writeln!(rows, "{flow},{delay},{packets}");
            }
        }
        rows
    }

    /// Every packet's time, event, flow and size; empty without a log.
    #[must_use]
    pub fn log(&self) -> &[(Time, PathEvent, u32, u32)] {
        self.log.as_deref().unwrap_or(&[])
    }
}

const fn name(event: PathEvent) -> &'static str {
    match event {
        PathEvent::Arrived => "arrived",
        PathEvent::Dropped => "dropped",
        PathEvent::Forwarded => "forwarded",
        PathEvent::Crossed => "crossed",
        PathEvent::Lost => "lost",
    }
}
