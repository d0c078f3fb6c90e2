//! A sender that connects, and connects again in a chain.

use std::sync::Arc;

use narrows_base::{Duration, FlowId, Packet, Time};
use narrows_tcp::{Kind, MakeControl, Segment, Sender, SenderConfig, SenderStats, SenderView};

use super::completed_transfer::CompletedTransfer;
use super::contract::{Host, HostOutput, SendingSide};

/// Makes the congestion control of a connection.
pub(crate) type ControlFactory = Box<dyn Fn(u32) -> MakeControl + Send>;

/// The plan of a flow for the run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) start: Time,
    pub(crate) stop: Option<Time>,
    /// The next connection starts this long after the last one completed.
    pub(crate) repeat_gap: Option<Duration>,
    /// No new connection once all of these flows are done.
    pub(crate) while_flows: Option<Arc<[usize]>>,
    /// The most time that a transfer should take, in ns.
    pub(crate) deadline_ns: Option<u64>,
}

/// One connection, or one after another.
pub(crate) struct Chain {
    /// When it connects or stops next, or [`Time::MAX`].
    act_at: Time,
    sender: Option<Sender>,
    done: bool,
    rest: Box<ColdChain>,
}

/// The cold part of a chain, which no packet touches.
struct ColdChain {
    plan: Plan,
    config: SenderConfig,
    factory: ControlFactory,
    next_start: Option<Time>,
    stop: Option<Time>,
    connected_at: Time,
    /// Counters of the connections before this one.
    past: SenderStats,
}

impl Chain {
    pub(crate) fn new(plan: Plan, config: SenderConfig, factory: ControlFactory) -> Self {
        let act_at = plan.stop.map_or(plan.start, |stop| plan.start.min(stop));
        let rest = ColdChain {
            config,
            factory,
            next_start: Some(plan.start),
            stop: plan.stop,
            connected_at: plan.start,
            plan,
            past: SenderStats::default(),
        };
        Self { act_at, sender: None, done: false, rest: Box::new(rest) }
    }

    /// Begins to load the connection.
    pub(super) fn prefetch(&self) {
        if let Some(sender) = &self.sender {
            sender.prefetch();
        }
    }

    /// Begins to load what the connection points to, for the next segment, or a timer.
    pub(super) fn prefetch_further(&self, next: Option<&Kind>) {
        if let Some(sender) = &self.sender {
            sender.prefetch_further(next);
        }
    }

    /// The parts for another kind of host.
    pub(super) fn into_parts(self) -> (Plan, SenderConfig, ControlFactory) {
        let ColdChain { plan, config, factory, .. } = *self.rest;
        (plan, config, factory)
    }

    /// Connects, stops, or both.
    #[cold]
    fn act(&mut self, now: Time) {
        if self.rest.next_start.is_some_and(|start| start <= now) {
            self.connect(now);
        }
        if self.rest.stop.is_some_and(|stop| stop <= now) {
            self.rest.stop = None;
            self.rest.plan.repeat_gap = None;
            self.rest.next_start = None;
            if let Some(sender) = &mut self.sender {
                sender.stop(now);
            }
        }
        self.plan_act();
    }

    fn connect(&mut self, now: Time) {
        self.rest.next_start = None;
        self.rest.connected_at = now;
        let make = (self.rest.factory)(self.rest.config.instance);
        self.sender = Some(Sender::connect(self.rest.config, make, now));
    }

    /// Notes when it connects or stops next.
    fn plan_act(&mut self) {
        self.act_at = Time::earlier(self.rest.next_start, self.rest.stop).unwrap_or(Time::MAX);
    }

    /// The connection is complete: reports it once, and plans the next. Returns when the chain acts
    /// next.
    #[cold]
    fn complete(&mut self, out: &mut HostOutput) -> Time {
        if self.done {
            return self.act_at;
        }
        let Some(sender) = &self.sender else { return self.act_at };
        let end = sender.completed_at().unwrap_or(self.rest.connected_at);
        let stats = sender.stats();
        out.completed.push(CompletedTransfer {
            instance: self.rest.config.instance,
            start: self.rest.connected_at,
            end,
            size: self.rest.config.size,
            retransmitted: stats.retransmitted,
        });
        match self.rest.plan.repeat_gap {
            None => self.done = true,
            Some(gap) => {
                self.rest.past = self.rest.past + stats;
                if let Some(metrics) = &mut self.rest.config.metrics {
                    sender.remember(metrics);
                }
                out.closed = self.sender.take();
                self.rest.config.instance += 1;
                self.rest.next_start = Some(end + gap);
                self.plan_act();
            }
        }
        self.act_at
    }
}

impl Host for Chain {
    #[inline]
    fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        if let Some(sender) = &mut self.sender {
            sender.receive(&packet.body, packet.ecn, now);
        }
    }

    #[inline] // it is called after every ACK
    fn advance(&mut self, now: Time, out: &mut HostOutput) -> Time {
        if self.act_at <= now {
            self.act(now);
        }
        let Some(sender) = &mut self.sender else { return self.act_at };
        let next = sender.advance(now, &mut out.packets);
        let act_at = if sender.is_done() { self.complete(out) } else { self.act_at };
        next.min(act_at)
    }

    fn next_deadline(&self) -> Option<Time> {
        let sender = self.sender.as_ref().and_then(Sender::next_deadline);
        Time::earlier(sender, (self.act_at < Time::MAX).then_some(self.act_at))
    }
}

impl SendingSide for Chain {
    fn flow(&self) -> FlowId {
        self.rest.config.flow
    }

    fn stop_at(&mut self, at: Time) {
        self.rest.stop = Some(at);
        self.plan_act();
    }

    fn stats(&self) -> SenderStats {
        self.rest.past + self.sender.as_ref().map(Sender::stats).unwrap_or_default()
    }

    fn view(&self) -> Option<SenderView> {
        self.sender.as_ref().and_then(Sender::view)
    }

    fn inspect(&self, _: Time, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(sender) = &self.sender {
            sender.inspect(visit);
        }
    }

    #[inline]
    fn take_rtt(&mut self) -> Option<Duration> {
        self.sender.as_mut().and_then(Sender::take_rtt)
    }

    fn sender_mut(&mut self) -> Option<&mut Sender> {
        self.sender.as_mut()
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn is_sized(&self) -> bool {
        self.rest.config.size.is_some()
    }

    fn while_flows(&self) -> Option<&Arc<[usize]>> {
        self.rest.plan.while_flows.as_ref()
    }

    fn end_chain(&mut self) {
        self.rest.plan.repeat_gap = None;
        if self.rest.next_start.take().is_some() && self.sender.is_none() {
            self.done = true;
        }
        self.plan_act();
    }
}
