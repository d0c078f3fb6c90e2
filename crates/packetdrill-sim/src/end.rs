//! The end that scripts test: a simulated host.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use narrows_base::{Ecn, Time};
use narrows_packetdrill::{
    Call, CallCompletion, CallOutcome, EndError, IpPacket, Payload, ScriptOptions, TestedEnd,
    Transmission, Variables,
};
use narrows_tcp::TcpProfile;

use crate::connection::{Choices, Connection};
use crate::info;
use crate::kernel::Kernel;
use crate::shell;
use crate::socket::{Role, Socket, SocketOptions};

/// The time that a call or a packet to the end takes, in ns: scripts were written on machines on
/// which no two things happen at exactly the same time.
const STEP_NS: i64 = 5_000;

/// A host with the simulator's TCP, in the simulator's time.
pub struct SimulatedEnd {
    pub(crate) kernel: Kernel,
    folder: PathBuf,
    pub(crate) choices: Choices,
    pub(crate) now: i64,
    pub(crate) sockets: BTreeMap<i64, Socket>,
    pub(crate) connection: Option<Connection>,
    pub(crate) accepted: bool,
    pub(crate) shut_for_reading: bool,
    /// The call that blocks.
    blocked: Option<Call>,
    /// How the last call that blocked ended.
    completion: Option<CallCompletion>,
    out: VecDeque<Transmission>,
}

impl SimulatedEnd {
    /// A host with this kernel, for a script with these options in that folder.
    #[must_use]
    pub fn new(profile: &TcpProfile, options: &ScriptOptions, folder: &Path) -> Self {
        Self {
            kernel: Kernel::new(profile),
            folder: folder.to_owned(),
            choices: Choices { peer_mss: options.mss },
            now: 0,
            sockets: BTreeMap::new(),
            connection: None,
            accepted: false,
            shut_for_reading: false,
            blocked: None,
            completion: None,
            out: VecDeque::new(),
        }
    }

    /// Takes the packets that the connection has sent.
    pub(crate) fn collect(&mut self) {
        if let Some(connection) = &mut self.connection {
            self.out.extend(connection.out.drain(..));
        }
    }

    /// Copies the counters of segments that the connection's receiver has refused.
    fn count(&mut self) {
        if let Some(connection) = &self.connection {
            self.kernel.counters.present = connection.receiver.refusals();
        }
    }

    /// Takes sent packets, and resumes the call that blocks.
    fn settle(&mut self) -> Result<(), EndError> {
        self.collect();
        if let Some(call) = self.blocked.take() {
            match self.do_call(&call)? {
                Some(outcome) => self.completion = Some(CallCompletion { at: self.now, outcome }),
                None => self.blocked = Some(call),
            }
        }
        Ok(())
    }

    /// Goes to the next deadline of the connection, or to `until` if that is earlier; returns `true`
    /// if it was.
    fn step(&mut self, until: i64) -> Result<bool, EndError> {
        let next = self.connection.as_ref().and_then(Connection::next_deadline);
        let next = next.map_or(i64::MAX, |at| i64::try_from(at.as_nanos()).unwrap_or(i64::MAX));
        if next > until {
            self.now = self.now.max(until);
            return Ok(true);
        }
        self.now = self.now.max(next);
        let now = self.time();
        if let Some(connection) = &mut self.connection {
            connection.flush(now);
        }
        self.settle()?;
        Ok(false)
    }

    /// The options of the socket that listens.
    fn listener(&self) -> Option<SocketOptions> {
        let listens = |socket: &&Socket| socket.role == Role::Listening;
        self.sockets.values().find(listens).map(|socket| socket.options.clone())
    }
}

impl TestedEnd for SimulatedEnd {
    fn start(&mut self) -> Result<(), EndError> {
        Ok(())
    }

    fn now(&self) -> i64 {
        self.now
    }

    fn wait_until(&mut self, at: i64) -> Result<(), EndError> {
        while !self.step(at)? {}
        Ok(())
    }

    fn begin_connection(&mut self, _passive: bool) {
        self.count();
        self.kernel.counters.keep();
        self.connection = None;
        self.out.clear();
        self.accepted = false;
        self.shut_for_reading = false;
    }

    fn receive(&mut self, packet: &IpPacket) -> Result<(), EndError> {
        let Payload::Tcp(tcp) = &packet.payload else {
            return Err(EndError::Unsupported("packets other than TCP".to_owned()));
        };
        let now = self.time();
        let ecn = Ecn::from_bits(packet.ip.ecn.tos());
        match &mut self.connection {
            Some(connection) => connection.receive(tcp, ecn, now)?,
            None => {
                let Some(options) = self.listener() else {
                    return Err(EndError::Unsupported("packets without a socket".to_owned()));
                };
                let connection =
                    Connection::accept((&self.kernel, &options), self.choices, (tcp, ecn), now)?;
                self.connection = Some(connection);
            }
        }
        self.settle()?;
        self.now += STEP_NS;
        Ok(())
    }

    fn next_packet(&mut self, deadline: i64) -> Result<Option<Transmission>, EndError> {
        loop {
            if let Some(sent) = self.out.pop_front() {
                return Ok(Some(sent));
            }
            if self.step(deadline)? {
                return Ok(self.out.pop_front());
            }
        }
    }

    fn call(&mut self, call: &Call) -> Result<CallOutcome, EndError> {
        let outcome = self.do_call(call)?;
        self.now += STEP_NS;
        outcome.ok_or_else(|| EndError::Failed(format!("{} blocks", call.name)))
    }

    fn start_call(&mut self, call: &Call) -> Result<(), EndError> {
        self.completion = None;
        self.blocked = Some(call.clone());
        self.settle()
    }

    fn finish_call(&mut self, deadline: i64) -> Result<Option<CallCompletion>, EndError> {
        while self.completion.is_none() {
            if self.step(deadline)? {
                break;
            }
        }
        Ok(self.completion.take())
    }

    fn command(&mut self, line: &str) -> Result<(), EndError> {
        self.count();
        shell::run(line, &self.folder, &mut self.kernel)?;
        if let Some(connection) = &mut self.connection {
            connection.set_accurate(self.kernel.sysctls.accurate_ecn);
            connection.kernel.refuses = self.kernel.refuses;
            connection.sender.refuse_packets(self.kernel.refuses);
        }
        Ok(())
    }

    fn describe(&mut self, variables: &mut Variables) -> Result<(), EndError> {
        let now = Time::from_nanos(self.now.max(0).cast_unsigned());
        let Some(connection) = &mut self.connection else {
            return Err(EndError::Failed("no connection is there to look at".to_owned()));
        };
        info::describe(connection, now, variables);
        Ok(())
    }
}
