//! Guests in virtual time, coupled through one path.
//! All guests run for a window of their time, which is no longer than the shortest way from one
//! host to another; then they wait. The packets of the window enter the path in the order of their
//! times, as if there were one clock, and none of them is due before the next window. So no guest
//! ever misses a packet, and a repeated run gives the same results.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{Error, ErrorKind, Read as _, Result, Write as _};
use std::path::PathBuf;

use narrows_base::{Duration, FlowId, Heading, Packet, Time};
use narrows_pcapng::PcapFiles;
use narrows_spec::scenario::Scenario;
use serde::Deserialize;
use serde_json::json;

use crate::captures::RouterCaptures;
use crate::config::Crossing;
use crate::frame::{ForwardedPacket, payload};
use crate::path::{RouterPath, Side};
use crate::ports::Ports;
use crate::record::PathRecorder;
use crate::window::{self, Passage};

/// How often the file `progress` is written, in ns of the run.
const PROGRESS_NS: u64 = 500_000_000;

/// Guests and the path between their hosts, as JSON.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoupleConfig {
    /// The scenario.
    pub scenario: Scenario,
    /// Flow i of a guest has this TCP port of its receiver plus i.
    pub first_port: u16,
    /// Interval of the samples of the queue, in ns.
    pub sample_ns: u64,
    /// Length of a window, in ns.
    pub window_ns: u64,
    /// Capture the packets of all hosts and at both sides of the bottleneck.
    pub pcap: Option<PcapFiles>,
    /// The guests.
    pub guests: Vec<GuestConfig>,
    /// Directory for the results.
    pub out: PathBuf,
}

/// A guest and the flows between its hosts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestConfig {
    /// Its directory, with the pipes `ask` and `answer`.
    pub directory: PathBuf,
    /// The number of each flow of the guest; the guest counts its own from 0.
    pub flows: Vec<u32>,
}

struct Guest<'a> {
    config: &'a GuestConfig,
    ask: File,
    answer: File,
    due: Vec<Passage>,
    latest_ns: u64,
    gone: bool,
}

struct Coupling<'a> {
    config: &'a CoupleConfig,
    guests: Vec<Guest<'a>>,
    /// The guest of each flow.
    guest_of: Vec<usize>,
    /// The flows of each guest, by their ports.
    ports: Vec<Ports>,
    path: RouterPath,
    record: PathRecorder,
    next_sample: Time,
    /// Packets that guests sent after the current window.
    later: Vec<(usize, Passage)>,
    /// The payload of flows' packets that will reach the receiving host, in bytes.
    arriving: VecDeque<(Time, FlowId, usize)>,
    /// Packets to capture when they reach their host.
    reaching: VecDeque<(Time, Side, Packet<ForwardedPacket>)>,
}

/// Carries the packets of all guests until the last one is switched off, and writes the results.
///
/// # Errors
/// If the windows are too long for the path, or a file fails.
pub fn couple(config: &CoupleConfig) -> Result<()> {
    let crossing = Crossing::of(&config.scenario, config.first_port, Vec::new());
    let path = RouterPath::new(&crossing);
    let window = Duration::from_nanos(config.window_ns);
    if window.is_zero() || window > path.shortest() || config.sample_ns == 0 {
        return Err(Error::other("a window has to be as short as the shortest way"));
    }
    let mut guest_of = vec![0; crossing.rtts_ns.len()];
    for (number, guest) in config.guests.iter().enumerate() {
        guest.flows.iter().for_each(|&flow| guest_of[flow as usize] = number);
    }
    let captures = config.pcap.as_ref().map(RouterCaptures::create_with_hosts).transpose()?;
    let mut coupling = Coupling {
        config,
        guests: config.guests.iter().map(Guest::open).collect::<Result<_>>()?,
        record: PathRecorder::new(guest_of.len(), false, captures)
            .noting_programs(&config.scenario.flows)
            .counting(&config.scenario.run),
        ports: config.guests.iter().map(|guest| Ports::of(&crossing, &guest.flows)).collect(),
        guest_of,
        path,
        next_sample: Time::ZERO,
        later: Vec::new(),
        arriving: VecDeque::new(),
        reaching: VecDeque::new(),
    };
    let mut number = 0;
    while coupling.window(number)? {
        number += 1;
    }
    coupling.finish()
}

impl<'a> Guest<'a> {
    fn open(config: &'a GuestConfig) -> Result<Self> {
        let ask = File::open(config.directory.join("ask"))?;
        let answer = File::options().write(true).open(config.directory.join("answer"))?;
        Ok(Self { config, ask, answer, due: Vec::new(), latest_ns: 0, gone: false })
    }

    /// Waits until the guest has reached the end of its window, and takes its packets.
    fn await_end(&mut self, number: u64) -> Result<Vec<Passage>> {
        self.gone |= self.ask.read(&mut [0])? == 0;
        if self.gone {
            return Ok(Vec::new());
        }
        let file = window::sent_file(&self.config.directory, number);
        let sent = window::read(&file)?;
        self.latest_ns = self.latest_ns.max(sent.latest_ns);
        if !sent.packets.is_empty() {
            fs::remove_file(file)?;
        }
        Ok(sent.packets)
    }

    /// Lets it continue, with the packets due to it in the next window.
    fn go_on(&mut self, number: u64) -> Result<()> {
        if number > 0 {
            fs::remove_file(window::due_file(&self.config.directory, number - 1))?;
        }
        let due = window::encode(0, &self.due);
        fs::write(window::due_file(&self.config.directory, number), due)?;
        self.due.clear();
        match self.answer.write_all(&[0]) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.gone = true,
            other => other?,
        }
        Ok(())
    }
}

impl Coupling<'_> {
    /// Processes a window; false if no guest is left.
    fn window(&mut self, number: u64) -> Result<bool> {
        let mut sent = std::mem::take(&mut self.later);
        for (index, guest) in self.guests.iter_mut().enumerate().filter(|(_, guest)| !guest.gone) {
            let packets = guest.await_end(number)?;
            sent.extend(packets.into_iter().map(|passage| (index, passage)));
        }
        if self.guests.iter().all(|guest| guest.gone) {
            return Ok(false);
        }
        // The sort is stable: of packets sent at the same time the first guest's come first.
        sent.sort_by_key(|(guest, passage)| (passage.at, *guest));
        let end = (number + 1) * self.config.window_ns;
        for (guest, passage) in sent {
            if passage.at < end {
                self.carry(guest, passage);
            } else {
                self.later.push((guest, passage));
            }
        }
        self.advance(Time::from_nanos(end));
        self.collect(Time::from_nanos(end + self.config.window_ns - 1));
        for guest in self.guests.iter_mut().filter(|guest| !guest.gone) {
            guest.go_on(number)?;
        }
        self.tell(end)
    }

    fn carry(&mut self, guest: usize, passage: Passage) {
        let at = Time::from_nanos(passage.at);
        self.advance(at);
        self.record.at_host(passage.side, Heading::Out, at, &passage.packet);
        let packet = self.ports[guest].classify(passage.packet.into(), passage.side);
        let record = &mut self.record;
        record.count_sent(passage.side, at, &packet);
        let mut witness = |at, event, packet: &_| record.packet(at, event, packet);
        match passage.side {
            Side::Sender => self.path.send(packet, at, &mut witness),
            Side::Receiver => self.path.reply(packet, at, &mut witness),
        }
    }

    /// Processes all events until `at`, with the samples of the queue that are due.
    fn advance(&mut self, at: Time) {
        while self.next_sample <= at {
            let sample = self.next_sample;
            self.settle_in_order(sample);
            self.count_arrivals(sample);
            self.record.sample(sample, &self.path);
            self.next_sample = sample + Duration::from_nanos(self.config.sample_ns);
        }
        self.settle_in_order(at);
    }

    /// Counts what has reached receiving hosts by then.
    fn count_arrivals(&mut self, at: Time) {
        while self.arriving.front().is_some_and(|(due, ..)| *due <= at) {
            let Some((_, flow, payload)) = self.arriving.pop_front() else { break };
            self.record.receives(flow, payload);
        }
    }

    /// Processes all events until `at`; what reaches a host is recorded in its turn, since it was
    /// collected a window before.
    fn settle_in_order(&mut self, at: Time) {
        while self.reaching.front().is_some_and(|(due, ..)| *due <= at) {
            let Some((due, side, packet)) = self.reaching.pop_front() else { break };
            self.settle(due);
            if side == Side::Sender {
                self.record.note_return(due, &packet);
            }
            self.record.at_host(side, Heading::In, due, &packet.body);
        }
        self.settle(at);
    }

    fn settle(&mut self, at: Time) {
        let record = &mut self.record;
        self.path.catch_up(at, &mut |at, event, packet| record.packet(at, event, packet));
    }

    /// Gives each guest the packets that reach it until `last`; all are on their last element.
    fn collect(&mut self, last: Time) {
        while let Some((side, departure)) = self.path.arrive(last) {
            if self.path.is_data(side, &departure.packet) {
                self.record.count_delay(departure.at, &departure.packet);
            }
            if self.config.pcap.is_some() {
                self.reaching.push_back((departure.at, side, departure.packet.clone()));
            }
            if side == Side::Receiver {
                let packet = &departure.packet;
                self.arriving.push_back((departure.at, packet.flow, payload(&packet.body)));
            }
            let guest = self.guest_of[departure.packet.flow.index()];
            let (at, packet) = (departure.at.as_nanos(), departure.packet.body.bytes);
            self.guests[guest].due.push(Passage { at, side, packet });
        }
        self.arriving.make_contiguous().sort_by_key(|(due, ..)| *due);
        self.reaching.make_contiguous().sort_by_key(|(due, ..)| *due);
        // Each line gives its packets in order, but there are several.
        self.guests.iter_mut().for_each(|guest| guest.due.sort_by_key(|passage| passage.at));
    }

    /// Writes the progress of the run at intervals.
    fn tell(&self, end: u64) -> Result<bool> {
        if end / PROGRESS_NS > (end - self.config.window_ns) / PROGRESS_NS {
            let forwarded = self.path.queue().counters.forwarded_packets;
            fs::write(self.config.out.join("progress"), format!("{end} {forwarded}\n"))?;
        }
        Ok(true)
    }

    fn finish(mut self) -> Result<()> {
        self.record.write(&self.config.out)?;
        let captures = self.record.finish_captures()?;
        let out = |name| self.config.out.join(name);
        fs::write(out("router_captures.json"), serde_json::to_string(&captures)?)?;
        let latest = self.guests.iter().map(|guest| guest.latest_ns).max();
        fs::write(out("couple.json"), json!({ "latest_ns": latest }).to_string())
    }
}
