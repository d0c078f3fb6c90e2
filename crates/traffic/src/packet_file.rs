//! Captures of a host's packets as pcapng files.

use std::fs::File;
use std::io::{BufWriter, Error, ErrorKind, Result, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use narrows_base::{Heading, Point, Time};
use narrows_pcapng::{Ending, PcapFiles, PcapngWriter, truncate};

use crate::capture;
use crate::sys;

const LARGEST: usize = 65_536;
/// How soon the end is noticed without packets.
const GLANCE_MS: u64 = 50;

/// A capture that runs in its own thread.
pub struct PacketFile {
    /// The point where it is made.
    pub point: Point,
    thread: JoinHandle<Result<Ending>>,
    stop: Arc<AtomicBool>,
}

impl PacketFile {
    /// Starts on a device of the current namespace, which is that of a host at `point`. Times in
    /// the file count from `zero`, CLOCK_MONOTONIC at time 0 of the run.
    ///
    /// # Errors
    /// If there is no such device, no right to capture, or the file can't be made.
    pub fn start(device: &str, point: Point, pcap: &PcapFiles, zero: u64) -> Result<Self> {
        let socket = capture::open(device)?;
        sys::receive_timeout(socket.as_raw_fd(), GLANCE_MS)?;
        let out = pcap.begin(point, BufWriter::new(File::create(pcap.path(point))?))?;
        let stop = Arc::new(AtomicBool::new(false));
        let (theirs, snaplen) = (Arc::clone(&stop), pcap.snaplen);
        let work = move || collect(&socket, out, snaplen, zero, &theirs);
        Ok(Self { point, thread: thread::Builder::new().spawn(work)?, stop })
    }

    /// Ends the file; returns how it ended.
    ///
    /// # Errors
    /// If it couldn't be written.
    pub fn finish(self) -> Result<Ending> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| Error::from(ErrorKind::Other))?
    }
}

fn collect(
    socket: &OwnedFd,
    mut out: PcapngWriter<impl Write>,
    snaplen: Option<u32>,
    zero: u64,
    stop: &AtomicBool,
) -> Result<Ending> {
    let mut clocks = Clocks::new();
    let mut buffer = vec![0; LARGEST];
    // The measured offset of the clocks varies a little, but time doesn't go back.
    let mut latest = 0;
    while !stop.load(Ordering::Relaxed) {
        let packet = match sys::capture(socket.as_raw_fd(), &mut buffer) {
            Err(e) if e.kind() == ErrorKind::WouldBlock => continue,
            other => other?,
        };
        let Some(at) = clocks.monotonic(packet.at_ns).checked_sub(zero) else { continue };
        latest = at.max(latest);
        let heading = if packet.outgoing { Heading::Out } else { Heading::In };
        let length = u32::try_from(packet.len).unwrap_or(u32::MAX);
        let data = truncate(&buffer[..packet.len], snaplen);
        out.packet(Time::from_nanos(latest), heading, data, length)?;
    }
    let ending =
        Ending { packets: out.packets(), missed: sys::missed_packets(socket.as_raw_fd())? };
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
        let before = sys::monotonic_ns();
        let realtime = sys::realtime_ns();
        let width = sys::monotonic_ns().saturating_sub(before);
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
        let apart = clocks.monotonic(sys::realtime_ns()).abs_diff(sys::monotonic_ns());
        assert!(apart < 1_000_000_000);
    }
}
