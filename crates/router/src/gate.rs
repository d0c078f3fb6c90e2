//! The gate of a guest in virtual time: it takes the packets of the guest's hosts, hands them over
//! at the end of each window, and has the guest's kernel release incoming packets at their times
//! (SO_TXTIME and the qdisc `fq`).
//!
//! A guest's clock stands still while its kernel waits for a file of its host. At the end of
//! window N the gate looks for the file `window-N`, and the library between the guest and its host
//! (gate.c) lets it wait until every guest is there and the coupling has written the file.

use std::fs::{self, File};
use std::io::{Result, Write as _};
use std::path::{Path, PathBuf};

use narrows_linux::{clock, process};
use serde::Deserialize;

use crate::frame::has_data;
use crate::frames::{ETHERNET, Frames};
use crate::path::Side;
use crate::sys;
use crate::window::{self, Passage};

/// The EtherType of IPv4.
const IPV4: [u8; 2] = [0x08, 0x00];
/// The longest interval between two readings of the sockets, so that they don't overflow.
const DRAIN_INTERVAL_NS: u64 = 10_000_000;
/// The gap between data due at the same instant. A guest's clock can't set a timer for less
/// than 500 ns (TIMER_MIN_DELTA of arch/um).
const APART_NS: u64 = 1000;

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
    /// True if the hosts send super-packets.
    pub offloads: bool,
    /// The directory of the windows' files.
    pub directory: PathBuf,
}

struct Gate<'a> {
    config: &'a GateConfig,
    hosts: [Frames; 2],
    /// CLOCK_REALTIME, in which packets are stamped, at time 0 of the run.
    zero_of_stamps_ns: u64,
    sent: Vec<Passage>,
    latest_ns: u64,
}

/// Passes packets on until the guest is switched off.
///
/// # Errors
/// If a device or a file fails.
pub fn pass(config: &GateConfig) -> Result<()> {
    process::exact_timers();
    let [sender, receiver] = &config.devices;
    let mut gate = Gate {
        config,
        hosts: [Frames::of(sender, config.offloads)?, Frames::of(receiver, config.offloads)?],
        zero_of_stamps_ns: config.zero_ns + sys::realtime_ahead_ns(),
        sent: Vec::new(),
        latest_ns: 0,
    };
    for window in 0.. {
        gate.take_until((window + 1) * config.window_ns)?;
        gate.hand_over(window)?;
        gate.release(&window::read(&window::due_file(&config.directory, window))?.packets)?;
    }
    Ok(())
}

impl Gate<'_> {
    /// The time of the run; before time 0 its clock stands at 0.
    fn now(&self) -> u64 {
        clock::monotonic_ns().saturating_sub(self.config.zero_ns)
    }

    /// Takes what the hosts send until this time of the run.
    fn take_until(&mut self, end: u64) -> Result<()> {
        let mut now = self.now();
        while now < end {
            now = end.min(now + DRAIN_INTERVAL_NS);
            sys::sleep_until(self.config.zero_ns + now)?;
            self.take(Side::Sender)?;
            self.take(Side::Receiver)?;
        }
        Ok(())
    }

    fn take(&mut self, side: Side) -> Result<()> {
        let (sent, zero) = (&mut self.sent, self.zero_of_stamps_ns);
        self.hosts[side as usize].take(|stamp, frame| {
            if frame.get(12..ETHERNET) == Some(&IPV4) {
                let at = stamp.saturating_sub(zero);
                sent.push(Passage { at, side, packet: frame[ETHERNET..].to_vec() });
            }
        })
    }

    /// Hands over what the hosts have sent.
    fn hand_over(&mut self, window: u64) -> Result<()> {
        if !self.sent.is_empty() {
            // Those of one host are in order.
            self.sent.sort_by_key(|passage| passage.at);
            let file = window::sent_file(&self.config.directory, window);
            write_through(&file, &window::encode(self.latest_ns, &self.sent))?;
            self.sent.clear();
        }
        Ok(())
    }

    /// Lets each packet reach its host when it is due.
    fn release(&mut self, due: &[Passage]) -> Result<()> {
        let Some(first) = due.first() else { return Ok(()) };
        self.latest_ns = self.latest_ns.max(self.now().saturating_sub(first.at));
        for side in [Side::Sender, Side::Receiver] {
            let mut link = [0; ETHERNET];
            link[..6].copy_from_slice(&self.config.addresses[side as usize]);
            link[6..12].copy_from_slice(&[0x02, 0, 0, 0, 0, 0xff]);
            link[12..].copy_from_slice(&IPV4);
            let own: Vec<_> = due.iter().filter(|passage| passage.side == side).collect();
            let times = apart(
                own.iter()
                    .map(|passage| (self.config.zero_ns + passage.at, has_data(&passage.packet))),
            );
            let packets = own.iter().map(|passage| passage.packet.as_slice());
            self.hosts[side as usize].send(link, &times.zip(packets).collect::<Vec<_>>())?;
        }
        Ok(())
    }
}

/// Times for packets that are due at these; data of the same instant follow one another.
///
/// A host in virtual time takes no time, so its programs read each packet before the next one comes.
/// Otherwise TCP would acknowledge several at once that a path delivers at once.
fn apart(due: impl Iterator<Item = (u64, bool)>) -> impl Iterator<Item = u64> {
    let (mut before, mut last) = (0, 0);
    due.map(move |(at, data)| {
        last = if data && at == before { last + APART_NS } else { at.max(last) };
        before = at;
        last
    })
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

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn data_of_one_instant_follow_one_another_and_the_order_stays() {
        let due = [5, 700, 700, 700, 1200, 9000, 9000, 20_000];
        let times = |data| apart(due.into_iter().map(move |at| (at, data))).collect::<Vec<_>>();
        assert_eq!(times(true), [5, 700, 1700, 2700, 2700, 9000, 10_000, 20_000]);
        assert_eq!(times(false), due);
    }
}
