//! QUIC in the simulator, over any stack that takes time as an argument.
//!
//! [`stack::Stack`] is what such a stack has to offer. The driver moves its datagrams, timers and
//! events; the client and the server are the applications above it.

mod client;
mod driver;
pub(crate) mod limits;
mod server;
mod setup;
pub(crate) mod stack;

pub(crate) use setup::ends;
