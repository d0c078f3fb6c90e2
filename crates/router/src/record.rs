//! What the router writes down: CSV with a header, written in one go at the end, and captures.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Result;
use std::path::Path as FilePath;

use narrows_base::{Packet, Time};
use narrows_pcapng::Ending;

use crate::captures::Captures;
use crate::frame::has_data;
use crate::path::{Passage, Path};

const QUEUE: &str = "time_ns,backlog_bytes,backlog_packets,arrived_packets,dropped_packets,\
marked_packets,forwarded_packets,forwarded_bytes\n";
const FLOWS: &str = "time_ns,flow,wire_bytes,dropped\n";
const PACKETS: &str = "time_ns,event,flow,size\n";

/// What the path did to a flow's packets.
#[derive(Clone, Copy, Debug, Default)]
struct FlowCounters {
    /// IP bytes of its data that left the bottleneck.
    wire_bytes: u64,
    /// Its packets dropped by queue or loss.
    dropped: u64,
}

/// Counters of each flow, samples, the packet log, and captures.
pub struct Recorder {
    flows: Vec<FlowCounters>,
    queue_rows: String,
    flow_rows: String,
    log: Option<Vec<(Time, Passage, u32, u32)>>,
    captures: Option<Captures>,
}

impl Recorder {
    /// Keeps every packet's passage if `log_packets`.
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

    /// Notes what happened to a packet.
    pub fn packet(&mut self, at: Time, passage: Passage, packet: &Packet<Vec<u8>>) {
        let flow = &mut self.flows[packet.flow.index()];
        match passage {
            Passage::Dropped | Passage::Lost => flow.dropped += 1,
            Passage::Forwarded if has_data(&packet.body) => {
                flow.wire_bytes += u64::from(packet.size);
            }
            Passage::Forwarded | Passage::Arrived => {}
        }
        if let Some(log) = &mut self.log {
            log.push((at, passage, packet.flow.0, packet.size));
        }
        match (&mut self.captures, passage) {
            (Some(captures), Passage::Arrived) => captures.arrives(at, &packet.body),
            (Some(captures), Passage::Forwarded) => captures.departs(at, &packet.body),
            _ => {}
        }
    }

    /// Notes that a packet of the receiver is handed to the sender.
    pub(crate) fn returned(&mut self, at: Time, packet: &Packet<Vec<u8>>) {
        if let Some(captures) = &mut self.captures {
            captures.returns(at, &packet.body);
        }
    }

    /// A row of the queue and one of each flow; the path has reached `at`.
    pub fn sample(&mut self, at: Time, path: &Path) {
        let (at, (c, bytes, packets)) = (at.as_nanos(), path.queue());
        let (arrived, dropped) = (c.arrived_packets, c.dropped_packets);
        let (forwarded, forwarded_bytes) = (c.forwarded_packets, c.forwarded_bytes.get());
        _ = write!(self.queue_rows, "{at},{},{packets},{arrived},{dropped},", bytes.get());
        _ = writeln!(self.queue_rows, "{},{forwarded},{forwarded_bytes}", c.marked_packets);
        for (i, flow) in self.flows.iter().enumerate() {
            _ = writeln!(self.flow_rows, "{at},{i},{},{}", flow.wire_bytes, flow.dropped);
        }
    }

    /// Completes the captures; how each file ended.
    ///
    /// # Errors
    /// If one couldn't be written.
    pub fn finish_captures(&mut self) -> Result<BTreeMap<String, Ending>> {
        self.captures.take().map_or_else(|| Ok(BTreeMap::new()), Captures::finish)
    }

    /// Writes `router_queue.csv`, `router_flows.csv` and, with a log, `router_packets.csv`.
    ///
    /// # Errors
    /// If that isn't possible.
    pub fn write(&self, directory: &FilePath) -> Result<()> {
        std::fs::write(directory.join("router_queue.csv"), &self.queue_rows)?;
        std::fs::write(directory.join("router_flows.csv"), &self.flow_rows)?;
        let Some(log) = &self.log else { return Ok(()) };
        let mut rows = String::from(PACKETS);
        for (at, passage, flow, size) in log {
            _ = writeln!(rows, "{},{},{flow},{size}", at.as_nanos(), name(*passage));
        }
        std::fs::write(directory.join("router_packets.csv"), rows)
    }

    /// Every packet's time, passage, flow and size; empty without a log.
    #[must_use]
    pub fn log(&self) -> &[(Time, Passage, u32, u32)] {
        self.log.as_deref().unwrap_or(&[])
    }
}

const fn name(passage: Passage) -> &'static str {
    match passage {
        Passage::Arrived => "arrived",
        Passage::Dropped => "dropped",
        Passage::Forwarded => "forwarded",
        Passage::Lost => "lost",
    }
}
