//! One flow, or chain of flows, at the sending host.

use std::io::Result;
use std::os::fd::OwnedFd;

use narrows_spec::scenario::Flow;
use rustix::event::epoll::EventFlags;
use rustix::net::{Shutdown, shutdown};

use crate::connection::{self, ConnectOptions};
use crate::info::TcpInfo;
use crate::stage::{EpollRegistration, Stage};

/// The phase of a flow.
enum Phase {
    /// Connects at this time.
    Waiting(u64),
    /// Connecting or sending.
    Sending(OwnedFd),
    /// Everything is written; the receiver hasn't yet confirmed the end.
    Draining(OwnedFd),
    /// A link of a chain is done; it isn't decided yet whether another follows.
    Between(u64),
    Done,
}

/// A sized flow that ended.
pub struct FinishedTransfer {
    /// Its number in its chain, from 0.
    pub instance: u32,
    /// When it began to connect, ns.
    pub start_ns: u64,
    /// When the receiver's confirmation of its end arrived, ns.
    pub end_ns: u64,
    /// Payload bytes.
    pub size_bytes: u64,
    /// Retransmitted packets.
    pub retransmitted: u64,
}

/// Counters over a whole chain.
#[derive(Clone, Copy, Default)]
pub struct Totals {
    /// Data segments sent, including retransmissions.
    pub sent: u64,
    /// Data segments known to be delivered.
    pub delivered: u64,
    /// Retransmitted segments.
    pub retransmitted: u64,
    /// Payload bytes cumulatively acknowledged.
    pub acked_bytes: u64,
}

impl Totals {
    /// The totals of a single connection.
    #[must_use]
    pub fn of(info: &TcpInfo) -> Self {
        Self {
            sent: info.data_segs_out.into(),
            // The SYN counts as one delivered segment.
            delivered: info.delivered.saturating_sub(1).into(),
            retransmitted: info.total_retrans.into(),
            acked_bytes: info.bytes_acked,
        }
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            sent: self.sent + other.sent,
            delivered: self.delivered + other.delivered,
            retransmitted: self.retransmitted + other.retransmitted,
            acked_bytes: self.acked_bytes + other.acked_bytes,
        }
    }
}

/// A row of samples.
#[derive(Default)]
pub struct Sample {
    /// The current link of the chain, from 0.
    pub instance: u32,
    /// The state of the current connection; none before the first and between two.
    pub info: Option<(TcpInfo, [u32; 5])>,
    /// Totals over the chain.
    pub totals: Totals,
}

/// A flow and its state.
pub struct FlowSender<'a> {
    flow: &'a Flow,
    connection: ConnectOptions<'a>,
    phase: Phase,
    instance: u32,
    started_ns: u64,
    left: Option<u64>,
    closed: Totals,
}

impl<'a> FlowSender<'a> {
    /// A flow that waits for its start.
    #[must_use]
    pub fn new(flow: &'a Flow, connection: ConnectOptions<'a>) -> Self {
        let phase = Phase::Waiting(flow.start_ns);
        let left = flow.size_bytes;
        let closed = Totals::default();
        Self { flow, connection, phase, instance: 0, started_ns: 0, left, closed }
    }

    /// Its progress.
    #[must_use]
    pub const fn stage(&self) -> Stage {
        match self.phase {
            Phase::Waiting(at) => Stage::Waiting(at),
            Phase::Sending(_) => Stage::Sending,
            Phase::Draining(_) | Phase::Between(_) => Stage::Ending,
            Phase::Done => Stage::Done,
        }
    }

    /// Connects.
    ///
    /// # Errors
    /// If the kernel lacks the congestion control or refuses the connection.
    pub fn start(&mut self, now: u64, registration: EpollRegistration<'_>) -> Result<()> {
        let fd = self.connection.open_for_bulk(registration)?;
        self.started_ns = now;
        self.left = self.flow.size_bytes;
        self.phase = Phase::Sending(fd);
        Ok(())
    }

    /// Writes what the socket takes, or notices the end.
    ///
    /// # Errors
    /// If the connection is broken.
    pub fn ready(
        &mut self,
        now: u64,
        events: EventFlags,
        registration: EpollRegistration<'_>,
    ) -> Result<Option<FinishedTransfer>> {
        match &self.phase {
            Phase::Sending(fd) => {
                connection::write_all(fd, &mut self.left)?;
                if self.left == Some(0) {
                    self.stop(registration)?;
                }
                Ok(None)
            }
            Phase::Draining(_) if events.intersects(EventFlags::RDHUP | EventFlags::HUP) => {
                Ok(self.complete(now))
            }
            _ => Ok(None),
        }
    }

    /// Half-closes: the end travels with the last data, and the receiver answers it at once.
    ///
    /// # Errors
    /// If the connection is broken.
    pub fn stop(&mut self, registration: EpollRegistration<'_>) -> Result<()> {
        if let Phase::Sending(fd) = std::mem::replace(&mut self.phase, Phase::Done) {
            shutdown(&fd, Shutdown::Write)?;
            registration.epoll.modify(&fd, EventFlags::RDHUP, registration.token)?;
            self.phase = Phase::Draining(fd);
        }
        Ok(())
    }

    fn complete(&mut self, now: u64) -> Option<FinishedTransfer> {
        let before = self.closed;
        self.closed = self.totals(self.info().as_ref().map(|(info, _)| info));
        let completion = self.flow.size_bytes.map(|size_bytes| FinishedTransfer {
            instance: self.instance,
            start_ns: self.started_ns,
            end_ns: now,
            size_bytes,
            retransmitted: self.closed.retransmitted - before.retransmitted,
        });
        let repeats = self.flow.repeat_gap_ns.is_some() && self.flow.size_bytes.is_some();
        self.phase = if repeats { Phase::Between(now) } else { Phase::Done };
        completion
    }

    /// Decides, after a link of a chain, whether another follows.
    pub fn repeat(&mut self, may: bool) {
        if let (Phase::Between(at), Some(gap)) = (&self.phase, self.flow.repeat_gap_ns) {
            self.phase = if may { Phase::Waiting(at + gap) } else { Phase::Done };
            self.instance += u32::from(may);
        }
    }

    fn info(&self) -> Option<(TcpInfo, [u32; 5])> {
        let (Phase::Sending(fd) | Phase::Draining(fd)) = &self.phase else { return None };
        connection::info(fd)
    }

    fn totals(&self, info: Option<&TcpInfo>) -> Totals {
        info.map_or(self.closed, |info| self.closed.plus(Totals::of(info)))
    }

    /// Its state now.
    #[must_use]
    pub fn sample(&self) -> Sample {
        let info = self.info();
        let totals = self.totals(info.as_ref().map(|(info, _)| info));
        Sample { instance: self.instance, info, totals }
    }
}
