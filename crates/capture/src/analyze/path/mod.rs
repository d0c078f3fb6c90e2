//! Captures of the same flows at several points of their path.

mod clocks;
mod points;
mod report;
mod transit;

pub(crate) use clocks::Clocks;
pub(crate) use points::{PathPoints, PathTransits, TransitReports};
pub use report::{EndsReport, StageReport};
