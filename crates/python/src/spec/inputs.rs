//! Python's services for the reader of a specification: files and own controls.

use std::cell::RefCell;

use narrows_base::registry::{Value, Values};
use narrows_spec::{ControlFault, Inputs, Module};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Python's functions that read files and controls, and the names of further controls.
pub(super) struct PythonInputs {
    file: Py<PyAny>,
    control: Py<PyAny>,
    other_controls: Vec<String>,
    directory: Py<PyAny>,
    /// An exception of one of the functions, other than a problem of the specification.
    raised: RefCell<Option<PyErr>>,
}

impl PythonInputs {
    pub(super) fn new(
        file: Py<PyAny>,
        control: Py<PyAny>,
        other_controls: Vec<String>,
        directory: Py<PyAny>,
    ) -> Self {
        Self { file, control, other_controls, directory, raised: RefCell::new(None) }
    }

    /// Raises the exception of a function again, if there was one.
    pub(super) fn reraise(&self, _py: Python<'_>) -> PyResult<()> {
        self.raised.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// The argument of a ValueError; keeps any other exception.
    fn value_error_argument<'py, T>(&self, py: Python<'py>, error: PyErr) -> Option<T>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let known = error.is_instance_of::<PyValueError>(py);
        let value = error.value(py).getattr("args").and_then(|args| args.get_item(0));
        let argument = value.ok().filter(|_| known).and_then(|value| value.extract().ok());
        if argument.is_none() {
            self.raised.borrow_mut().get_or_insert(error);
        }
        argument
    }
}

/// A control's options as keyword arguments of its class.
pub(crate) fn keywords<'py>(py: Python<'py>, options: &Values) -> PyResult<Bound<'py, PyDict>> {
    let given = PyDict::new(py);
    for (name, value) in options.iter() {
        match value {
            Value::Flag(flag) => given.set_item(name, flag)?,
            Value::Whole(number) => given.set_item(name, number)?,
            Value::Number(number) => given.set_item(name, number)?,
            Value::Word(word) => given.set_item(name, word)?,
            Value::Off | Value::List(_) | Value::Pairs(_) | Value::Tables(_) => {}
        }
    }
    Ok(given)
}

impl Inputs for PythonInputs {
    fn file(&self, name: &str) -> Result<String, String> {
        Python::attach(|py| {
            let text = self.file.call1(py, (name,)).and_then(|text| text.extract(py));
            text.map_err(|error| self.value_error_argument(py, error).unwrap_or_default())
        })
    }

    fn control(&self, name: &str, options: &Values) -> Result<Module, Vec<ControlFault>> {
        Python::attach(|py| {
            let made =
                keywords(py, options).and_then(|given| self.control.call1(py, (name, given)));
            let made: PyResult<(String, String)> = made.and_then(|made| made.extract(py));
            let (file, text) = made.map_err(|error| {
                let faults: Vec<(String, String, String)> =
                    self.value_error_argument(py, error).unwrap_or_default();
                let fault = |(key, found, remedy): (String, String, String)| ControlFault {
                    of_options: key == "options",
                    found,
                    remedy,
                };
                faults.into_iter().map(fault).collect::<Vec<_>>()
            })?;
            Ok(Module { file, text })
        })
    }

    fn directory(&self) -> Result<String, (String, String)> {
        Python::attach(|py| {
            let path = self.directory.call0(py).and_then(|path| path.extract(py));
            path.map_err(|error| self.value_error_argument(py, error).unwrap_or_default())
        })
    }

    fn knows(&self, control: &str) -> bool {
        self.other_controls.iter().any(|name| name == control)
    }
}
