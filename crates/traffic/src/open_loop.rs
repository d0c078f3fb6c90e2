//! Connections that come at random and run side by side.

use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::os::fd::OwnedFd;

use narrows_spec::law::{Draw, Draws};
use narrows_spec::open_transfers;
use narrows_spec::scenario::{Flow, Workload};
use rustix::event::epoll::EventFlags;
use rustix::net::{Shutdown, shutdown};

use crate::connection::{self, ConnectOptions};
use crate::info::TcpInfo;
use crate::sender::{FinishedTransfer, Sample, Totals};
use crate::stage::{EpollRegistration, Stage};

/// Connections that arrive one after another, whether the ones before are done or not.
pub struct OpenLoopArrivals<'a> {
    flow: &'a Flow,
    connection: ConnectOptions<'a>,
    gap: Draw,
    size: Draw,
    next_arrival: Option<u64>,
    open: BTreeMap<u32, OpenConnection>,
    /// The number of the next connection.
    number: u32,
    /// Counters of the connections that are done.
    past: Totals,
}

struct OpenConnection {
    fd: OwnedFd,
    start_ns: u64,
    size_bytes: u64,
    left: Option<u64>,
}

impl<'a> OpenLoopArrivals<'a> {
    /// Open-loop arrivals from the flow's start on; `None` for another workload.
    #[must_use]
    pub fn new(flow: &'a Flow, connection: ConnectOptions<'a>, draws: Draws<'_>) -> Option<Self> {
        let Some(Workload::Arrivals { gap_ns, size_bytes }) = &flow.workload else { return None };
        let (mut gap, size) = (draws.of(gap_ns, "gap"), draws.of(size_bytes, "size"));
        let first = flow.start_ns + gap.next();
        let mut arrivals = Self {
            flow,
            connection,
            gap,
            size,
            next_arrival: None,
            open: BTreeMap::new(),
            number: 0,
            past: Totals::default(),
        };
        arrivals.next_arrival = arrivals.before_stop(first);
        Some(arrivals)
    }

    fn before_stop(&self, at: u64) -> Option<u64> {
        Some(at).filter(|&at| self.flow.stop_ns.is_none_or(|stop| at < stop))
    }

    /// The stage of the workload.
    #[must_use]
    pub fn stage(&self) -> Stage {
        match self.next_arrival {
            Some(_) => Stage::Sending,
            None if self.open.is_empty() => Stage::Done,
            None => Stage::Ending,
        }
    }

    /// When the next connection comes, if one does.
    #[must_use]
    pub const fn deadline(&self) -> Option<u64> {
        self.next_arrival
    }

    /// Opens the connections that are due.
    ///
    /// # Errors
    /// If the kernel lacks the congestion control or refuses a connection.
    pub fn act(&mut self, now: u64, registration: EpollRegistration<'_>) -> Result<()> {
        while let Some(at) = self.next_arrival.filter(|&at| at <= now) {
            let size_bytes = self.size.next().max(1);
            let fd = self.connection.open_for_bulk(registration.of(self.number))?;
            let left = Some(size_bytes);
            self.open.insert(self.number, OpenConnection { fd, start_ns: now, size_bytes, left });
            self.number = self.number.checked_add(1).ok_or_else(|| Error::other("too many"))?;
            let next = at + self.gap.next();
            self.next_arrival = self.before_stop(next);
        }
        Ok(())
    }

    /// Writes what a connection's socket takes, or notices its end.
    ///
    /// # Errors
    /// If the connection is broken.
    pub fn ready(
        &mut self,
        now: u64,
        events: EventFlags,
        registration: EpollRegistration<'_>,
    ) -> Result<Option<FinishedTransfer>> {
        let Some(open) = self.open.get_mut(&registration.instance()) else { return Ok(None) };
        if open.left == Some(0) {
            let over = events.intersects(EventFlags::RDHUP | EventFlags::HUP);
            return Ok(if over { self.complete(now, registration.instance()) } else { None });
        }
        connection::write_all(&open.fd, &mut open.left)?;
        if open.left == Some(0) {
            shutdown(&open.fd, Shutdown::Write)?;
            registration.epoll.modify(&open.fd, EventFlags::RDHUP, registration.token)?;
        }
        Ok(None)
    }

    fn complete(&mut self, now: u64, instance: u32) -> Option<FinishedTransfer> {
        let open = self.open.remove(&instance)?;
        let info = connection::info(&open.fd);
        let totals = info.map_or_else(Totals::default, |(info, _)| Totals::of(&info));
        self.past = self.past.plus(totals);
        Some(FinishedTransfer {
            instance,
            start_ns: open.start_ns,
            end_ns: now,
            size_bytes: open.size_bytes,
            retransmitted: totals.retransmitted,
        })
    }

    /// The sample of the newest connection, with the windows and packets of all added up.
    #[must_use]
    pub fn sample(&self) -> Sample {
        let infos: Vec<_> = self.open.values().filter_map(|o| connection::info(&o.fd)).collect();
        let totals = infos.iter().fold(self.past, |sum, (info, _)| sum.plus(Totals::of(info)));
        let sum = |field: fn(&TcpInfo) -> u32| {
            infos.iter().fold(0, |sum: u32, (info, _)| sum.saturating_add(field(info)))
        };
        let info = infos.last().map(|&(youngest, control)| {
            let all = TcpInfo {
                cwnd: sum(|info| info.cwnd),
                unacked: sum(|info| info.unacked),
                sacked: sum(|info| info.sacked),
                lost: sum(|info| info.lost),
                retrans: sum(|info| info.retrans),
                ..youngest
            };
            (all, control)
        });
        Sample { instance: self.number.saturating_sub(1), info, totals }
    }

    /// How many connections are open.
    pub fn inspect(&self, now: u64, visit: &mut dyn FnMut(&'static str, f64)) {
        let ages = self.open.values().map(|one| now.saturating_sub(one.start_ns));
        open_transfers::inspect(ages, self.flow.deadline_ns, visit);
    }
}
