//! QUIC as an observer without keys sees it: its handshake, and round trips by the spin bit.
//!
//! The client sends the opposite of the spin bit that it received last, and the server returns what
//! it received (RFC 9000, section 17.4), so the bit turns once a round trip in each direction. A
//! turn of the client is followed by the same turn of the server, and that by the opposite one of
//! the client; packets that overtake others turn it in another order and don't count (RFC 9312,
//! section 3.8). Packet numbers, acknowledgements and windows are encrypted.

use serde::Serialize;

use super::times::{TimeSamples, Times};
use super::units::{float, millis};

/// Bits of the first byte (RFC 9000, section 17; RFC 8999).
const LONG: u8 = 0x80;
const FIXED: u8 = 0x40;
const SPIN: u8 = 0x20;
/// Bit pattern that a packet without a long header begins with, and where it is.
const SHORT: u8 = FIXED;
const SHORT_MASK: u8 = LONG | FIXED;

const VERSION_1: u32 = 1;
const VERSION_2: u32 = 0x6b33_43cf;
const DRAFTS: u32 = 0xff00_0000;
const SERVER_PORT: u16 = 443;
/// Packets from which on a connection without its handshake is taken for QUIC.
const FEWEST: u64 = 20;
/// Turns from which on a spin bit counts.
const FEWEST_TURNS: u64 = 4;
/// A silence has as many round trips as this, and is longer than acknowledgements are delayed.
const SILENT_RTTS: u64 = 2;
const SILENT_NS: u64 = 50_000_000;
/// A mean round trip further above the minimum shows a queue, in ms and in parts of the minimum.
const QUEUED_MS: f64 = 1.0;
const QUEUED: f64 = 0.05;
/// Silence of a smaller part of the time isn't mentioned.
const MENTIONED: f64 = 0.05;

/// How a connection's spin bit behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpinBit {
    /// It turns once a round trip.
    Turns,
    /// It never turns, or too seldom to tell.
    #[default]
    Rests,
    /// It turns at random, as endpoints do that don't want to be measured.
    Random,
    /// Only one direction was captured.
    OneWay,
}

/// A connection as its packets show it without its keys.
#[derive(Clone, Debug, Default, Serialize)]
pub struct QuicReport {
    /// "client>server", each an address and a port.
    pub name: String,
    /// Its version; none if the capture begins after the handshake.
    pub version: Option<String>,
    /// Packets of the client and of the server.
    pub packets: [u64; 2],
    /// Their payload in UDP.
    pub payload_bytes: [u64; 2],
    /// From the client's first packet to the server's, in ms; none if the capture begins later.
    pub handshake_ms: Option<f64>,
    /// How the spin bit behaves.
    pub spin: SpinBit,
    /// From one turn of the client to the next, in ms: the round trip, or longer where an end paused.
    pub rtt_ms: Times,
    /// From the capture point to the client and back.
    pub to_client_ms: Times,
    /// From the capture point to the server and back.
    pub to_server_ms: Times,
    /// The round trips' mean above their minimum, in ms: a queue's delay and pauses of the ends.
    pub above_least_ms: Option<f64>,
    /// Part of its time in which neither end sent for two round trips or more.
    pub silent: Option<f64>,
}

/// One end of a connection.
#[derive(Clone, Debug, Default)]
struct End {
    packets: u64,
    payload: u64,
    /// Packets whose first bits don't fit.
    unfit: u64,
    first: Option<u64>,
    /// The bit in its last packet, and how often it turned.
    bit: Option<bool>,
    turns: u64,
}

/// The last turn that came in its order.
#[derive(Clone, Copy, Debug)]
struct Turn {
    time: u64,
    end: usize,
    bit: bool,
}

/// A connection of UDP that may be QUIC. Its ends are numbered as the caller likes.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuicFlow {
    /// The end with the server's usual port.
    server: Option<usize>,
    ends: [End; 2],
    /// The end that opened it, and its version.
    opened: Option<(usize, u32)>,
    last: Option<Turn>,
    in_order: u64,
    /// When each end last turned in order.
    turned: [Option<u64>; 2],
    rtts: TimeSamples,
    /// From a turn of the other end to one of this end.
    answers: [TimeSamples; 2],
    /// When the first and the last packet of either end passed.
    span: Option<(u64, u64)>,
    /// Total time in which neither end sent for long, once a round trip is known.
    silent: u64,
}

impl QuicFlow {
    /// A connection between two ports.
    pub(crate) fn between(ports: [u16; 2]) -> Self {
        let server = ports.iter().position(|&port| port == SERVER_PORT);
        Self { server, ..Self::default() }
    }

    /// Returns the end that is the client, by the port or the handshake.
    fn client(&self) -> Option<usize> {
        self.server.map(|end| 1 - end).or(self.opened.map(|(end, _)| end))
    }

    /// Takes a datagram of `end` that begins with these bytes.
    pub(crate) fn on(&mut self, time: u64, end: usize, payload: u32, begin: Option<[u8; 5]>) {
        self.pass(time);
        let this = &mut self.ends[end];
        this.packets += 1;
        this.payload += u64::from(payload);
        this.first.get_or_insert(time);
        let Some([flags, version @ ..]) = begin else {
            this.unfit += 1;
            return;
        };
        if flags & LONG != 0 {
            let version = u32::from_be_bytes(version);
            if is_known(version) {
                self.opened.get_or_insert((end, version));
            } else {
                this.unfit += 1;
            }
            return;
        }
        this.unfit += u64::from(flags & SHORT_MASK != SHORT);
        let bit = flags & SPIN != 0;
        if this.bit.replace(bit).is_some_and(|before| before != bit) {
            this.turns += 1;
            self.turn(Turn { time, end, bit });
        }
    }

    /// Lets time pass up to the next packet.
    fn pass(&mut self, time: u64) {
        let (first, last) = self.span.unwrap_or((time, time));
        let silence = time.saturating_sub(last);
        if silence > SILENT_NS && self.rtts.least().is_some_and(|rtt| silence > SILENT_RTTS * rtt) {
            self.silent += silence;
        }
        self.span = Some((first, last.max(time)));
    }

    /// Takes a turn; only one that follows the last one's order counts.
    fn turn(&mut self, turn: Turn) {
        let Some(client) = self.client() else { return };
        let expected = self.last.is_none_or(|last| {
            // The server repeats the bit, the client inverts it.
            turn.end != last.end && (turn.bit == last.bit) == (turn.end != client)
        });
        if !expected {
            return;
        }
        self.in_order += 1;
        if let Some(last) = self.last {
            self.answers[turn.end].add(turn.time.saturating_sub(last.time));
        }
        if let Some(before) = self.turned[turn.end].replace(turn.time)
            && turn.end == client
        {
            self.rtts.add(turn.time.saturating_sub(before));
        }
        self.last = Some(turn);
    }

    /// Returns whether this is QUIC: by its handshake or, in a capture that begins later, by the
    /// port and the bits that every packet has.
    fn is_quic(&self) -> bool {
        let fit = self.ends.iter().all(|end| end.unfit == 0);
        let many = self.ends.iter().map(|end| end.packets).sum::<u64>() >= FEWEST;
        self.opened.is_some() || (fit && many)
    }

    /// Describes the connection, if it is one of QUIC, between two ends of these names.
    pub(crate) fn report(&self, names: [&str; 2]) -> Option<QuicReport> {
        let client = self.client().filter(|_| self.is_quic())?;
        let ends = [client, 1 - client];
        let [opens, answers] = ends.map(|end| &self.ends[end]);
        let seen = self.opened.is_some_and(|(end, _)| end == client);
        let handshake = opens.first.zip(answers.first).filter(|_| seen);
        let spin = self.spin();
        let times = |samples: &TimeSamples| match spin {
            SpinBit::Turns => Times::of(samples),
            _ => Times::default(),
        };
        let rtt_ms = times(&self.rtts);
        let life = self.span.map_or(0, |(first, last)| last - first);
        let silent = float(self.silent) / float(life.max(1));
        Some(QuicReport {
            above_least_ms: rtt_ms.mean.zip(rtt_ms.min).map(|(mean, least)| mean - least),
            silent: (spin == SpinBit::Turns).then_some(silent),
            name: format!("{}>{}", names[ends[0]], names[ends[1]]),
            version: self.opened.map(|(_, version)| version_name(version)),
            packets: [opens.packets, answers.packets],
            payload_bytes: [opens.payload, answers.payload],
            handshake_ms: handshake
                .and_then(|(first, second)| second.checked_sub(first))
                .map(millis),
            spin,
            rtt_ms,
            to_client_ms: times(&self.answers[client]),
            to_server_ms: times(&self.answers[1 - client]),
        })
    }

    fn spin(&self) -> SpinBit {
        let turns: u64 = self.ends.iter().map(|end| end.turns).sum();
        if self.ends.iter().any(|end| end.packets == 0) {
            SpinBit::OneWay
        } else if turns < FEWEST_TURNS {
            SpinBit::Rests
        } else if 2 * self.in_order < turns {
            SpinBit::Random
        } else {
            SpinBit::Turns
        }
    }
}

/// Versions 1 (RFC 9000) and 2 (RFC 9369), and the drafts of the first.
const fn is_known(version: u32) -> bool {
    matches!(version, VERSION_1 | VERSION_2) || version & 0xffff_ff00 == DRAFTS
}

fn version_name(version: u32) -> String {
    match version {
        VERSION_1 => "1".to_owned(),
        VERSION_2 => "2".to_owned(),
        draft => format!("draft {}", draft & 0xff),
    }
}

impl QuicReport {
    /// Describes it in a line; `decrypted` if its packets say more.
    pub(crate) fn line(&self, decrypted: bool) -> String {
        let version = match &self.version {
            Some(version) => format!("version {version}"),
            None => "by port and bits, since its handshake is missing".to_owned(),
        };
        let [ours, theirs] = self.payload_bytes;
        let from = if theirs > ours { "server" } else { "client" };
        let part = 100 * ours.max(theirs) / (ours + theirs).max(1);
        let round_trips = match (self.spin, self.rtt_ms.p50.zip(self.rtt_ms.min)) {
            (SpinBit::Turns, Some((median, least))) => format!(
                "RTT by its spin bit {median:.2} ms (median of {}) and {least:.2} ms at least",
                self.rtt_ms.samples
            ),
            (SpinBit::OneWay, _) => "only one direction was captured, so no RTT shows".to_owned(),
            (SpinBit::Random, _) => "its spin bit is random, so no RTT shows".to_owned(),
            _ => "its spin bit doesn't turn, so no RTT shows".to_owned(),
        };
        let handshake =
            self.handshake_ms.map_or(String::new(), |ms| format!(", handshake {ms:.2} ms"));
        format!(
            "QUIC {} ({version}): {part} % of the bytes from the {from}; {round_trips}{handshake}{}",
            self.name,
            if decrypted { String::new() } else { format!("; {}", self.cause()) }
        )
    }

    /// Says what its round trips show of its cause, and why the rest doesn't show.
    fn cause(&self) -> String {
        let hidden = "losses and windows are encrypted, so why it wasn't faster doesn't show";
        let (Some(above), Some(least)) = (self.above_least_ms, self.rtt_ms.min) else {
            return hidden.to_owned();
        };
        let queue = if above > QUEUED_MS.max(QUEUED * least) {
            format!("{above:.1} ms above that on average, in a queue or as an end paused")
        } else {
            "hardly more on average, so there was no queue".to_owned()
        };
        let silent = match self.silent {
            Some(part) if part >= MENTIONED => format!(
                "; neither end sent for {:.0} % of the time, as an application pauses or a timer runs",
                part * 100.0
            ),
            _ => String::new(),
        };
        format!("{queue}{silent}; {hidden}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const INITIAL: [u8; 5] = [0xc0, 0, 0, 0, 1];
    const NAMES: [&str; 2] = ["client", "server"];
    const PORTS: [u16; 2] = [50_000, 4433];
    const USUAL: [u16; 2] = [50_000, SERVER_PORT];

    fn short(bit: bool) -> Option<[u8; 5]> {
        Some([FIXED | if bit { SPIN } else { 0 }, 1, 2, 3, 4])
    }

    /// A connection of 40 ms seen 10 ms from the client, for `rounds` round trips of four packets.
    fn transfer(rounds: u64, turning: bool) -> QuicFlow {
        let mut flow = QuicFlow::between(PORTS);
        flow.on(0, 0, 1200, Some(INITIAL));
        flow.on(30 * MS, 1, 1200, Some(INITIAL));
        for round in 1..rounds {
            let (begin, bit) = (round * 40 * MS, turning && round % 2 == 0);
            (0..4).for_each(|n| flow.on(begin + n * MS, 0, 40, short(bit)));
            (0..4).for_each(|n| flow.on(begin + (30 + n) * MS, 1, 1200, short(bit)));
        }
        flow
    }

    #[test]
    fn a_turn_takes_a_round_trip_which_the_capture_point_divides() {
        let report = transfer(20, true).report(NAMES).expect("QUIC");
        assert_eq!(report.spin, SpinBit::Turns);
        assert_eq!((report.rtt_ms.samples, report.rtt_ms.min), (17, Some(40.0)));
        assert_eq!((report.to_server_ms.min, report.to_client_ms.min), (Some(30.0), Some(10.0)));
        assert_eq!(report.handshake_ms, Some(30.0));
        assert_eq!((report.name.as_str(), report.version.as_deref()), ("client>server", Some("1")));
    }

    #[test]
    fn round_trips_show_a_queue_and_silence_a_pause() {
        let steady = transfer(20, true).report(NAMES).expect("QUIC");
        assert_eq!((steady.above_least_ms, steady.silent), (Some(0.0), Some(0.0)));
        assert!(
            steady.line(false).contains("there was no queue; losses"),
            "{}",
            steady.line(false)
        );
        let mut slow = transfer(20, true);
        let mut time = 800 * MS;
        for round in 0..20 {
            let bit = round % 2 == 0;
            slow.on(time, 0, 40, short(bit));
            slow.on(time + 60 * MS, 1, 1200, short(bit));
            time += 80 * MS;
        }
        let queue = slow.report(NAMES).expect("QUIC");
        assert!(queue.above_least_ms.is_some_and(|ms| (15.0..25.0).contains(&ms)), "{queue:?}");
        assert!(
            queue.line(false).contains("ms above that on average, in a queue"),
            "{}",
            queue.line(false)
        );
        slow.on(time + 2400 * MS, 0, 40, short(true));
        let paused = slow.report(NAMES).expect("QUIC");
        assert!(paused.silent.is_some_and(|part| (0.45..0.55).contains(&part)), "{paused:?}");
        assert!(paused.line(false).contains("neither end sent for"), "{}", paused.line(false));
    }

    #[test]
    fn a_packet_that_arrives_late_makes_no_round_trip() {
        let mut flow = transfer(20, true);
        let begin = 20 * 40 * MS;
        flow.on(begin, 0, 40, short(true));
        flow.on(begin + MS, 0, 40, short(false));
        flow.on(begin + 2 * MS, 0, 40, short(true));
        flow.on(begin + 30 * MS, 1, 1200, short(true));
        let report = flow.report(NAMES).expect("QUIC");
        assert_eq!((report.rtt_ms.samples, report.rtt_ms.min), (18, Some(40.0)));
    }

    #[test]
    fn a_bit_that_rests_or_is_random_gives_no_round_trips() {
        let rests = transfer(20, false).report(NAMES).expect("QUIC");
        assert_eq!((rests.spin, rests.rtt_ms.samples), (SpinBit::Rests, 0));
        let mut random = narrows_base::Stream::new(1, "spin");
        let mut flow = transfer(1, false);
        for n in 0..2000 {
            let end = usize::from(random.below(3) > 0);
            flow.on((100 + n) * MS, end, 1200, short(random.below(2) == 0));
        }
        let report = flow.report(NAMES).expect("QUIC");
        assert_eq!((report.spin, report.rtt_ms.samples), (SpinBit::Random, 0));
    }

    #[test]
    fn other_datagrams_on_its_port_are_not_quic() {
        let mut flow = QuicFlow::between(USUAL);
        (0..100).for_each(|n| flow.on(n * MS, 1, 1200, Some([22, 254, 253, 0, 0])));
        assert!(flow.report(NAMES).is_none());
        let mut late = QuicFlow::between(USUAL);
        (0..100).for_each(|n| late.on(n * MS, 1, 1200, short(true)));
        let report = late.report(NAMES).expect("by its bits");
        assert_eq!((report.version, report.spin), (None, SpinBit::OneWay));
        let mut elsewhere = QuicFlow::between(PORTS);
        (0..100).for_each(|n| elsewhere.on(n * MS, 1, 1200, short(true)));
        assert!(elsewhere.report(NAMES).is_none());
    }
}
