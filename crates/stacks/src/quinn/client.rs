//! The sending end: a client that writes to one stream.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use narrows_base::{Duration, Ecn, Time};
use narrows_cc::{INFINITE_SSTHRESH, RecoveryState};
use narrows_sim::stacks::{Connecting, End, Outgoing, SendingEnd};
use narrows_tcp::{SenderStats, SenderView};
use quinn_proto::{ClientConfig, Connection, Dir, Event, StreamEvent, StreamId, VarInt};

use super::driver::Driver;
use super::watch::Seen;
use crate::clock::span;

/// What the client writes: zeros, as much as it needs.
static ZEROS: [u8; 1 << 20] = [0; 1 << 20];

/// The client of a flow.
pub(super) struct Client {
    driver: Driver,
    /// Until it connects.
    config: Option<ClientConfig>,
    start: Time,
    stop: Option<Time>,
    application: Application,
    seen: Arc<Mutex<Seen>>,
    completed: Option<Time>,
}

/// What writes to the stream.
struct Application {
    size: Option<u64>,
    written: u64,
    stream: Option<StreamId>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
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

impl Client {
    pub(super) fn new(
        driver: Driver,
        config: ClientConfig,
        connecting: &Connecting,
        seen: Arc<Mutex<Seen>>,
    ) -> Self {
        let flow = &connecting.flow;
        let size = flow.size_bytes;
        let application = Application { size, written: 0, stream: None, state: State::Connecting };
        Self {
            driver,
            config: Some(config),
            start: Time::from_nanos(flow.start_ns),
            stop: flow.stop_ns.map(Time::from_nanos),
            application,
            seen,
            completed: None,
        }
    }

    /// The instant at which it connects or stops.
    fn act_at(&self) -> Option<Time> {
        let start = self.config.as_ref().map(|_| self.start);
        let over = matches!(self.application.state, State::Stopped | State::Acknowledged);
        Time::earlier(start, self.stop.filter(|_| !over))
    }

    fn run(&mut self, now: Time) {
        if self.start <= now
            && let Some(config) = self.config.take()
        {
            self.driver.connect(config, now);
        }
        let stops = self.stop.is_some_and(|stop| stop <= now);
        let application = &mut self.application;
        let before = application.state;
        self.driver.run(now, &mut |connection, event| match event {
            Some(event) => application.react(connection, &event),
            None if stops => application.stop(connection),
            None => application.write(connection),
        });
        if before != State::Acknowledged && self.application.state == State::Acknowledged {
            self.completed = Some(now);
            self.driver.close(now);
        }
    }
}

impl Application {
    fn react(&mut self, connection: &mut Connection, event: &Event) {
        match event {
            Event::Connected => {
                self.stream = connection.streams().open(Dir::Uni);
                self.state = State::Writing;
            }
            Event::Stream(StreamEvent::Finished { .. }) => self.state = State::Acknowledged,
            Event::ConnectionLost { .. } => {
                self.stream = None;
                if self.state != State::Acknowledged {
                    self.state = State::Stopped;
                }
            }
            _ => {}
        }
    }

    /// Writes as much as there is room for.
    fn write(&mut self, connection: &mut Connection) {
        let Some(id) = self.stream.filter(|_| self.state == State::Writing) else { return };
        loop {
            let left = self.size.map_or(u64::MAX, |size| size - self.written);
            if left == 0 {
                connection.send_stream(id).finish().expect("the stream is open");
                self.state = State::Finished;
                return;
            }
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(ZEROS.len());
            let mut chunks = [Bytes::from_static(&ZEROS[..most])];
            // Without room it goes on at a later event.
            let Ok(written) = connection.send_stream(id).write_chunks(&mut chunks) else { return };
            self.written += written.bytes as u64;
        }
    }

    /// Writes no more; what is on its way arrives, what waits isn't sent.
    fn stop(&mut self, connection: &mut Connection) {
        if let Some(id) = self.stream.take() {
            // It can only fail if everything was acknowledged.
            let _ = connection.send_stream(id).reset(VarInt::from_u32(0));
        }
        if self.state != State::Acknowledged {
            self.state = State::Stopped;
        }
    }
}

impl End for Client {
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

impl SendingEnd for Client {
    fn stop_at(&mut self, at: Time) {
        self.stop = Some(at);
    }

    fn take_completed(&mut self) -> Option<Time> {
        self.completed.take()
    }

    fn take_rtt(&mut self) -> Option<Duration> {
        self.seen.lock().expect("no end panicked").rtt_sample.take()
    }

    fn stats(&self) -> SenderStats {
        let Some(connection) = self.driver.connection() else { return SenderStats::default() };
        let path = connection.stats().path;
        let delivered = self.seen.lock().expect("no end panicked").delivered;
        let (sent, lost) = (path.sent_packets, path.lost_packets);
        SenderStats { sent, delivered, lost, ..SenderStats::default() }
    }

    fn view(&self) -> Option<SenderView> {
        let connection = self.driver.connection()?;
        let (path, state) = (connection.stats().path, connection.congestion_state().metrics());
        let seen = self.seen.lock().expect("no end panicked");
        let mtu = u64::from(path.current_mtu);
        let packets = |bytes: u64| u32::try_from(bytes / mtu).unwrap_or(u32::MAX);
        let measured = seen.latest_rtt.is_some();
        let recovers = seen.recovery_start.is_some();
        Some(SenderView {
            cwnd: packets(path.cwnd),
            ssthresh: state.ssthresh.map_or(INFINITE_SSTHRESH, packets),
            in_flight: packets(seen.in_flight),
            rtt: seen.latest_rtt,
            srtt: measured.then(|| span(path.rtt)),
            min_rtt: measured.then(|| span(path.min_rtt)),
            // Quinn's pacer has no rate, and what its BBR calls one paces nothing.
            pacing_rate: None,
            delivery_rate: None,
            state: if recovers { RecoveryState::Recovery } else { RecoveryState::Open },
            cca_state: "",
        })
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let Some(connection) = self.driver.connection() else { return };
        let path = connection.stats().path;
        #[expect(clippy::cast_precision_loss, reason = "53 bits are enough")]
        let mut show = |name, value: u64| visit(name, value as f64);
        show("cwnd_bytes", path.cwnd);
        show("in_flight_bytes", self.seen.lock().expect("no end panicked").in_flight);
        show("mtu_bytes", u64::from(path.current_mtu));
        show("congestion_events", path.congestion_events);
        show("mtu_probes_sent", path.sent_plpmtud_probes);
    }
}
