//! The gate of a guest in virtual time: it takes the packets of the guest's hosts, hands them over
//! at the end of each window, and releases incoming packets at their times.
//!
//! A guest's clock stands still while its kernel waits for a file of its host. At the end of
//! window N the gate looks for the file `window-N`, and the library between the guest and its host
//! (gate.c) lets it wait until every guest is there and the coupling has written the file.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{Result, Write as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::device::{Device, LARGEST};
use crate::window::{self, Passage};
use crate::{Side, sys};

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// The EtherType of IPv4.
const IPV4: [u8; 2] = [0x08, 0x00];

/// The configuration of a gate, as JSON.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateConfig {
    /// CLOCK_MONOTONIC at time 0 of the run.
    pub zero_ns: u64,
    /// Length of a window, in ns; no packet needs less from one host to the other.
    pub window_ns: u64,
    /// The devices that lead to the sending and the receiving host.
    pub devices: [String; 2],
    /// The hardware addresses of these hosts.
    pub addresses: [[u8; 6]; 2],
    /// Whether the hosts send super-packets.
    pub offloads: bool,
    /// The directory of the windows' files.
    pub directory: PathBuf,
}

struct Gate<'a> {
    config: &'a GateConfig,
    sockets: [Device; 2],
    sent: Vec<Passage>,
    due: VecDeque<Passage>,
    latest_ns: u64,
    buffer: Vec<u8>,
}

/// Passes packets on until the guest is switched off.
///
/// # Errors
/// If a device or a file fails.
pub fn pass(config: &GateConfig) -> Result<()> {
    sys::exact_timers();
    let [sender, receiver] = &config.devices;
    let mut gate = Gate {
        config,
        sockets: [
            Device::frames(sender, config.offloads)?,
            Device::frames(receiver, config.offloads)?,
        ],
        sent: Vec::new(),
        due: VecDeque::new(),
        latest_ns: 0,
        buffer: vec![0; LARGEST],
    };
    // Earlier packets wait in the devices; a longer time limit of poll(2) would be 20 ms late.
    sys::sleep_until(config.zero_ns)?;
    for window in 0.. {
        gate.until((window + 1) * config.window_ns)?;
        gate.hand_over(window)?;
    }
    Ok(())
}

impl Gate<'_> {
    fn now(&self) -> u64 {
        sys::monotonic_ns().saturating_sub(self.config.zero_ns)
    }

    /// Passes packets on until this time of the run.
    fn until(&mut self, end: u64) -> Result<()> {
        loop {
            self.take(Side::Sender)?;
            self.take(Side::Receiver)?;
            self.release()?;
            let next = self.due.front().map_or(end, |passage| passage.at.min(end));
            // Before time 0 the clock of the run stands at 0.
            let now = sys::monotonic_ns();
            if now >= self.config.zero_ns + end {
                return Ok(());
            }
            let left = (self.config.zero_ns + next).saturating_sub(now);
            if left > 0 {
                sys::wait_readable(self.sockets.iter().map(Device::descriptor), left)?;
            }
        }
    }

    fn take(&mut self, side: Side) -> Result<()> {
        loop {
            let at = self.now();
            let socket = &self.sockets[side as usize];
            let Some(frame) = socket.read(&mut self.buffer)? else { return Ok(()) };
            if frame.get(12..ETHERNET) == Some(&IPV4) {
                self.sent.push(Passage { at, side, packet: frame[ETHERNET..].to_vec() });
            }
        }
    }

    fn release(&mut self) -> Result<()> {
        while let Some(passage) = self.due.front() {
            let now = self.now();
            if passage.at > now {
                break;
            }
            self.latest_ns = self.latest_ns.max(now - passage.at);
            let host = passage.side as usize;
            let mut link = self.config.addresses[host].to_vec();
            link.extend([0x02, 0, 0, 0, 0, 0xff]);
            link.extend(IPV4);
            self.sockets[host].write(&link, &passage.packet)?;
            self.due.pop_front();
        }
        Ok(())
    }

    /// Hands over the sent packets, and waits for those that are due.
    fn hand_over(&mut self, window: u64) -> Result<()> {
        if !self.sent.is_empty() {
            let file = window::sent_file(&self.config.directory, window);
            write_through(&file, &window::encode(self.latest_ns, &self.sent))?;
            self.sent.clear();
        }
        let due = window::due_file(&self.config.directory, window);
        self.due.extend(window::read(&due)?.packets);
        Ok(())
    }
}

/// Writes a file for the guest's host.
fn write_through(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Reads the configuration from a file.
///
/// # Errors
/// If there is no such file, or its content is invalid.
pub fn read_config(file: &Path) -> Result<GateConfig> {
    Ok(serde_json::from_str(&fs::read_to_string(file)?)?)
}
