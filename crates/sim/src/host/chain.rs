//! A sender that connects, and connects again in a chain.

use std::sync::Arc;

use narrows_base::{Duration, FlowId, Packet, Time};
use narrows_tcp::{MakeControl, Segment, Sender, SenderConfig, SenderStats};

use super::completed::Completed;

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
    plan: Plan,
    config: SenderConfig,
    factory: ControlFactory,
    next_start: Option<Time>,
    stop: Option<Time>,
    /// The earlier of the two, or [`Time::MAX`]; read with every packet.
    act_at: Time,
    connected_at: Time,
    sender: Option<Sender>,
    /// Counters of the connections before this one.
    past: SenderStats,
    done: bool,
}

impl Chain {
    pub(crate) fn new(plan: Plan, config: SenderConfig, factory: ControlFactory) -> Self {
        Self {
            config,
            factory,
            next_start: Some(plan.start),
            stop: plan.stop,
            act_at: plan.stop.map_or(plan.start, |stop| plan.start.min(stop)),
            connected_at: plan.start,
            plan,
            sender: None,
            past: SenderStats::default(),
            done: false,
        }
    }

    /// The parts for another kind of host.
    pub(super) fn into_parts(self) -> (Plan, SenderConfig, ControlFactory) {
        (self.plan, self.config, self.factory)
    }

    pub(crate) fn flow(&self) -> FlowId {
        self.config.flow
    }

    pub(crate) fn sender(&self) -> Option<&Sender> {
        self.sender.as_ref()
    }

    pub(crate) fn sender_mut(&mut self) -> Option<&mut Sender> {
        self.sender.as_mut()
    }

    /// Whether the flow is completely done.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// Whether the flow, or each one of its chain, has a size.
    pub(crate) fn is_sized(&self) -> bool {
        self.config.size.is_some()
    }

    /// The flows that this one accompanies.
    pub(crate) fn while_flows(&self) -> Option<&Arc<[usize]>> {
        self.plan.while_flows.as_ref()
    }

    /// Starts no further connection.
    pub(crate) fn end_chain(&mut self) {
        self.plan.repeat_gap = None;
        if self.next_start.take().is_some() && self.sender.is_none() {
            self.done = true;
        }
        self.plan_act();
    }

    /// Stops at `at` instead of as planned.
    pub(crate) fn stop_at(&mut self, at: Time) {
        self.stop = Some(at);
        self.plan_act();
    }

    /// Counters over the whole chain.
    pub(crate) fn stats(&self) -> SenderStats {
        let now = self.sender.as_ref().map(Sender::stats).unwrap_or_default();
        self.past + now
    }

    pub(crate) fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        if let Some(sender) = &mut self.sender {
            sender.receive(&packet.body, now);
        }
    }

    #[inline(always)]
    pub(crate) fn poll(&mut self, now: Time) -> Option<Packet<Segment>> {
        if self.act_at <= now {
            self.act(now);
        }
        self.sender.as_mut()?.poll(now)
    }

    /// All packets to send at `now`, with their room, as [`Sender::take_burst`].
    #[inline(always)]
    pub(crate) fn take_burst(&mut self, now: Time) -> Option<Vec<Packet<Segment>>> {
        if self.act_at <= now {
            self.act(now);
        }
        self.sender.as_mut()?.take_burst(now)
    }

    /// Connects, stops, or both.
    #[cold]
    fn act(&mut self, now: Time) {
        if self.next_start.is_some_and(|start| start <= now) {
            self.connect(now);
        }
        if self.stop.is_some_and(|stop| stop <= now) {
            self.stop = None;
            self.plan.repeat_gap = None;
            self.next_start = None;
            if let Some(sender) = &mut self.sender {
                sender.stop(now);
            }
        }
        self.plan_act();
    }

    fn connect(&mut self, now: Time) {
        self.next_start = None;
        self.connected_at = now;
        let make = (self.factory)(self.config.instance);
        self.sender = Some(Sender::connect(self.config, make, now));
    }

    pub(crate) fn next_deadline(&self) -> Option<Time> {
        let sender = self.sender.as_ref().and_then(Sender::next_deadline);
        Time::earlier(sender, self.next_act())
    }

    /// An instant after `now`, once everything due is done, and not after the next deadline.
    #[inline]
    pub(crate) fn deadline_bound(&self, now: Time) -> Option<Time> {
        let sender = self.sender.as_ref().and_then(|sender| sender.deadline_bound(now));
        Time::earlier(sender, self.next_act())
    }

    /// An instant before which nothing happens by itself, or [`Time::MAX`]; `None` unless a glance
    /// shows that nothing is due at `now`, and that there is no completion to take.
    #[inline(always)]
    pub(crate) fn rests_until(&self, now: Time) -> Option<Time> {
        let sender = self.sender.as_ref()?.rests_until(now)?;
        (self.act_at > now).then(|| sender.min(self.act_at))
    }

    /// When it connects or stops next.
    #[inline]
    fn next_act(&self) -> Option<Time> {
        (self.act_at < Time::MAX).then_some(self.act_at)
    }

    /// Notes when it connects or stops next.
    fn plan_act(&mut self) {
        self.act_at = Time::earlier(self.next_start, self.stop).unwrap_or(Time::MAX);
    }

    /// Takes the completion of the current connection once, and plans the next.
    #[inline]
    pub(crate) fn take_completed(&mut self) -> Option<Completed> {
        let is_done = self.sender.as_ref().is_some_and(Sender::is_done);
        if is_done { self.complete() } else { None }
    }

    #[cold]
    fn complete(&mut self) -> Option<Completed> {
        if self.done {
            return None;
        }
        let sender = self.sender.as_ref()?;
        let end = sender.completed_at().unwrap_or(self.connected_at);
        let stats = sender.stats();
        let completed = Completed {
            instance: self.config.instance,
            start: self.connected_at,
            end,
            size: self.config.size,
            retransmitted: stats.retransmitted,
        };
        match self.plan.repeat_gap {
            None => self.done = true,
            Some(gap) => {
                self.past = self.past + stats;
                if let Some(metrics) = &mut self.config.metrics {
                    sender.remember(metrics);
                }
                self.sender = None;
                self.config.instance += 1;
                self.next_start = Some(end + gap);
                self.plan_act();
            }
        }
        Some(completed)
    }
}
