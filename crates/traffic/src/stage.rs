//! What whoever sends a flow has in common.

use std::os::fd::OwnedFd;

/// How far a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It starts at this time, ns.
    Waiting(u64),
    /// It connects or sends.
    Sending,
    /// No more will be written, as far as is known.
    Ending,
    /// Nothing more will happen.
    Done,
}

/// Where and under which name epoll watches a flow's connection.
#[derive(Clone, Copy)]
pub struct Watched<'a> {
    /// The set.
    pub epoll: &'a OwnedFd,
    /// The name.
    pub token: u64,
}
