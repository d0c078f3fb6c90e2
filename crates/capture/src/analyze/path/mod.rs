//! Captures of the same flows at several points of their path.

mod clocks;
mod drift;
mod points;
mod report;
mod transit;
mod way_back;

pub(crate) use clocks::Clocks;
pub(crate) use points::{PathPoints, PathTransits, TransitReports};
pub use report::{ClockReport, EndsReport, StageReport};
pub use way_back::WayBackReport;
