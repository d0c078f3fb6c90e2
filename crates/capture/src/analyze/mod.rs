//! Turns captures into flows and the tables of a run.
//!
//! A capture is read once. Memory is bounded by the flows and what each has
//! outstanding: rows, points and packets become coarser or end when there are too many, and the
//! result says what was left out.
//!
//! Segments are read from files (`input`) or made from a qlog's packets (`quic`). They go to their
//! connection (`flows`, `connection`) and, where several files show the same flows, past the points
//! of a path (`path`). A flow that is over is described (`report`), together with the
//! congestion control that it may have (`identify`); `output` makes the tables.

mod analysis;
mod causes;
mod connection;
mod datagrams;
mod error;
mod flows;
mod identify;
mod input;
mod output;
mod path;
mod quic;
mod report;
mod sequence_numbers;
mod spin;
mod times;
mod units;

pub use analysis::{AnalysisOptions, analyze, analyze_contents};
pub use causes::{
    Capacity, Cause, CauseReport, CauseShare, CauseSpan, Evidence, FullTime, PolicerReport,
    StallCount,
};
pub use connection::{Round, StallReason};
pub use datagrams::{PingReport, UdpReport};
pub use error::AnalyzeError;
pub use identify::Identification;
pub use input::FileReport;
pub use output::{Analysis, Others, Summary};
pub use path::{ClockReport, EndsReport, ReversePathReport, StageReport};
pub use quic::KeyLog;
pub use report::{BurstReport, FlowReport, LossReport, SpanReport, WindowReport};
pub use spin::{QuicReport, SpinBit};
pub use times::Times;
