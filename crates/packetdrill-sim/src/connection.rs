//! A connection: the simulator's sender and receiver, and what they need to be a TCP.

use narrows_base::{Ecn, Packet, Time};
use narrows_packetdrill::{EndError, Tcp, Transmission};
use narrows_tcp::{Receiver, Segment, Sender};

use crate::accurate;
use crate::arrivals::Arrivals;
use crate::departures::Departures;
use crate::handshake::{self, ADVERTISED_MSS, Terms};
use crate::headers::SynOptions;
use crate::kernel::Kernel;
use crate::socket::SocketOptions;
use crate::state::TcpState;

/// The initial sequence number of the end.
pub(crate) const ISN: u32 = 3_000_000_000;
/// The size that packets of a peer have unless the script says.
const USUAL_SIZE: u16 = 1_000;

/// A connection, or a request for one.
pub(crate) struct Connection {
    pub(crate) kernel: Kernel,
    pub(crate) options: SocketOptions,
    pub(crate) passive: bool,
    pub(crate) state: TcpState,
    pub(crate) terms: Terms,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) departures: Departures,
    pub(crate) arrivals: Arrivals,
    pub(crate) peer_isn: u32,
    /// Ports of this end and of the peer.
    pub(crate) ports: (u16, u16),
    /// When the handshake began.
    pub(crate) started: Time,
    /// When it ended.
    pub(crate) established: Time,
    /// The peer's timestamp that packets echo (`ts_recent`).
    pub(crate) ts_recent: u32,
    /// The byte that the last packet acknowledged up to (`rcv_wup`).
    pub(crate) acknowledged: u32,
    /// The largest window of the peer, in bytes (`max_window`).
    pub(crate) largest_window: u32,
    /// Duplicate ACKs since the last progress, of a peer without SACK (`sacked_out`).
    pub(crate) duplicates: u32,
    /// Where the FIN of this end and of the peer are, in bytes of their directions.
    pub(crate) own_fin: Option<u32>,
    pub(crate) peer_fin: Option<u32>,
    /// Bytes that the program wrote, and those that it read.
    pub(crate) written: u32,
    pub(crate) read: u64,
    /// True if the program knows that it timed out.
    pub(crate) told_timeout: bool,
    /// True if no program holds it any more.
    pub(crate) orphaned: bool,
    pub(crate) last_data: Time,
    pub(crate) last_data_received: Option<Time>,
    /// Packets that have left.
    pub(crate) out: Vec<Transmission>,
    pub(crate) scratch: Vec<Packet<Segment>>,
}

/// The choices of a script.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Choices {
    /// The usual size of the peer's packets.
    pub(crate) peer_mss: Option<u16>,
}

impl Connection {
    /// Answers a request.
    pub(crate) fn accept(
        (kernel, options): (&Kernel, &SocketOptions),
        choices: Choices,
        (syn, ecn): (&Tcp, Ecn),
        now: Time,
    ) -> Result<Self, EndError> {
        let peer = SynOptions::read(syn.options.as_deref().unwrap_or_default());
        let timestamps = kernel.timestamps && peer.timestamp.is_some();
        let mut receiver = handshake::receiver(kernel, options, timestamps, kernel.ecn.agrees);
        receiver.accept(false);
        let own = own_options(kernel, options, &receiver);
        receiver.receive(&handshake::request(accurate::ace(syn.flags)), ecn, now);
        let terms = Terms::agree(peer, own, receiver.ecn());
        let sender = handshake::sender(kernel, options, terms, now)?;
        let mut connection = Self::new((kernel, options), choices, terms, (sender, receiver), now);
        connection.passive = true;
        connection.state = TcpState::SynReceived;
        connection.peer_isn = syn.seq;
        connection.ports = (syn.destination, syn.source);
        connection.ts_recent = peer.timestamp.map_or(0, |stamp| stamp.0);
        connection.flush(now);
        Ok(connection)
    }

    /// Asks for a connection.
    pub(crate) fn connect(
        (kernel, options): (&Kernel, &SocketOptions),
        choices: Choices,
        now: Time,
    ) -> Result<Self, EndError> {
        let receiver = handshake::receiver(kernel, options, kernel.timestamps, kernel.ecn.asks);
        let own = own_options(kernel, options, &receiver);
        let terms = Terms::agree(own, own, kernel.ecn.asks);
        let sender = handshake::sender(kernel, options, terms, now)?;
        let mut connection = Self::new((kernel, options), choices, terms, (sender, receiver), now);
        connection.flush(now);
        Ok(connection)
    }

    fn new(
        (kernel, options): (&Kernel, &SocketOptions),
        choices: Choices,
        terms: Terms,
        (sender, receiver): (Sender, Receiver),
        now: Time,
    ) -> Self {
        Self {
            kernel: kernel.clone(),
            options: options.clone(),
            passive: false,
            state: TcpState::SynSent,
            terms,
            sender,
            receiver,
            departures: Departures::default(),
            arrivals: Arrivals::new(choices.peer_mss.unwrap_or(USUAL_SIZE).into()),
            peer_isn: 0,
            ports: (0, 0),
            started: now,
            established: now,
            ts_recent: 0,
            acknowledged: 0,
            largest_window: 0,
            duplicates: 0,
            own_fin: None,
            peer_fin: None,
            written: 0,
            read: 0,
            told_timeout: false,
            orphaned: false,
            last_data: now,
            last_data_received: None,
            out: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Takes back the data that have no room in the send buffer; returns how many bytes they are.
    pub(crate) fn withdraw_unwritten(&mut self, now: Time) -> u32 {
        let left = self.sender.info().and_then(|info| info.unwritten_bytes).unwrap_or(0);
        let left = u32::try_from(left).expect("no more than was to be written");
        if left > 0 {
            self.sender.pause(now);
            self.written -= left;
        }
        left
    }

    /// The options that this end offers.
    pub(crate) fn own_options(&self) -> SynOptions {
        own_options(&self.kernel, &self.options, &self.receiver)
    }

    /// The sequence number of the first byte of data.
    pub(crate) fn first_byte() -> u32 {
        ISN.wrapping_add(1)
    }

    /// When it must be advanced next.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        if self.state == TcpState::Closed {
            return None;
        }
        let sender = if self.sends() { self.sender.next_deadline() } else { None };
        Time::earlier(sender, self.receiver.next_deadline())
    }

    /// Returns `true` if the sender's packets are those of the connection. The sender of a passive
    /// end waits until the handshake ends.
    fn sends(&self) -> bool {
        self.state != TcpState::SynReceived
    }

    /// Does what is due, and moves the packets that leave to `out`.
    pub(crate) fn flush(&mut self, now: Time) {
        if self.state == TcpState::Closed {
            return;
        }
        let mut packets = std::mem::take(&mut self.scratch);
        if self.sends() {
            self.sender.advance(now, &mut packets);
            packets.drain(..).for_each(|packet| self.emit(&packet, now));
        }
        self.receiver.advance(now, &mut packets);
        packets.drain(..).for_each(|packet| self.emit(&packet, now));
        self.scratch = packets;
        if self.sender.has_given_up() {
            self.state = TcpState::Closed;
        }
    }
}

fn own_options(kernel: &Kernel, options: &SocketOptions, receiver: &Receiver) -> SynOptions {
    SynOptions {
        mss: options.max_segment.unwrap_or(ADVERTISED_MSS),
        timestamp: kernel.timestamps.then_some((0, 0)),
        sack: kernel.sack,
        window_scale: kernel.window_scaling.then(|| receiver.window_scale()),
    }
}
