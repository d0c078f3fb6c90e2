//! A sender with one connection, whose application pauses between writes.

use narrows_base::{Duration, FlowId, Packet, Time};
use narrows_spec::open_transfers;
use narrows_tcp::{Segment, Sender, SenderConfig, SenderStats, SenderView};

use super::app::App;
use super::chain::{Chain, ControlFactory};
use super::completed_transfer::CompletedTransfer;
use super::contract::{Host, HostOutput, SendingSide};

/// A connection and the application that writes to it.
pub(crate) struct Session {
    config: SenderConfig,
    factory: ControlFactory,
    start: Option<Time>,
    stop: Option<Time>,
    sender: Option<Sender>,
    app: App,
    /// When the application acts next by itself.
    next_action: Option<Time>,
    transfer: Option<Transfer>,
    /// When the incomplete transfer began; kept if the flow stops during it.
    open_since: Option<Time>,
    deadline_ns: Option<u64>,
    /// The number of earlier transfers.
    number: u32,
    stopped: bool,
}

/// An answer or a chunk in transfer.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    start: Time,
    size: u64,
    /// Retransmissions before the transfer.
    retransmitted: u64,
}

impl Session {
    pub(super) fn new(chain: Chain, app: App) -> Self {
        let (plan, config, factory) = chain.into_parts();
        Self {
            config: SenderConfig { size: Some(0), closes: false, ..config },
            factory,
            start: Some(plan.start),
            stop: plan.stop,
            sender: None,
            app,
            next_action: None,
            transfer: None,
            open_since: None,
            deadline_ns: plan.deadline_ns,
            number: 0,
            stopped: false,
        }
    }

    fn end(&mut self, now: Time) {
        (self.start, self.stop, self.next_action) = (None, None, None);
        self.stopped = true;
        self.transfer = None;
        if let Some(sender) = &mut self.sender {
            sender.stop(now);
        }
    }

    fn act(&mut self, now: Time) {
        let Some(sender) = &mut self.sender else { return };
        let retransmitted = sender.stats().retransmitted;
        let (size, next) = self.app.act(sender, now);
        self.next_action = next;
        self.transfer = size.map(|size| Transfer { start: now, size, retransmitted });
        self.open_since = self.transfer.map(|transfer| transfer.start);
    }

    /// When the application acts, or the session starts or stops.
    fn next_act(&self) -> Option<Time> {
        Time::earlier(self.next_action, Time::earlier(self.start, self.stop))
    }

    /// Takes the current transfer if it is complete; the application then plans the next one.
    fn take_completed(&mut self) -> Option<CompletedTransfer> {
        let transfer = self.transfer?;
        let sender = self.sender.as_ref()?;
        let end = sender.completed_at()?;
        (self.transfer, self.open_since) = (None, None);
        let completed = CompletedTransfer {
            instance: self.number,
            start: transfer.start,
            end,
            size: Some(transfer.size),
            retransmitted: sender.stats().retransmitted - transfer.retransmitted,
        };
        self.number += 1;
        self.next_action = self.app.on_completion(end);
        Some(completed)
    }
}

impl Host for Session {
    fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        if let Some(sender) = &mut self.sender {
            sender.receive(&packet.body, packet.ecn, now);
        }
    }

    fn advance(&mut self, now: Time, out: &mut HostOutput) -> Time {
        if self.start.is_some_and(|start| start <= now) {
            self.start = None;
            let make = (self.factory)(self.config.instance);
            self.sender = Some(Sender::connect(self.config, make, now));
            self.app.on_start(now);
            self.next_action = Some(now);
        }
        if self.stop.is_some_and(|stop| stop <= now) {
            self.end(now);
        }
        if self.next_action.is_some_and(|at| at <= now) {
            self.act(now);
        }
        let sender = self.sender.as_mut();
        let next = sender.map_or(Time::MAX, |sender| sender.advance(now, &mut out.packets));
        out.completed.extend(self.take_completed());
        self.next_act().map_or(next, |at| at.min(next))
    }

    fn next_deadline(&self) -> Option<Time> {
        let sender = self.sender.as_ref().and_then(Sender::next_deadline);
        Time::earlier(sender, self.next_act())
    }
}

impl SendingSide for Session {
    fn flow(&self) -> FlowId {
        self.config.flow
    }

    fn stop_at(&mut self, at: Time) {
        self.stop = Some(at);
    }

    fn stats(&self) -> SenderStats {
        self.sender.as_ref().map(Sender::stats).unwrap_or_default()
    }

    fn view(&self) -> Option<SenderView> {
        self.sender.as_ref().and_then(Sender::view)
    }

    /// Shows the internals of the control, of the application until it is stopped, and the transfer
    /// under way.
    fn inspect(&self, now: Time, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(sender) = &self.sender {
            sender.inspect(visit);
            if !self.stopped {
                self.app.inspect(now, visit);
            }
        }
        if self.app.transfers() {
            let age = self.open_since.map(|since| now.saturating_since(since).as_nanos());
            open_transfers::inspect(age.into_iter(), self.deadline_ns, visit);
        }
    }

    fn take_rtt(&mut self) -> Option<Duration> {
        self.sender.as_mut().and_then(Sender::take_rtt)
    }

    fn sender_mut(&mut self) -> Option<&mut Sender> {
        self.sender.as_mut()
    }
}
