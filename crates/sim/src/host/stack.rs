//! Hosts with a transport stack of another project, or with real-time media.
//!
//! A packet of the network holds a number instead of bytes; the bytes wait here until it arrives or
//! is dropped.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use narrows_base::{Ecn, FlowId, Packet, Time};
use narrows_tcp::ends::{End, EndCompletion, Ends, Outgoing, ReceivingEnd, SendingEnd};
use narrows_tcp::{EcnMode, Kind, Opaque, Segment};

use super::completed::Completed;

/// The bytes of datagrams that are on their way in one direction.
#[derive(Debug, Default)]
struct Payloads {
    /// The number of the first that waits.
    first: u64,
    waiting: VecDeque<Option<Box<[u8]>>>,
}

impl Payloads {
    /// Keeps bytes; returns their number.
    fn put(&mut self, bytes: Box<[u8]>) -> u64 {
        self.waiting.push_back(Some(bytes));
        self.first + self.waiting.len() as u64 - 1
    }

    fn place(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first)?).ok()
    }

    fn get(&self, number: u64) -> Option<&[u8]> {
        self.waiting.get(self.place(number)?)?.as_deref()
    }

    fn take(&mut self, number: u64) -> Option<Box<[u8]>> {
        let place = self.place(number)?;
        let bytes = self.waiting.get_mut(place)?.take();
        while let Some(None) = self.waiting.front() {
            self.waiting.pop_front();
            self.first += 1;
        }
        bytes
    }
}

/// What a flow has on its way in both directions.
#[derive(Debug)]
struct Wires {
    there: Payloads,
    back: Payloads,
    /// Whether the path may deliver a datagram twice; then none is forgotten.
    keeps: bool,
}

impl Wires {
    /// Where the bytes of a datagram are, and by which number.
    fn place(&mut self, kind: &Kind) -> Option<(&mut Payloads, u64)> {
        match kind {
            Kind::Opaque(datagram) => Some((&mut self.there, datagram.number)),
            Kind::OpaqueReply(datagram) => Some((&mut self.back, datagram.number)),
            _ => None,
        }
    }

    /// The bytes of a datagram that arrived or was dropped; they are kept if it may come again.
    fn take(&mut self, kind: &Kind) -> Option<Box<[u8]>> {
        let keeps = self.keeps;
        let (payloads, number) = self.place(kind)?;
        if keeps { payloads.get(number).map(Box::from) } else { payloads.take(number) }
    }
}

/// What both hosts of a flow share. Only one thread runs a network; the lock lets it run on any.
#[derive(Clone, Debug)]
struct Shared {
    flow: FlowId,
    /// Whether ECN bits cross the network; if not, it is as if the hosts couldn't set them.
    marks: bool,
    wires: Arc<Mutex<Wires>>,
}

impl Shared {
    fn wires(&self) -> MutexGuard<'_, Wires> {
        self.wires.lock().expect("a host that panicked ended the run")
    }

    fn packet(
        &self,
        out: Outgoing,
        kind: impl FnOnce(Opaque) -> Kind,
        back: bool,
    ) -> Packet<Segment> {
        let len = u16::try_from(out.bytes.len()).expect("a datagram has at most 64 KiB");
        let mut wires = self.wires();
        let payloads = if back { &mut wires.back } else { &mut wires.there };
        let kind = kind(Opaque { number: payloads.put(out.bytes), len });
        let ecn = if self.marks { out.ecn } else { Ecn::NotEct };
        Segment { instance: 0, kind }.into_packet(self.flow, ecn)
    }

    /// The bytes of a datagram.
    fn bytes(&self, kind: &Kind) -> Option<Box<[u8]>> {
        let mut wires = self.wires();
        let (payloads, number) = wires.place(kind)?;
        payloads.get(number).map(Box::from)
    }

    fn forget(&self, kind: &Kind) {
        self.wires().take(kind);
    }

    /// Hands a datagram that arrived to its end.
    fn deliver(&self, packet: &Packet<Segment>, end: &mut (impl End + ?Sized), now: Time) {
        let bytes = self.wires().take(&packet.body.kind);
        end.receive(&bytes.expect("a datagram on its way has its bytes"), packet.ecn, now);
    }
}

/// The ends of a stack as hosts of a flow. `keeps` says whether the path may copy datagrams.
pub(crate) fn hosts(
    flow: FlowId,
    ecn: EcnMode,
    keeps: bool,
    times: (Time, Option<u64>),
    ends: Ends,
) -> (StackSender, StackReceiver) {
    let wires = Wires { there: Payloads::default(), back: Payloads::default(), keeps };
    let shared = Shared { flow, marks: ecn != EcnMode::Off, wires: Arc::new(Mutex::new(wires)) };
    let ((start, size), (sending, end)) = (times, ends);
    let receiver = StackReceiver { shared: shared.clone(), end };
    (StackSender { shared, end: sending, start, size, done: false }, receiver)
}

/// The sending host.
pub(crate) struct StackSender {
    shared: Shared,
    end: Box<dyn SendingEnd>,
    start: Time,
    size: Option<u64>,
    done: bool,
}

impl StackSender {
    pub(super) fn flow(&self) -> FlowId {
        self.shared.flow
    }

    pub(super) fn end(&self) -> &dyn SendingEnd {
        &*self.end
    }

    pub(super) fn end_mut(&mut self) -> &mut dyn SendingEnd {
        &mut *self.end
    }

    #[inline(never)]
    pub(super) fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        self.shared.deliver(packet, &mut *self.end, now);
    }

    #[inline(never)]
    pub(super) fn poll(&mut self, now: Time) -> Option<Packet<Segment>> {
        Some(self.shared.packet(self.end.poll(now)?, Kind::Opaque, false))
    }

    #[inline(never)]
    pub(super) fn take_completed(&mut self) -> Option<Completed> {
        match self.end.take_completed()? {
            EndCompletion::Flow(end) => {
                self.done = true;
                let (start, size) = (self.start, self.size);
                Some(Completed { instance: 0, start, end, size, retransmitted: 0 })
            }
            EndCompletion::Part { number: instance, start, end, bytes } => {
                Some(Completed { instance, start, end, size: Some(bytes), retransmitted: 0 })
            }
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    pub(super) fn is_sized(&self) -> bool {
        self.size.is_some()
    }

    /// The bytes of a datagram of the flow on its way in either direction.
    pub(crate) fn payload(&self, kind: &Kind) -> Option<Box<[u8]>> {
        self.shared.bytes(kind)
    }

    /// A datagram of the flow was dropped in either direction.
    pub(crate) fn forget(&self, kind: &Kind) {
        self.shared.forget(kind);
    }
}

/// The receiving host.
pub(crate) struct StackReceiver {
    shared: Shared,
    end: Box<dyn ReceivingEnd>,
}

impl StackReceiver {
    pub(super) fn bytes(&self) -> u64 {
        self.end.bytes()
    }

    pub(super) fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        self.shared.deliver(packet, &mut *self.end, now);
    }

    pub(super) fn poll(&mut self, now: Time) -> Option<Packet<Segment>> {
        Some(self.shared.packet(self.end.poll(now)?, Kind::OpaqueReply, true))
    }

    pub(super) fn next_deadline(&self) -> Option<Time> {
        self.end.next_deadline()
    }
}
