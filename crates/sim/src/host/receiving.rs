//! The receiving side of a flow: a fresh receiver for every connection.

use narrows_base::{Packet, Time, prefetch};
use narrows_tcp::{Kind, Receiver, ReceiverConfig, Segment};

use super::connections::Connections;
use super::contract::{Host, HostOutput, ReceivingSide};

/// The receiving side of a flow, as [`SendingHost`](super::SendingHost).
#[expect(clippy::large_enum_variant, reason = "one receiver is the usual: no pointer to it")]
#[repr(u8)] // as of `Node`
pub(crate) enum ReceivingHost {
    /// One connection at a time.
    One(SingleReceiver),
    Other(Box<dyn ReceivingSide + Send>),
}

impl ReceivingHost {
    pub(crate) fn new(config: ReceiverConfig, side_by_side: bool) -> Self {
        if side_by_side {
            Self::other(ReceiverPerConnection {
                config,
                receivers: Connections::default(),
                bytes: 0,
            })
        } else {
            Self::One(SingleReceiver { receiver: Receiver::new(config), past_bytes: 0 })
        }
    }

    /// A host of a kind other than that of one connection at a time.
    pub(crate) fn other(host: impl ReceivingSide + Send + 'static) -> Self {
        Self::Other(Box::new(host))
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::One(one) => one.bytes(),
            Self::Other(host) => host.bytes(),
        }
    }

    #[inline(always)] // runs for every packet of data
    pub(crate) fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        match self {
            Self::One(one) => one.receive(packet, now),
            Self::Other(host) => host.receive(packet, now),
        }
    }

    #[inline]
    pub(crate) fn advance(&mut self, now: Time, out: &mut HostOutput) -> Time {
        match self {
            Self::One(one) => one.advance(now, out),
            Self::Other(host) => host.advance(now, out),
        }
    }

    /// Begins to load the connection that the next packet belongs to, if there is only one.
    pub(crate) fn prefetch(&self) {
        if let Self::One(one) = self {
            prefetch(one);
        }
    }

    /// Begins to load what that connection points to.
    pub(crate) fn prefetch_further(&self) {
        if let Self::One(one) = self {
            one.receiver.prefetch_further();
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Time> {
        match self {
            Self::One(one) => one.next_deadline(),
            Self::Other(host) => host.next_deadline(),
        }
    }
}

/// One receiver, replaced by the next connection's.
pub(crate) struct SingleReceiver {
    receiver: Receiver,
    past_bytes: u64,
}

impl SingleReceiver {
    /// A segment of another connection arrived: if it requests a newer one, a fresh receiver takes it.
    #[cold]
    fn connect(&mut self, segment: &Segment) {
        let (config, instance) = (*self.receiver.config(), segment.instance);
        if matches!(segment.kind, Kind::Syn { .. }) && instance > config.instance {
            self.past_bytes += self.receiver.stats().bytes;
            self.receiver = Receiver::new(ReceiverConfig { instance, ..config });
        }
    }
}

impl Host for SingleReceiver {
    #[inline(always)] // runs for every packet of data
    fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        let segment = &packet.body;
        if segment.instance != self.receiver.config().instance {
            self.connect(segment);
        }
        self.receiver.receive(segment, packet.ecn, now);
    }

    #[inline] // runs for every packet of data
    fn advance(&mut self, now: Time, out: &mut HostOutput) -> Time {
        self.receiver.advance(now, &mut out.packets)
    }

    fn next_deadline(&self) -> Option<Time> {
        self.receiver.next_deadline()
    }
}

impl ReceivingSide for SingleReceiver {
    fn bytes(&self) -> u64 {
        self.past_bytes + self.receiver.stats().bytes
    }
}

/// The receivers of all connections so far.
struct ReceiverPerConnection {
    config: ReceiverConfig,
    receivers: Connections<Receiver>,
    bytes: u64,
}

impl Host for ReceiverPerConnection {
    fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        let instance = packet.body.instance;
        if self.receivers.get_mut(instance).is_none() {
            let config = ReceiverConfig { instance, ..self.config };
            self.receivers.insert(instance, Receiver::new(config));
        }
        let Some(receiver) = self.receivers.get_mut(instance) else { return };
        let before = receiver.stats().bytes;
        receiver.receive(&packet.body, packet.ecn, now);
        self.bytes += receiver.stats().bytes - before;
        self.receivers.plan(instance, now);
    }

    fn advance(&mut self, now: Time, out: &mut HostOutput) -> Time {
        while let Some(instance) = self.receivers.due(now) {
            let receiver = self.receivers.get_mut(instance).expect("only known ones are due");
            let before = receiver.stats().bytes;
            let next = receiver.advance(now, &mut out.packets);
            self.bytes += receiver.stats().bytes - before;
            self.receivers.bring_forward(instance, next);
        }
        self.receivers.lower_bound()
    }

    fn next_deadline(&self) -> Option<Time> {
        self.receivers.next_deadline()
    }
}

impl ReceivingSide for ReceiverPerConnection {
    fn bytes(&self) -> u64 {
        self.bytes
    }
}
