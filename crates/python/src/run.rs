//! Runs a scenario for Python.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use narrows_base::Time;
use narrows_record::{Digest, NullTap, Recorder};
use narrows_sim::{Controls, Outcome, run_with};
use narrows_spec::scenario::Scenario;
use narrows_spec::{Problem, Problems};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustix::time::{ClockId, clock_gettime};
use serde::de::DeserializeOwned;

use crate::capture::{CaptureRequest, RunCaptures, finish};
use crate::capture_thread::ThreadedTap;
use crate::control::{self, CallWatch, Calls, FirstError};
use crate::panics::locate_panic;
use crate::spill::Spill;
use crate::stacks::StackLogs;
use crate::table::ArrowTable;

create_exception!(
    narrows._native,
    ScenarioError,
    PyValueError,
    "A scenario that can't run; `problems` has the place, what was found and what would be right."
);

/// The refusal of a scenario; `problems` is empty for a text that isn't one.
fn scenario_error(message: String, problems: &[Problem]) -> PyErr {
    let problems: Vec<_> = problems
        .iter()
        .map(|one| (one.place.to_string(), one.found.clone(), one.remedy.clone()))
        .collect();
    Python::attach(|py| {
        let error = ScenarioError::new_err(message);
        let noted = error.value(py).setattr("problems", problems);
        noted.map_or_else(|other| other, |()| error)
    })
}

/// The refusal of a scenario with these problems.
#[expect(clippy::needless_pass_by_value, reason = "what map_err gives")]
pub fn engine_error(problems: Problems) -> PyErr {
    scenario_error(problems.to_string(), &problems.0)
}

/// Wall time between two calls of a progress callback, in seconds.
const PROGRESS_INTERVAL: f64 = 0.1;

/// The result of a run.
#[pyclass(frozen, get_all, module = "narrows._native")]
pub struct RunOutput {
    /// Name to table.
    tables: Py<PyDict>,
    /// Digest of everything recorded, in hexadecimal.
    digest: String,
    /// When the run ended, in simulated seconds.
    end_s: f64,
    /// Data packets that left the bottleneck.
    packets: u64,
    /// CPU time of the run in seconds, without building the tables.
    cpu_s: f64,
    /// Captures: name of the file and its packets.
    captures: Vec<(String, u64)>,
    /// Places of the scenario, besides queues, that lose packets, with their lost data packets
    /// since the warm-up.
    losses: Vec<(String, u64)>,
}

/// Runs a scenario, given as JSON, and returns its tables.
///
/// `progress(sim_seconds, packets_forwarded)` is called at most ten times a
/// second of wall time; an exception in it stops the run, and so does Ctrl-C.
/// The interpreter is free to run other threads meanwhile.
///
/// `captures_json` requests captures: `{"directory": an existing directory, "pcap":
/// bool, "qlog": bool, "qlog_draft": bool, "snaplen": bytes of each packet or null for its headers,
/// "ipv6": bool}`. Raises OSError if they can't be written.
///
/// `controls` holds classes of controls by their names in flows; each is called with the flow's
/// options for every connection. Raises `ControlError` if one doesn't do what it must; one that
/// hasn't returned after `warn_after_s` seconds is reported on standard error.
///
/// With a directory `spill`, tables with many rows go to files in it that have no names, so that the
/// run needs no more memory the longer it is. Raises OSError if they can't be written.
#[pyfunction]
#[pyo3(signature = (
    scenario_json, progress=None, captures_json=None, controls=None, warn_after_s=10.0, spill=None
))]
#[expect(clippy::too_many_arguments, reason = "all but the first are keywords with defaults")]
pub fn run(
    py: Python<'_>,
    scenario_json: &str,
    progress: Option<Py<PyAny>>,
    captures_json: Option<&str>,
    controls: Option<BTreeMap<String, Py<PyAny>>>,
    warn_after_s: f64,
    spill: Option<PathBuf>,
) -> PyResult<RunOutput> {
    let scenario: Scenario = parse(scenario_json)?;
    let request = captures_json.map(request).transpose()?;
    let first_error = Arc::new(FirstError::default());
    let (calls, classes) = (Arc::new(Calls::default()), controls.unwrap_or_default());
    let limit = Duration::from_secs_f64(warn_after_s.clamp(0.0, 1e6));
    let _watch = (!classes.is_empty()).then(|| CallWatch::new(&calls, limit));
    let logs = StackLogs::new(&scenario, request.as_ref());
    let controls = logs.with_stacks(control::controls(classes, &first_error, &calls));
    let spill = spill.map(|directory| Spill::new(directory, Arc::clone(&first_error)));
    let reporter = Reporter::new(progress, first_error, scenario.flows.len());
    let parts = RunInputs { scenario: &scenario, controls: &controls, spill: spill.as_ref() };
    let FinishedRun { recorder, digest, outcome, cpu_s, mut captures } =
        py.detach(|| locate_panic(|| simulate(&parts, request.as_ref(), reporter)))?;
    captures.extend(logs.finish()?);
    let recorded = RunRecords { recorder, digest, spill };
    RunOutput::of(py, &scenario, recorded, &outcome, cpu_s, captures)
}

/// The records of a run.
pub(crate) struct RunRecords {
    recorder: Recorder,
    digest: Digest,
    /// Has the long tables.
    spill: Option<Spill>,
}

impl From<Recorder> for RunRecords {
    fn from(recorder: Recorder) -> Self {
        Self { digest: recorder.digest(), recorder, spill: None }
    }
}

impl RunOutput {
    /// The result of a run that was recorded.
    pub(crate) fn of(
        py: Python<'_>,
        scenario: &Scenario,
        recorded: RunRecords,
        outcome: &Outcome,
        cpu_s: f64,
        captures: Vec<(String, u64)>,
    ) -> PyResult<Self> {
        let RunRecords { recorder, digest, spill } = recorded;
        let tables = PyDict::new(py);
        for table in recorder.into_tables() {
            let long = spill.as_ref().and_then(|spill| spill.table(table.name));
            let table_in_python = long.map_or_else(|| table.batch.into(), ArrowTable::from);
            tables.set_item(table.name, Py::new(py, table_in_python)?)?;
        }
        Ok(Self {
            tables: tables.unbind(),
            digest: digest.to_string(),
            end_s: outcome.end.as_secs_f64(),
            packets: outcome.packets,
            cpu_s,
            captures,
            losses: losses(scenario, outcome),
        })
    }
}

fn losses(scenario: &Scenario, outcome: &Outcome) -> Vec<(String, u64)> {
    let counts = outcome.impairments_dropped.iter().enumerate();
    let impairments = counts.map(|(index, &count)| (format!("path.impairments[{index}]"), count));
    let path = ("path.loss".to_owned(), outcome.path_lost);
    let changed = scenario.changes.iter().any(|change| change.loss.is_some());
    impairments.chain((scenario.path.loss > 0.0 || changed).then_some(path)).collect()
}

/// The scenario, or a part of one, in a JSON text; the message of an error begins with the place.
pub fn parse<T: DeserializeOwned>(json: &str) -> PyResult<T> {
    let mut text = serde_json::Deserializer::from_str(json);
    serde_path_to_error::deserialize(&mut text)
        .map_err(|error| scenario_error(error.to_string(), &[]))
}

fn request(json: &str) -> PyResult<CaptureRequest> {
    serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The inputs of a run.
struct RunInputs<'a> {
    scenario: &'a Scenario,
    controls: &'a Controls,
    spill: Option<&'a Spill>,
}

/// A finished run.
struct FinishedRun {
    recorder: Recorder,
    digest: Digest,
    outcome: Outcome,
    cpu_s: f64,
    captures: Vec<(String, u64)>,
}

fn simulate(
    parts: &RunInputs<'_>,
    request: Option<&CaptureRequest>,
    mut reporter: Reporter,
) -> PyResult<FinishedRun> {
    let &RunInputs { scenario, controls, spill } = parts;
    let mut recorder = Recorder::new(scenario.run.record, Time::from_nanos(scenario.run.warmup_ns));
    if let Some(spill) = spill {
        recorder = spill.under(recorder);
    }
    let taps = request.map(|request| request.begin(scenario)).transpose()?;
    let mut taps = taps.map(ThreadedTap::new);
    let begin = seconds(ClockId::ThreadCPUTime);
    let mut report = |at, packets| reporter.report(at, packets);
    let outcome = match &mut taps {
        None => run_with(scenario, controls, &mut recorder, &mut NullTap, &mut report),
        Some(taps) => run_with(scenario, controls, &mut recorder, taps, &mut report),
    };
    let cpu_s = seconds(ClockId::ThreadCPUTime) - begin;
    if let Some(spill) = spill {
        spill.finish(&mut recorder);
    }
    if let Some(error) = reporter.error.or_else(|| reporter.first_error.take()) {
        return Err(error);
    }
    let outcome = outcome.map_err(engine_error)?;
    let digest = recorder.digest();
    if let Some(error) = reporter.first_error.take() {
        return Err(error);
    }
    let captures = taps.map(ThreadedTap::finish).map_or(Ok(Vec::new()), finish_captures)?;
    Ok(FinishedRun { recorder, digest, outcome, cpu_s, captures })
}

fn finish_captures(taps: RunCaptures) -> io::Result<Vec<(String, u64)>> {
    Ok(finish(taps)?.into_iter().map(|file| (file.file, file.records)).collect())
}

/// Reports the progress of the run to Python, and gets its answer.
struct Reporter {
    progress: Option<Py<PyAny>>,
    /// When to report again, in seconds of the monotonic clock.
    next: f64,
    pages: LargePages,
    /// Errors of controls.
    first_error: Arc<FirstError>,
    /// Why the run must stop.
    error: Option<PyErr>,
}

impl Reporter {
    fn new(progress: Option<Py<PyAny>>, first_error: Arc<FirstError>, flows: usize) -> Self {
        let next = seconds(ClockId::Monotonic) + PROGRESS_INTERVAL;
        Self { progress, next, pages: LargePages::new(flows), first_error, error: None }
    }

    fn report(&mut self, at: Time, packets: u64) -> ControlFlow<()> {
        if self.first_error.is_any() {
            return ControlFlow::Break(());
        }
        self.pages.report(packets);
        let now = seconds(ClockId::Monotonic);
        if now < self.next {
            return ControlFlow::Continue(());
        }
        self.next = now + PROGRESS_INTERVAL;
        match self.call(at, packets) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn call(&self, at: Time, packets: u64) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = &self.progress {
                progress.call1(py, (at.as_secs_f64(), packets))?;
            }
            Ok(())
        })
    }
}

/// Large pages for the state of many flows, which the processor's table of pages doesn't cover
/// (decision 043). They change nothing but time.
struct LargePages {
    /// The number of forwarded packets at which memory is moved into large pages next.
    next: u64,
}

impl LargePages {
    /// With fewer flows it isn't worth the time.
    const MANY_FLOWS: usize = 2_000;
    /// Packets of each flow until its connection has nearly all of its memory.
    const PACKETS: u64 = 16;

    fn new(flows: usize) -> Self {
        let next = if flows < Self::MANY_FLOWS { u64::MAX } else { Self::PACKETS * flows as u64 };
        Self { next }
    }

    fn report(&mut self, packets: u64) {
        if packets >= self.next {
            // Windows grow, and flows start, ever more rarely.
            self.next = packets.saturating_mul(4);
            #[cfg(target_os = "linux")]
            narrows_linux::memory::use_large_pages();
        }
    }
}

/// A clock of the host. Only output for people depends on it: the simulator has no clock except its
/// own.
#[expect(clippy::cast_precision_loss, reason = "53 bits are enough for Python")]
fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
