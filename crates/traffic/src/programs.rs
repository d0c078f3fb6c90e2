//! A flow whose packets two programs make.

use std::io::Result;
use std::os::fd::OwnedFd;

use narrows_spec::scenario::Flow;
use rustix::event::epoll::EventFlags;
use serde::Serialize;

use crate::program::{RunningProgram, Start};
use crate::stage::{EpollRegistration, Stage};

enum Phase {
    Waiting(Start),
    Running(RunningProgram),
    Stopping(RunningProgram),
    Done,
}

/// The client of a flow, which starts and stops with it, and its server, which runs before and after.
pub struct Programs<'a> {
    flow: &'a Flow,
    client: Phase,
    server: RunningProgram,
    /// The descriptor by which epoll notices the client's end, as long as it is open.
    watched: Option<OwnedFd>,
    times: ClientTimes,
}

/// When the client ran, in ns of the run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClientTimes {
    /// When it started.
    pub start_ns: Option<u64>,
    /// When it ended by itself.
    pub end_ns: Option<u64>,
}

impl<'a> Programs<'a> {
    /// A flow whose server runs, and whose client waits for the flow's start.
    #[must_use]
    pub fn new(flow: &'a Flow, client: Start, server: RunningProgram) -> Self {
        Self {
            flow,
            client: Phase::Waiting(client),
            server,
            watched: None,
            times: ClientTimes::default(),
        }
    }

    /// Its progress.
    #[must_use]
    pub const fn stage(&self) -> Stage {
        match self.client {
            Phase::Waiting(_) => Stage::Waiting(self.flow.start_ns),
            Phase::Running(_) => Stage::Sending,
            Phase::Stopping(_) => Stage::Ending,
            Phase::Done => Stage::Done,
        }
    }

    /// The client's process, while there is one.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        match &self.client {
            Phase::Running(client) | Phase::Stopping(client) => Some(client.id()),
            Phase::Waiting(_) | Phase::Done => None,
        }
    }

    /// When the client ran.
    #[must_use]
    pub const fn times(&self) -> &ClientTimes {
        &self.times
    }

    /// Starts the client in the current namespace, or asks it to end.
    ///
    /// # Errors
    /// If it can't be started.
    pub fn act(&mut self, now: u64, registration: EpollRegistration<'_>) -> Result<()> {
        match std::mem::replace(&mut self.client, Phase::Done) {
            Phase::Waiting(start) => {
                let client = start.begin()?;
                let end = client.descriptor()?;
                registration.epoll.add(&end, EventFlags::IN, registration.token)?;
                (self.client, self.watched) = (Phase::Running(client), Some(end));
                self.times.start_ns = Some(now);
            }
            Phase::Running(client) => {
                client.interrupt()?;
                self.client = Phase::Stopping(client);
            }
            other => self.client = other,
        }
        Ok(())
    }

    /// Checks whether one of them ended.
    ///
    /// # Errors
    /// If it failed, with its last words.
    pub fn notice_end(&mut self, now: u64) -> Result<()> {
        if matches!(self.client, Phase::Waiting(_) | Phase::Running(_))
            && let Some(status) = self.server.exit_status()?
            && !status.success()
        {
            return Err(self.server.failure(status));
        }
        let (Phase::Running(client) | Phase::Stopping(client)) = &mut self.client else {
            return Ok(());
        };
        let Some(status) = client.exit_status()? else { return Ok(()) };
        if let Phase::Running(client) = &self.client {
            if !status.success() {
                return Err(client.failure(status));
            }
            self.times.end_ns = Some(now);
        }
        self.client = Phase::Done;
        // Otherwise epoll would tell of the same end for ever.
        self.watched = None;
        Ok(())
    }

    /// Ends both at the end of a run.
    ///
    /// # Errors
    /// Never in practice.
    pub fn finish(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.client, Phase::Done) {
            Phase::Running(mut client) => {
                client.interrupt()?;
                client.await_end()?;
            }
            Phase::Stopping(mut client) => client.await_end()?,
            Phase::Waiting(_) | Phase::Done => {}
        }
        self.server.interrupt()?;
        self.server.await_end()
    }
}
