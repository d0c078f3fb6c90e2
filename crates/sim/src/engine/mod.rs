//! The event loop: the element with the earliest deadline is polled, and what
//! leaves it is handed on.

mod taps;

use std::ops::ControlFlow;

use narrows_base::{FlowId, Packet, Time};
use narrows_net::{DropReason, Element as _};
use narrows_record::{
    Completion, Event, Kind as EventKind, Observer, PacketEvent, PacketKind, RttSample,
};
use narrows_tcp::{Kind, Segment};

use crate::account::Accounts;
use crate::agenda::Agenda;
use crate::ending::{Ending, StopWhen};
use crate::host::Completed;
use crate::network::{Network, Node, Role};
use crate::sampler::Sampler;
use crate::sim_tap::SimTap;

/// Agenda entries between two reports of progress where flows are few.
const PROGRESS_EVENTS: usize = 1 << 14;
/// With more flows than this an instant of sampling takes as long as many other entries.
const FEW_FLOWS: usize = 64;

/// A run under way.
pub(crate) struct Engine<'a, O, T> {
    pub(crate) network: Network,
    agenda: Agenda,
    pub(crate) accounts: Accounts,
    pub(crate) sampler: Sampler,
    pub(crate) observer: &'a mut O,
    pub(crate) tap: &'a mut T,
    ending: Ending,
}

impl<'a, O: Observer, T: SimTap> Engine<'a, O, T> {
    pub(crate) fn new(
        network: Network,
        sampler: Sampler,
        stop_when: StopWhen,
        observer: &'a mut O,
        tap: &'a mut T,
    ) -> Self {
        // The sampler comes last: it sees an instant when all else has happened.
        let mut agenda = Agenda::new(network.nodes.len() + 1, network.elements());
        for (id, node) in network.nodes.iter().enumerate() {
            agenda.set(id, node.next_deadline());
        }
        agenda.set(network.nodes.len(), Some(sampler.next()));
        let accounts = Accounts::new(network.senders.len());
        let hosts = (0..network.senders.len()).map(|flow| network.sender(flow));
        let ending = Ending::new(stop_when, hosts);
        Self { network, agenda, accounts, sampler, observer, tap, ending }
    }

    /// Runs until `end` or what stops it earlier; returns the instant.
    pub(crate) fn run(
        &mut self,
        end: Time,
        progress: &mut dyn FnMut(Time, u64) -> ControlFlow<()>,
    ) -> Time {
        let mut now = Time::ZERO;
        let share = PROGRESS_EVENTS / (1 + self.network.senders.len() / FEW_FLOWS);
        let between_reports = share.max(1);
        let mut until_report = between_reports;
        while let Some((at, id)) = self.agenda.earliest() {
            if at > end || self.ending.has_come() {
                break;
            }
            debug_assert!(at >= now, "time ran backwards at element {id}");
            now = now.max(at);
            self.wake(id, now);
            until_report -= 1;
            if until_report == 0 {
                until_report = between_reports;
                if progress(now, self.network.counters().forwarded_packets).is_break() {
                    break;
                }
            }
        }
        let end = if self.ending.has_come() { now } else { end };
        self.finish(end);
        end
    }

    fn sample(&mut self, now: Time) {
        self.catch_up_links(now);
        self.sampler.sample(now, &self.network, &self.accounts, self.observer);
        self.agenda.set(self.network.nodes.len(), Some(self.sampler.next()));
    }

    fn finish(&mut self, end: Time) {
        self.catch_up_links(end);
        self.sampler.finish(end, &self.network, &self.accounts, self.observer);
        self.accounts.assert_conserved(self.network.made(), self.network.held());
    }

    fn catch_up_links(&mut self, now: Time) {
        for link in 0..self.network.links.len() {
            let id = self.network.links[link];
            self.network.nodes[id].catch_up(now);
            self.take_drops(id);
        }
    }

    /// The turn of an element has come.
    fn wake(&mut self, id: usize, now: Time) {
        match self.network.nodes.get(id) {
            None => self.sample(now),
            Some(Node::Sender(_) | Node::Receiver(_)) => self.wake_host(id, now),
            Some(_) => self.run_element(id, now),
        }
    }

    /// The turn of a host has come; too early, if its timers have moved on since.
    fn wake_host(&mut self, id: usize, now: Time) {
        let due = self.network.nodes[id].next_deadline();
        let next = match self.network.nodes[id] {
            _ if due.is_none_or(|due| due > now) => due,
            Node::Sender(_) => self.run_sender(id, now),
            _ => self.run_receiver(id, now),
        };
        self.agenda.set(id, next);
    }

    /// Takes everything out of an element that is due, and hands it on.
    fn run_element(&mut self, id: usize, now: Time) {
        loop {
            // By reference: a departure is large.
            let departure = self.network.nodes[id].poll(now);
            if let Some(departure) = &departure {
                self.leave(id, &departure.packet, departure.at);
            }
            let next = self.network.nodes[id].next_deadline();
            if next.is_none_or(|next| next > now) {
                self.agenda.set(id, next);
                return;
            }
        }
    }

    /// Lets a sender do everything that is due; returns its next deadline.
    fn run_sender(&mut self, id: usize, now: Time) -> Option<Time> {
        while let Node::Sender(host) = &mut self.network.nodes[id] {
            let packet = host.poll(now);
            let Some(packet) = &packet else { break };
            self.tap_departure(id, packet, now);
            self.tell_packet(PacketKind::Sent, packet, now, true);
            self.hand_on(id, packet, now);
        }
        self.tap_sender(id, now);
        self.check_completion(id);
        self.network.nodes[id].next_deadline()
    }

    /// Lets a receiver do everything that is due; returns its next deadline.
    fn run_receiver(&mut self, id: usize, now: Time) -> Option<Time> {
        while let Node::Receiver(host) = &mut self.network.nodes[id] {
            let packet = host.poll(now);
            let Some(packet) = &packet else { return host.next_deadline() };
            self.tap_departure(id, packet, now);
            self.tell_packet(PacketKind::AckSent, packet, now, true);
            self.hand_on(id, packet, now);
        }
        None
    }

    /// A packet leaves an element that isn't a host.
    #[inline]
    fn leave(&mut self, from: usize, packet: &Packet<Segment>, at: Time) {
        self.tap_departure(from, packet, at);
        if self.network.nodes[from].role() == Role::Link {
            // A queue discipline may drop as it gives up a packet.
            self.take_drops(from);
            if !self.leaves_link(from, packet, at) {
                return;
            }
        }
        self.hand_on(from, packet, at);
    }

    /// A packet from element `from` reaches the next one. Hosts react at once; other
    /// elements wait for their turn.
    #[inline]
    fn hand_on(&mut self, from: usize, packet: &Packet<Segment>, at: Time) {
        let to = self.network.next_hop(from, packet.flow);
        self.tap_arrival(to, packet, at);
        match &mut self.network.nodes[to] {
            Node::Line(line) => {
                line.receive(*packet, at);
                self.agenda.set(to, line.next_deadline());
            }
            Node::Link(link) => {
                link.receive(*packet, at);
                self.agenda.set(to, link.next_deadline());
                self.take_drops(to);
            }
            Node::Receiver(host) => {
                host.receive(packet, at);
                self.tell_packet(PacketKind::Received, packet, at, false);
                let next = self.run_receiver(to, at);
                self.agenda.bring_forward(to, next);
            }
            Node::Sender(host) => {
                host.receive(packet, at);
                self.tell_packet(PacketKind::AckReceived, packet, at, false);
                self.tell_rtt(packet.flow, at);
                let next = self.run_sender(to, at);
                self.agenda.bring_forward(to, next);
            }
            element => {
                element.receive(packet, at);
                self.take_drops(to);
                self.agenda.set(to, self.network.nodes[to].next_deadline());
            }
        }
    }

    /// Accounts for a packet behind a link, the last one that its flow's data cross; false
    /// if the path loses it.
    fn leaves_link(&mut self, from: usize, packet: &Packet<Segment>, at: Time) -> bool {
        if !self.network.is_last_link(from, packet.flow) {
            return true;
        }
        let data = packet.body.is_data();
        if data {
            self.accounts.forwarded(packet);
        }
        self.tell_event(PacketKind::Forwarded, packet, at);
        let lost = data && self.network.loses(from);
        if lost {
            self.accounts.dropped(packet, true);
            self.tell_event(PacketKind::Lost, packet, at);
        }
        !lost
    }

    #[inline]
    fn take_drops(&mut self, id: usize) {
        if self.network.nodes[id].may_have_dropped() {
            self.tell_drops(id);
        }
    }

    #[cold]
    fn tell_drops(&mut self, id: usize) {
        while let Some(dropped) = self.network.take_dropped(id) {
            let (packet, at) = (&dropped.packet, dropped.at);
            self.accounts.dropped(packet, self.network.carries_data(id, packet.flow));
            let kind = match dropped.reason {
                DropReason::RandomLoss | DropReason::Outage => PacketKind::Lost,
                _ => PacketKind::Dropped,
            };
            self.tell_event(kind, packet, at);
        }
    }

    /// Counts a packet that a host sends or takes, and tells of it.
    #[inline]
    fn tell_packet(
        &mut self,
        kind: PacketKind,
        packet: &Packet<Segment>,
        at: Time,
        into_network: bool,
    ) {
        if into_network {
            self.accounts.entered += 1;
        } else {
            self.accounts.left += 1;
        }
        self.tell_event(kind, packet, at);
    }

    #[inline]
    fn tell_event(&mut self, kind: PacketKind, packet: &Packet<Segment>, at: Time) {
        if self.observer.wants(EventKind::Packet) {
            self.record_packet(kind, packet, at);
        }
    }

    /// Kept out of line: most runs don't record packets, and their loop stays small.
    #[inline(never)]
    fn record_packet(&mut self, kind: PacketKind, packet: &Packet<Segment>, at: Time) {
        self.observer.on(at, &Event::Packet(packet_event(kind, packet)));
    }

    #[inline]
    fn tell_rtt(&mut self, flow: FlowId, at: Time) {
        if !self.observer.wants(EventKind::Rtt) {
            return;
        }
        if let Some(rtt) = self.network.sender_mut(flow.index()).take_rtt() {
            self.observer.on(at, &Event::Rtt(RttSample { flow, rtt }));
        }
    }

    fn check_completion(&mut self, id: usize) {
        while let Node::Sender(host) = &mut self.network.nodes[id]
            && let Some(done) = host.take_completed()
        {
            self.completed(id - self.network.senders[0], done);
        }
    }

    fn completed(&mut self, flow: usize, done: Completed) {
        if let Some(size) = done.size {
            let completion = Completion {
                flow: FlowId(u32::try_from(flow).expect("flows fit 32 bits")),
                instance: done.instance,
                start: done.start,
                size: narrows_base::Bytes::new(size),
                retransmitted: done.retransmitted,
            };
            self.observer.offer(done.end, EventKind::Completion, || Event::Completion(completion));
        }
        if self.network.sender(flow).is_done() {
            self.flow_done(flow);
        }
    }

    /// Ends the chains that run beside a flow that is done, and perhaps the run.
    fn flow_done(&mut self, flow: usize) {
        self.ending.is_done(flow);
        for other in self.ending.companions(flow) {
            let host = self.network.sender_mut(other);
            host.end_chain();
            if host.is_done() {
                self.ending.is_done(other);
            }
            let id = self.network.senders[other];
            self.agenda.set(id, self.network.nodes[id].next_deadline());
        }
    }

    /// Data packets that left the bottleneck.
    pub(crate) fn data_packets(&self) -> u64 {
        self.accounts.data_packets()
    }
}

fn packet_event(kind: PacketKind, packet: &Packet<Segment>) -> PacketEvent {
    let (seq, retransmission) = match &packet.body.kind {
        Kind::Data(data) => (u64::from(data.seq), data.retransmission),
        Kind::Ack(ack) => (u64::from(ack.ack), false),
        _ => (0, false),
    };
    PacketEvent {
        kind,
        flow: packet.flow,
        instance: packet.body.instance,
        seq,
        size: packet.size,
        retransmission,
    }
}
