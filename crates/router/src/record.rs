//! The router's records: CSV with a header, written at once at the end, and captures.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Result;
use std::path::Path as FilePath;

use narrows_base::{Heading, Packet, Time};
use narrows_pcapng::Ending;

use crate::captures::Captures;
use crate::frame::has_data;
use crate::path::{Path, PathEvent, Side};

const QUEUE: &str = "time_ns,link,backlog_bytes,backlog_packets,arrived_packets,dropped_packets,\
marked_packets,forwarded_packets,forwarded_bytes\n";
const FLOWS: &str = "time_ns,flow,wire_bytes,dropped\n";
const PACKETS: &str = "time_ns,event,flow,size\n";

/// Counters of a flow's packets on the path.
#[derive(Clone, Copy, Debug, Default)]
struct FlowCounters {
    /// IP bytes of its data that left the last link of its route.
    wire_bytes: u64,
    /// Its packets that a queue or loss took on the way of its data.
    dropped: u64,
}

/// Counters of each flow, samples, the packet log, and captures.
pub struct Recorder {
    flows: Vec<FlowCounters>,
    queue_rows: String,
    flow_rows: String,
    log: Option<Vec<(Time, PathEvent, u32, u32)>>,
    captures: Option<Captures>,
}

impl Recorder {
    /// Keeps every packet's event if `log_packets`.
    #[must_use]
    pub fn new(flows: usize, log_packets: bool, captures: Option<Captures>) -> Self {
        Self {
            flows: vec![FlowCounters::default(); flows],
            queue_rows: QUEUE.into(),
            flow_rows: FLOWS.into(),
            log: log_packets.then(Vec::new),
            captures,
        }
    }

    /// Notes an event of a packet.
    pub fn packet(&mut self, at: Time, event: PathEvent, packet: &Packet<Vec<u8>>) {
        let flow = &mut self.flows[packet.flow.index()];
        match event {
            PathEvent::Dropped | PathEvent::Lost => flow.dropped += 1,
            PathEvent::Crossed if has_data(&packet.body) => {
                flow.wire_bytes += u64::from(packet.size);
            }
            PathEvent::Crossed | PathEvent::Forwarded | PathEvent::Arrived => {}
        }
        if let Some(log) = &mut self.log {
            log.push((at, event, packet.flow.0, packet.size));
        }
        match (&mut self.captures, event) {
            (Some(captures), PathEvent::Arrived) => captures.arrives(at, &packet.body),
            (Some(captures), PathEvent::Forwarded) => captures.departs(at, &packet.body),
            _ => {}
        }
    }

    /// Notes that a packet leaves a host, or reaches it.
    pub(crate) fn at_host(&mut self, side: Side, heading: Heading, at: Time, packet: &[u8]) {
        if let Some(captures) = &mut self.captures {
            captures.at_host(side, heading, at, packet);
        }
    }

    /// Notes that a packet of the receiver is handed to the sender.
    pub(crate) fn returned(&mut self, at: Time, packet: &Packet<Vec<u8>>) {
        if let Some(captures) = &mut self.captures {
            captures.returns(at, &packet.body);
        }
    }

    /// Adds a row for each link's queue and for each flow; the path has reached `at`.
    pub fn sample(&mut self, at: Time, path: &Path) {
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
            _ = writeln!(self.flow_rows, "{at},{i},{},{}", flow.wire_bytes, flow.dropped);
        }
    }

    /// Completes the captures; returns how each file ended.
    ///
    /// # Errors
    /// If one couldn't be written.
    pub fn finish_captures(&mut self) -> Result<BTreeMap<String, Ending>> {
        self.captures.take().map_or_else(|| Ok(BTreeMap::new()), Captures::finish)
    }

    /// Writes `router_queue.csv`, `router_flows.csv` and, with a log, `router_packets.csv`.
    ///
    /// # Errors
    /// If that fails.
    pub fn write(&self, directory: &FilePath) -> Result<()> {
        std::fs::write(directory.join("router_queue.csv"), &self.queue_rows)?;
        std::fs::write(directory.join("router_flows.csv"), &self.flow_rows)?;
        let Some(log) = &self.log else { return Ok(()) };
        let mut rows = String::from(PACKETS);
        for (at, event, flow, size) in log {
            _ = writeln!(rows, "{},{},{flow},{size}", at.as_nanos(), name(*event));
        }
        std::fs::write(directory.join("router_packets.csv"), rows)
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
