//! Both ends of a flow, whoever sends it.

use std::collections::BTreeMap;
use std::io::Result;
use std::net::{Ipv4Addr, SocketAddrV4};

use narrows_spec::scenario::Flow;
use rustix::event::epoll::EventFlags;

use crate::diag::{SocketState, Sockets};
use crate::iperf::{Iperf, Iperf3Server};
use crate::open_loop::OpenLoopArrivals;
use crate::programs::{ClientTimes, Programs};
use crate::receiver::{ArrivedData, FlowReceiver};
use crate::sender::{FinishedTransfer, FlowSender, Sample};
use crate::session::Session;
use crate::stage::{EpollRegistration, Stage};

/// A running flow or chain of flows.
pub struct RunningFlow<'a> {
    /// Its description.
    pub flow: &'a Flow,
    ends: FlowPrograms<'a>,
}

/// The programs at both ends of a flow.
pub enum FlowPrograms<'a> {
    /// This program; without a receiver, that is on another host.
    Own(Box<FlowSender<'a>>, Option<FlowReceiver>),
    /// We do, for an application that pauses between writes.
    Session(Box<Session<'a>>, Option<FlowReceiver>),
    /// We do, for connections side by side.
    OpenLoopArrivals(Box<OpenLoopArrivals<'a>>, Option<FlowReceiver>),
    /// The sender is on another host, and so is the receiver if there is none here.
    Elsewhere(Option<FlowReceiver>),
    /// iperf3.
    Iperf(Box<Iperf<'a>>),
    /// iperf3 receives here, and its client is on another host.
    Iperf3Server(Box<Iperf3Server>),
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

/// The sockets of this host, whose connections' other ends are on other hosts.
pub struct OwnSockets {
    /// A reader of them.
    pub sockets: Sockets,
    /// This host's address.
    pub address: Ipv4Addr,
    /// The address of each flow's other host.
    pub peers: BTreeMap<usize, Ipv4Addr>,
}

impl OwnSockets {
    /// The connections of these flows (their numbers, our port, the peer's) now.
    ///
    /// # Errors
    /// If the kernel doesn't answer.
    pub fn read(&self, flows: impl Iterator<Item = (usize, (u16, u16))>) -> Result<Connections> {
        let ends = flows.filter_map(|(flow, (port, theirs))| {
            let ours = SocketAddrV4::new(self.address, port);
            Some((ours, SocketAddrV4::new(*self.peers.get(&flow)?, theirs)))
        });
        self.sockets.read(ends).map(Connections)
    }
}

/// The state of both hosts' sockets at an instant, by their ports (their own, the other's).
#[derive(Default)]
pub struct Connections(BTreeMap<(u16, u16), SocketState>);

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
    pub const fn new(flow: &'a Flow, ends: FlowPrograms<'a>) -> Self {
        Self { flow, ends }
    }

    /// Returns `true` if an end of the flow is on this host.
    #[must_use]
    pub const fn is_here(&self) -> bool {
        !matches!(self.ends, FlowPrograms::Elsewhere(None))
    }

    fn stage(&self) -> Stage {
        match &self.ends {
            FlowPrograms::Elsewhere(_) | FlowPrograms::Iperf3Server(_) => Stage::Done,
            FlowPrograms::Own(sender, _) => sender.stage(),
            FlowPrograms::Session(session, _) => session.stage(),
            FlowPrograms::OpenLoopArrivals(arrivals, _) => arrivals.stage(),
            FlowPrograms::Iperf(iperf) => iperf.stage(),
            FlowPrograms::Programs(programs) => programs.stage(),
        }
    }

    /// Returns `true` if nothing more will happen.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.stage() == Stage::Done
    }

    /// When `act` should be called next, if ever.
    #[must_use]
    pub fn deadline(&self) -> Option<u64> {
        match &self.ends {
            FlowPrograms::Session(session, _) => return session.deadline(),
            FlowPrograms::OpenLoopArrivals(arrivals, _) => return arrivals.deadline(),
            _ => {}
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
    pub fn act(&mut self, now: u64, registration: EpollRegistration<'_>) -> Result<()> {
        let is_due = self.deadline().is_some_and(|at| at <= now);
        let starts = matches!(self.stage(), Stage::Waiting(_));
        match &mut self.ends {
            FlowPrograms::Own(sender, _) if is_due && starts => sender.start(now, registration),
            FlowPrograms::Own(sender, _) if is_due => sender.stop(registration),
            FlowPrograms::Own(..) | FlowPrograms::Elsewhere(_) | FlowPrograms::Iperf3Server(_) => {
                Ok(())
            }
            FlowPrograms::Session(session, _) => session.act(now, registration),
            FlowPrograms::OpenLoopArrivals(arrivals, _) => arrivals.act(now, registration),
            FlowPrograms::Iperf(iperf) => {
                if is_due {
                    if starts { iperf.start() } else { iperf.stop() }?;
                }
                iperf.notice_end()
            }
            FlowPrograms::Programs(programs) => {
                if is_due {
                    programs.act(now, registration)?;
                }
                programs.notice_end(now)
            }
        }
    }

    /// The ports (ours, the peer's; sender's first if both are here) of its connection, if another
    /// program has one.
    #[must_use]
    pub fn open_ports(&self) -> Option<(u16, u16)> {
        match &self.ends {
            FlowPrograms::Iperf(iperf) => iperf.process().map(|_| iperf.ports()),
            FlowPrograms::Iperf3Server(served) => Some(served.ports()),
            _ => None,
        }
    }

    /// The process that sends it, if it isn't this one.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        match &self.ends {
            FlowPrograms::Iperf(iperf) => iperf.process(),
            FlowPrograms::Iperf3Server(served) => Some(served.process()),
            FlowPrograms::Programs(programs) => programs.process(),
            _ => None,
        }
    }

    /// Handles an event of epoll.
    ///
    /// # Errors
    /// If the connection is broken.
    pub fn ready(
        &mut self,
        now: u64,
        events: EventFlags,
        registration: EpollRegistration<'_>,
    ) -> Result<Option<FinishedTransfer>> {
        match &mut self.ends {
            FlowPrograms::Own(sender, _) => sender.ready(now, events, registration),
            FlowPrograms::Session(session, _) => session.ready(now, events, registration),
            FlowPrograms::OpenLoopArrivals(arrivals, _) => {
                arrivals.ready(now, events, registration)
            }
            FlowPrograms::Programs(programs) => programs.notice_end(now).map(|()| None),
            FlowPrograms::Iperf(_) | FlowPrograms::Iperf3Server(_) | FlowPrograms::Elsewhere(_) => {
                Ok(None)
            }
        }
    }

    /// Decides, after a link of a chain, whether another follows.
    pub fn repeat(&mut self, may: bool) {
        if let FlowPrograms::Own(sender, _) = &mut self.ends {
            sender.repeat(may);
        }
    }

    /// Its state now; that of another program's flow is in `connections`.
    pub fn sample(&mut self, connections: &Connections) -> (Sample, ArrivedData) {
        match &mut self.ends {
            FlowPrograms::Own(sender, receiver) => (sender.sample(), arrivals(receiver.as_ref())),
            FlowPrograms::Session(session, receiver) => {
                (session.sample(), arrivals(receiver.as_ref()))
            }
            FlowPrograms::OpenLoopArrivals(open, receiver) => {
                (open.sample(), arrivals(receiver.as_ref()))
            }
            FlowPrograms::Elsewhere(receiver) => (Sample::default(), arrivals(receiver.as_ref())),
            FlowPrograms::Iperf(iperf) => {
                let (ours, theirs) = iperf.ports();
                let Connections(found) = connections;
                iperf.sample(found.get(&(ours, theirs)), found.get(&(theirs, ours)))
            }
            FlowPrograms::Iperf3Server(served) => {
                let Connections(found) = connections;
                (Sample::default(), served.sample(found.get(&served.ports())))
            }
            // Only the router knows what they send.
            FlowPrograms::Programs(_) => (Sample::default(), ArrivedData::default()),
        }
    }

    /// Visits the internals of its application at `now`.
    pub fn inspect(&self, now: u64, visit: &mut dyn FnMut(&'static str, f64)) {
        match &self.ends {
            FlowPrograms::Session(session, _) => session.inspect(now, visit),
            FlowPrograms::OpenLoopArrivals(arrivals, _) => arrivals.inspect(now, visit),
            _ => {}
        }
    }

    /// Waits for its report at the end of a run, which may be `early`.
    ///
    /// # Errors
    /// Never in practice.
    pub fn finish(&mut self, early: bool) -> Result<()> {
        match &mut self.ends {
            FlowPrograms::Iperf(iperf) => iperf.finish(early),
            FlowPrograms::Programs(programs) => programs.finish(),
            _ => Ok(()),
        }
    }

    /// When its client ran, if programs make its packets.
    #[must_use]
    pub fn programs(&self) -> Option<&ClientTimes> {
        match &self.ends {
            FlowPrograms::Programs(programs) => Some(programs.times()),
            _ => None,
        }
    }
}

/// The data that have arrived; nothing is known of a receiver on another host.
fn arrivals(receiver: Option<&FlowReceiver>) -> ArrivedData {
    receiver.map(FlowReceiver::arrivals).unwrap_or_default()
}
