//! Samples flows and queues at fixed instants for the observer.

use narrows_base::{Bytes, Duration, FlowId, Time};
use narrows_cc::INFINITE_SSTHRESH;
use narrows_record::{Event, EventKind, FlowSample, Internal, Observer, QueueSample};

use crate::account::Accounts;
use crate::network::Network;

/// The schedule of samples.
#[derive(Debug)]
pub(crate) struct Sampler {
    /// Interval of the rows; if none, only the beginning, the warm-up and the end.
    interval: Option<Duration>,
    next_row: Time,
    warmup: Option<Time>,
    last_row: Option<Time>,
}

impl Sampler {
    pub(crate) fn new(interval: Option<Duration>, warmup: Time) -> Self {
        Self { interval, next_row: Time::ZERO, warmup: Some(warmup), last_row: None }
    }

    /// The next instant to sample.
    pub(crate) fn next(&self) -> Time {
        self.warmup.map_or(self.next_row, |warmup| self.next_row.min(warmup))
    }

    /// Takes a due sample; returns whether the warm-up has just ended.
    pub(crate) fn sample<O: Observer>(
        &mut self,
        now: Time,
        network: &Network,
        accounts: &Accounts,
        observer: &mut O,
    ) -> bool {
        let at_warmup = self.warmup.take_if(|warmup| *warmup <= now).is_some();
        if self.next_row <= now || at_warmup {
            self.row(now, network, accounts, observer);
        }
        while self.next_row <= now {
            self.next_row = self.interval.map_or(Time::MAX, |interval| self.next_row + interval);
        }
        at_warmup
    }

    /// The last row, at the end of the run, and what was counted of the queues since the warm-up.
    pub(crate) fn finish<O: Observer>(
        &mut self,
        end: Time,
        network: &mut Network,
        accounts: &Accounts,
        observer: &mut O,
    ) {
        if self.last_row != Some(end) {
            self.row(end, network, accounts, observer);
        }
        if self.warmup.is_none() && observer.wants(EventKind::QueueDepth) {
            for link in 0..network.links.len() {
                observer.on_queue(number(link), network.depth_histogram(link));
            }
        }
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
            observer
                .offer(now, EventKind::Flow, || Event::Flow(flow_sample(id, network, accounts)));
            if observer.wants(EventKind::Internal) {
                network.sender(flow).inspect(now, &mut |name, value| {
                    observer.on(now, &Event::Internal(Internal { flow: id, name, value }));
                });
            }
        }
        for link in 0..network.links.len() {
            observer.offer(now, EventKind::Queue, || Event::Queue(queue_sample(link, network)));
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
