//! The stages of a flow, whichever program sends it.

use narrows_linux::events::Epoll;

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
pub struct EpollRegistration<'a> {
    /// Where it is watched.
    pub epoll: &'a Epoll,
    /// The connection's token in it.
    pub token: u64,
}

impl EpollRegistration<'_> {
    /// One of several connections that a flow has at a time.
    #[must_use]
    pub fn of(self, instance: u32) -> Self {
        Self { token: self.token & FLOWS | u64::from(instance) << FLOWS.count_ones(), ..self }
    }

    /// The flow's number.
    #[must_use]
    pub const fn flow(token: u64) -> u64 {
        token & FLOWS
    }

    /// Which of a flow's connections it is.
    #[must_use]
    pub fn instance(self) -> u32 {
        u32::try_from(self.token >> FLOWS.count_ones()).unwrap_or(u32::MAX)
    }
}

/// The bits of a name that are the flow's number.
const FLOWS: u64 = 0xffff_ffff;
