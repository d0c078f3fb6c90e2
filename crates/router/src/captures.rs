//! RouterCaptures of both sides of the bottleneck, as pcapng files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Error, Result};

use narrows_base::{Heading, Point, Time};
use narrows_pcapng::{Ending, PcapFiles, PcapngWriter, file_name, truncate};

use crate::handoff::Handoff;
use crate::path::Side;

/// An upper bound of a block's bytes besides the packet.
const AROUND: usize = 64;

/// The captures before and after the queue.
///
/// They are like those of the simulator: data packets are captured when they arrive at the link and
/// when their transmission ends. The bottleneck has no length and is next to the sender, so
/// returning packets pass both of its sides when they reach the sender. Times are the model's, on
/// the same clock as the hosts' captures. Packets before time 0 are left out.
pub struct RouterCaptures {
    before: Capture,
    after: Capture,
    /// At the sending and the receiving host, if they are made here.
    hosts: Option<[Capture; 2]>,
    snaplen: Option<u32>,
}

struct Capture {
    point: Point,
    file: PcapngWriter<Handoff>,
    missed: u64,
}

impl RouterCaptures {
    /// Creates `before-queue.pcapng` and `after-queue.pcapng`.
    ///
    /// # Errors
    /// If that fails.
    pub fn create(pcap: &PcapFiles) -> Result<Self> {
        let begin = |point| Capture::create(point, pcap);
        let (before, after) = (begin(Point::BeforeQueue)?, begin(Point::AfterQueue)?);
        Ok(Self { before, after, hosts: None, snaplen: pcap.snaplen })
    }

    /// Also creates `sender.pcapng` and `receiver.pcapng`, of packets as they leave and
    /// reach the hosts.
    ///
    /// # Errors
    /// If that isn't possible.
    pub fn create_with_hosts(pcap: &PcapFiles) -> Result<Self> {
        let begin = |point| Capture::create(point, pcap);
        let hosts = Some([begin(Point::Sender)?, begin(Point::Receiver)?]);
        Ok(Self { hosts, ..Self::create(pcap)? })
    }

    /// A packet leaves a host, or reaches it.
    pub(crate) fn at_host(&mut self, side: Side, heading: Heading, at: Time, packet: &[u8]) {
        if let Some(hosts) = &mut self.hosts {
            hosts[side as usize].packet(at, heading, packet, self.snaplen);
        }
    }

    /// A packet of the sender arrives at the link.
    pub(crate) fn note_arrival(&mut self, at: Time, packet: &[u8]) {
        self.before.packet(at, Heading::In, packet, self.snaplen);
    }

    /// Its transmission ends.
    pub(crate) fn departs(&mut self, at: Time, packet: &[u8]) {
        self.after.packet(at, Heading::Out, packet, self.snaplen);
    }

    /// A packet of the receiver reaches the sender.
    pub(crate) fn returns(&mut self, at: Time, packet: &[u8]) {
        self.after.packet(at, Heading::In, packet, self.snaplen);
        self.before.packet(at, Heading::Out, packet, self.snaplen);
    }

    /// Completes the files; returns how each ended.
    ///
    /// # Errors
    /// If one couldn't be written.
    pub fn finish(self) -> Result<BTreeMap<String, Ending>> {
        let all = [self.before, self.after].into_iter().chain(self.hosts.into_iter().flatten());
        all.map(Capture::finish).collect()
    }
}

impl Capture {
    fn create(point: Point, pcap: &PcapFiles) -> Result<Self> {
        let path = pcap.path(point);
        let wrong = |e: Error| Error::new(e.kind(), format!("{}: {e}", path.display()));
        let out = Handoff::new(File::create(&path).map_err(wrong)?)?;
        let file = pcap.begin(point, out)?;
        Ok(Self { point, file, missed: 0 })
    }

    fn packet(&mut self, at: Time, heading: Heading, packet: &[u8], snaplen: Option<u32>) {
        let data = truncate(packet, snaplen);
        if at == Time::ZERO {
            return;
        }
        let length = u32::try_from(packet.len()).unwrap_or(u32::MAX);
        let room = self.file.output().has_room(data.len() + AROUND);
        if !room || self.file.packet(at, heading, data, length).is_err() {
            self.missed += 1;
        }
    }

    fn finish(self) -> Result<(String, Ending)> {
        let name = file_name(self.point);
        let wrong = |e: Error| Error::new(e.kind(), format!("{name}: {e}"));
        let ending = Ending { packets: self.file.packets(), missed: self.missed };
        self.file.finish(ending.missed).and_then(Handoff::finish).map_err(wrong)?;
        Ok((name, ending))
    }
}
