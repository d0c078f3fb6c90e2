//! Python's class `Simulation`: a run that advances step by step.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use narrows_base::{Duration, Time};
use narrows_record::{FlowSample, QueueSample, Recorder};
use narrows_sim::{Controls, Simulation as Run};
use narrows_spec::Problems;
use narrows_spec::scenario::{Flow, Scenario};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::control::{self, Calls, FirstError};
use crate::panics::locate_panic;
use crate::run::{RunOutput, engine_error, parse};
use crate::stacks::StackLogs;

/// Simulated time between two checks for signals.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(250);

/// A run that advances step by step; its scenario records every change.
#[pyclass(frozen, module = "narrows._native")]
pub struct Simulation {
    /// None once it is finished.
    run: Mutex<Option<Run<Recorder>>>,
    first_error: Arc<FirstError>,
}

#[pymethods]
impl Simulation {
    /// Begins a run of a scenario, given as JSON; `controls` is that of `run`.
    #[new]
    #[pyo3(signature = (scenario_json, controls=None))]
    fn new(scenario_json: &str, controls: Option<BTreeMap<String, Py<PyAny>>>) -> PyResult<Self> {
        let scenario: Scenario = parse(scenario_json)?;
        let (first_error, calls) = (Arc::new(FirstError::default()), Arc::new(Calls::default()));
        let controls = control::controls(controls.unwrap_or_default(), &first_error, &calls);
        let controls = StackLogs::default().with_stacks(controls);
        Self::of(scenario, controls, first_error)
    }

    /// Runs until `at_ns`, but not beyond the end of the run. Raises `ControlError` if a control
    /// breaks its interface, and the exception that a signal's handler raises.
    fn run_until(&self, py: Python<'_>, at_ns: u64) -> PyResult<()> {
        let (at, mut guard) = (Time::from_nanos(at_ns), self.lock()?);
        let run = current_run(&mut guard)?;
        loop {
            let step = at.min(run.now() + BETWEEN_SIGNALS);
            let before = run.now();
            py.detach(|| locate_panic(|| run.run_until(step)));
            if let Some(error) = self.first_error.take() {
                return Err(error);
            }
            py.check_signals()?;
            if run.now() >= at || run.now() == before {
                return Ok(());
            }
        }
    }

    /// The instant up to which everything has happened, in ns.
    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        self.with(|run| Ok(run.now().as_nanos()))
    }

    /// Returns whether the run has ended.
    #[getter]
    fn is_over(&self) -> PyResult<bool> {
        self.with(|run| Ok(run.is_over()))
    }

    /// The scenario with everything that was changed, as JSON.
    #[getter]
    fn scenario(&self) -> PyResult<String> {
        self.with(|run| Ok(serde_json::to_string(run.scenario()).expect("it is plain data")))
    }

    /// The state of a flow by its number: a dict with the columns of the table `flow_samples`.
    fn flow<'py>(&self, py: Python<'py>, flow: usize) -> PyResult<Bound<'py, PyDict>> {
        flow_state(py, &self.with(|run| Ok(run.flow(flow)))?)
    }

    /// The named internals of a flow's control and workload.
    fn internals<'py>(&self, py: Python<'py>, flow: usize) -> PyResult<Bound<'py, PyDict>> {
        let mut found = Vec::new();
        self.with(|run| {
            run.inspect(flow, &mut |name, value| found.push((name, value)));
            Ok(())
        })?;
        let internals = PyDict::new(py);
        for (name, value) in found {
            internals.set_item(name, value)?;
        }
        Ok(internals)
    }

    /// The state of a link's queue: a dict with the columns of the table `queue_samples`.
    fn queue<'py>(&self, py: Python<'py>, link: usize) -> PyResult<Bound<'py, PyDict>> {
        queue_state(py, &self.with(|run| Ok(run.queue(link)))?)
    }

    /// Makes a change now, given as JSON. Raises `ScenarioError` if it can't be made.
    fn change(&self, change_json: &str) -> PyResult<()> {
        let change = parse(change_json)?;
        self.with(|run| run.change(change).map_err(engine_error))
    }

    /// Adds a flow, given as JSON, which starts now. To do so, repeats the run until now.
    fn add(&self, py: Python<'_>, flow_json: &str) -> PyResult<()> {
        let flow = parse(flow_json)?;
        let mut guard = self.lock()?;
        let run = current_run(&mut guard)?;
        py.detach(|| locate_panic(|| add(run, flow))).map_err(engine_error)?;
        self.first_error.take().map_or(Ok(()), Err)
    }

    /// Returns an independent copy of the run, made by repeating it until now.
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        let mut guard = self.lock()?;
        let run = current_run(&mut guard)?;
        let fork = py.detach(|| locate_panic(|| fork(run)));
        let first_error = Arc::clone(&self.first_error);
        first_error.take().map_or(Ok(()), Err)?;
        Ok(Self { run: Mutex::new(Some(fork)), first_error })
    }

    /// Ends the run now; every later call raises an error.
    fn finish(&self, py: Python<'_>) -> PyResult<RunOutput> {
        let mut guard = self.lock()?;
        current_run(&mut guard)?;
        let run = guard.take().ok_or_else(over)?;
        let (scenario, outcome, recorder) = py.detach(|| locate_panic(|| run.finish()));
        RunOutput::of(py, &scenario, recorder.into(), &outcome, 0.0, Vec::new())
    }
}

impl Simulation {
    fn of(scenario: Scenario, controls: Controls, first_error: Arc<FirstError>) -> PyResult<Self> {
        let recorder = recorder(&scenario);
        let run = Run::new(scenario, controls, recorder).map_err(engine_error)?;
        Ok(Self { run: Mutex::new(Some(run)), first_error })
    }

    /// Locks the run, or fails if another thread has it: waiting would block the interpreter.
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<Run<Recorder>>>> {
        let wrong = |error| match error {
            TryLockError::WouldBlock => "the simulation is in use by another thread",
            TryLockError::Poisoned(_) => "the simulation is broken: a step of it panicked",
        };
        self.run.try_lock().map_err(|error| PyRuntimeError::new_err(wrong(error)))
    }

    fn with<R>(&self, act: impl FnOnce(&mut Run<Recorder>) -> PyResult<R>) -> PyResult<R> {
        locate_panic(|| act(current_run(&mut *self.lock()?)?))
    }
}

/// Adds a flow. No other thread has the reference, so this one may release the GIL.
fn add(run: &mut Run<Recorder>, flow: Flow) -> Result<(), Problems> {
    *run = run.with(flow, recorder(run.scenario()))?;
    Ok(())
}

/// Copies a run. No other thread has the reference, so this one may release the GIL.
fn fork(run: &mut Run<Recorder>) -> Run<Recorder> {
    run.fork(recorder(run.scenario()))
}

fn current_run(run: &mut Option<Run<Recorder>>) -> PyResult<&mut Run<Recorder>> {
    run.as_mut().ok_or_else(over)
}

fn over() -> PyErr {
    PyRuntimeError::new_err("the simulation was finished")
}

fn recorder(scenario: &Scenario) -> Recorder {
    Recorder::new(scenario.run.record, Time::from_nanos(scenario.run.warmup_ns))
}

fn flow_state<'py>(py: Python<'py>, flow: &FlowSample) -> PyResult<Bound<'py, PyDict>> {
    let state = PyDict::new(py);
    let ms = |span: Option<Duration>| span.map(|span| span.as_secs_f64() * 1e3);
    let mbps = |rate: Option<narrows_base::Rate>| rate.map(megabits);
    state.set_item("cwnd", flow.cwnd)?;
    state.set_item("ssthresh", flow.ssthresh)?;
    state.set_item("in_flight", flow.in_flight)?;
    state.set_item("rtt_ms", ms(flow.rtt))?;
    state.set_item("srtt_ms", ms(flow.srtt))?;
    state.set_item("min_rtt_ms", ms(flow.min_rtt))?;
    state.set_item("pacing_mbps", mbps(flow.pacing_rate))?;
    state.set_item("delivery_mbps", mbps(flow.delivery_rate))?;
    state.set_item("sent", flow.sent)?;
    state.set_item("delivered", flow.delivered)?;
    state.set_item("lost", flow.lost)?;
    state.set_item("retransmitted", flow.retransmitted)?;
    state.set_item("received_bytes", flow.received.get())?;
    state.set_item("wire_bytes", flow.wire.get())?;
    state.set_item("dropped", flow.dropped)?;
    state.set_item("state", flow.state)?;
    state.set_item("cca_state", flow.cca_state)?;
    Ok(state)
}

#[expect(clippy::cast_precision_loss, reason = "53 bits are enough for Python")]
fn megabits(rate: narrows_base::Rate) -> f64 {
    rate.as_bps() as f64 / 1e6
}

fn queue_state<'py>(py: Python<'py>, queue: &QueueSample) -> PyResult<Bound<'py, PyDict>> {
    let state = PyDict::new(py);
    state.set_item("backlog_bytes", queue.backlog.get())?;
    state.set_item("backlog_packets", queue.backlog_packets)?;
    state.set_item("arrived_packets", queue.arrived)?;
    state.set_item("dropped_packets", queue.dropped)?;
    state.set_item("marked_packets", queue.marked)?;
    state.set_item("forwarded_packets", queue.forwarded)?;
    state.set_item("forwarded_bytes", queue.forwarded_bytes.get())?;
    Ok(state)
}
