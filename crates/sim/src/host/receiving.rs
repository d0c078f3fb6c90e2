//! The receiving side of a flow: a fresh receiver for every connection.

use std::collections::BTreeMap;

use narrows_base::{Packet, Time};
use narrows_tcp::{Kind, Receiver, ReceiverConfig, Segment};

use super::datagram::Sink;
use super::deadlines::Deadlines;
use super::stack::StackReceiver;

/// The receivers of a flow. A fourth kind would cost the usual one instructions: a choice among
/// three needs no table.
#[expect(clippy::large_enum_variant, reason = "one receiver is the usual: no pointer to it")]
#[repr(u8)] // as of `Node`
pub(crate) enum ReceivingHost {
    /// One connection at a time.
    One(One),
    /// Connections side by side.
    Many(Box<Many>),
    /// Datagrams.
    Datagrams(Box<DatagramReceiver>),
}

impl ReceivingHost {
    pub(crate) fn new(config: ReceiverConfig, side_by_side: bool) -> Self {
        if side_by_side {
            let (receivers, deadlines) = (BTreeMap::new(), Deadlines::default());
            Self::Many(Box::new(Many { config, receivers, deadlines, bytes: 0 }))
        } else {
            Self::One(One { receiver: Receiver::new(config), past_bytes: 0 })
        }
    }

    /// Payload received over all connections, each byte once.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::One(one) => one.past_bytes + one.receiver.stats().bytes,
            Self::Many(many) => many.bytes,
            Self::Datagrams(receiver) => receiver.bytes(),
        }
    }

    #[inline(always)]
    pub(crate) fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        // The usual kind first, as in `SendingHost::take_completed`.
        if let Self::One(one) = self {
            return one.receive(packet, now);
        }
        self.receive_by_others(packet, now);
    }

    #[inline(never)]
    fn receive_by_others(&mut self, packet: &Packet<Segment>, now: Time) {
        match self {
            Self::One(one) => one.receive(packet, now),
            Self::Many(many) => many.receive(packet, now),
            Self::Datagrams(receiver) => receiver.receive(packet, now),
        }
    }

    #[inline]
    pub(crate) fn poll(&mut self, now: Time) -> Option<Packet<Segment>> {
        match self {
            Self::One(one) => one.poll(now),
            Self::Many(many) => many.poll(now),
            Self::Datagrams(receiver) => receiver.poll(now),
        }
    }

    /// An instant before which nothing happens by itself, or [`Time::MAX`]; `None` unless a glance
    /// shows that nothing is due at `now`.
    #[inline(always)]
    pub(crate) fn rests_until(&self, now: Time) -> Option<Time> {
        match self {
            Self::One(one) => one.receiver.rests_until(now),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        match self {
            Self::One(one) => one.receiver.next_deadline(),
            Self::Many(many) => many.deadlines.earliest().map(|(at, _)| at),
            Self::Datagrams(receiver) => receiver.next_deadline(),
        }
    }
}

/// The receiver of datagrams.
pub(crate) enum DatagramReceiver {
    /// Those of a source without a connection.
    Sink(Sink),
    /// Those of a transport stack of another project.
    Stack(StackReceiver),
}

impl From<Sink> for ReceivingHost {
    fn from(sink: Sink) -> Self {
        Self::Datagrams(Box::new(DatagramReceiver::Sink(sink)))
    }
}

impl From<StackReceiver> for ReceivingHost {
    fn from(stack: StackReceiver) -> Self {
        Self::Datagrams(Box::new(DatagramReceiver::Stack(stack)))
    }
}

impl DatagramReceiver {
    fn bytes(&self) -> u64 {
        match self {
            Self::Sink(sink) => sink.bytes(),
            Self::Stack(stack) => stack.bytes(),
        }
    }

    #[inline(never)]
    fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        match self {
            Self::Sink(sink) => sink.receive(packet, now),
            Self::Stack(stack) => stack.receive(packet, now),
        }
    }

    #[inline(never)]
    fn poll(&mut self, now: Time) -> Option<Packet<Segment>> {
        match self {
            Self::Sink(sink) => sink.poll(now),
            Self::Stack(stack) => stack.poll(now),
        }
    }

    #[inline(never)]
    fn next_deadline(&self) -> Option<Time> {
        match self {
            Self::Sink(sink) => sink.next_deadline(),
            Self::Stack(stack) => stack.next_deadline(),
        }
    }
}

/// One receiver, replaced by the next connection's.
pub(crate) struct One {
    receiver: Receiver,
    past_bytes: u64,
}

impl One {
    #[inline(always)]
    fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        let segment = &packet.body;
        if matches!(segment.kind, Kind::Syn { .. }) {
            self.connect(segment.instance);
        }
        self.receiver.receive(segment, packet.ecn, now);
    }

    /// A connection request arrived: if it is a newer connection's, a fresh receiver takes it.
    #[cold]
    fn connect(&mut self, instance: u32) {
        let config = *self.receiver.config();
        if instance > config.instance {
            self.past_bytes += self.receiver.stats().bytes;
            self.receiver = Receiver::new(ReceiverConfig { instance, ..config });
        }
    }

    #[inline]
    fn poll(&mut self, now: Time) -> Option<Packet<Segment>> {
        self.receiver.poll(now)
    }
}

/// The receivers of all connections so far.
pub(crate) struct Many {
    config: ReceiverConfig,
    receivers: BTreeMap<u32, Receiver>,
    deadlines: Deadlines,
    bytes: u64,
}

impl Many {
    #[inline(never)]
    fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        let instance = packet.body.instance;
        let config = ReceiverConfig { instance, ..self.config };
        self.receivers.entry(instance).or_insert_with(|| Receiver::new(config));
        self.with(instance, |receiver| receiver.receive(&packet.body, packet.ecn, now));
    }

    /// Lets a receiver act and records the result.
    fn with<R>(&mut self, instance: u32, act: impl FnOnce(&mut Receiver) -> R) -> R {
        let receiver = self.receivers.get_mut(&instance).expect("a known connection");
        let before = receiver.stats().bytes;
        let result = act(receiver);
        self.bytes += receiver.stats().bytes - before;
        self.deadlines.set(instance, receiver.next_deadline());
        result
    }

    #[inline(never)]
    fn poll(&mut self, now: Time) -> Option<Packet<Segment>> {
        while let Some(instance) = self.deadlines.due(now) {
            let packet = self.with(instance, |receiver| receiver.poll(now));
            if packet.is_some() {
                return packet;
            }
        }
        None
    }
}
