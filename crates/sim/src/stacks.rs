//! Transport stacks of other projects, whose flows share the network with the simulator's own TCP.
//!
//! A stack exchanges datagrams that only its two ends understand; the network sees their lengths
//! and their ECN bits. As everywhere in the core, time is an argument: an end has no clock, and
//! whatever it draws must come from the seed that it gets.

use narrows_base::{Duration, Ecn, Time};
use narrows_spec::scenario::{Flow, SocketBuffers};
use narrows_tcp::{SenderStats, SenderView};

/// A datagram that an end sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The payload of UDP: at most 1472 bytes on a path with an MTU of 1500.
    pub bytes: Box<[u8]>,
    /// ECN bits of the IP header; they only count if the flow uses ECN.
    pub ecn: Ecn,
}

/// One end of a connection.
pub trait End: Send {
    /// A datagram from the other end arrives.
    fn receive(&mut self, bytes: &[u8], ecn: Ecn, now: Time);

    /// The next datagram that is due.
    fn poll(&mut self, now: Time) -> Option<Outgoing>;

    /// When it must be polled next. After a poll that returned nothing it is later than that poll.
    fn next_deadline(&self) -> Option<Time>;
}

/// The end that sends the data of the flow. It connects at the start of the flow.
pub trait SendingEnd: End {
    /// Stops at `at` instead of as planned: the application writes no more.
    fn stop_at(&mut self, at: Time);

    /// When everything was acknowledged, once, if the flow has a size.
    fn take_completed(&mut self) -> Option<Time>;

    /// Takes the RTT sample of the last datagram, if it gave one.
    fn take_rtt(&mut self) -> Option<Duration>;

    /// Counters of packets.
    fn stats(&self) -> SenderStats;

    /// The visible state, as far as the stack shows it.
    fn view(&self) -> Option<SenderView>;

    /// Shows named internals.
    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64));
}

/// The end that receives the data of the flow.
pub trait ReceivingEnd: End {
    /// Payload that the application received, each byte once.
    fn bytes(&self) -> u64;
}

/// The inputs from which the ends of a flow are made.
#[derive(Clone, Debug)]
pub struct Connecting {
    /// The flow: its control, start, stop, size and receive window.
    pub flow: Flow,
    /// The seed of the run.
    pub seed: u64,
    /// Limits of buffers and windows.
    pub buffers: SocketBuffers,
}

/// Both ends of a flow.
pub type Ends = (Box<dyn SendingEnd>, Box<dyn ReceivingEnd>);

/// Makes the ends of a flow.
pub type MakeEnds = dyn Fn(&Connecting) -> Ends + Send + Sync;
