//! Transport stacks of other projects, whose flows share the network with the simulator's own TCP.

use narrows_spec::scenario::{Flow, SocketBuffers};
use narrows_tcp::ends::Ends;

/// The inputs from which the ends of a flow are made.
#[derive(Clone, Debug)]
pub struct Connecting {
    /// The flow: its control, start, stop, size and receive window.
    pub flow: Flow,
    /// The seed of the run.
    pub seed: u64,
    /// Limits of buffers and windows.
    pub buffers: SocketBuffers,
}

/// Makes the ends of a flow.
pub type MakeEnds = dyn Fn(&Connecting) -> Ends + Send + Sync;
