//! The transport stacks of other projects that this build has, and the logs of their connections.

#[cfg(not(feature = "stacks"))]
mod absent;
#[cfg(feature = "stacks")]
mod built;

#[cfg(not(feature = "stacks"))]
pub use absent::NoStackLogs as StackLogs;
#[cfg(feature = "stacks")]
pub use built::StackLogs;
