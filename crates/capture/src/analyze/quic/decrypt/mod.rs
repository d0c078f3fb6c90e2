//! Packets of QUIC decrypted with the secrets of a key log, as an endpoint would have logged them.
//!
//! A key log names connections by the client's random number, which only a handshake shows. Here
//! the secrets are tried instead: a packet is authentic under one of them alone. So the first
//! packet of application data has to be in the capture, or one whose number is still small.

mod frames;
mod protection;
mod spin_turns;

use std::collections::BTreeMap;

use super::key_log::KeyLog;
use super::segments_between;
use crate::decode::{CapturedSegment, Endpoint};
use crate::read::{QlogTrace, QuicEvent, QuicPacket};
use frames::{Bytes, frames};
use protection::{Protection, SUITES, Version};
use spin_turns::SpinTurns;

const LONG: u8 = 0x80;
const SPIN: u8 = 0x20;
/// The types of packets with a long header in version 1; those of version 2 are one higher.
const INITIAL: u8 = 0;
const ZERO_RTT: u8 = 1;
const HANDSHAKE: u8 = 2;
const SERVER_PORT: u16 = 443;
/// The longest connection ID (RFC 9000, section 17.2).
const LONGEST_ID: usize = 20;
/// Attempts to find the secrets of connections.
const MOST_TRIALS: u64 = 200_000;
/// The most connections.
const MOST_CONNECTIONS: usize = 4096;

/// Decrypts the datagrams of a capture.
pub(crate) struct Decryptor {
    keys: KeyLog,
    trials: u64,
    connections: BTreeMap<(Endpoint, Endpoint), Connection>,
    /// Packets of application data that were decrypted.
    pub(crate) decrypted: u64,
    /// Those that weren't.
    pub(crate) encrypted: u64,
}

/// A connection between two ends, the lower one first.
struct Connection {
    ends: [Endpoint; 2],
    /// Which end is the client, once that is known.
    client: Option<usize>,
    version: Version,
    /// The length of each end's connection ID, which packets to it begin with.
    id_lengths: [Option<usize>; 2],
    /// The protection of what the client and the server send.
    protections: Option<[Protection; 2]>,
    events: Vec<QuicEvent>,
    spin: SpinTurns,
    /// When the client's first datagram, the server's answer and the client's next one passed.
    handshake: Vec<u64>,
}

/// A packet with a long header.
struct LongHeader {
    kind: u8,
    version: Version,
    source_id: usize,
    /// Its bytes in the datagram.
    length: usize,
}

impl Decryptor {
    pub(crate) fn new(keys: KeyLog) -> Self {
        Self { keys, trials: 0, connections: BTreeMap::new(), decrypted: 0, encrypted: 0 }
    }

    /// Takes a datagram as far as it was kept.
    pub(crate) fn on(&mut self, time: u64, (from, to): (Endpoint, Endpoint), mut datagram: &[u8]) {
        let key = (from.min(to), from.max(to));
        if self.connections.len() >= MOST_CONNECTIONS && !self.connections.contains_key(&key) {
            return;
        }
        let sender = usize::from(from > to);
        let connection = self.connections.entry(key).or_insert_with(|| Connection::new(key));
        while let Some(&first) = datagram.first() {
            if first & LONG == 0 {
                match connection.open(&self.keys, &mut self.trials, sender, datagram) {
                    Some((number, payload)) => {
                        self.decrypted += 1;
                        connection.keep(time, sender, number, datagram, &payload);
                    }
                    None => self.encrypted += 1,
                }
                return;
            }
            let Some(header) = long_header(datagram) else { return };
            connection.on_long_header(time, sender, &header);
            datagram = &datagram[header.length.min(datagram.len())..];
        }
    }

    /// The packets of all connections as segments.
    pub(crate) fn segments(self) -> Vec<CapturedSegment> {
        let traces = self.connections.into_values().filter_map(|connection| {
            let client = connection.client?;
            let ends = [connection.ends[client], connection.ends[1 - client]];
            let mut events = connection.events;
            if connection.spin.is_random() {
                events.iter_mut().for_each(forget_spin);
            }
            let handshake = connection.handshake.try_into().ok();
            let trace = QlogTrace { events, handshake, ..QlogTrace::default() };
            Some(segments_between(&trace, ends))
        });
        traces.flatten().collect()
    }
}

impl Connection {
    fn new((one, other): (Endpoint, Endpoint)) -> Self {
        let ends = [one, other];
        let server = ends.iter().position(|end| end.port == SERVER_PORT);
        Self {
            ends,
            client: server.map(|end| 1 - end),
            version: Version::One,
            id_lengths: [None; 2],
            protections: None,
            events: Vec::new(),
            spin: SpinTurns::default(),
            handshake: Vec::new(),
        }
    }

    fn on_long_header(&mut self, time: u64, sender: usize, header: &LongHeader) {
        if self.client.is_none() && header.kind == INITIAL {
            self.client = Some(sender);
        }
        // The client sends the first and the third.
        let turn = (self.client == Some(sender)) == self.handshake.len().is_multiple_of(2);
        if turn && self.handshake.len() < 3 {
            self.handshake.push(time);
        }
        self.version = header.version;
        self.id_lengths[sender] = Some(header.source_id);
    }

    /// Decrypts a packet of application data; returns its number and its frames.
    fn open(
        &mut self,
        keys: &KeyLog,
        trials: &mut u64,
        sender: usize,
        packet: &[u8],
    ) -> Option<(u64, Vec<u8>)> {
        let client = self.client?;
        let role = usize::from(sender != client);
        let lengths = match self.id_lengths[1 - sender] {
            Some(length) => length..=length,
            None => 0..=LONGEST_ID,
        };
        if let Some(protections) = &mut self.protections {
            let mut open = |id| protections[role].open(packet, id).map(|opened| (id, opened));
            let (id, opened) = lengths.clone().find_map(&mut open)?;
            self.id_lengths[1 - sender] = Some(id);
            return Some(opened);
        }
        for secrets in keys.connections() {
            for suite in SUITES.iter().filter(|suite| suite.secret == secrets.client.len()) {
                let both = [&secrets.client, &secrets.server];
                let mut protections = both.map(|secret| suite.protect(secret, self.version));
                for id in lengths.clone() {
                    *trials += 1;
                    if *trials > MOST_TRIALS {
                        return None;
                    }
                    if let Some(opened) = protections[role].open(packet, id) {
                        self.id_lengths[1 - sender] = Some(id);
                        self.protections = Some(protections);
                        return Some(opened);
                    }
                }
            }
        }
        None
    }

    /// Keeps what a packet says, from the client's view.
    fn keep(&mut self, time: u64, sender: usize, number: u64, packet: &[u8], payload: &[u8]) {
        let (sent, size) = (Some(sender) == self.client, packet.len());
        let bit = packet.first().is_some_and(|first| first & SPIN != 0);
        self.events.push(QuicEvent::Packet(QuicPacket {
            time,
            sent,
            number,
            heard: self.spin.on(usize::from(!sent), number, bit),
            size: size as u64,
            frames: frames(payload),
        }));
    }
}

/// Forgets what the spin bit seemed to show.
const fn forget_spin(event: &mut QuicEvent) {
    if let QuicEvent::Packet(packet) = event {
        packet.heard = None;
    }
}

/// Reads a long header up to the end of its packet (RFC 9000, section 17.2).
fn long_header(packet: &[u8]) -> Option<LongHeader> {
    let mut bytes = Bytes(packet);
    let first = bytes.byte()?;
    let version = Version::of(u32::from_be_bytes(bytes.take(4)?.try_into().ok()?))?;
    let kind = version.kind(first);
    let destination = usize::from(bytes.byte()?);
    bytes.take(destination)?;
    let source_id = usize::from(bytes.byte()?);
    bytes.take(source_id)?;
    if kind == INITIAL {
        let token = bytes.number()?;
        bytes.take(usize::try_from(token).ok()?)?;
    }
    if !matches!(kind, INITIAL | ZERO_RTT | HANDSHAKE) {
        // A Retry takes the rest of the datagram.
        return Some(LongHeader { kind, version, source_id, length: packet.len() });
    }
    let rest = usize::try_from(bytes.number()?).ok()?;
    let length = (packet.len() - bytes.0.len()).checked_add(rest)?;
    Some(LongHeader { kind, version, source_id, length })
}
