//! Captures into flows: what happened, in the tables that every run has.
//!
//! A capture is read once. Memory is bounded by the flows and what each has
//! outstanding: rows, points and packets become coarser or end when there are too
//! many, and what that leaves out is said.

mod acks;
mod buckets;
mod capture;
mod connection;
mod ends;
mod flows;
mod found;
mod graph;
mod guess;
mod half;
mod outcome;
mod outstanding;
mod ranges;
mod report;
mod rounds;
mod rows;
mod tables;
mod timing;

pub use capture::FileReport;
pub use ends::{EndsReport, StageReport};
pub use guess::Guess;
pub use outcome::{AnalyzeError, Options, Others, Outcome, Summary, analyze};
pub use report::{BurstReport, FlowReport, LossReport, SpanReport, Times, WindowReport};
pub use rounds::Round;
