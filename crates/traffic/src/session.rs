//! A connection that is kept while its application pauses between writes.

use std::io::Result;
use std::os::fd::OwnedFd;

use narrows_linux::socket::{take_acknowledgements, unacknowledged_bytes};
use narrows_spec::law::{Draw, Draws};
use narrows_spec::open_transfers;
use narrows_spec::player::Player;
use narrows_spec::scenario::{Flow, Workload};
use rustix::event::epoll::EventFlags;
use rustix::net::{Shutdown, shutdown};

use crate::connection::{self, ConnectOptions};
use crate::sender::{FinishedTransfer, Sample, Totals};
use crate::stage::{EpollRegistration, Stage};

/// The application of a session, which does what that of the simulator does.
enum App {
    /// Sends all it can for a while, then nothing for a while.
    OnOff { on: Draw, first: Option<u64>, off: Draw, sending: bool },
    /// Answers a request, a while after the last answer was taken.
    Requests { think: Draw, size: Draw },
    /// Sends the chunks that a player asks for.
    Video(Player),
}

/// An answer or a chunk under way.
struct Transfer {
    start_ns: u64,
    size_bytes: u64,
    /// Retransmissions before it.
    retransmitted: u64,
}

/// A flow with an application that doesn't write all the time.
pub struct Session<'a> {
    flow: &'a Flow,
    opening: ConnectOptions<'a>,
    app: App,
    /// When it connects; none afterwards.
    start: Option<u64>,
    /// When the application acts next of its own.
    next_action: Option<u64>,
    connection: Option<OwnedFd>,
    /// Bytes still to be written; endless if none.
    left: Option<u64>,
    transfer: Option<Transfer>,
    /// When the transfer began that isn't complete, even if the flow was stopped in it.
    open_since: Option<u64>,
    /// Transfers before this one.
    number: u32,
    stopped: bool,
    /// Counters of the connection, once it is closed.
    past: Totals,
}

impl<'a> Session<'a> {
    /// A session that waits for its start; none for what isn't a session's workload.
    #[must_use]
    pub fn new(flow: &'a Flow, opening: ConnectOptions<'a>, draws: Draws<'_>) -> Option<Self> {
        let app = match flow.workload.as_ref()? {
            Workload::Arrivals { .. }
            | Workload::Web { .. }
            | Workload::Udp { .. }
            | Workload::Ping { .. }
            | Workload::Media(_) => return None,
            Workload::OnOff { on_ns, first_ns, off_ns } => App::OnOff {
                on: draws.of(on_ns, "on"),
                first: *first_ns,
                off: draws.of(off_ns, "off"),
                sending: false,
            },
            Workload::Requests { think_ns, size_bytes } => App::Requests {
                think: draws.of(think_ns, "think"),
                size: draws.of(size_bytes, "size"),
            },
            Workload::Video { bitrate_bps, chunk_ns, start_ns, buffer_ns } => {
                App::Video(Player::of(vec![*bitrate_bps], *chunk_ns, *start_ns, *buffer_ns))
            }
            Workload::AdaptiveVideo { bitrates_bps, chunk_ns, start_ns, buffer_ns } => {
                App::Video(Player::of(bitrates_bps.clone(), *chunk_ns, *start_ns, *buffer_ns))
            }
        };
        Some(Self {
            flow,
            opening,
            app,
            start: Some(flow.start_ns),
            next_action: None,
            connection: None,
            left: Some(0),
            transfer: None,
            open_since: None,
            number: 0,
            stopped: false,
            past: Totals::default(),
        })
    }

    /// How far it is.
    #[must_use]
    pub const fn stage(&self) -> Stage {
        match self.start {
            Some(at) => Stage::Waiting(at),
            None if self.stopped && self.connection.is_none() => Stage::Done,
            None if self.stopped => Stage::Ending,
            None => Stage::Sending,
        }
    }

    /// When it wants `act` to be called, if ever.
    #[must_use]
    pub fn deadline(&self) -> Option<u64> {
        let stop = self.flow.stop_ns.filter(|_| !self.stopped);
        [self.start, self.next_action, stop].into_iter().flatten().min()
    }

    /// Connects, acts or stops, if it is time.
    ///
    /// # Errors
    /// If the kernel lacks the congestion control, or the connection fails.
    pub fn act(&mut self, now: u64, registration: EpollRegistration<'_>) -> Result<()> {
        if self.start.is_some_and(|at| at <= now) {
            self.start = None;
            self.connection = Some(self.opening.open(registration, EventFlags::empty())?);
            if let App::Video(player) = &mut self.app {
                player.start(time(now));
            }
            self.next_action = Some(now);
        }
        if !self.stopped && self.flow.stop_ns.is_some_and(|at| at <= now) {
            return self.stop(registration);
        }
        if self.next_action.is_some_and(|at| at <= now) {
            self.next_action = None;
            self.write(now, registration)?;
        }
        Ok(())
    }

    /// The application's next action.
    fn write(&mut self, now: u64, registration: EpollRegistration<'_>) -> Result<()> {
        let size = match &mut self.app {
            App::OnOff { on, first, off, sending } => {
                *sending = !*sending;
                self.left = if *sending { None } else { Some(0) };
                let span = match *sending {
                    true => first.take().unwrap_or_else(|| on.next()),
                    false => off.next(),
                };
                self.next_action = Some(now + span);
                None
            }
            App::Requests { size, .. } => Some(size.next().max(1)),
            App::Video(player) => Some(player.request(time(now))),
        };
        if let Some(size_bytes) = size {
            self.left = Some(size_bytes);
            self.open_since = Some(now);
            let retransmitted = self.totals().retransmitted;
            self.transfer = Some(Transfer { start_ns: now, size_bytes, retransmitted });
        }
        self.await_room(registration)
    }

    /// Asks to be called when the socket takes more, if there is more.
    fn await_room(&self, registration: EpollRegistration<'_>) -> Result<()> {
        let Some(open) = &self.connection else { return Ok(()) };
        let events = if self.left == Some(0) { EventFlags::empty() } else { EventFlags::OUT };
        registration.epoll.modify(open, events, registration.token)
    }

    /// Writes what the socket takes, or notices that all of a transfer has been acknowledged.
    ///
    /// # Errors
    /// If the connection is broken.
    pub fn ready(
        &mut self,
        now: u64,
        events: EventFlags,
        registration: EpollRegistration<'_>,
    ) -> Result<Option<FinishedTransfer>> {
        let Some(open) = &self.connection else { return Ok(None) };
        if self.stopped && events.contains(EventFlags::HUP) {
            self.past = self.totals();
            self.connection = None;
            return Ok(None);
        }
        if events.contains(EventFlags::ERR) {
            take_acknowledgements(open)?;
        }
        if events.contains(EventFlags::OUT) && !self.stopped {
            connection::write_all(open, &mut self.left)?;
            if self.left == Some(0) {
                self.await_room(registration)?;
            }
        }
        self.take_completion(now)
    }

    fn take_completion(&mut self, now: u64) -> Result<Option<FinishedTransfer>> {
        let Some(open) = &self.connection else { return Ok(None) };
        let over = self.left == Some(0) && unacknowledged_bytes(open)? == 0;
        let Some(transfer) = self.transfer.take_if(|_| over) else { return Ok(None) };
        self.open_since = None;
        let completion = FinishedTransfer {
            instance: self.number,
            start_ns: transfer.start_ns,
            end_ns: now,
            size_bytes: transfer.size_bytes,
            retransmitted: self.totals().retransmitted - transfer.retransmitted,
        };
        self.number += 1;
        self.next_action = match &mut self.app {
            App::OnOff { .. } => None,
            App::Requests { think, .. } => Some(now + think.next()),
            App::Video(player) => Some(player.take_chunk(time(now)).as_nanos()),
        };
        Ok(Some(completion))
    }

    fn stop(&mut self, registration: EpollRegistration<'_>) -> Result<()> {
        self.stopped = true;
        (self.next_action, self.transfer, self.left) = (None, None, Some(0));
        let Some(open) = &self.connection else { return Ok(()) };
        self.await_room(registration)?;
        Ok(shutdown(open, Shutdown::Write)?)
    }

    fn totals(&self) -> Totals {
        self.sample().totals
    }

    /// Its state now.
    #[must_use]
    pub fn sample(&self) -> Sample {
        let info = self.connection.as_ref().and_then(connection::info);
        let totals = info.as_ref().map_or(self.past, |(info, _)| Totals::of(info));
        Sample { instance: self.number, info, totals }
    }

    /// Shows the internals of its application, until it is stopped, and of the transfer under way.
    pub fn inspect(&self, now: u64, visit: &mut dyn FnMut(&'static str, f64)) {
        if let App::Video(player) = &self.app
            && self.start.is_none()
            && !self.stopped
        {
            player.inspect(time(now), visit);
        }
        if !matches!(self.app, App::OnOff { .. }) {
            let age = self.open_since.map(|since| now.saturating_sub(since));
            open_transfers::inspect(age.into_iter(), self.flow.deadline_ns, visit);
        }
    }
}

const fn time(ns: u64) -> narrows_base::Time {
    narrows_base::Time::from_nanos(ns)
}
