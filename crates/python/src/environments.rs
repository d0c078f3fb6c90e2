//! Environments of agents for Python.

use std::num::NonZero;
use std::sync::{Mutex, MutexGuard, TryLockError};

use narrows_base::{Duration, Rate, Time};
use narrows_cc::Setting;
use narrows_sim::{Environments as Inner, View};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::run::{engine_error, parse};

/// Numbers for each environment that a step takes, and that it gives.
const TAKEN: usize = 2;
const GIVEN: usize = 11;
/// Bytes of a number.
const NUMBER: usize = size_of::<f64>();

/// Runs side by side, each with a flow that an agent controls.
#[pyclass(frozen, module = "narrows._native")]
pub struct Environments {
    inner: Mutex<Inner>,
    threads: NonZero<usize>,
}

#[pymethods]
impl Environments {
    /// Places for `count` environments, which take their steps on `threads` threads.
    #[new]
    fn new(count: usize, threads: NonZero<usize>) -> Self {
        Self { inner: Mutex::new(Inner::new(count)), threads }
    }

    /// Begins a run of a scenario, given as JSON, in a place, and lets it continue until `start_ns`.
    /// Returns what the agent sees, as for `step`.
    fn reset<'py>(
        &self,
        py: Python<'py>,
        place: usize,
        scenario_json: &str,
        start_ns: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (scenario, start) = (parse(scenario_json)?, Time::from_nanos(start_ns));
        let inner = &mut *self.lock()?;
        if place >= inner.len() {
            return Err(PyValueError::new_err(format!("no place {place} of {}", inner.len())));
        }
        let view = py.detach(|| inner.reset(place, scenario, start));
        let view = view.map_err(engine_error)?;
        Ok(PyBytes::new(py, &bytes(&[view])))
    }

    /// Takes for each environment a window in packets and a pacing rate in bit/s, float64 each, 0
    /// for the same as before. Lets all continue for `span_ns`.
    ///
    /// Returns for each environment, as float64: the instant in s, whether the run is over, packets
    /// sent, delivered and lost since the beginning, the step's mean RTT, the lowest RTT and the
    /// smoothed RTT in ms (0 if none), window and packets in flight, the pacing rate in Mbit/s.
    fn step<'py>(
        &self,
        py: Python<'py>,
        actions: &[u8],
        span_ns: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let inner = &mut *self.lock()?;
        if actions.len() != inner.len() * TAKEN * NUMBER {
            return Err(PyValueError::new_err("two numbers of 64 bits for each environment"));
        }
        let settings: Vec<_> = actions.chunks_exact(TAKEN * NUMBER).map(setting).collect();
        let (span, threads) = (Duration::from_nanos(span_ns), self.threads);
        let views = py.detach(|| inner.step(&settings, span, threads));
        Ok(PyBytes::new(py, &bytes(&views)))
    }

    /// The scenario of a place with every setting so far, as JSON.
    fn scenario(&self, place: usize) -> PyResult<String> {
        let inner = self.lock()?;
        Ok(serde_json::to_string(inner.scenario(place)).expect("it is plain data"))
    }
}

impl Environments {
    /// The environments, unless another thread is at them.
    fn lock(&self) -> PyResult<MutexGuard<'_, Inner>> {
        let wrong = |error| match error {
            TryLockError::WouldBlock => "the environments are in use by another thread",
            TryLockError::Poisoned(_) => "the environments are broken: a step panicked",
        };
        self.inner.try_lock().map_err(|error| PyRuntimeError::new_err(wrong(error)))
    }
}

/// A window and a rate; a float that becomes a whole number saturates, and NaN is zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float that becomes a whole number saturates"
)]
fn setting(bytes: &[u8]) -> Setting {
    let number = |at: usize| {
        let bytes = bytes[at * NUMBER..][..NUMBER].try_into().expect("eight bytes");
        f64::from_le_bytes(bytes)
    };
    let (window, rate) = (number(0) as u32, number(1) as u64);
    Setting {
        window: (window > 0).then_some(window),
        pacing_rate: (rate > 0).then(|| Rate::from_bps(rate)),
    }
}

fn bytes(views: &[View]) -> Vec<u8> {
    let numbers = views.iter().flat_map(numbers);
    numbers.flat_map(f64::to_le_bytes).collect()
}

#[expect(clippy::cast_precision_loss, reason = "53 bits are enough for Python")]
fn numbers(view: &View) -> [f64; GIVEN] {
    let ms = |span: Option<Duration>| span.map_or(0.0, |span| span.as_secs_f64() * 1e3);
    [
        view.now.as_secs_f64(),
        f64::from(u8::from(view.over)),
        view.sent as f64,
        view.delivered as f64,
        view.lost as f64,
        ms(view.rtt),
        ms(view.min_rtt),
        ms(view.srtt),
        f64::from(view.cwnd),
        f64::from(view.in_flight),
        view.pacing_bps as f64 / 1e6,
    ]
}
