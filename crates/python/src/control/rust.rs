//! A congestion control written in Rust, from the shared library that its file was compiled into.

mod convert;
mod library;
mod parts;

use std::cell::Cell;
use std::sync::Arc;

use narrows_base::Rate;
use narrows_base::registry::{Value, Values};
use narrows_cc::{
    self as cc, CcConfig, CongestionControl, INFINITE_SSTHRESH, OWN_RATES, OWN_WINDOWS, RoundTrips,
};
use narrows_control as own;
use narrows_control::abi::{ControlHandle, EventFn, RawConnection};
use pyo3::prelude::*;

use super::first_error::{FirstError, wrong};
use super::slow_calls::Calls;
pub(super) use library::Library;
pub use library::RustControl;

const NEED: &str = "a window from 1 to 10000000 packets and a rate from 8 to 1e13 bit/s, if any,";

/// One connection's control.
pub(super) struct LibraryControl {
    library: Library,
    /// The library's own state; null if `new` failed.
    state: ControlHandle,
    /// The latest output as the library wrote it.
    output: own::Control,
    /// The latest output as the engine takes it.
    control: cc::Control,
    paces: bool,
    /// True if there was an error; the library isn't called again after one.
    broken: Cell<bool>,
    rounds: RoundTrips,
    first_error: Arc<FirstError>,
    calls: Arc<Calls>,
    /// Its index in `calls`.
    place: usize,
    /// The threshold while the control sets none: as in Python, the window after the last
    /// congestion event.
    default_ssthresh: u32,
}

// SAFETY: the trait demands `Send` of every control in a library.
#[expect(unsafe_code, reason = "the state is a pointer")]
unsafe impl Send for LibraryControl {}

impl LibraryControl {
    /// Makes the control of a connection and gets its initial window and rate.
    pub(super) fn new(
        library: &Library,
        flow: &str,
        config: CcConfig<'_>,
        first_error: &Arc<FirstError>,
        calls: &Arc<Calls>,
    ) -> Self {
        let place = calls.register(format!("flow \"{flow}\": its control {}", library.file));
        let output = own::Control::window(config.initial_cwnd);
        let control = cc::Control {
            cwnd: config.initial_cwnd,
            ssthresh: INFINITE_SSTHRESH,
            pacing_rate: None,
            app_limited: false,
        };
        let mut loaded = Self {
            library: library.clone(),
            state: std::ptr::null_mut(),
            output,
            control,
            paces: true,
            broken: Cell::new(false),
            rounds: RoundTrips::default(),
            first_error: Arc::clone(first_error),
            calls: Arc::clone(calls),
            place,
            default_ssthresh: INFINITE_SSTHRESH,
        };
        loaded.begin(config);
        loaded
    }

    fn begin(&mut self, mut config: CcConfig<'_>) {
        let options = match self.options(config.options) {
            Ok(options) => options,
            Err(error) => return self.fail(error),
        };
        let connection = RawConnection {
            mss: config.mss,
            initial_cwnd: config.initial_cwnd,
            initial_rtt_ns: config.initial_rtt.map(|rtt| rtt.as_nanos()).into(),
            seed: config.random.next_u64(),
            options: options.as_ptr(),
        };
        self.calls.begin(self.place);
        self.state = self.library.make(&connection, &mut self.output);
        self.calls.end();
        if self.state.is_null() {
            return self.fail(self.panic_error("new"));
        }
        self.take("new");
        self.paces = self.control.pacing_rate.is_some();
    }

    /// The values of all options, in the order of the library.
    fn options(&self, given: &Values) -> PyResult<Vec<f64>> {
        let value = |(name, default): &(&'static str, f64)| match given.get(*name) {
            None => Ok(*default),
            Some(Value::Number(number)) => Ok(*number),
            #[expect(clippy::cast_precision_loss, reason = "53 bits are enough for an option")]
            Some(Value::Whole(number)) => Ok(*number as f64),
            Some(other) => {
                Err(wrong(&self.library.file, &format!("{name} = {other:?}"), "a number"))
            }
        };
        self.library.options().iter().map(value).collect()
    }

    /// Calls a method of the control with a sample and takes its output.
    fn tell<T>(&mut self, method: &str, function: EventFn<T>, sample: &T) {
        if self.broken.get() {
            return;
        }
        self.calls.begin(self.place);
        let done = self.library.tell(function, self.state, sample, &mut self.output);
        self.calls.end();
        if done {
            self.take(method);
        } else {
            self.fail(self.panic_error(method));
        }
    }

    /// Converts the output for the engine; fails if it is out of bounds.
    fn take(&mut self, method: &str) {
        let own::Control { cwnd, ssthresh, pacing_rate_bps, app_limited } = self.output;
        let rate = pacing_rate_bps.get();
        #[expect(clippy::cast_precision_loss, reason = "the bounds are round numbers")]
        let fits = rate.is_none_or(|bps| OWN_RATES.contains(&(bps as f64)));
        if !OWN_WINDOWS.contains(&f64::from(cwnd)) || !fits {
            let rate = rate.map_or_else(String::new, |bps| format!(" and a rate of {bps} bit/s"));
            let found = format!("a window of {cwnd}{rate} after {method}");
            return self.fail(wrong(&self.place_of("control"), &found, NEED));
        }
        if rate.is_some() && !self.paces {
            let found = "a pacing rate, though the first output had none";
            let need = "a rate from the first call on, or none at all,";
            return self.fail(wrong(&self.place_of("control"), found, need));
        }
        let pacing_rate = rate.map(Rate::from_bps);
        let ssthresh = if ssthresh < INFINITE_SSTHRESH { ssthresh } else { self.default_ssthresh };
        self.control = cc::Control { cwnd, ssthresh, pacing_rate, app_limited };
    }

    /// Calls a method that doesn't change the control, and returns its answer.
    fn ask<T>(
        &self,
        method: &str,
        otherwise: T,
        ask: impl FnOnce(&Library, ControlHandle, &mut T) -> bool,
    ) -> T {
        let mut answer = otherwise;
        if !self.broken.get() && !ask(&self.library, self.state, &mut answer) {
            self.fail(self.panic_error(method));
        }
        answer
    }

    fn place_of(&self, method: &str) -> String {
        format!("{}: {method}", self.library.file)
    }

    fn panic_error(&self, method: &str) -> PyErr {
        let found = format!("a panic: {}", self.library.panic());
        wrong(&self.place_of(method), &found, "a control that doesn't panic")
    }

    fn fail(&self, error: PyErr) {
        self.broken.set(true);
        self.first_error.note(error);
    }
}

impl Drop for LibraryControl {
    fn drop(&mut self) {
        if !self.state.is_null() {
            self.library.discard(self.state);
        }
    }
}

impl CongestionControl for LibraryControl {
    fn needs(&self) -> cc::Needs {
        let table = self.library.table;
        cc::Needs {
            packets: table.watches_packets,
            own_recovery: table.owns_recovery,
            reductions: table.may_request_cwr,
            ..cc::Needs::LOSS_BASED
        }
    }

    fn on_delivered(&mut self, sample: &cc::DeliveredSample) {
        self.tell("on_delivered", self.library.table.on_delivered, &convert::delivered_of(sample));
    }

    fn on_ack(&mut self, sample: &cc::AckSample) {
        let round_start = self.rounds.start(sample);
        self.tell("on_ack", self.library.table.on_ack, &convert::ack_of(sample, round_start));
    }

    /// Without a threshold of the control's own, PRR's target is the resulting window.
    fn on_congestion(&mut self, event: &cc::CongestionEvent) {
        self.tell(
            "on_congestion",
            self.library.table.on_congestion,
            &convert::congestion_of(event),
        );
        if !self.library.table.owns_recovery && !self.broken.get() {
            self.default_ssthresh = self.output.cwnd;
            self.take("on_congestion");
        }
    }

    fn on_undo(&mut self, event: &cc::UndoEvent) {
        self.tell("on_undo", self.library.table.on_undo, &convert::undo_of(event));
    }

    fn on_start(&mut self, event: &cc::StartEvent) {
        self.tell("on_start", self.library.table.on_start, &convert::start_of(event));
    }

    fn on_lost(&mut self, packet: &cc::LostPacket) {
        self.tell("on_lost", self.library.table.on_lost, &convert::lost_of(packet));
    }

    fn on_threshold(&mut self, ssthresh: u32) {
        self.tell("on_threshold", self.library.table.on_threshold, &ssthresh);
    }

    fn requests_cwr(&self) -> bool {
        let asked =
            |library: &Library, state, answer: &mut bool| library.requests_cwr(state, answer);
        self.ask("requests_cwr", false, asked)
    }

    fn on_unused(&mut self, unused: cc::Unused) {
        self.tell("on_unused", self.library.table.on_unused, &parts::unused_window(unused));
    }

    fn control(&self) -> cc::Control {
        self.control
    }

    fn min_tso_segs(&self, pacing_rate: Rate) -> u32 {
        let rate = pacing_rate.as_bps();
        self.ask("min_tso_segs", 2, |library, state, packets| {
            library.min_tso_segs(state, rate, packets)
        })
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.ask("inspect", (), |library, state, ()| library.inspect(state, visit));
    }

    fn state(&self) -> &'static str {
        self.ask("state", "", Library::state_name)
    }
}
