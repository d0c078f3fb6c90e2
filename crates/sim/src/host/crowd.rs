//! A sender whose connections arrive at random and run in parallel.

use std::collections::{BTreeMap, VecDeque};

use narrows_base::{Duration, FlowId, Packet, Time};
use narrows_spec::law::Draw;
use narrows_spec::open_transfers;
use narrows_tcp::{Segment, Sender, SenderConfig, SenderStats, SenderView};

use super::chain::{Chain, ControlFactory};
use super::completed::Completed;
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
    completed: VecDeque<Completed>,
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
            completed: VecDeque::new(),
            past: SenderStats::default(),
            rtt: None,
        }
    }

    pub(super) fn flow(&self) -> FlowId {
        self.config.flow
    }

    /// No connection arrives at `at` or after it.
    pub(super) fn stop_at(&mut self, at: Time) {
        self.stop = Some(at);
        self.next_arrival = self.next_arrival.filter(|&next| next < at);
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

    #[inline(never)]
    pub(super) fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        let instance = packet.body.instance;
        let Some(open) = self.open.get_mut(&instance) else { return };
        open.sender.receive(&packet.body, now);
        self.rtt = open.sender.take_rtt().or(self.rtt);
        self.settle(instance);
    }

    /// Notes when a connection must be polled next, or that it is done.
    fn settle(&mut self, instance: u32) {
        let open = &self.open[&instance];
        let next = open.sender.next_deadline();
        if next.is_some() || !open.sender.is_done() {
            self.deadlines.set(instance, next);
            return;
        }
        let stats = open.sender.stats();
        self.completed.push_back(Completed {
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

    #[inline(never)]
    pub(super) fn poll(&mut self, now: Time) -> Option<Packet<Segment>> {
        while let Some(at) = self.next_arrival.filter(|&at| at <= now) {
            self.arrive(at);
        }
        while let Some(instance) = self.deadlines.due(now) {
            let open = self.open.get_mut(&instance).expect("only open connections are due");
            let packet = open.sender.poll(now);
            self.settle(instance);
            if packet.is_some() {
                return packet;
            }
        }
        None
    }

    #[inline(never)]
    pub(super) fn next_deadline(&self) -> Option<Time> {
        Time::earlier(self.deadlines.earliest().map(|(at, _)| at), self.next_arrival)
    }

    pub(super) fn take_completed(&mut self) -> Option<Completed> {
        self.completed.pop_front()
    }

    pub(super) fn take_rtt(&mut self) -> Option<Duration> {
        self.rtt.take()
    }

    pub(super) fn stats(&self) -> SenderStats {
        self.open.values().fold(self.past, |sum, open| sum + open.sender.stats())
    }

    pub(super) fn view(&self) -> Option<SenderView> {
        let views: Vec<SenderView> =
            self.open.values().filter_map(|open| open.sender.view()).collect();
        let youngest = *views.last()?;
        Some(SenderView {
            cwnd: total(views.iter().map(|view| view.cwnd)),
            in_flight: total(views.iter().map(|view| view.in_flight)),
            ..youngest
        })
    }

    pub(super) fn inspect(&self, now: Time, visit: &mut dyn FnMut(&'static str, f64)) {
        let ages = self.open.values().map(|one| now.saturating_since(one.start).as_nanos());
        open_transfers::inspect(ages, self.deadline_ns, visit);
    }
}

/// The saturating sum: a control may ask for 10^7 packets on each connection.
fn total(packets: impl Iterator<Item = u32>) -> u32 {
    packets.fold(0, u32::saturating_add)
}
