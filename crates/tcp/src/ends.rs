//! The ends of a transport other than TCP: a stack of another project, or real-time media.
//!
//! They exchange datagrams that only the two ends understand; the network sees their lengths
//! and their ECN bits. As everywhere in the core, time is an argument: an end has no clock, and
//! whatever it draws must come from the seed that it gets.

use narrows_base::{Duration, Ecn, Time};

use crate::sender::{SenderStats, SenderView};

/// A datagram that an end sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The payload of UDP: at most 1472 bytes on a path with an MTU of 1500.
    pub bytes: Box<[u8]>,
    /// ECN bits of the IP header; they only count if the flow uses ECN.
    pub ecn: Ecn,
}

/// A transfer that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndCompletion {
    /// All of a flow that has a size: when it was acknowledged.
    Flow(Time),
    /// A part of a flow without one, such as a frame of media.
    Part {
        /// Its number in the flow.
        number: u32,
        /// When the application had it.
        start: Time,
        /// When the other application could use it.
        end: Time,
        /// Its payload.
        bytes: u64,
    },
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

    /// The next transfer that is complete, once: all of a flow that has a size, or parts of one that
    /// has none.
    fn take_completed(&mut self) -> Option<EndCompletion>;

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

/// Both ends of a flow.
pub type Ends = (Box<dyn SendingEnd>, Box<dyn ReceivingEnd>);
