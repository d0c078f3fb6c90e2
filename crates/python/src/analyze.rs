//! Analyses captures for Python.

use std::ops::ControlFlow;
use std::path::PathBuf;

use narrows_capture::analyze::{AnalysisOptions, AnalyzeError, KeyLog};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::table::ArrowTable;

create_exception!(
    narrows._native,
    CaptureError,
    PyValueError,
    "Captures that can't be analysed: \"PLACE: found WHAT\", and what would be right."
);

/// The result of an analysis.
#[pyclass(frozen, get_all, module = "narrows._native")]
pub struct CaptureOutput {
    /// Name to table.
    tables: Py<PyDict>,
    /// Files, flows and notes, as JSON.
    summary: String,
}

/// Analyses capture files.
///
/// With `packets`, every packet becomes a row of a table. `progress(segments)` is
/// called from time to time; an exception in it stops the analysis, and so does Ctrl-C. With `keys`,
/// the text of a key log (SSLKEYLOGFILE), packets of QUIC are decrypted.
#[pyfunction]
#[pyo3(signature = (paths, packets=false, progress=None, keys=""))]
pub fn analyze(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    packets: bool,
    progress: Option<Py<PyAny>>,
    keys: &str,
) -> PyResult<CaptureOutput> {
    let mut stopped = None;
    let options = AnalysisOptions { packets, keys: KeyLog::parse(keys) };
    let outcome = py.detach(|| {
        narrows_capture::analyze::analyze(&paths, &options, &mut |segments| {
            stopped = watch(progress.as_ref(), segments).err();
            if stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    });
    let outcome = match (outcome, stopped) {
        (Err(AnalyzeError::Stopped), Some(error)) => return Err(error),
        (outcome, _) => {
            outcome.map_err(|error| CaptureError::new_err((error.to_string(), error.remedy())))?
        }
    };
    let tables = PyDict::new(py);
    for table in outcome.tables {
        tables.set_item(table.name, Py::new(py, ArrowTable::from(table.batch))?)?;
    }
    let summary = serde_json::to_string(&outcome.summary);
    let summary = summary.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(CaptureOutput { tables: tables.unbind(), summary })
}

fn watch(progress: Option<&Py<PyAny>>, segments: u64) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        progress.map_or(Ok(()), |progress| progress.call1(py, (segments,)).map(drop))
    })
}
