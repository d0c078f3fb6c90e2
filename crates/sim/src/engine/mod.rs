//! The event loop: the element with the earliest deadline is polled, and packets that leave it are
//! passed on.
//!
//! Its shortcuts, none of which can be observed, rely on these rules (decision 001):
//!
//! - **Hosts may be early.** A packet only ever brings a host's deadline forward
//!   (`Agenda::bring_forward`), and `Host::advance` returns a lower bound of the deadline. A host
//!   that is woken too early does nothing and returns a later bound.
//! - **Links may be late.** A link with only lines behind it is woken when the first packet that it
//!   has sent leaves its line (`Network::allow_lateness`). `Engine::catch_up_links` brings all links
//!   up to date before their state is read or changed.
//! - **A link and its only line are one pipe**, if the link is drop-tail at a constant rate
//!   (`Network::join_links`), until the path changes. Like late links, pipes exist only where
//!   nobody observes each packet (`Engine::allows_lateness`).
//! - **Packets stay in order** in links, lines and pipes, so an arrival sets the deadline only of an
//!   empty one.
//! - **Hosts react at once.** A packet that reaches a host doesn't wait for the host's turn, and
//!   what the host sends enters the next element at the same instant. Only elements of the path wait,
//!   so a host is never called while it acts.

mod changes;
mod completions;
mod pipes;
mod reports;
mod rtts;
mod taps;

use std::ops::ControlFlow;

use narrows_base::{Packet, Time};
use narrows_net::Element as _;
use narrows_record::{EventKind, Observer, PacketKind, RttSample};
use narrows_tcp::Segment;

use crate::account::Accounts;
use crate::agenda::Agenda;
use crate::changes::Changes;
use crate::ending::{Ending, StopWhen};
use crate::host::HostOutput;
use crate::network::{Network, Node, Role};
use crate::sampler::Sampler;
use crate::sim_tap::SimTap;
use rtts::PendingRtts;

/// Agenda entries between two reports of progress with few flows.
const PROGRESS_EVENTS: usize = 1 << 14;
/// With more flows than this, a sample takes as long as many other turns.
const FEW_FLOWS: usize = 64;

/// A run in progress.
pub(crate) struct Engine<O, T> {
    pub(crate) network: Network,
    agenda: Agenda,
    pub(crate) accounts: Accounts,
    pub(crate) sampler: Sampler,
    pub(crate) changes: Changes,
    pub(crate) observer: O,
    pub(crate) tap: T,
    ending: Ending,
    /// The output of the host that acts; empty between two turns.
    out: HostOutput,
    rtts: PendingRtts,
    /// True if hosts are loaded into the caches ahead of their packets (decision 043).
    loads_ahead: bool,
    now: Time,
}

impl<O: Observer, T: SimTap> Engine<O, T> {
    pub(crate) fn new(
        network: Network,
        sampler: Sampler,
        changes: Changes,
        stop_when: StopWhen,
        observer: O,
        tap: T,
    ) -> Self {
        // The sampler's turn comes after those of all elements, so at one instant it sees the state
        // that they leave; only changes come later.
        let agenda = Agenda::new(network.nodes.len() + 2, network.elements());
        let accounts = Accounts::new(network.senders.len(), network.nodes.len());
        let hosts = (0..network.senders.len()).map(|flow| network.sender(flow));
        let ending = Ending::new(&stop_when, hosts);
        let mut engine = Self {
            loads_ahead: network.is_large(),
            network,
            agenda,
            accounts,
            sampler,
            changes,
            observer,
            tap,
            ending,
            out: HostOutput::default(),
            rtts: PendingRtts::default(),
            now: Time::ZERO,
        };
        if engine.allows_lateness() {
            engine.network.join_links();
            engine.network.allow_lateness();
        }
        engine.plan();
        engine
    }

    /// Returns `true` if links may be polled late, because nobody observes each packet.
    fn allows_lateness(&self) -> bool {
        !self.observer.wants(EventKind::Packet) && !self.tap.wants_packets()
    }

    /// Enters the first deadlines into the agenda.
    fn plan(&mut self) {
        for (id, node) in self.network.nodes.iter().enumerate() {
            self.agenda.set(id, node.next_deadline());
        }
        let after = self.network.nodes.len();
        self.agenda.set(after, Some(self.sampler.next()));
        self.agenda.set(after + 1, self.changes.next());
    }

    /// The instant up to which everything is done.
    pub(crate) const fn now(&self) -> Time {
        self.now
    }

    /// Returns `true` if the run ended early.
    pub(crate) const fn is_over(&self) -> bool {
        self.ending.is_over()
    }

    /// Runs until `end` or an earlier stop, and ends the run; returns when it ended.
    pub(crate) fn run(
        &mut self,
        end: Time,
        progress: &mut dyn FnMut(Time, u64) -> ControlFlow<()>,
    ) -> Time {
        self.advance(end, progress);
        self.finish();
        self.now
    }

    /// Does everything until `end`, that instant included, or until an earlier stop.
    pub(crate) fn advance(
        &mut self,
        end: Time,
        progress: &mut dyn FnMut(Time, u64) -> ControlFlow<()>,
    ) {
        let mut now = self.now;
        let share = PROGRESS_EVENTS / (1 + self.network.senders.len() / FEW_FLOWS);
        let between_reports = share.max(1);
        let mut until_report = between_reports;
        while let Some((at, id)) = self.agenda.earliest() {
            if at > end || self.ending.is_over() {
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
        self.rtts.flush(&mut self.observer);
        self.now = if self.ending.is_over() { now } else { end };
    }

    fn sample(&mut self, now: Time) {
        self.catch_up_links(now);
        if self.sampler.sample(now, &self.network, &self.accounts, &mut self.observer) {
            // Without a warm-up, losses at time 0 count.
            if now > Time::ZERO {
                self.accounts.begin_losses();
            }
            self.network.restart_depths(now);
        }
        self.agenda.set(self.network.nodes.len(), Some(self.sampler.next()));
    }

    /// Takes the last samples.
    ///
    /// # Panics
    /// If a packet is missing.
    pub(crate) fn finish(&mut self) {
        let end = self.now;
        self.catch_up_links(end);
        self.sampler.finish(end, &mut self.network, &self.accounts, &mut self.observer);
        self.accounts
            .assert_conserved(self.network.packets_created(), self.network.packets_inside());
    }

    /// Brings all links up to `now`, so that their state can be read.
    pub(crate) fn catch_up_links(&mut self, now: Time) {
        for link in 0..self.network.links.len() {
            let id = self.network.links[link];
            self.note_sent(id, now);
            if !self.network.poll_slack(id).is_zero() {
                self.run_link(id, now);
            }
            self.network.nodes[id].catch_up(now);
            self.take_drops(id);
        }
    }

    /// Handles the turn of an element. Lines and links, which every packet passes, have their own
    /// loops, in which the element's kind is checked only once.
    fn wake(&mut self, id: usize, now: Time) {
        match self.network.nodes.get(id) {
            Some(Node::Line(_)) => self.run_line(id, now),
            Some(&Node::PipeEnd(pipe)) => self.run_pipe(pipe, id, now),
            Some(Node::Link(_)) => self.run_link(id, now),
            Some(Node::Sender(_) | Node::Receiver(_)) => self.wake_host(id, now),
            Some(_) => self.run_element(id, now),
            None if id == self.network.nodes.len() => self.sample(now),
            None => self.change(now),
        }
    }

    /// Handles the turn of a host, which is too early if its timers have been postponed since.
    fn wake_host(&mut self, id: usize, now: Time) {
        // A tap sees only senders that act, so one with nothing to do isn't advanced.
        if self.tap.wants_senders() {
            let due = self.network.nodes[id].next_deadline();
            if due.is_none_or(|due| due > now) {
                self.agenda.set(id, due);
                return;
            }
        }
        let next = match &mut self.network.nodes[id] {
            Node::Receiver(host) => {
                let next = host.advance(now, &mut self.out);
                self.send_acks(id, now);
                next
            }
            Node::Sender(host) => {
                let next = host.advance(now, &mut self.out);
                self.send_data(id, now);
                next
            }
            _ => unreachable!("only hosts are woken here"),
        };
        self.agenda.set(id, Some(next));
        if self.loads_ahead {
            self.load_due(id);
        }
    }

    /// Loads hosts of packets that come soon out of a line, which ends at `end`.
    #[inline(never)]
    fn load_ahead(&self, line: usize, end: usize) {
        if let Some((flow, host)) = self.network.load_ahead(line, end) {
            self.agenda.prefetch(host);
            self.accounts.prefetch(flow);
        }
    }

    /// Loads hosts whose turns come soon after that of this one.
    #[inline(never)]
    fn load_due(&self, host: usize) {
        let successors = self.agenda.successors(host);
        self.network.load_due(successors);
        self.agenda.prefetch(successors[2]);
    }

    /// Takes all due packets out of a line, and passes them on. A line isn't an observed point of
    /// the path.
    fn run_line(&mut self, id: usize, now: Time) {
        while let Node::Line(line) = &mut self.network.nodes[id] {
            let departure = line.poll(now);
            let next = line.next_deadline();
            // Nothing comes back to the line while its packet is handed on.
            let is_last = next.is_none_or(|next| next > now);
            if is_last {
                self.agenda.set(id, next);
            }
            if self.loads_ahead {
                self.load_ahead(id, id);
            }
            // By reference: a departure is large.
            if let Some(departure) = &departure {
                self.hand_on(id, &departure.packet, departure.at);
            }
            if is_last {
                return;
            }
        }
    }

    /// Takes all due packets out of a link and passes them on; one catch-up may have sent many.
    fn run_link(&mut self, id: usize, now: Time) {
        if let Node::Link(link) = &mut self.network.nodes[id] {
            link.catch_up(now);
        }
        self.take_drops(id);
        while let Node::Link(link) = &mut self.network.nodes[id] {
            let departure = link.take_sent(now);
            let Some(departure) = &departure else { break };
            let (packet, at) = (&departure.packet, departure.at);
            self.tap_departure(id, packet, at);
            if self.leaves_link(id, packet, at) {
                self.hand_on(id, packet, at);
            }
        }
        self.plan_link(id);
    }

    /// Notes when a link must be polled.
    #[inline]
    fn plan_link(&mut self, id: usize) {
        let Node::Link(link) = &self.network.nodes[id] else { return };
        let next = match link.next_departure() {
            Some(at) => Some(at + self.network.poll_slack(id)),
            None => link.next_deadline(),
        };
        self.agenda.set(id, next);
    }

    /// Takes all due packets out of another element that isn't a host, and passes them on.
    #[inline(never)]
    fn run_element(&mut self, id: usize, now: Time) {
        loop {
            let departure = self.network.nodes[id].poll(now);
            if let Some(departure) = &departure {
                let role = self.network.nodes[id].role();
                self.leave(id, role, &departure.packet, departure.at);
            }
            let next = self.network.nodes[id].next_deadline();
            if next.is_none_or(|next| next > now) {
                self.agenda.set(id, next);
                return;
            }
        }
    }

    /// Advances a sender; returns when it must be woken again at the latest.
    fn run_sender(&mut self, id: usize, now: Time) -> Time {
        let Node::Sender(host) = &mut self.network.nodes[id] else { return Time::MAX };
        let next = host.advance(now, &mut self.out);
        self.send_data(id, now);
        next
    }

    /// Sends the packets of the sender that was just advanced into the network, and reports its
    /// completed transfers.
    #[inline] // most ACKs bring nothing to send
    fn send_data(&mut self, id: usize, now: Time) {
        if !self.out.packets.is_empty() {
            self.send_bursts(id, now);
        }
        self.tap_sender(id, now);
        if !self.out.completed.is_empty() {
            self.complete(id);
        }
    }

    #[inline(never)]
    fn send_bursts(&mut self, id: usize, now: Time) {
        self.send_packets(id, PacketKind::Sent, now);
    }

    /// Sends the packets of the receiver that was just advanced into the network.
    #[inline] // runs for every data packet
    fn send_acks(&mut self, id: usize, now: Time) {
        if !self.out.packets.is_empty() {
            self.send_packets(id, PacketKind::AckSent, now);
        }
    }

    /// Sends the packets of a host, which belong to one flow, into the network.
    #[inline(always)] // runs for nearly every packet
    fn send_packets(&mut self, id: usize, kind: PacketKind, now: Time) {
        let to = self.network.next_hop_of_host(id);
        if let Node::Pipe(pipe) = &mut self.network.nodes[to] {
            // There are pipes only where nobody observes each packet.
            self.accounts.entered += self.out.packets.len() as u64;
            let was_empty = Self::enter(pipe, &self.out.packets, now);
            self.out.packets.clear();
            self.note_entry(to, was_empty);
            return;
        }
        let mut packets = std::mem::take(&mut self.out.packets);
        for packet in &packets {
            self.tap_departure(id, packet, now);
            self.report_packet(kind, packet, now, true);
            self.hand_on(id, packet, now);
        }
        packets.clear();
        self.out.packets = packets;
    }

    /// Handles a packet that leaves an element other than a host; `role` is the element's.
    #[inline] // most callers know the role
    fn leave(&mut self, from: usize, role: Role, packet: &Packet<Segment>, at: Time) {
        self.tap_departure(from, packet, at);
        if role == Role::Link {
            // A queue discipline may drop packets when it dequeues one.
            self.take_drops(from);
            if !self.leaves_link(from, packet, at) {
                return;
            }
        }
        self.hand_on(from, packet, at);
    }

    /// Passes a packet from element `from` to the next one. Hosts react at once; other elements
    /// wait for their turn.
    #[inline(always)] // small, since hosts and queues have functions of their own
    fn hand_on(&mut self, from: usize, packet: &Packet<Segment>, at: Time) {
        let to = self.network.next_hop(from, packet.flow);
        self.tap_arrival(to, packet, at);
        match &mut self.network.nodes[to] {
            Node::Line(line) => {
                line.receive(*packet, at);
                // Packets stay in order.
                if line.packet_count() == 1 {
                    self.agenda.set(to, line.next_deadline());
                }
            }
            Node::Pipe(pipe) => {
                let was_empty = Self::enter(pipe, std::slice::from_ref(packet), at);
                self.note_entry(to, was_empty);
            }
            Node::Link(_) => self.reach_link(to, packet, at),
            Node::Receiver(_) => self.reach_receiver(to, packet, at),
            Node::Sender(_) => self.reach_sender(to, packet, at),
            _ => self.reach_element(to, packet, at),
        }
    }

    /// Takes the packet by reference, so that it is copied only once, into the queue.
    #[inline(never)]
    fn reach_link(&mut self, to: usize, packet: &Packet<Segment>, at: Time) {
        let Node::Link(link) = &mut self.network.nodes[to] else { return };
        let was_sending = link.next_departure().is_some();
        link.receive(*packet, at);
        if link.has_dropped() {
            self.report_drops(to);
        }
        // Packets stay in order.
        if !was_sending {
            self.plan_link(to);
        }
    }

    #[inline(never)]
    fn reach_receiver(&mut self, to: usize, packet: &Packet<Segment>, at: Time) {
        self.report_packet(PacketKind::Received, packet, at, false);
        let Node::Receiver(host) = &mut self.network.nodes[to] else { return };
        host.receive(packet, at);
        let next = host.advance(at, &mut self.out);
        self.send_acks(to, at);
        self.agenda.bring_forward(to, Some(next));
    }

    #[inline(never)]
    fn reach_sender(&mut self, to: usize, packet: &Packet<Segment>, at: Time) {
        self.report_packet(PacketKind::AckReceived, packet, at, false);
        let Node::Sender(host) = &mut self.network.nodes[to] else { return };
        host.receive(packet, at);
        if self.observer.wants(EventKind::Rtt)
            && let Some(rtt) = host.take_rtt()
        {
            let sample = RttSample { flow: packet.flow, rtt };
            if self.loads_ahead && !self.observer.wants(EventKind::Packet) {
                self.rtts.push(at, sample, &mut self.observer);
            } else {
                self.observer.on_rtt(at, sample);
            }
        }
        let next = host.advance(at, &mut self.out);
        self.send_data(to, at);
        self.agenda.bring_forward(to, Some(next));
    }

    /// Hands a packet to an element that isn't a line, pipe, link or host.
    #[inline(never)]
    fn reach_element(&mut self, to: usize, packet: &Packet<Segment>, at: Time) {
        self.network.nodes[to].receive(packet, at);
        self.take_drops(to);
        self.agenda.set(to, self.network.nodes[to].next_deadline());
    }

    /// Data packets that left the bottleneck.
    pub(crate) fn data_packets(&self) -> u64 {
        self.accounts.data_packets()
    }

    /// Data packets that each of `count` impairments dropped since the warm-up. The impairments are
    /// numbered after the links.
    pub(crate) fn impairments_dropped(&self, count: usize) -> Vec<u64> {
        let first = self.network.links.len();
        (first..first + count).map(|id| self.accounts.dropped_by(id)).collect()
    }
}
