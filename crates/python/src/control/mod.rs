//! Own congestion controls, run by the simulator: classes of Python, and libraries made from Rust.
//!
//! A class is called with the flow's options for each connection. A control can't stop the
//! engine: an error is noted in [`FirstError`], the object isn't called any more, and the run ends at
//! its next report of progress.

mod connection;
mod events;
mod first_error;
mod rust;
mod slow_calls;

use std::collections::BTreeMap;
use std::sync::Arc;

use narrows_base::Rate;
use narrows_cc::{
    self as cc, CcConfig, CongestionControl, Control, INFINITE_SSTHRESH, Needs, OWN_RATES,
    OWN_WINDOWS, RoundTrips,
};
use narrows_sim::Controls;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

use crate::spec::inputs::keywords;
pub use connection::Connection;
pub use events::{AckSample, CongestionEvent, DeliveredSample, LostPacket, StartEvent, UndoEvent};
pub use first_error::{ControlError, FirstError};
use first_error::{exception_error, wrong};
use rust::LibraryControl;
pub use rust::RustControl;
pub use slow_calls::{CallWatch, Calls, SlowCallWarning};

/// The number of characters of a wrong answer that a message shows.
const MOST_SHOWN: usize = 60;
const METHODS: [&str; 3] = ["on_ack", "on_congestion", "control"];
const NEED: &str = "a window from 1 to 10000000 packets, or (window, pacing rate in bit/s)";

/// The simulator's controls with own ones: name to class of Python or to [`RustControl`].
pub fn controls(
    classes: BTreeMap<String, Py<PyAny>>,
    first_error: &Arc<FirstError>,
    calls: &Arc<Calls>,
) -> Controls {
    let mut known = Controls::new();
    for (name, class) in classes {
        let (first_error, calls) = (Arc::clone(first_error), Arc::clone(calls));
        if let Some(library) = library(&class) {
            known = known.with_flow(name, move |flow, config| {
                Box::new(LibraryControl::new(&library, flow, config, &first_error, &calls))
            });
            continue;
        }
        known = known.with_flow(name, move |flow, config| {
            Python::attach(|py| {
                let mut made = PythonControl::new(py, &class, &config, &first_error, &calls, flow);
                made.begin(class.bind(py), &config);
                Box::new(made) as _
            })
        });
    }
    known
}

/// The library of a control in Rust.
fn library(control: &Py<PyAny>) -> Option<rust::Library> {
    Python::attach(|py| {
        let control = control.bind(py).cast::<RustControl>();
        control.ok().map(|control| control.get().library.clone())
    })
}

/// One connection's control.
struct PythonControl {
    /// None after an error.
    object: Option<Py<PyAny>>,
    /// The name of its class in messages.
    class: String,
    /// The file of the class.
    file: Option<String>,
    first_error: Arc<FirstError>,
    calls: Arc<Calls>,
    /// Its index in `calls`.
    place: usize,
    control: Control,
    paces: bool,
    needs: Needs,
    has_undo: bool,
    has_start: bool,
    rounds: RoundTrips,
}

impl PythonControl {
    /// A control that hasn't been called yet.
    fn new(
        py: Python<'_>,
        class: &Py<PyAny>,
        config: &CcConfig,
        first_error: &Arc<FirstError>,
        calls: &Arc<Calls>,
        flow: &str,
    ) -> Self {
        let class = class.bind(py);
        let name = class.getattr("__qualname__").and_then(|name| name.extract::<String>());
        let name = name.unwrap_or_else(|_| "control".into());
        let place = calls.register(format!("flow \"{flow}\": its control {name}"));
        Self {
            object: None,
            class: name,
            file: file_of(class),
            first_error: Arc::clone(first_error),
            calls: Arc::clone(calls),
            place,
            control: Control {
                cwnd: config.initial_cwnd,
                ssthresh: INFINITE_SSTHRESH,
                pacing_rate: None,
                app_limited: false,
            },
            paces: true,
            needs: Needs { deliveries: false, ..Needs::LOSS_BASED },
            has_undo: false,
            has_start: false,
            rounds: RoundTrips::default(),
        }
    }

    /// Makes the object and gets its initial window and rate.
    fn begin(&mut self, class: &Bound<'_, PyAny>, config: &CcConfig) {
        self.calls.begin(self.place);
        let result = self.construct(class, config);
        self.calls.end();
        if let Err(error) = result {
            self.fail(error);
        }
    }

    fn construct(&mut self, class: &Bound<'_, PyAny>, config: &CcConfig) -> PyResult<()> {
        let py = class.py();
        let options = keywords(py, config.options)?;
        let object = class.call((), Some(&options));
        let place = format!("{}.__init__", self.class);
        let object =
            object.map_err(|error| exception_error(py, &place, error, self.file.as_deref()))?;
        for method in METHODS {
            if !object.getattr(method).is_ok_and(|found| found.is_callable()) {
                let need = "on_ack(sample), on_congestion(event) and control()";
                return Err(wrong(&format!("{}.{method}", self.class), "no such method", need));
            }
        }
        self.needs.own_recovery = truth(&object, "owns_recovery");
        self.needs.deliveries = self.has(&object, "on_delivered")?;
        self.needs.packets = self.has(&object, "on_lost")?;
        self.has_undo = self.has(&object, "on_undo")?;
        self.has_start = self.has(&object, "on_start")?;
        let greeted = self.has(&object, "on_connect")?;
        self.object = Some(object.unbind());
        if greeted {
            self.call(py, "on_connect", Connection::new(config))?;
        }
        self.ask(py)?;
        self.paces = self.control.pacing_rate.is_some();
        Ok(())
    }

    /// Returns whether the object has an optional method.
    fn has(&self, object: &Bound<'_, PyAny>, method: &str) -> PyResult<bool> {
        let place = format!("{}.{method}", self.class);
        let found = object.hasattr(method);
        found.map_err(|error| exception_error(object.py(), &place, error, self.file.as_deref()))
    }

    /// Calls a method that takes one object and returns nothing.
    fn call<T>(&self, py: Python<'_>, method: &str, argument: T) -> PyResult<()>
    where
        T: Into<PyClassInitializer<T>> + pyo3::PyClass,
    {
        let Some(object) = &self.object else { return Ok(()) };
        let argument = Py::new(py, argument)?;
        let place = || format!("{}.{method}", self.class);
        object
            .call_method1(py, method, (argument,))
            .map_err(|error| exception_error(py, &place(), error, self.file.as_deref()))?;
        Ok(())
    }

    /// Gets the window and rate from the object.
    fn ask(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(object) = &self.object else { return Ok(()) };
        let place = format!("{}.control", self.class);
        let answer = object
            .call_method0(py, "control")
            .map_err(|error| exception_error(py, &place, error, self.file.as_deref()))?;
        let (cwnd, rate) = read(answer.bind(py)).map_err(|found| wrong(&place, &found, NEED))?;
        if rate.is_some() && !self.paces {
            let found = "a pacing rate, though the first output had none";
            return Err(wrong(&place, found, "a rate from the first call on, or none at all,"));
        }
        self.control.cwnd = cwnd;
        self.control.pacing_rate = rate;
        Ok(())
    }

    /// Calls a method of the object, then gets its window and rate.
    fn tell<T>(&mut self, method: &str, argument: T)
    where
        T: Into<PyClassInitializer<T>> + pyo3::PyClass + Send,
    {
        if self.object.is_none() {
            return;
        }
        self.calls.begin(self.place);
        let result = Python::attach(|py| {
            self.call(py, method, argument)?;
            self.ask(py)
        });
        self.calls.end();
        if let Err(error) = result {
            self.fail(error);
        }
    }

    fn fail(&mut self, error: PyErr) {
        self.object = None;
        self.first_error.note(error);
    }
}

impl CongestionControl for PythonControl {
    fn needs(&self) -> Needs {
        self.needs
    }

    fn on_delivered(&mut self, sample: &cc::DeliveredSample) {
        self.tell("on_delivered", DeliveredSample::new(sample));
    }

    fn on_ack(&mut self, sample: &cc::AckSample) {
        let round_start = self.rounds.start(sample);
        self.tell("on_ack", AckSample::new(sample, round_start));
    }

    /// The resulting window is also PRR's target.
    fn on_congestion(&mut self, event: &cc::CongestionEvent) {
        self.tell("on_congestion", CongestionEvent::new(event));
        self.control.ssthresh = self.control.cwnd;
    }

    fn on_undo(&mut self, event: &cc::UndoEvent) {
        if self.has_undo {
            self.tell("on_undo", UndoEvent::new(event));
        }
    }

    fn on_start(&mut self, event: &cc::StartEvent) {
        if self.has_start {
            self.tell("on_start", StartEvent::new(event));
        }
    }

    fn on_lost(&mut self, packet: &cc::LostPacket) {
        self.tell("on_lost", LostPacket::new(packet));
    }

    fn control(&self) -> Control {
        self.control
    }
}

/// The source file of a class, from its code.
fn file_of(class: &Bound<'_, PyAny>) -> Option<String> {
    let method = class.getattr("control").or_else(|_| class.getattr("__call__")).ok()?;
    method.getattr("__code__").ok()?.getattr("co_filename").ok()?.extract().ok()
}

fn truth(object: &Bound<'_, PyAny>, name: &str) -> bool {
    object.getattr(name).and_then(|value| value.is_truthy()).unwrap_or(false)
}

/// Reads a window, or a window and a rate; the error is what was found instead.
fn read(answer: &Bound<'_, PyAny>) -> Result<(u32, Option<Rate>), String> {
    let Ok(pair) = answer.cast::<PyTuple>() else { return Ok((window(answer)?, None)) };
    if pair.len() != 2 {
        return Err(format!("a tuple of {}", pair.len()));
    }
    let (cwnd, rate) = (pair.get_item(0), pair.get_item(1));
    let (cwnd, rate) = (cwnd.map_err(|e| e.to_string())?, rate.map_err(|e| e.to_string())?);
    let rate = if rate.is_none() { None } else { Some(pacing(&rate)?) };
    Ok((window(&cwnd)?, rate))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range was checked"
)]
fn window(value: &Bound<'_, PyAny>) -> Result<u32, String> {
    let packets = number(value)?;
    let fits = OWN_WINDOWS.contains(&packets);
    if fits { Ok(packets as u32) } else { Err(format!("a window of {}", short(packets))) }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range was checked"
)]
fn pacing(value: &Bound<'_, PyAny>) -> Result<Rate, String> {
    let bits = number(value)?;
    let fits = OWN_RATES.contains(&bits);
    if fits {
        Ok(Rate::from_bps(bits as u64))
    } else {
        Err(format!("a pacing rate of {}", short(bits)))
    }
}

/// A number with few digits.
fn short(value: f64) -> String {
    if value.abs() < 1e15 { value.to_string() } else { format!("{value:e}") }
}

/// A number that isn't a bool.
fn number(value: &Bound<'_, PyAny>) -> Result<f64, String> {
    let described = || {
        let kind = value.get_type().name().map_or_else(|_| "object".into(), |n| n.to_string());
        let shown = value.repr().map_or_else(|_| "?".into(), |text| text.to_string());
        let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        let cut = if shown.chars().count() > MOST_SHOWN { "..." } else { "" };
        let shown: String = shown.chars().take(MOST_SHOWN).collect();
        if value.is_none() { "None".to_owned() } else { format!("{shown}{cut}, {article} {kind}") }
    };
    if value.is_instance_of::<PyBool>() {
        return Err(described());
    }
    value.extract::<f64>().map_err(|_| described())
}
