//! Captures of the same flows at several points of their path.

mod clocks;
mod drift;
mod early;
mod points;
mod report;
mod reverse_path;
mod transit;

pub(crate) use clocks::Clocks;
pub(crate) use points::{PathPoints, PathTransits, TransitReports};
pub use report::{ClockReport, EndsReport, StageReport};
pub use reverse_path::ReversePathReport;
