//! All flows of a capture, while it is read and afterwards.

mod clocked;
mod conversations;
mod finished;
mod samples;
mod sequence_graph;
mod table;

pub(crate) use clocked::Clocked;
pub(crate) use finished::FinishedFlows;
pub(crate) use samples::Row;
pub(crate) use sequence_graph::GraphPoint;
pub(crate) use table::{FinishedFlow, Listed};
