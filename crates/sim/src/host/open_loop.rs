//! A sender whose connections arrive at random and run in parallel.

use narrows_base::{Duration, FlowId, Packet, Time};
use narrows_spec::law::Draw;
use narrows_spec::open_transfers;
use narrows_tcp::{Segment, Sender, SenderConfig, SenderStats, SenderView};

use super::chain::{Chain, ControlFactory};
use super::completed_transfer::CompletedTransfer;
use super::connections::{Connections, End};
use super::contract::{Host, HostOutput, SendingSide};

/// Connections that arrive whether or not the earlier ones are done.
pub(crate) struct OpenLoopSender {
    config: SenderConfig,
    factory: ControlFactory,
    gap: Draw,
    size: Draw,
    next_arrival: Option<Time>,
    stop: Option<Time>,
    deadline_ns: Option<u64>,
    open: Connections<OpenConnection>,
    /// Transfers that aren't reported yet.
    completed: Vec<CompletedTransfer>,
    /// Counters of the finished connections.
    past: SenderStats,
    rtt: Option<Duration>,
}

struct OpenConnection {
    sender: Sender,
    start: Time,
    size: u64,
}

impl End for OpenConnection {
    fn lower_bound(&self) -> Time {
        self.sender.lower_bound()
    }

    fn next_deadline(&self) -> Option<Time> {
        self.sender.next_deadline()
    }
}

impl OpenLoopSender {
    pub(super) fn new(chain: Chain, mut gap: Draw, size: Draw) -> Self {
        let (plan, config, factory) = chain.into_parts();
        let first = plan.start + Duration::from_nanos(gap.next());
        Self {
            config: SenderConfig { note_lost: false, ..config },
            factory,
            gap,
            size,
            next_arrival: Some(first).filter(|&at| plan.stop.is_none_or(|stop| at < stop)),
            stop: plan.stop,
            deadline_ns: plan.deadline_ns,
            open: Connections::default(),
            completed: Vec::new(),
            past: SenderStats::default(),
            rtt: None,
        }
    }

    fn arrive(&mut self, at: Time) {
        let size = self.size.next().max(1);
        let config = SenderConfig { size: Some(size), ..self.config };
        let sender = Sender::connect(config, (self.factory)(config.instance), at);
        self.open.insert(config.instance, OpenConnection { sender, start: at, size });
        self.open.plan(config.instance, at);
        self.config.instance += 1;
        let next = at + Duration::from_nanos(self.gap.next());
        self.next_arrival = Some(next).filter(|&at| self.stop.is_none_or(|stop| at < stop));
    }

    /// Reports a connection that is done; returns whether it is.
    fn complete(&mut self, instance: u32) -> bool {
        let Some(open) = self.open.get_mut(instance) else { return true };
        if open.lower_bound() < Time::MAX || !open.sender.is_done() {
            return false;
        }
        let stats = open.sender.stats();
        self.completed.push(CompletedTransfer {
            instance,
            start: open.start,
            end: open.sender.completed_at().unwrap_or(open.start),
            size: Some(open.size),
            retransmitted: stats.retransmitted,
        });
        self.past = self.past + stats;
        if let Some(metrics) = &mut self.config.metrics {
            open.sender.remember(metrics);
        }
        self.open.remove(instance);
        true
    }
}

impl Host for OpenLoopSender {
    fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        let instance = packet.body.instance;
        let Some(open) = self.open.get_mut(instance) else { return };
        open.sender.receive(&packet.body, packet.ecn, now);
        self.rtt = open.sender.take_rtt().or(self.rtt);
        if !self.complete(instance) {
            self.open.plan(instance, now);
        }
    }

    fn advance(&mut self, now: Time, out: &mut HostOutput) -> Time {
        while let Some(at) = self.next_arrival.filter(|&at| at <= now) {
            self.arrive(at);
        }
        while let Some(instance) = self.open.due(now) {
            let open = self.open.get_mut(instance).expect("only open connections are due");
            let next = open.sender.advance(now, &mut out.packets);
            if !self.complete(instance) {
                self.open.bring_forward(instance, next);
            }
        }
        out.completed.append(&mut self.completed);
        self.next_arrival.unwrap_or(Time::MAX).min(self.open.lower_bound())
    }

    fn next_deadline(&self) -> Option<Time> {
        Time::earlier(self.open.next_deadline(), self.next_arrival)
    }
}

impl SendingSide for OpenLoopSender {
    fn flow(&self) -> FlowId {
        self.config.flow
    }

    /// No connection arrives at `at` or after it.
    fn stop_at(&mut self, at: Time) {
        self.stop = Some(at);
        self.next_arrival = self.next_arrival.filter(|&next| next < at);
    }

    fn stats(&self) -> SenderStats {
        self.open.iter().fold(self.past, |sum, open| sum + open.sender.stats())
    }

    fn view(&self) -> Option<SenderView> {
        view_of_all(self.open.iter().map(|open| &open.sender))
    }

    fn inspect(&self, now: Time, visit: &mut dyn FnMut(&'static str, f64)) {
        let ages = self.open.iter().map(|one| now.saturating_since(one.start).as_nanos());
        open_transfers::inspect(ages, self.deadline_ns, visit);
    }

    fn take_rtt(&mut self) -> Option<Duration> {
        self.rtt.take()
    }
}

/// The state of the newest of some connections, with window and packets in flight of all.
pub(super) fn view_of_all<'a>(senders: impl Iterator<Item = &'a Sender>) -> Option<SenderView> {
    let views: Vec<SenderView> = senders.filter_map(Sender::view).collect();
    // A control may ask for 10^7 packets on each connection.
    let total = |of: fn(&SenderView) -> u32| views.iter().map(of).fold(0, u32::saturating_add);
    let (cwnd, in_flight) = (total(|view| view.cwnd), total(|view| view.in_flight));
    Some(SenderView { cwnd, in_flight, ..*views.last()? })
}
