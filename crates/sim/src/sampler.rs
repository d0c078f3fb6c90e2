//! Samples flows and queues at fixed instants for the observer.

use narrows_base::{Bytes, Duration, FlowId, Time};
use narrows_cc::INFINITE_SSTHRESH;
use narrows_record::{Event, FlowSample, Internal, Kind, Observer, QueueDepth, QueueSample};

use crate::account::Accounts;
use crate::network::Network;

/// Shortest interval between two samples of the queue's depth.
const PROBE_INTERVAL: Duration = Duration::from_millis(1);

/// The schedule of samples.
#[derive(Debug)]
pub(crate) struct Sampler {
    /// Interval of the rows; if none, only the beginning, the warm-up and the end.
    interval: Option<Duration>,
    next_row: Time,
    warmup: Option<Time>,
    last_row: Option<Time>,
    probe_interval: Duration,
    next_probe: Time,
    last_probe: Time,
}

impl Sampler {
    /// `packet_time` is the bottleneck's time for a full packet; the queue is sampled at most once
    /// in four of them.
    pub(crate) fn new(interval: Option<Duration>, warmup: Time, packet_time: Duration) -> Self {
        Self {
            interval,
            next_row: Time::ZERO,
            warmup: Some(warmup),
            last_row: None,
            probe_interval: PROBE_INTERVAL.max(packet_time * 4),
            next_probe: Time::ZERO,
            last_probe: Time::ZERO,
        }
    }

    /// The next instant to sample.
    pub(crate) fn next(&self) -> Time {
        let next = self.next_row.min(self.next_probe);
        self.warmup.map_or(next, |warmup| next.min(warmup))
    }

    /// Whether more is due at `now` than a sample of the queues' depths.
    pub(crate) fn takes_row(&self, now: Time) -> bool {
        self.next_row <= now || self.is_warm(now)
    }

    /// Whether the warm-up ends now.
    fn is_warm(&self, now: Time) -> bool {
        self.warmup.is_some_and(|warmup| warmup <= now)
    }

    /// Takes due samples; returns whether the warm-up has just ended.
    pub(crate) fn sample<O: Observer>(
        &mut self,
        now: Time,
        network: &Network,
        accounts: &Accounts,
        observer: &mut O,
    ) -> bool {
        if self.next_probe <= now {
            self.probe(now, network, observer);
        }
        let at_warmup = self.is_warm(now);
        if at_warmup {
            self.warmup = None;
        }
        if self.next_row <= now || at_warmup {
            self.row(now, network, accounts, observer);
        }
        while self.next_row <= now {
            self.next_row = self.interval.map_or(Time::MAX, |interval| self.next_row + interval);
        }
        at_warmup
    }

    /// The last row, at the end of the run.
    pub(crate) fn finish<O: Observer>(
        &mut self,
        end: Time,
        network: &Network,
        accounts: &Accounts,
        observer: &mut O,
    ) {
        self.probe(end, network, observer);
        if self.last_row != Some(end) {
            self.row(end, network, accounts, observer);
        }
    }

    fn probe<O: Observer>(&mut self, now: Time, network: &Network, observer: &mut O) {
        if !observer.wants(Kind::QueueDepth) {
            self.next_probe = Time::MAX;
            return;
        }
        let span = now.saturating_since(self.last_probe);
        if !span.is_zero() {
            for link in 0..network.links.len() {
                let depth = QueueDepth { link: number(link), backlog: network.backlog(link), span };
                observer.on(now, &Event::QueueDepth(depth));
            }
        }
        self.last_probe = now;
        self.next_probe = now + self.probe_interval;
    }

    fn row<O: Observer>(
        &mut self,
        now: Time,
        network: &Network,
        accounts: &Accounts,
        observer: &mut O,
    ) {
        self.last_row = Some(now);
        for flow in 0..network.senders.len() {
            let id = FlowId(u32::try_from(flow).expect("flows fit 32 bits"));
            observer.offer(now, Kind::Flow, || Event::Flow(flow_sample(id, network, accounts)));
            if observer.wants(Kind::Internal) {
                network.sender(flow).inspect(now, &mut |name, value| {
                    observer.on(now, &Event::Internal(Internal { flow: id, name, value }));
                });
            }
        }
        for link in 0..network.links.len() {
            observer.offer(now, Kind::Queue, || Event::Queue(queue_sample(link, network)));
        }
    }
}

fn number(link: usize) -> u32 {
    u32::try_from(link).expect("links fit 32 bits")
}

/// The state of the queue of a link that was brought up to now.
pub(crate) fn queue_sample(link: usize, network: &Network) -> QueueSample {
    let queue = network.queue(link);
    let counters = queue.counters;
    QueueSample {
        link: number(link),
        backlog: queue.backlog,
        backlog_packets: queue.packets as u64,
        arrived: counters.arrived_packets,
        dropped: counters.dropped_packets,
        marked: counters.marked_packets,
        forwarded: counters.forwarded_packets,
        forwarded_bytes: counters.forwarded_bytes,
    }
}

/// The state of a flow.
pub(crate) fn flow_sample(flow: FlowId, network: &Network, accounts: &Accounts) -> FlowSample {
    let host = network.sender(flow.index());
    let stats = host.stats();
    let account = accounts.flows[flow.index()];
    let view = host.view();
    FlowSample {
        flow,
        cwnd: view.map_or(0, |view| view.cwnd),
        ssthresh: view.map(|view| view.ssthresh).filter(|&packets| packets < INFINITE_SSTHRESH),
        in_flight: view.map_or(0, |view| view.in_flight),
        rtt: view.and_then(|view| view.rtt),
        srtt: view.and_then(|view| view.srtt),
        min_rtt: view.and_then(|view| view.min_rtt),
        pacing_rate: view.and_then(|view| view.pacing_rate),
        delivery_rate: view.and_then(|view| view.delivery_rate),
        sent: stats.sent,
        delivered: stats.delivered,
        lost: stats.lost,
        retransmitted: stats.retransmitted,
        received: Bytes::new(network.receiver(flow.index()).bytes()),
        wire: account.wire,
        dropped: account.dropped,
        state: view.map_or("closed", |view| view.state.name()),
        cca_state: view.map_or("", |view| view.cca_state),
    }
}
