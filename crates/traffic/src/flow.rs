//! Both ends of a flow, whoever sends it.

use std::collections::BTreeMap;
use std::io::Result;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

use crate::config::FlowConfig;
use crate::diag::{Sockets, State};
use crate::iperf::Iperf;
use crate::receiver::{Arrived, Receiver};
use crate::sender::{Completion, Sample, Sender};

/// A flow or chain of flows.
pub enum Flow {
    /// We send and receive it.
    Own(Box<Sender>, Receiver),
    /// iperf3 does.
    Iperf(Box<Iperf>),
}

/// The sockets of both hosts, for flows that aren't our own.
pub struct Hosts {
    /// Of the sending host, with its address.
    pub sender: (Sockets, Ipv4Addr),
    /// Of the receiving host.
    pub receiver: (Sockets, Ipv4Addr),
}

/// What both hosts' sockets told at an instant.
#[derive(Default)]
pub struct Connections {
    sender: BTreeMap<(u16, u16), State>,
    receiver: BTreeMap<(u16, u16), State>,
}

impl Hosts {
    /// The connections between these ports (the sender's, the receiver's) now.
    ///
    /// # Errors
    /// If the kernel doesn't tell.
    pub fn read(&self, ports: &[(u16, u16)]) -> Result<Connections> {
        let ends = |&(source, destination): &(u16, u16)| {
            let sender = SocketAddrV4::new(self.sender.1, source);
            (sender, SocketAddrV4::new(self.receiver.1, destination))
        };
        let back = |ports: &(u16, u16)| {
            let (sender, receiver) = ends(ports);
            (receiver, sender)
        };
        let sender = self.sender.0.read(ports.iter().map(ends))?;
        Ok(Connections { sender, receiver: self.receiver.0.read(ports.iter().map(back))? })
    }
}

impl Flow {
    /// Its configuration.
    #[must_use]
    pub fn config(&self) -> &FlowConfig {
        match self {
            Self::Own(sender, _) => sender.config(),
            Self::Iperf(iperf) => iperf.config(),
        }
    }

    /// Whether nothing more will happen.
    #[must_use]
    pub fn is_done(&self) -> bool {
        match self {
            Self::Own(sender, _) => sender.is_done(),
            Self::Iperf(iperf) => iperf.is_done(),
        }
    }

    /// The ports (sender's, receiver's) of its connection, if another program has one now.
    #[must_use]
    pub fn open_ports(&self) -> Option<(u16, u16)> {
        match self {
            Self::Own(..) => None,
            Self::Iperf(iperf) => iperf.process().map(|_| iperf.ports()),
        }
    }

    /// The process that sends it, if it isn't this one.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        match self {
            Self::Own(..) => None,
            Self::Iperf(iperf) => iperf.process(),
        }
    }

    /// When it wants `act` to be called, if ever.
    #[must_use]
    pub fn deadline(&self) -> Option<u64> {
        match self {
            Self::Own(sender, _) => sender.deadline(),
            Self::Iperf(iperf) => iperf.deadline(),
        }
    }

    /// Starts or stops, if it is time; `token` is its name in the epoll set.
    ///
    /// # Errors
    /// If the kernel lacks the congestion control, or the connection or its program fails.
    pub fn act(&mut self, now: u64, epoll: &OwnedFd, token: u64) -> Result<()> {
        match self {
            Self::Own(sender, _) => sender.act(now, epoll, token),
            Self::Iperf(iperf) => iperf.act(now),
        }
    }

    /// Takes what epoll said of it.
    ///
    /// # Errors
    /// If the connection is broken.
    pub fn ready(
        &mut self,
        now: u64,
        events: i32,
        epoll: &OwnedFd,
        token: u64,
    ) -> Result<Option<Completion>> {
        match self {
            Self::Own(sender, _) => sender.ready(now, events, epoll, token),
            Self::Iperf(_) => Ok(None),
        }
    }

    /// Decides, after a link of a chain, whether another follows.
    pub fn repeat(&mut self, may: bool) {
        if let Self::Own(sender, _) = self {
            sender.repeat(may);
        }
    }

    /// Its state now; that of another program's flow is in `connections`.
    pub fn sample(&mut self, connections: &Connections) -> (Sample, Arrived) {
        match self {
            Self::Own(sender, receiver) => (sender.sample(), receiver.arrived()),
            Self::Iperf(iperf) => {
                let (ours, theirs) = iperf.ports();
                let at_sender = connections.sender.get(&(ours, theirs));
                iperf.sample(at_sender, connections.receiver.get(&(theirs, ours)))
            }
        }
    }

    /// Waits for its report at the end of a run, which may be `early`.
    ///
    /// # Errors
    /// Never in practice.
    pub fn finish(&mut self, early: bool) -> Result<()> {
        match self {
            Self::Own(..) => Ok(()),
            Self::Iperf(iperf) => iperf.finish(early),
        }
    }
}
