//! A sender whose connections arrive at random and run in parallel.

use std::collections::BTreeMap;

use narrows_base::{Duration, FlowId, Packet, Time};
use narrows_spec::law::Draw;
use narrows_spec::open_transfers;
use narrows_tcp::{Segment, Sender, SenderConfig, SenderStats, SenderView};

use super::chain::{Chain, ControlFactory};
use super::completed::Completed;
use super::contract::{Host, Out, SendingSide};
use super::deadlines::Deadlines;

/// Connections that arrive whether or not the earlier ones are done.
pub(crate) struct Crowd {
    config: SenderConfig,
    factory: ControlFactory,
    gap: Draw,
    size: Draw,
    next_arrival: Option<Time>,
    stop: Option<Time>,
    deadline_ns: Option<u64>,
    open: BTreeMap<u32, Open>,
    deadlines: Deadlines,
    /// Transfers that aren't reported yet.
    completed: Vec<Completed>,
    /// Counters of the finished connections.
    past: SenderStats,
    rtt: Option<Duration>,
}

struct Open {
    sender: Sender,
    start: Time,
    size: u64,
}

impl Crowd {
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
            open: BTreeMap::new(),
            deadlines: Deadlines::default(),
            completed: Vec::new(),
            past: SenderStats::default(),
            rtt: None,
        }
    }

    fn arrive(&mut self, at: Time) {
        let size = self.size.next().max(1);
        let config = SenderConfig { size: Some(size), ..self.config };
        let sender = Sender::connect(config, (self.factory)(config.instance), at);
        self.deadlines.set(config.instance, sender.next_deadline());
        self.open.insert(config.instance, Open { sender, start: at, size });
        self.config.instance += 1;
        let next = at + Duration::from_nanos(self.gap.next());
        self.next_arrival = Some(next).filter(|&at| self.stop.is_none_or(|stop| at < stop));
    }

    /// Notes when a connection must be advanced next, or that it is done.
    fn settle(&mut self, instance: u32) {
        let open = &self.open[&instance];
        let next = open.sender.next_deadline();
        if next.is_some() || !open.sender.is_done() {
            self.deadlines.set(instance, next);
            return;
        }
        let stats = open.sender.stats();
        self.completed.push(Completed {
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
        self.open.remove(&instance);
        self.deadlines.set(instance, None);
    }
}

impl Host for Crowd {
    fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        let instance = packet.body.instance;
        let Some(open) = self.open.get_mut(&instance) else { return };
        open.sender.receive(&packet.body, now);
        self.rtt = open.sender.take_rtt().or(self.rtt);
        self.settle(instance);
    }

    fn advance(&mut self, now: Time, out: &mut Out) -> Time {
        while let Some(at) = self.next_arrival.filter(|&at| at <= now) {
            self.arrive(at);
        }
        while let Some(instance) = self.deadlines.due(now) {
            let open = self.open.get_mut(&instance).expect("only open connections are due");
            open.sender.advance(now, &mut out.packets);
            self.settle(instance);
        }
        out.completed.append(&mut self.completed);
        self.next_deadline().unwrap_or(Time::MAX)
    }

    fn next_deadline(&self) -> Option<Time> {
        Time::earlier(self.deadlines.earliest().map(|(at, _)| at), self.next_arrival)
    }
}

impl SendingSide for Crowd {
    fn flow(&self) -> FlowId {
        self.config.flow
    }

    /// No connection arrives at `at` or after it.
    fn stop_at(&mut self, at: Time) {
        self.stop = Some(at);
        self.next_arrival = self.next_arrival.filter(|&next| next < at);
    }

    fn stats(&self) -> SenderStats {
        self.open.values().fold(self.past, |sum, open| sum + open.sender.stats())
    }

    fn view(&self) -> Option<SenderView> {
        view_of_all(self.open.values().map(|open| &open.sender))
    }

    fn inspect(&self, now: Time, visit: &mut dyn FnMut(&'static str, f64)) {
        let ages = self.open.values().map(|one| now.saturating_since(one.start).as_nanos());
        open_transfers::inspect(ages, self.deadline_ns, visit);
    }

    fn take_rtt(&mut self) -> Option<Duration> {
        self.rtt.take()
    }
}

/// The state of the youngest of some connections, with window and packets in flight of all.
pub(super) fn view_of_all<'a>(senders: impl Iterator<Item = &'a Sender>) -> Option<SenderView> {
    let views: Vec<SenderView> = senders.filter_map(Sender::view).collect();
    // A control may ask for 10^7 packets on each connection.
    let total = |of: fn(&SenderView) -> u32| views.iter().map(of).fold(0, u32::saturating_add);
    let (cwnd, in_flight) = (total(|view| view.cwnd), total(|view| view.in_flight));
    Some(SenderView { cwnd, in_flight, ..*views.last()? })
}
