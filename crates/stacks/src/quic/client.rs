//! The sending end: a client that writes to one stream.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use narrows_base::{Duration, Ecn, Time};
use narrows_cc::{INFINITE_SSTHRESH, RecoveryState};
use narrows_sim::stacks::Connecting;
use narrows_tcp::ends::{End, EndCompletion, Outgoing, SendingEnd};
use narrows_tcp::{SenderStats, SenderView};

use super::driver::Driver;
use super::stack::{Event, Stack};
use crate::events::{ConnectionCounters, ConnectionEvents};

/// The payload that the client writes: zeros, as many as it needs.
static ZEROS: [u8; 1 << 20] = [0; 1 << 20];

/// The client of a flow.
pub(super) struct Client<S: Stack> {
    driver: Driver<S>,
    /// When it connects; `None` afterwards.
    start: Option<Time>,
    stop: Option<Time>,
    application: Application<S>,
    seen: Arc<Mutex<ConnectionEvents>>,
    /// The connection's figures since its last event.
    figures: Option<ConnectionCounters>,
    completed: Option<Time>,
}

/// The writer of the stream.
struct Application<S: Stack> {
    size: Option<u64>,
    written: u64,
    stream: Option<S::Stream>,
    state: TransferState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TransferState {
    /// Until the handshake is complete.
    Connecting,
    Writing,
    /// Everything is written, if there is a size.
    Finished,
    /// Everything is acknowledged.
    Acknowledged,
    /// It stopped, or lost its connection.
    Stopped,
}

impl<S: Stack> Client<S> {
    pub(super) fn new(
        driver: Driver<S>,
        connecting: &Connecting,
        seen: Arc<Mutex<ConnectionEvents>>,
    ) -> Self {
        let flow = &connecting.flow;
        let size = flow.size_bytes;
        let application =
            Application { size, written: 0, stream: None, state: TransferState::Connecting };
        Self {
            driver,
            start: Some(Time::from_nanos(flow.start_ns)),
            stop: flow.stop_ns.map(Time::from_nanos),
            application,
            seen,
            figures: None,
            completed: None,
        }
    }

    /// The instant at which it connects or stops.
    fn act_at(&self) -> Option<Time> {
        let over =
            matches!(self.application.state, TransferState::Stopped | TransferState::Acknowledged);
        Time::earlier(self.start, self.stop.filter(|_| !over))
    }

    fn run(&mut self, now: Time) {
        if self.start.take_if(|start| *start <= now).is_some() {
            self.driver.connect(now);
        }
        let stops = self.stop.is_some_and(|stop| stop <= now);
        let application = &mut self.application;
        let before = application.state;
        self.driver.run(now, |stack, event| match event {
            Some(event) => application.react(stack, event),
            None if stops => application.stop(stack),
            None => application.write(stack),
        });
        if before != TransferState::Acknowledged
            && self.application.state == TransferState::Acknowledged
        {
            self.completed = Some(now);
            self.driver.close(now);
        }
        self.figures = self.driver.figures();
    }
}

impl<S: Stack> Application<S> {
    fn react(&mut self, stack: &mut S, event: Event<S::Stream>) {
        match event {
            Event::Connected => {
                self.stream = stack.open();
                self.state = TransferState::Writing;
            }
            Event::Acknowledged => self.state = TransferState::Acknowledged,
            Event::Lost => {
                self.stream = None;
                if self.state != TransferState::Acknowledged {
                    self.state = TransferState::Stopped;
                }
            }
            Event::Opened | Event::Readable(_) => {}
        }
    }

    /// Writes as much as the windows allow.
    fn write(&mut self, stack: &mut S) {
        let Some(stream) = self.stream.filter(|_| self.state == TransferState::Writing) else {
            return;
        };
        loop {
            let left = self.size.map_or(u64::MAX, |size| size - self.written);
            if left == 0 {
                stack.finish(stream);
                self.state = TransferState::Finished;
                return;
            }
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(ZEROS.len());
            let zeros = Bytes::from_static(&ZEROS[..most]);
            // It continues at a later event if nothing can be written.
            let Some(written) = stack.write(stream, zeros) else { return };
            self.written += written as u64;
        }
    }

    /// Writes no more; what is on its way arrives, what waits isn't sent.
    fn stop(&mut self, stack: &mut S) {
        if let Some(stream) = self.stream.take() {
            stack.reset(stream);
        }
        if self.state != TransferState::Acknowledged {
            self.state = TransferState::Stopped;
        }
    }
}

impl<S: Stack> End for Client<S> {
    fn receive(&mut self, bytes: &[u8], ecn: Ecn, now: Time) {
        self.driver.receive(bytes, ecn, now);
        self.run(now);
    }

    fn poll(&mut self, now: Time) -> Option<Outgoing> {
        if self.driver.is_due(now) || self.act_at().is_some_and(|at| at <= now) {
            self.run(now);
        }
        self.driver.pop()
    }

    fn next_deadline(&self) -> Option<Time> {
        Time::earlier(self.driver.next_deadline(), self.act_at())
    }
}

impl<S: Stack> SendingEnd for Client<S> {
    fn stop_at(&mut self, at: Time) {
        self.stop = Some(at);
    }

    fn take_completed(&mut self) -> Option<EndCompletion> {
        self.completed.take().map(EndCompletion::Flow)
    }

    fn take_rtt(&mut self) -> Option<Duration> {
        self.seen.lock().expect("no end panicked").rtt_sample.take()
    }

    fn stats(&self) -> SenderStats {
        let Some(ConnectionCounters { sent, lost, .. }) = self.figures else {
            return SenderStats::default();
        };
        let delivered = self.seen.lock().expect("no end panicked").delivered;
        SenderStats { sent, delivered, lost, ..SenderStats::default() }
    }

    fn view(&self) -> Option<SenderView> {
        let figures = self.figures?;
        let seen = self.seen.lock().expect("no end panicked");
        let packets = |bytes: u64| u32::try_from(bytes / figures.mtu).unwrap_or(u32::MAX);
        let measured = seen.latest_rtt.is_some();
        let recovers = seen.recovery_start.is_some();
        Some(SenderView {
            cwnd: packets(figures.cwnd),
            ssthresh: figures.ssthresh.map_or(INFINITE_SSTHRESH, packets),
            in_flight: packets(seen.in_flight),
            rtt: seen.latest_rtt,
            srtt: figures.srtt.filter(|_| measured),
            min_rtt: figures.min_rtt.filter(|_| measured).or(seen.min_rtt),
            pacing_rate: figures.pacing_rate,
            delivery_rate: None,
            state: if recovers { RecoveryState::Recovery } else { RecoveryState::Open },
            cca_state: "",
        })
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let Some(figures) = self.figures else { return };
        #[expect(clippy::cast_precision_loss, reason = "53 bits are enough")]
        let mut show = |name, value: u64| visit(name, value as f64);
        show("cwnd_bytes", figures.cwnd);
        show("in_flight_bytes", self.seen.lock().expect("no end panicked").in_flight);
        show("mtu_bytes", figures.mtu);
        show("congestion_events", figures.congestion_events);
        show("mtu_probes_sent", figures.mtu_probes_sent);
        if let Some(bandwidth) = figures.bandwidth {
            show("bandwidth_bps", bandwidth);
        }
    }
}
