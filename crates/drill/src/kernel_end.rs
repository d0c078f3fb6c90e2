//! The kernel as a script's end.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use narrows_base::Heading;
use narrows_linux::clock::Alarm;
use narrows_packetdrill::{
    Call, CallCompletion, CallOutcome, EndError, IpMode, IpPacket, Payload, TcpFlags, TestedEnd,
    Transmission, Variables,
};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd};

use crate::calls::{CallReturn, Context, PreparedCall, prepare};
use crate::job::Network;
use crate::sys::{Fd, Tun, monotonic_ns, realtime_ns, tick_ns, wait};
use crate::tcp_info;
use crate::wire::{self, Endpoints};

/// The peer's port of the first connection that it opens.
const FIRST_PEER_PORT: u16 = 40_000;
/// Events happen this far from a tick, so that no timer is late or early by one.
const OFFSET_NS: i64 = 250_000;
/// Ticks until the script starts, at least.
const TICKS: i64 = 10;
/// CLOCK_MONOTONIC when scripts start in a guest that has just booted. SYN cookies go wrong within
/// 64 ms after boot (`cookie_init_timestamp`), which no real machine is that young to see. It is a
/// time at which slots of the timer wheel of kernels with 1000 ticks a second begin: a multiple of
/// 512 ticks before 300 s, when their counter of ticks is 0.
const YOUNGEST_NS: i64 = 23_520_000_000;
/// Slots of timers of up to 4 hours begin at multiples of this many ticks.
const BETWEEN_TICKS: i64 = 1 << 18;
/// How long a call may take that shouldn't block.
const CALL_NS: i64 = 1_000_000_000;
/// Long enough that a thread that was started gets its turn.
const TURN_NS: i64 = 1_000;

/// `sysctl -q NAME=VALUE ...` as a function of bash, which takes it from the environment: scripts set
/// dozens, and to start a program takes a guest longer than most of its work. What else there is, and
/// errors, are for the program.
const SYSCTL: &str = r#"() {
    local setting name
    [[ $1 == -q && $# -gt 1 ]] || { command sysctl "$@"; return; }
    for setting in "${@:2}"; do
        name=${setting%%=*}
        [[ $setting == [a-z]*=* && $name != *[!a-z0-9_.]* ]] &&
            { printf '%s\n' "${setting#*=}" > "/proc/sys/${name//.//}"; } 2> /dev/null ||
            { command sysctl "$@"; return; }
    done
}"#;

/// A packet that crossed the device.
pub struct CrossedPacket {
    pub at: i64,
    pub heading: Heading,
    pub bytes: Vec<u8>,
}

pub struct KernelEnd {
    network: Network,
    directory: PathBuf,
    tun: Tun,
    alarm: Alarm,
    /// Readable when a call returned.
    returned: Arc<OwnedFd>,
    running: Option<Running>,
    context: Context,
    start: ScriptStart,
    /// CLOCK_MONOTONIC at the script's start.
    zero: i64,
    connection: Link,
    peer_port: u16,
    /// Packets of the connection that the script hasn't asked for.
    sent: VecDeque<Transmission>,
    pub frames: Vec<CrossedPacket>,
    /// The socket whose state code asks for.
    under_test: Option<Fd>,
}

/// The event that ends a wait before its time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum WakeOn {
    Nothing,
    Packet,
    Call,
}

/// A call that has started.
struct Running {
    name: String,
    result: Receiver<(CallReturn, i64)>,
    /// The result, once it is there.
    returned: Option<(CallReturn, i64)>,
}

/// The connection under test.
#[derive(Clone, Copy, Debug)]
struct Link {
    local: SocketAddr,
    peer: SocketAddr,
    /// The kernel's port isn't known until its SYN.
    learning: bool,
}

fn broken(error: impl std::fmt::Display) -> EndError {
    EndError::Failed(error.to_string())
}

/// When a script starts.
#[derive(Clone, Copy, Debug)]
pub enum ScriptStart {
    /// Soon.
    Soon,
    /// When slots of the timer wheel begin that began with every other script's start, too. Where
    /// time is virtual, waiting for it takes none.
    AtSameSlots,
}

impl ScriptStart {
    /// The first tick at which a script may start.
    fn edge(self, now: i64, tick: i64) -> i64 {
        let soon = ((now / tick + TICKS) * tick).max(YOUNGEST_NS);
        match self {
            Self::Soon => soon,
            Self::AtSameSlots => {
                let between = BETWEEN_TICKS * tick;
                YOUNGEST_NS + (soon - YOUNGEST_NS + between - 1) / between * between
            }
        }
    }
}

impl KernelEnd {
    /// An end for scripts of a directory.
    pub fn new(
        network: Network,
        tun: Tun,
        directory: PathBuf,
        tolerance_ns: i64,
        start: ScriptStart,
    ) -> io::Result<Self> {
        let socket = |ip: IpAddr, port| match (network.mode, ip) {
            (IpMode::V4MappedV6, IpAddr::V4(ip)) => {
                SocketAddr::new(IpAddr::V6(ip.to_ipv6_mapped()), port)
            }
            _ => SocketAddr::new(ip, port),
        };
        let addresses = network.addresses;
        let local = SocketAddr::new(addresses.local, network.bind_port);
        let peer = SocketAddr::new(addresses.remote, network.connect_port);
        Ok(Self {
            directory,
            tun,
            alarm: Alarm::new()?,
            returned: Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?),
            running: None,
            context: Context {
                fds: BTreeMap::new(),
                socket_v6: network.mode != IpMode::V4,
                local: socket(addresses.local, network.bind_port),
                remote: socket(addresses.remote, network.connect_port),
                realtime_zero_ns: 0,
                tolerance_ns,
            },
            start,
            zero: monotonic_ns(),
            connection: Link { local, peer, learning: false },
            peer_port: FIRST_PEER_PORT,
            sent: VecDeque::new(),
            frames: Vec::new(),
            under_test: None,
            network,
        })
    }

    /// Takes all packets that wait at the device.
    fn drain(&mut self) -> io::Result<()> {
        while let Some(bytes) = self.tun.receive()? {
            let bytes = bytes.to_vec();
            let at = monotonic_ns() - self.zero;
            if at < 0 {
                // The kernel's own, such as those that look for a router.
                continue;
            }
            if let Some(segment) = wire::read(&bytes) {
                let Payload::Tcp(tcp) = &segment.packet.payload else { continue };
                let link = &mut self.connection;
                let to_peer = segment.ends.destination == link.peer;
                let syn = tcp.flags.has(TcpFlags::SYN) && !tcp.flags.has(TcpFlags::ACK);
                if to_peer && link.learning && syn {
                    (link.local, link.learning) = (segment.ends.source, false);
                }
                if to_peer && segment.ends.source == link.local {
                    let (packet, zeros) = (segment.packet, segment.zeros);
                    self.sent.push_back(Transmission { at, packet, zeros });
                }
            }
            self.frames.push(CrossedPacket { at, heading: Heading::Out, bytes });
        }
        Ok(())
    }

    /// Lets time pass until `at`, or until what is waited for is there.
    fn pass(&mut self, at: i64, wanted: WakeOn) -> Result<(), EndError> {
        self.drain().map_err(broken)?;
        self.alarm.set((self.zero + at).max(0).cast_unsigned()).map_err(broken)?;
        while self.now() < at && (wanted != WakeOn::Packet || self.sent.is_empty()) {
            let call = if wanted == WakeOn::Call { PollFlags::IN } else { PollFlags::empty() };
            let ready = wait([
                PollFd::new(&self.tun, PollFlags::IN),
                PollFd::new(&self.alarm, PollFlags::IN),
                PollFd::new(&self.returned, call),
            ])
            .map_err(broken)?;
            self.drain().map_err(broken)?;
            if ready[2] {
                rustix::io::read(&self.returned, &mut [0; 8]).map_err(broken)?;
                break;
            }
        }
        Ok(())
    }

    fn start_prepared(&mut self, name: &str, run: PreparedCall) -> Result<(), EndError> {
        let (to, result) = channel();
        let returned = Arc::clone(&self.returned);
        let work = move || {
            let result = run();
            // The receiver is gone if the script has ended.
            drop(to.send((result, monotonic_ns())));
            // It fails only if nobody took 2^64 events before.
            _ = rustix::io::write(&returned, &1_u64.to_ne_bytes());
        };
        std::thread::Builder::new().spawn(work).map_err(broken)?;
        self.running = Some(Running { name: name.to_owned(), result, returned: None });
        Ok(())
    }

    /// Takes note of a call that has returned, whose descriptors count from now on.
    fn settle(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        if running.returned.is_none()
            && let Ok((returned, at)) = running.result.try_recv()
        {
            self.note(&running.name, &returned);
            running.returned = Some((returned, at));
        }
        self.running = Some(running);
    }

    fn note(&mut self, name: &str, returned: &CallReturn) {
        if let Some(script) = returned.closed {
            self.context.fds.remove(&script);
        }
        for &(script, live) in &returned.opened {
            self.context.fds.insert(script, live);
        }
        if matches!(name, "socket" | "accept")
            && let Some(&(_, live)) = returned.opened.first()
        {
            self.under_test = Some(live);
        }
    }
}

impl TestedEnd for KernelEnd {
    fn start(&mut self) -> Result<(), EndError> {
        let tick = tick_ns();
        self.zero = self.start.edge(monotonic_ns(), tick) + OFFSET_NS;
        self.context.realtime_zero_ns = self.zero + realtime_ns() - monotonic_ns();
        self.pass(0, WakeOn::Nothing)
    }

    fn now(&self) -> i64 {
        monotonic_ns() - self.zero
    }

    fn wait_until(&mut self, at: i64) -> Result<(), EndError> {
        self.pass(at, WakeOn::Nothing)
    }

    fn begin_connection(&mut self, passive: bool) {
        let addresses = self.network.addresses;
        let port = if passive { self.peer_port } else { self.network.connect_port };
        if passive {
            self.peer_port += 1;
            self.under_test = None;
        }
        // Nobody waits for packets of the last connection any more.
        self.sent.clear();
        self.connection = Link {
            local: SocketAddr::new(addresses.local, self.network.bind_port),
            peer: SocketAddr::new(addresses.remote, port),
            learning: !passive,
        };
    }

    fn receive(&mut self, packet: &IpPacket) -> Result<(), EndError> {
        let Link { local, peer, .. } = self.connection;
        let ends = Endpoints { source: peer, destination: local };
        let bytes = wire::build(packet, ends).map_err(EndError::Failed)?;
        // Packets that left before come first.
        self.drain().map_err(broken)?;
        let merged = self.network.mss.filter(|_| matches!(packet.payload, Payload::Tcp(_)));
        self.tun.send(&bytes, merged).map_err(broken)?;
        let at = self.now();
        self.frames.push(CrossedPacket { at, heading: Heading::In, bytes });
        Ok(())
    }

    fn next_packet(&mut self, deadline: i64) -> Result<Option<Transmission>, EndError> {
        if self.sent.is_empty() {
            self.pass(deadline, WakeOn::Packet)?;
        }
        Ok(self.sent.pop_front())
    }

    fn call(&mut self, call: &Call) -> Result<CallOutcome, EndError> {
        let prepared = prepare(call, &self.context)?;
        self.start_prepared(&call.name, prepared)?;
        let completion = self.finish_call(self.now() + CALL_NS)?;
        let blocks = || EndError::Failed(format!("{} blocks", call.name));
        completion.map(|completion| completion.outcome).ok_or_else(blocks)
    }

    fn start_call(&mut self, call: &Call) -> Result<(), EndError> {
        let prepared = prepare(call, &self.context)?;
        self.start_prepared(&call.name, prepared)?;
        let turn = self.now() + TURN_NS;
        self.pass(turn, WakeOn::Nothing)
    }

    fn finish_call(&mut self, deadline: i64) -> Result<Option<CallCompletion>, EndError> {
        self.pass(deadline, WakeOn::Call)?;
        self.settle();
        let Some(Running { returned: Some((returned, at)), .. }) = self.running.take() else {
            return Ok(None);
        };
        Ok(Some(CallCompletion { at: at - self.zero, outcome: returned.outcome() }))
    }

    fn command(&mut self, line: &str) -> Result<(), EndError> {
        // Scripts use redirections that only bash has.
        let bash = Path::new("/bin/bash");
        let done = Command::new(if bash.exists() { bash } else { Path::new("/bin/sh") })
            .args(["-c", line])
            .current_dir(&self.directory)
            .env("PACKETDRILL_PID", std::process::id().to_string())
            .env("BASH_FUNC_sysctl%%", SYSCTL)
            .stdin(Stdio::null())
            .output()
            .map_err(broken)?;
        if done.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        Err(EndError::Failed(format!("`{line}`: {} {said}", done.status)))
    }

    fn describe(&mut self, variables: &mut Variables) -> Result<(), EndError> {
        self.settle();
        let no_socket = || EndError::Failed("no socket to ask: accept the connection first".into());
        let fd = self.under_test.ok_or_else(no_socket)?;
        tcp_info::describe(fd, variables).map_err(|number| {
            EndError::Failed(format!("TCP_INFO: {}", crate::symbols::errno(number)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_of_a_guest_start_at_the_same_slots() {
        const TICK: i64 = 1_000_000;
        let edge = |now| ScriptStart::AtSameSlots.edge(now, TICK);
        assert_eq!(edge(0), YOUNGEST_NS);
        assert_eq!(edge(YOUNGEST_NS - TICKS * TICK), YOUNGEST_NS);
        let second = edge(YOUNGEST_NS);
        assert_eq!(second - YOUNGEST_NS, 262_144 * TICK);
        assert_eq!(edge(second) - second, 262_144 * TICK);
    }

    #[test]
    fn elsewhere_a_script_starts_soon() {
        assert_eq!(ScriptStart::Soon.edge(0, 1_000_000), YOUNGEST_NS);
        assert_eq!(ScriptStart::Soon.edge(900_000_000_001, 1_000_000), 900_010_000_000);
    }
}
