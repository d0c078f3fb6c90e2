//! All flows of a capture, while it is read and afterwards.

mod capture_flows;
mod conversations;
mod finished;
mod samples;
mod sequence_graph;
mod table;

pub(crate) use capture_flows::CaptureFlows;
pub(crate) use finished::FinishedFlows;
pub(crate) use samples::Row;
pub(crate) use sequence_graph::GraphPoint;
pub(crate) use table::{FinishedFlow, PacketRow};
