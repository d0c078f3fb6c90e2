//! A congestion control written in JavaScript, with the events and fields of one in Python.
//!
//! The page gets an event and its fields as an array of numbers, and returns a window in
//! packets and a pacing rate in payload bit/s. Missing values are NaN in both directions. An
//! exception in JavaScript ends the run and reaches the caller of the module.

mod events;

use std::cell::Cell;

use narrows_base::{Duration, Rate};
use narrows_cc::{
    self as cc, CcConfig, Congestion, CongestionControl, Control, INFINITE_SSTHRESH, Needs,
    OWN_RATES, OWN_WINDOWS, RecoveryState, RoundTrips, drop_placeholder,
};
use serde_json::{Value, json};

use events::{EVENTS, FLAGS};

/// The description of the arrays for JavaScript.
pub(crate) fn interface() -> Value {
    let events: Vec<_> =
        EVENTS.iter().map(|(name, fields)| json!({ "name": name, "fields": fields })).collect();
    let limits = json!({
        "window": [OWN_WINDOWS.start(), OWN_WINDOWS.end()],
        "rate": [OWN_RATES.start(), OWN_RATES.end()],
    });
    let words = json!({ "state": RecoveryState::NAMES, "kind": Congestion::NAMES });
    json!({ "events": events, "flags": FLAGS, "words": words, "limits": limits })
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
    let mut made = JavascriptControl { connection, control, has: 0, rounds: RoundTrips::default() };
    let rtt = config.initial_rtt.and_then(drop_placeholder);
    let rtt = rtt.map_or(f64::NAN, Duration::as_secs_f64);
    made.tell("on_connect", &[config.mss.into(), config.initial_cwnd.into(), rtt]);
    Box::new(made)
}

struct JavascriptControl {
    connection: u32,
    control: Control,
    /// A bit for each of [`EVENTS`] for which the control has a method.
    has: u32,
    rounds: RoundTrips,
}

impl JavascriptControl {
    fn tell(&mut self, name: &str, fields: &[f64]) {
        let place = place_of(name);
        debug_assert_eq!(fields.len(), EVENTS[place as usize].1.len());
        let [cwnd, rate, has] = crate::page::tell(self.connection, place, fields);
        // The page has checked window and rate by the limits of the interface.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        let (cwnd, rate, has) =
            (cwnd as u32, (!rate.is_nan()).then(|| Rate::from_bps(rate as u64)), has as u32);
        (self.control.cwnd, self.control.pacing_rate, self.has) = (cwnd.max(1), rate, has);
    }

    /// Returns `true` if the control has a method of this name.
    fn has(&self, name: &str) -> bool {
        self.has >> place_of(name) & 1 == 1
    }
}

impl CongestionControl for JavascriptControl {
    fn needs(&self) -> Needs {
        let (deliveries, packets) = (self.has("on_delivered"), self.has("on_lost"));
        Needs { deliveries, packets, ..Needs::LOSS_BASED }
    }

    fn on_delivered(&mut self, sample: &cc::DeliveredSample) {
        self.tell("on_delivered", &events::delivered_fields(sample));
    }

    fn on_ack(&mut self, sample: &cc::AckSample) {
        let round_start = self.rounds.start(sample);
        self.tell("on_ack", &events::ack_fields(sample, round_start));
    }

    /// The resulting window is also PRR's target.
    fn on_congestion(&mut self, event: &cc::CongestionEvent) {
        self.tell("on_congestion", &events::congestion_fields(event));
        self.control.ssthresh = self.control.cwnd;
    }

    fn on_undo(&mut self, event: &cc::UndoEvent) {
        self.tell("on_undo", &events::undo_fields(event));
    }

    fn on_start(&mut self, event: &cc::StartEvent) {
        if self.has("on_start") {
            self.tell("on_start", &events::start_fields(event));
        }
    }

    fn on_lost(&mut self, packet: &cc::LostPacket) {
        self.tell("on_lost", &events::lost_fields(packet));
    }

    fn control(&self) -> Control {
        self.control
    }
}

/// The place of an event among [`EVENTS`].
fn place_of(name: &str) -> u32 {
    let found = EVENTS.iter().position(|(event, _)| *event == name);
    found.and_then(|at| u32::try_from(at).ok()).expect("an event of the declaration")
}
