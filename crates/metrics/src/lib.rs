//! Metrics of a single run, from its scenario and its tables.
//!
//! A scenario is JSON here, as a back end or an analysed capture may know less of it than the
//! simulator does. Statistics over several runs are the Python package's.

pub mod classes;
pub mod counters;
pub mod distributions;
pub mod fairness;
pub mod flows;
mod labels;
mod links;
mod number;
pub mod offered;
pub mod run;
mod tables;

pub use labels::label;
