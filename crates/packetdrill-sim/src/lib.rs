//! The simulator's TCP as an end that packetdrill's scripts test.
//!
//! [`SimulatedEnd`] puts the sender and the receiver of `narrows-tcp` behind a socket. They count
//! packets and have no numbers of bytes, no headers and no states of a connection, so these are
//! here: the handshake's options, the translation of sequence numbers, FIN and RST. Whatever
//! concerns congestion control, loss recovery, timers and the receive window is theirs.

mod accurate;
mod accurate_end;
mod arrivals;
mod calls;
mod connection;
mod counters;
mod departures;
mod end;
mod handshake;
mod headers;
mod info;
mod inward;
mod kernel;
mod lifecycle;
mod memory;
mod options;
mod outward;
mod play;
mod shell;
mod socket;
mod state;

pub use end::SimulatedEnd;
pub use play::{ScriptVerdict, play};
