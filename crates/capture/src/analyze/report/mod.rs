//! Reports on finished flows, as JSON.

mod flow;

pub use flow::{BurstReport, FlowReport, LossReport, SpanReport, WindowReport};
pub(crate) use flow::{complete, report, span};
