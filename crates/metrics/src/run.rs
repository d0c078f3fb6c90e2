//! The metrics of a run, from its scenario and its tables.

use std::sync::OnceLock;

use arrow_schema::ArrowError;
use serde_json::Value;

use crate::internals::Internals;
use crate::lives::{Life, lives};
use crate::scenario::{flows, number};
use crate::tables::{Distributions, RunTables};

/// A run, whose metrics are computed on demand.
#[derive(Debug)]
pub struct RunMetrics<T> {
    pub(crate) scenario: Value,
    pub(crate) tables: T,
    /// From the warm-up to the end of the run, in s.
    pub(crate) span_s: (f64, f64),
    lives: OnceLock<Vec<Life>>,
    distributions: OnceLock<Distributions>,
    internals: OnceLock<Internals>,
}

impl<T: RunTables> RunMetrics<T> {
    /// A run that ended at `end_s` seconds.
    #[must_use]
    pub fn new(scenario: Value, tables: T, end_s: f64) -> Self {
        let span_s = (number(&scenario["run"]["warmup_ns"]) / 1e9, end_s);
        let (lives, distributions) = (OnceLock::new(), OnceLock::new());
        Self { scenario, tables, span_s, lives, distributions, internals: OnceLock::new() }
    }

    /// The finished flows and transfers, by flow and start.
    pub(crate) fn lives(&self) -> Result<&[Life], ArrowError> {
        get_or_compute(&self.lives, || lives(&self.tables, flows(&self.scenario).len()))
            .map(Vec::as_slice)
    }

    pub(crate) fn distributions(&self) -> Result<&Distributions, ArrowError> {
        get_or_compute(&self.distributions, || Distributions::of(&self.tables))
    }

    /// The internals of workloads.
    pub(crate) fn internals(&self) -> Result<&Internals, ArrowError> {
        let has_workload = flows(&self.scenario).iter().any(|flow| !flow["workload"].is_null());
        let read =
            || if has_workload { Internals::of(&self.tables) } else { Ok(Internals::default()) };
        get_or_compute(&self.internals, read)
    }
}

/// A value that is computed on first use.
fn get_or_compute<V>(
    known: &OnceLock<V>,
    compute: impl FnOnce() -> Result<V, ArrowError>,
) -> Result<&V, ArrowError> {
    if let Some(value) = known.get() {
        return Ok(value);
    }
    let value = compute()?;
    Ok(known.get_or_init(|| value))
}
