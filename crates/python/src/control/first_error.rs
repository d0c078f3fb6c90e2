//! Errors of controls written in Python, in words.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

create_exception!(
    narrows._native,
    ControlError,
    PyValueError,
    "A control written in Python that doesn't do what it must; the arguments are the place \
     (class and method), what was found there, and what would be right."
);

/// The first error in a run, which ends the run.
#[derive(Debug, Default)]
pub struct FirstError {
    any: AtomicBool,
    first: Mutex<Option<PyErr>>,
}

impl FirstError {
    /// Returns `true` once there was an error.
    pub fn is_any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Takes the first error.
    pub fn take(&self) -> Option<PyErr> {
        self.first.lock().expect("no panic while it is held").take()
    }

    /// Notes an error, unless there is one already.
    pub fn note(&self, error: PyErr) {
        let mut first = self.first.lock().expect("no panic while it is held");
        first.get_or_insert(error);
        self.any.store(true, Ordering::Relaxed);
    }
}

/// The error of a place: what was found, and what would be right.
pub(super) fn wrong(place: &str, found: &str, remedy: &str) -> PyErr {
    ControlError::new_err((place.to_owned(), found.to_owned(), remedy.to_owned()))
}

/// An exception in a control's method, with the line of the control that raised it. A control that
/// exits ends its run, not the program. Ctrl-C stays Ctrl-C.
pub(super) fn exception_error(
    py: Python<'_>,
    place: &str,
    error: PyErr,
    file: Option<&str>,
) -> PyErr {
    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        return error;
    }
    let line = own_line(py, &error, file).unwrap_or_default();
    let found = format!("{}{line}", describe(py, &error));
    let named = wrong(place, &found, "a method that raises nothing");
    named.set_cause(py, Some(error));
    named
}

/// The exception as Python would print its last line.
fn describe(py: Python<'_>, error: &PyErr) -> String {
    let name = error.get_type(py).name().map_or_else(|_| "exception".into(), |n| n.to_string());
    let text = error.value(py).str().map_or_else(|_| String::new(), |text| text.to_string());
    if text.is_empty() { name } else { format!("{name}: {text}") }
}

/// Where in the control's file the exception came from, and the line itself.
fn own_line(py: Python<'_>, error: &PyErr, file: Option<&str>) -> Option<String> {
    let traceback = error.traceback(py)?;
    let frames = py.import("traceback").ok()?.call_method1("extract_tb", (traceback,)).ok()?;
    let mut last = None;
    for frame in frames.try_iter().ok()? {
        let frame = frame.ok()?;
        let name: String = frame.getattr("filename").ok()?.extract().ok()?;
        if file.is_none_or(|file| file == name) {
            let number: u32 = frame.getattr("lineno").ok()?.extract().ok()?;
            let text: Option<String> = frame.getattr("line").ok()?.extract().ok()?;
            last = Some(format!(" in line {number} of {name}: {}", text.unwrap_or_default()));
        }
    }
    last
}
