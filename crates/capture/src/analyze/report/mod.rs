//! What is known of a flow when it is over, as it goes out in JSON.

mod flow;

pub use flow::{BurstReport, FlowReport, LossReport, SpanReport, WindowReport};
pub(crate) use flow::{complete, report, span};
