//! Metrics of a single run, from its scenario and its tables.
//!
//! A scenario is JSON here, as a back end or an analysed capture may know less of it than the
//! simulator does. Statistics over several runs are the Python package's.

pub mod classes;
pub mod completions;
pub mod counters;
pub mod distributions;
pub mod fairness;
pub mod flows;
mod internals;
mod labels;
pub mod links;
mod lives;
pub mod losses;
mod number;
pub mod offered;
pub mod run;
pub mod run_numbers;
mod scenario;
pub mod tables;
pub mod workloads;

pub use labels::label;
