//! Captures of a host's packets as pcapng files.

use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::ops::Range;

use narrows_base::{Heading, Point, Time};
use narrows_linux::clock::{monotonic_ns, realtime_ns};
use narrows_pcapng::{Ending, PcapFiles, PcapngWriter, truncate};

use crate::packet_thread::{PacketStream, PacketThread};

const LARGEST: usize = 65_536;

/// A capture that runs in its own thread.
pub struct PacketFile {
    /// The point where it is made.
    pub point: Point,
    thread: PacketThread<Ending>,
}

impl PacketFile {
    /// Starts on a device of the current namespace, which is that of a host at `point`. Times in
    /// the file count from `zero`, CLOCK_MONOTONIC at time 0 of the run. With `ports` only TCP
    /// packets from or to one of them are kept: other people's traffic isn't ours to read.
    ///
    /// # Errors
    /// If there is no such device, no right to capture, or the file can't be made.
    pub fn start(
        device: &str,
        point: Point,
        pcap: &PcapFiles,
        zero: u64,
        ports: Option<Range<u16>>,
    ) -> Result<Self> {
        let out = pcap.begin(point, BufWriter::new(File::create(pcap.path(point))?))?;
        let snaplen = pcap.snaplen;
        let work = move |packets: &PacketStream| collect(packets, out, snaplen, zero, ports);
        Ok(Self { point, thread: PacketThread::start(device, work)? })
    }

    /// Ends the file; returns how it ended.
    ///
    /// # Errors
    /// If it couldn't be written.
    pub fn finish(self) -> Result<Ending> {
        self.thread.finish()
    }
}

/// Returns `true` if an IPv4 packet carries TCP from or to one of these ports.
fn has_port(packet: &[u8], ports: &Range<u16>) -> bool {
    const TCP: u8 = 6;
    let header = packet.first().map_or(0, |first| usize::from(first & 15) * 4);
    let port = |at: usize| {
        let bytes = packet.get(header + at..header + at + 2)?;
        Some(u16::from_be_bytes(bytes.try_into().ok()?))
    };
    let is_tcp = packet.first().is_some_and(|first| first >> 4 == 4) && packet.get(9) == Some(&TCP);
    is_tcp && [port(0), port(2)].into_iter().flatten().any(|port| ports.contains(&port))
}

fn collect(
    packets: &PacketStream,
    mut out: PcapngWriter<impl Write>,
    snaplen: Option<u32>,
    zero: u64,
    ports: Option<Range<u16>>,
) -> Result<Ending> {
    let mut clocks = Clocks::new();
    // The measured offset of the clocks varies a little, but time doesn't go back.
    let mut latest = 0;
    packets.take(LARGEST, |packet| {
        if ports.as_ref().is_some_and(|ports| !has_port(packet.data, ports)) {
            return Ok(());
        }
        let Some(at) = clocks.monotonic(packet.at_ns).checked_sub(zero) else { return Ok(()) };
        latest = at.max(latest);
        let heading = if packet.outgoing { Heading::Out } else { Heading::In };
        let length = u32::try_from(packet.data.len()).unwrap_or(u32::MAX);
        let data = truncate(packet.data, snaplen);
        out.packet(Time::from_nanos(latest), heading, data, length)
    })?;
    let ending = Ending { packets: out.packets(), missed: packets.missed_count()? };
    out.finish(ending.missed)?;
    Ok(ending)
}

/// CLOCK_REALTIME, the clock of packets' timestamps, and CLOCK_MONOTONIC, the clock of a run.
///
/// They drift apart when the machine's clock is set or slewed. So their offset is measured
/// repeatedly, but only truncate if the measurement wasn't interrupted.
struct Clocks {
    /// The first minus the second, in ns, which is negative if the machine's clock was never set.
    distance: i64,
    /// The shortest duration of a measurement, ns.
    narrowest: u64,
}

impl Clocks {
    /// Clocks with a known offset.
    fn new() -> Self {
        let mut clocks = Self { distance: 0, narrowest: u64::MAX };
        (0..10).for_each(|_| clocks.compare());
        clocks
    }

    fn compare(&mut self) {
        let before = monotonic_ns();
        let realtime = realtime_ns();
        let width = monotonic_ns().saturating_sub(before);
        self.narrowest = self.narrowest.min(width);
        if width <= self.narrowest.saturating_mul(2) {
            self.distance = realtime.wrapping_sub(before + width / 2).cast_signed();
        }
    }

    /// CLOCK_MONOTONIC at a recent instant of CLOCK_REALTIME; 0 if there was none.
    fn monotonic(&mut self, realtime: u64) -> u64 {
        self.compare();
        realtime.saturating_add_signed(-self.distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_distance_is_soon_a_right_one() {
        let mut clocks = Clocks::new();
        clocks.distance -= 3_600_000_000_000;
        (0..1000).for_each(|_| clocks.compare());
        let apart = clocks.monotonic(realtime_ns()).abs_diff(monotonic_ns());
        assert!(apart < 1_000_000_000);
    }

    #[test]
    fn only_packets_of_the_flows_ports_are_kept() {
        let mut packet = vec![0; 40];
        packet[0] = 0x45;
        packet[9] = 6;
        packet[20..22].copy_from_slice(&5001_u16.to_be_bytes());
        packet[22..24].copy_from_slice(&22_u16.to_be_bytes());
        let kept = |packet: &[u8]| has_port(packet, &(5000..5002));
        assert!(kept(&packet));
        assert!(!has_port(&packet, &(5002..5004)));
        assert!(!kept(&packet[..21]), "cut off");
        packet[9] = 17;
        assert!(!kept(&packet), "UDP");
        assert!(!kept(&[]));
    }
}
