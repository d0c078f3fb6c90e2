//! A congestion control written in JavaScript: the events and fields of one in Python, as numbers.
//!
//! The page gets an event and its fields as an array of numbers, and writes back a window in
//! packets and a pacing rate in payload bit/s. Missing values are NaN in both directions. An
//! exception in JavaScript ends the run and reaches the caller of the module.

#![expect(clippy::cast_precision_loss, reason = "counters of packets stay far below 2^53")]

use std::cell::Cell;

use narrows_base::{Duration, Rate};
use narrows_cc::{
    AckSample, CcConfig, Congestion, CongestionControl, CongestionEvent, Control,
    INFINITE_SSTHRESH, OWN_RATES, OWN_WINDOWS, RecoveryState, RoundTrips, UndoEvent,
};
use serde_json::{Value, json};

/// The words of `state`, in the order of their numbers.
const STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];
/// The words of `kind`.
const KINDS: [&str; 4] = ["loss", "ecn", "tail_loss", "timeout"];
/// The events and their fields, in the order of the numbers.
const EVENTS: [(&str, &[&str]); 4] = [
    ("on_connect", &["mss", "initial_cwnd", "rtt_s"]),
    (
        "on_ack",
        &[
            "now_s",
            "mss",
            "acked",
            "lost",
            "in_flight",
            "prior_in_flight",
            "delivered",
            "lost_total",
            "rtt_s",
            "srtt_s",
            "min_rtt_s",
            "delivery_rate_bps",
            "app_limited",
            "round_start",
            "state",
            "may_grow",
            "cwnd_limited",
        ],
    ),
    (
        "on_congestion",
        &["now_s", "kind", "first", "state", "cwnd", "in_flight", "mss", "delivered", "lost_total"],
    ),
    ("on_undo", &["now_s", "cwnd"]),
];

/// The place of an event among [`EVENTS`].
#[derive(Clone, Copy)]
enum Event {
    Connect,
    Ack,
    Congestion,
    Undo,
}

/// The description of the arrays for JavaScript.
pub(crate) fn interface() -> Value {
    let events: Vec<_> =
        EVENTS.iter().map(|(name, fields)| json!({ "name": name, "fields": fields })).collect();
    let flags = ["app_limited", "round_start", "may_grow", "cwnd_limited", "first"];
    let limits = json!({
        "window": [OWN_WINDOWS.start(), OWN_WINDOWS.end()],
        "rate": [OWN_RATES.start(), OWN_RATES.end()],
    });
    let words = json!({ "state": STATES, "kind": KINDS });
    json!({ "events": events, "flags": flags, "words": words, "limits": limits })
}

/// The page's control for a connection.
pub(crate) fn control(config: CcConfig) -> Box<dyn CongestionControl> {
    thread_local! {
        static CONNECTIONS: Cell<u32> = const { Cell::new(0) };
    }
    let connection = CONNECTIONS.get();
    CONNECTIONS.set(connection + 1);
    let control = Control {
        cwnd: config.initial_cwnd,
        ssthresh: INFINITE_SSTHRESH,
        pacing_rate: None,
        app_limited: false,
    };
    let mut made = Own { connection, control, rounds: RoundTrips::default() };
    let rtt = config.initial_rtt.map_or(f64::NAN, seconds);
    made.tell(Event::Connect, &[config.mss.into(), config.initial_cwnd.into(), rtt]);
    Box::new(made)
}

struct Own {
    connection: u32,
    control: Control,
    rounds: RoundTrips,
}

impl Own {
    fn tell(&mut self, event: Event, fields: &[f64]) {
        let event = event as u32;
        debug_assert_eq!(fields.len(), EVENTS[event as usize].1.len());
        let [cwnd, rate] = crate::page::tell(self.connection, event, fields);
        // The page has checked both by the limits of the interface.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        let (cwnd, rate) = (cwnd as u32, (!rate.is_nan()).then(|| Rate::from_bps(rate as u64)));
        (self.control.cwnd, self.control.pacing_rate) = (cwnd.max(1), rate);
    }
}

impl CongestionControl for Own {
    fn on_ack(&mut self, sample: &AckSample) {
        let rate = sample.rate.map_or(f64::NAN, |rate| rate.payload_bps(sample.mss));
        let round_start = self.rounds.start(sample);
        self.tell(
            Event::Ack,
            &[
                sample.now.as_secs_f64(),
                sample.mss.into(),
                sample.acked.into(),
                sample.lost.into(),
                sample.in_flight.into(),
                sample.prior_in_flight.into(),
                sample.delivered as f64,
                sample.lost_total as f64,
                sample.rtt.map_or(f64::NAN, seconds),
                if sample.srtt.is_zero() { f64::NAN } else { seconds(sample.srtt) },
                seconds(sample.min_rtt),
                rate,
                flag(sample.rate.is_some_and(|rate| rate.app_limited)),
                flag(round_start),
                state(sample.state),
                flag(sample.may_grow),
                flag(sample.cwnd_limited),
            ],
        );
    }

    /// The resulting window is also PRR's target.
    fn on_congestion(&mut self, event: &CongestionEvent) {
        let (kind, first) = match event.kind {
            Congestion::Loss => (0.0, true),
            Congestion::Ecn => (1.0, true),
            Congestion::TailLoss => (2.0, true),
            Congestion::Timeout { reduce } => (3.0, reduce),
        };
        self.tell(
            Event::Congestion,
            &[
                event.now.as_secs_f64(),
                kind,
                flag(first),
                state(event.state),
                event.cwnd.into(),
                event.in_flight.into(),
                event.mss.into(),
                event.delivered as f64,
                event.lost_total as f64,
            ],
        );
        self.control.ssthresh = self.control.cwnd;
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.tell(Event::Undo, &[event.now.as_secs_f64(), event.cwnd.into()]);
    }

    fn control(&self) -> Control {
        self.control
    }
}

fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// A duration in seconds; NaN for a placeholder.
fn seconds(duration: Duration) -> f64 {
    if duration < Duration::MAX { duration.as_secs_f64() } else { f64::NAN }
}

/// The place of a state among [`STATES`].
fn state(state: RecoveryState) -> f64 {
    match state {
        RecoveryState::Open => 0.0,
        RecoveryState::Disorder => 1.0,
        RecoveryState::Cwr => 2.0,
        RecoveryState::Recovery => 3.0,
        RecoveryState::Loss => 4.0,
    }
}
