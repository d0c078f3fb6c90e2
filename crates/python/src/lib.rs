//! The native module of the Python package: `narrows._native`.
//!
//! It holds no logic: JSON in, Arrow tables out.

mod analyze;
mod capture;
mod control;
mod registry;
mod run;
mod table;

use pyo3::prelude::*;

/// The simulator of narrows.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::analyze::{CaptureError, CaptureOutput, analyze};
    #[pymodule_export]
    use super::control::{
        AckSample, CongestionEvent, Connection, ControlError, Patience, UndoEvent,
    };
    #[pymodule_export]
    use super::registry::{ccas, impairments, profiles, queues, respelled, services};
    #[pymodule_export]
    use super::run::{RunOutput, ScenarioError, run};
    #[pymodule_export]
    use super::table::{ArrowTable, tables};

    /// The version of the engine; results are stored with it.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "a name of Python's")]
    const engine_version: &str = env!("CARGO_PKG_VERSION");
}
