//! The stages of a flow, whichever program sends it.

use std::os::fd::OwnedFd;

/// The stage of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It starts at this time, ns.
    Waiting(u64),
    /// It connects or sends.
    Sending,
    /// No more data will be written, as far as is known.
    Ending,
    /// The flow is over.
    Done,
}

/// How epoll watches a flow's connection.
#[derive(Clone, Copy)]
pub struct Watched<'a> {
    /// The epoll instance.
    pub epoll: &'a OwnedFd,
    /// The connection's token in it.
    pub token: u64,
}
