//! The library of a control: loaded once and never unloaded, so that its texts stay.
#![expect(unsafe_code, reason = "functions of a library")]

use std::ffi::{OsStr, c_void};
use std::path::PathBuf;
use std::slice;

use narrows_control::abi::{
    ControlHandle, EventFn, FunctionTable, RawConnection, SYMBOL, Text, VERSION,
};
use narrows_control::{Control, SOURCES};
use pyo3::prelude::*;

use crate::control::first_error::wrong;

/// The functions of a control.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    /// The file that it was compiled from, for messages.
    pub(super) file: String,
    pub(super) table: &'static FunctionTable,
}

/// A text of a library.
///
/// # Safety
/// It must come from a library that was written against `narrows_control`.
unsafe fn text(text: Text) -> &'static str {
    // SAFETY: the library says where its text is; libraries stay.
    let bytes = unsafe { slice::from_raw_parts(text.start, text.length) };
    str::from_utf8(bytes).unwrap_or("?")
}

impl Library {
    fn load(library: &OsStr, file: &str) -> PyResult<Self> {
        let refused = |error: &dyn std::fmt::Display| {
            wrong(file, &format!("a library that can't be used ({error})"), "one that can")
        };
        // SAFETY: the user allowed this code to run.
        let loaded = unsafe { libloading::Library::new(library) };
        let loaded = Box::leak(Box::new(loaded.map_err(|error| refused(&error))?));
        let missing = |_| {
            let found = "a file that names no control";
            wrong(file, found, "`narrows_control::export!(NAME);` with the name of its type")
        };
        // SAFETY: the symbol is that of the table, in which the version comes first in all versions.
        let (table, version) = unsafe {
            let table = loaded.get::<*const FunctionTable>(SYMBOL).map_err(missing)?;
            (*table, *table.cast::<u64>())
        };
        if version != VERSION {
            return Err(refused(&format!("its interface has version {version}, not {VERSION}")));
        }
        // SAFETY: it is a table of this version, and stays.
        Ok(Self { file: file.to_owned(), table: unsafe { &*table } })
    }

    /// The names and defaults of the options.
    pub(super) fn options(&self) -> Vec<(&'static str, f64)> {
        let option = |index| {
            let mut default = 0.0;
            // SAFETY: there are that many options, and a place for the default.
            let name = unsafe { text((self.table.option)(index, &raw mut default)) };
            (name, default)
        };
        (0..self.table.option_count).map(option).collect()
    }

    /// A control with as many options as the library has; null if it panicked.
    pub(super) fn make(&self, connection: &RawConnection, output: &mut Control) -> ControlHandle {
        // SAFETY: both are references, and the caller took the options from this library.
        unsafe { (self.table.new)(connection, output) }
    }

    pub(super) fn discard(&self, state: ControlHandle) {
        // SAFETY: the state is dropped with its only owner.
        unsafe { (self.table.drop)(state) }
    }

    /// Tells a control something; false if it panicked.
    pub(super) fn tell<T>(
        &self,
        function: EventFn<T>,
        state: ControlHandle,
        sample: &T,
        output: &mut Control,
    ) -> bool {
        // SAFETY: the function is one of the table's, the state one that the library made.
        unsafe { function(state, sample, output) }
    }

    pub(super) fn requests_cwr(&self, state: ControlHandle, asks: &mut bool) -> bool {
        // SAFETY: as for `tell`, here and below.
        unsafe { (self.table.requests_cwr)(state, asks) }
    }

    pub(super) fn min_tso_segs(
        &self,
        state: ControlHandle,
        rate_bps: u64,
        packets: &mut u32,
    ) -> bool {
        unsafe { (self.table.min_tso_segs)(state, rate_bps, packets) }
    }

    pub(super) fn inspect(
        &self,
        state: ControlHandle,
        show: &mut dyn FnMut(&'static str, f64),
    ) -> bool {
        let mut visitor = Visitor(show);
        unsafe { (self.table.inspect)(state, visit, (&raw mut visitor).cast()) }
    }

    pub(super) fn state_name(&self, state: ControlHandle, name: &mut &'static str) -> bool {
        let mut found = Text { start: name.as_ptr(), length: name.len() };
        let done = unsafe { (self.table.state)(state, &raw mut found) };
        *name = unsafe { text(found) };
        done
    }

    /// The words of the last panic in this thread.
    pub(super) fn panic(&self) -> String {
        unsafe { text((self.table.panic)()) }.to_owned()
    }
}

/// A visitor of internals behind a pointer.
struct Visitor<'a>(&'a mut dyn FnMut(&'static str, f64));

unsafe extern "C" fn visit(visitor: *mut c_void, name: Text, value: f64) {
    // SAFETY: `Library::inspect` passes its visitor, and the library its own text.
    let (visitor, name) = unsafe { (&mut *visitor.cast::<Visitor<'_>>(), text(name)) };
    (visitor.0)(name, value);
}

/// A control from a library that was compiled from a file in Rust.
#[pyclass(frozen, module = "narrows._native")]
#[derive(Debug)]
pub struct RustControl {
    pub(crate) library: Library,
}

#[pymethods]
impl RustControl {
    /// Loads `library`, which was compiled from `file`. Raises `ControlError` if it isn't such a
    /// library.
    #[new]
    fn new(library: PathBuf, file: &str) -> PyResult<Self> {
        Ok(Self { library: Library::load(library.as_os_str(), file)? })
    }

    /// The names of its options with their defaults.
    #[getter]
    fn options(&self) -> Vec<(&'static str, f64)> {
        self.library.options()
    }

    /// The files of the crate that a control is compiled with, as pairs of name and text.
    #[staticmethod]
    fn sources() -> Vec<(&'static str, &'static str)> {
        SOURCES.to_vec()
    }
}
