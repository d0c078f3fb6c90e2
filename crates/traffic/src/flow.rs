//! Both ends of a flow, whoever sends it.

use std::collections::BTreeMap;
use std::io::Result;
use std::net::{Ipv4Addr, SocketAddrV4};

use narrows_spec::scenario::Flow;

use crate::crowd::Crowd;
use crate::diag::{Sockets, State};
use crate::iperf::Iperf;
use crate::programs::{ClientTimes, Programs};
use crate::receiver::{Arrived, Receiver};
use crate::sender::{Completion, Sample, Sender};
use crate::session::Session;
use crate::stage::{Stage, Watched};

/// A running flow or chain of flows.
pub struct RunningFlow<'a> {
    /// Its description.
    pub flow: &'a Flow,
    ends: Ends<'a>,
}

/// The programs at both ends of a flow.
pub enum Ends<'a> {
    /// This program.
    Own(Box<Sender<'a>>, Receiver),
    /// We do, for an application that writes now and then.
    Session(Box<Session<'a>>, Receiver),
    /// We do, for connections side by side.
    Crowd(Box<Crowd<'a>>, Receiver),
    /// iperf3.
    Iperf(Box<Iperf<'a>>),
    /// Any two programs.
    Programs(Box<Programs<'a>>),
}

/// The sockets of both hosts, for flows that aren't our own.
pub struct Hosts {
    /// Of the sending host, with its address.
    pub sender: (Sockets, Ipv4Addr),
    /// Of the receiving host.
    pub receiver: (Sockets, Ipv4Addr),
}

/// The state of both hosts' sockets at an instant, by their ports (their own, the other's).
#[derive(Default)]
pub struct Connections(BTreeMap<(u16, u16), State>);

impl Hosts {
    /// The connections between these ports (of the data's sender, of its receiver) now; those with
    /// `true` have their data's sender at the receiving host.
    ///
    /// # Errors
    /// If the kernel doesn't answer.
    pub fn read(&self, ports: &[((u16, u16), bool)]) -> Result<Connections> {
        let ends = |&((source, destination), reverse): &((u16, u16), bool)| {
            let (here, there) = if reverse { (destination, source) } else { (source, destination) };
            let sender = SocketAddrV4::new(self.sender.1, here);
            (sender, SocketAddrV4::new(self.receiver.1, there))
        };
        let back = |ports: &_| {
            let (sender, receiver) = ends(ports);
            (receiver, sender)
        };
        let mut found = self.sender.0.read(ports.iter().map(ends))?;
        found.extend(self.receiver.0.read(ports.iter().map(back))?);
        Ok(Connections(found))
    }
}

impl<'a> RunningFlow<'a> {
    /// A flow that waits for its start.
    #[must_use]
    pub const fn new(flow: &'a Flow, ends: Ends<'a>) -> Self {
        Self { flow, ends }
    }

    fn stage(&self) -> Stage {
        match &self.ends {
            Ends::Own(sender, _) => sender.stage(),
            Ends::Session(session, _) => session.stage(),
            Ends::Crowd(crowd, _) => crowd.stage(),
            Ends::Iperf(iperf) => iperf.stage(),
            Ends::Programs(programs) => programs.stage(),
        }
    }

    /// Whether nothing more will happen.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.stage() == Stage::Done
    }

    /// When `act` should be called next, if ever.
    #[must_use]
    pub fn deadline(&self) -> Option<u64> {
        match &self.ends {
            Ends::Session(session, _) => return session.deadline(),
            Ends::Crowd(crowd, _) => return crowd.deadline(),
            Ends::Own(..) | Ends::Iperf(_) | Ends::Programs(_) => {}
        }
        match self.stage() {
            Stage::Waiting(at) => Some(at),
            Stage::Sending => self.flow.stop_ns,
            Stage::Ending | Stage::Done => None,
        }
    }

    /// Starts or stops if it is time.
    ///
    /// # Errors
    /// If the kernel lacks the congestion control, or the connection or its program fails.
    pub fn act(&mut self, now: u64, watched: Watched<'_>) -> Result<()> {
        let is_due = self.deadline().is_some_and(|at| at <= now);
        let starts = matches!(self.stage(), Stage::Waiting(_));
        match &mut self.ends {
            Ends::Own(sender, _) if is_due && starts => sender.start(now, watched),
            Ends::Own(sender, _) if is_due => sender.stop(watched),
            Ends::Own(..) => Ok(()),
            Ends::Session(session, _) => session.act(now, watched),
            Ends::Crowd(crowd, _) => crowd.act(now, watched),
            Ends::Iperf(iperf) => {
                if is_due {
                    if starts { iperf.start() } else { iperf.stop() }?;
                }
                iperf.notice_end()
            }
            Ends::Programs(programs) => {
                if is_due {
                    programs.act(now, watched)?;
                }
                programs.notice_end(now)
            }
        }
    }

    /// The ports (sender's, receiver's) of its connection, if another program has one.
    #[must_use]
    pub fn open_ports(&self) -> Option<(u16, u16)> {
        match &self.ends {
            Ends::Own(..) | Ends::Session(..) | Ends::Crowd(..) | Ends::Programs(_) => None,
            Ends::Iperf(iperf) => iperf.process().map(|_| iperf.ports()),
        }
    }

    /// The process that sends it, if it isn't this one.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        match &self.ends {
            Ends::Own(..) | Ends::Session(..) | Ends::Crowd(..) => None,
            Ends::Iperf(iperf) => iperf.process(),
            Ends::Programs(programs) => programs.process(),
        }
    }

    /// Handles an event of epoll.
    ///
    /// # Errors
    /// If the connection is broken.
    pub fn ready(
        &mut self,
        now: u64,
        events: i32,
        watched: Watched<'_>,
    ) -> Result<Option<Completion>> {
        match &mut self.ends {
            Ends::Own(sender, _) => sender.ready(now, events, watched),
            Ends::Session(session, _) => session.ready(now, events, watched),
            Ends::Crowd(crowd, _) => crowd.ready(now, events, watched),
            Ends::Programs(programs) => programs.notice_end(now).map(|()| None),
            Ends::Iperf(_) => Ok(None),
        }
    }

    /// Decides, after a link of a chain, whether another follows.
    pub fn repeat(&mut self, may: bool) {
        if let Ends::Own(sender, _) = &mut self.ends {
            sender.repeat(may);
        }
    }

    /// Its state now; that of another program's flow is in `connections`.
    pub fn sample(&mut self, connections: &Connections) -> (Sample, Arrived) {
        match &mut self.ends {
            Ends::Own(sender, receiver) => (sender.sample(), receiver.arrivals()),
            Ends::Session(session, receiver) => (session.sample(), receiver.arrivals()),
            Ends::Crowd(crowd, receiver) => (crowd.sample(), receiver.arrivals()),
            Ends::Iperf(iperf) => {
                let (ours, theirs) = iperf.ports();
                let Connections(found) = connections;
                iperf.sample(found.get(&(ours, theirs)), found.get(&(theirs, ours)))
            }
            // Only the router knows what they send.
            Ends::Programs(_) => (Sample::default(), Arrived::default()),
        }
    }

    /// Visits the internals of its application at `now`.
    pub fn inspect(&self, now: u64, visit: &mut dyn FnMut(&'static str, f64)) {
        match &self.ends {
            Ends::Session(session, _) => session.inspect(now, visit),
            Ends::Crowd(crowd, _) => crowd.inspect(now, visit),
            Ends::Own(..) | Ends::Iperf(_) | Ends::Programs(_) => {}
        }
    }

    /// Waits for its report at the end of a run, which may be `early`.
    ///
    /// # Errors
    /// Never in practice.
    pub fn finish(&mut self, early: bool) -> Result<()> {
        match &mut self.ends {
            Ends::Own(..) | Ends::Session(..) | Ends::Crowd(..) => Ok(()),
            Ends::Iperf(iperf) => iperf.finish(early),
            Ends::Programs(programs) => programs.finish(),
        }
    }

    /// When its client ran, if programs make its packets.
    #[must_use]
    pub fn programs(&self) -> Option<&ClientTimes> {
        match &self.ends {
            Ends::Programs(programs) => Some(programs.times()),
            _ => None,
        }
    }
}
