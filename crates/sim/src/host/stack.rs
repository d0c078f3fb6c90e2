//! Hosts with a transport stack of another project, or with real-time media.
//!
//! A packet of the network holds a number instead of bytes; the bytes wait here until it arrives or
//! is dropped.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use narrows_base::{Duration, Ecn, FlowId, Packet, Time};
use narrows_tcp::ends::{End, EndCompletion, Ends, Outgoing, ReceivingEnd, SendingEnd};
use narrows_tcp::{EcnMode, Kind, Opaque, Segment, SenderStats, SenderView};

use super::completed_transfer::CompletedTransfer;
use super::contract::{Host, HostOutput, ReceivingSide, SendingSide};

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

/// The packets of a flow in flight in both directions.
#[derive(Debug)]
struct Wires {
    there: Payloads,
    back: Payloads,
    /// True if the path may deliver a datagram twice, so that none may be forgotten.
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

/// The wires that both hosts of a flow share. One thread runs a network; the lock lets it be any.
#[derive(Clone, Debug)]
struct SharedWires {
    flow: FlowId,
    /// True if ECN bits cross the network; if not, it is as if the hosts couldn't set them.
    marks: bool,
    wires: Arc<Mutex<Wires>>,
}

impl SharedWires {
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
    let shared =
        SharedWires { flow, marks: ecn != EcnMode::Off, wires: Arc::new(Mutex::new(wires)) };
    let ((start, size), (sending, end)) = (times, ends);
    let receiver = StackReceiver { shared: shared.clone(), end, has_news: false };
    (StackSender { shared, end: sending, start, size, has_news: false, done: false }, receiver)
}

/// The sending host.
pub(crate) struct StackSender {
    shared: SharedWires,
    end: Box<dyn SendingEnd>,
    start: Time,
    size: Option<u64>,
    /// True if a call may have given the stack something to do before its deadline.
    has_news: bool,
    done: bool,
}

impl StackSender {
    /// Returns `true` if the stack must be polled. Ours do nothing when polled early, but a foreign
    /// stack may.
    fn is_due(&self, now: Time) -> bool {
        self.has_news || is_due(&*self.end, now)
    }

    /// The end of the flow, or of a part of it such as a video frame.
    fn record(&mut self, completion: EndCompletion) -> CompletedTransfer {
        match completion {
            EndCompletion::Flow(end) => {
                self.done = true;
                let (start, size) = (self.start, self.size);
                CompletedTransfer { instance: 0, start, end, size, retransmitted: 0 }
            }
            EndCompletion::Part { number: instance, start, end, bytes } => {
                CompletedTransfer { instance, start, end, size: Some(bytes), retransmitted: 0 }
            }
        }
    }
}

fn is_due(end: &(impl End + ?Sized), now: Time) -> bool {
    end.next_deadline().is_some_and(|at| at <= now)
}

impl Host for StackSender {
    fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        self.has_news = true;
        self.shared.deliver(packet, &mut *self.end, now);
    }

    fn advance(&mut self, now: Time, out: &mut HostOutput) -> Time {
        if self.is_due(now) {
            self.has_news = false;
            while let Some(datagram) = self.end.poll(now) {
                out.packets.push(self.shared.packet(datagram, Kind::Opaque, false));
            }
            while let Some(completion) = self.end.take_completed() {
                let completed = self.record(completion);
                out.completed.push(completed);
            }
        }
        self.end.next_deadline().unwrap_or(Time::MAX)
    }

    fn next_deadline(&self) -> Option<Time> {
        self.end.next_deadline()
    }
}

impl SendingSide for StackSender {
    fn flow(&self) -> FlowId {
        self.shared.flow
    }

    fn stop_at(&mut self, at: Time) {
        self.has_news = true;
        self.end.stop_at(at);
    }

    fn stats(&self) -> SenderStats {
        self.end.stats()
    }

    fn view(&self) -> Option<SenderView> {
        self.end.view()
    }

    fn inspect(&self, _: Time, visit: &mut dyn FnMut(&'static str, f64)) {
        self.end.inspect(visit);
    }

    fn take_rtt(&mut self) -> Option<Duration> {
        self.end.take_rtt()
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn is_sized(&self) -> bool {
        self.size.is_some()
    }

    fn payload(&self, kind: &Kind) -> Option<Box<[u8]>> {
        self.shared.bytes(kind)
    }

    fn forget(&self, kind: &Kind) {
        self.shared.wires().take(kind);
    }
}

/// The receiving host.
pub(crate) struct StackReceiver {
    shared: SharedWires,
    end: Box<dyn ReceivingEnd>,
    has_news: bool,
}

impl Host for StackReceiver {
    fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        self.has_news = true;
        self.shared.deliver(packet, &mut *self.end, now);
    }

    fn advance(&mut self, now: Time, out: &mut HostOutput) -> Time {
        if std::mem::take(&mut self.has_news) || is_due(&*self.end, now) {
            while let Some(datagram) = self.end.poll(now) {
                out.packets.push(self.shared.packet(datagram, Kind::OpaqueReply, true));
            }
        }
        self.end.next_deadline().unwrap_or(Time::MAX)
    }

    fn next_deadline(&self) -> Option<Time> {
        self.end.next_deadline()
    }
}

impl ReceivingSide for StackReceiver {
    fn bytes(&self) -> u64 {
        self.end.bytes()
    }
}
