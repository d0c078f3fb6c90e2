//! A flow that iperf3 sends and receives; the state of its sockets is read by INET_DIAG.

use std::fs::File;
use std::io::{Error, Result};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use narrows_linux::process::dies_with_us;
use narrows_spec::scenario::Flow;
use rustix::process::{Pid, Signal, kill_process};

use crate::config::Iperf3;
use crate::diag::SocketState;
use crate::receiver::ArrivedData;
use crate::sender::{Sample, Totals};
use crate::stage::Stage;

/// Time between two checks of a process.
const GLANCE: Duration = Duration::from_millis(5);
/// The number of checks for which a server may not listen yet,
const START: u32 = 1000;
/// a client may continue after the end of the run,
const GRACE: u32 = 400;
/// and may still live after it was told to end.
const LAST_GRACE: u32 = 200;

enum Phase {
    Waiting(u64),
    Running(Child),
    Stopping(Child),
    Done,
}

/// An iperf3 client and the state of its connection.
pub struct Iperf<'a> {
    flow: &'a Flow,
    iperf3: &'a Iperf3,
    to: Ipv4Addr,
    port: u16,
    /// The latest time of its end, ns.
    end_ns: u64,
    output: PathBuf,
    phase: Phase,
    totals: Totals,
    arrived: ArrivedData,
}

/// A server of iperf3, which ends at the latest when this is dropped, and the data that it got.
pub struct Iperf3Server {
    server: Child,
    port: u16,
    data_port: u16,
    arrived: ArrivedData,
}

/// Starts a server for one client on `port` of the current namespace.
///
/// # Errors
/// If it doesn't listen soon.
pub fn serve(iperf3: &Iperf3, port: u16, directory: &Path) -> Result<Iperf3Server> {
    let mut command = command(&iperf3.program, directory);
    command.args(["-s", "-4", "-1", "-p", &port.to_string()]);
    let server = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let data_port = iperf3.data_port;
    let mut served = Iperf3Server { server, port, data_port, arrived: ArrivedData::default() };
    for _ in 0..START {
        if listens(port)? {
            return Ok(served);
        }
        if served.server.try_wait()?.is_some() {
            break;
        }
        thread::sleep(GLANCE);
    }
    Err(Error::other(format!("iperf3 doesn't listen on port {port}")))
}

impl Iperf3Server {
    /// Its process.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.server.id()
    }

    /// The ports of its data (its own, the sender's).
    #[must_use]
    pub const fn ports(&self) -> (u16, u16) {
        (self.port, self.data_port)
    }

    /// The data that have arrived, from its socket if there is one.
    pub fn sample(&mut self, socket: Option<&SocketState>) -> ArrivedData {
        self.arrived.update(socket);
        self.arrived
    }
}

impl Drop for Iperf3Server {
    fn drop(&mut self) {
        // It may have ended with its client.
        _ = self.server.kill();
        _ = self.server.wait();
    }
}

impl ArrivedData {
    /// Takes the state of the receiving socket; without one, there is no hole at which TCP_INFO
    /// would stop.
    fn update(&mut self, socket: Option<&SocketState>) {
        let Some((info, _)) = socket else {
            (self.open_segments, self.open_bytes) = (0, 0);
            return;
        };
        let (segments, bytes) = (info.data_segs_in.into(), info.bytes_received);
        *self = Self { segments, open_segments: segments, bytes, open_bytes: bytes };
    }
}

/// The command of iperf3, which ends with us and writes nowhere else.
fn command(program: &Path, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).env("TMPDIR", directory);
    dies_with_us(&mut command);
    command
}

/// Returns whether a TCP socket of the current namespace listens on this port
/// (proc_pid_net_tcp(5)).
fn listens(port: u16) -> Result<bool> {
    const LISTEN: &str = "0A";
    let table = std::fs::read_to_string("/proc/thread-self/net/tcp")?;
    let local = format!(":{port:04X}");
    Ok(table.lines().any(|line| {
        let mut columns = line.split_whitespace().skip(1);
        let here = columns.next().is_some_and(|address| address.ends_with(&local));
        here && columns.nth(1) == Some(LISTEN)
    }))
}

impl<'a> Iperf<'a> {
    /// Flow number `index`, which waits for its start; its report goes into `directory`.
    #[must_use]
    pub fn new(
        flow: &'a Flow,
        iperf3: &'a Iperf3,
        index: usize,
        (to, port): (Ipv4Addr, u16),
        duration_ns: u64,
        directory: &Path,
    ) -> Self {
        Self {
            phase: Phase::Waiting(flow.start_ns),
            end_ns: flow.stop_ns.unwrap_or(duration_ns).min(duration_ns),
            output: directory.join(format!("iperf3-{index}.json")),
            totals: Totals::default(),
            arrived: ArrivedData::default(),
            flow,
            iperf3,
            to,
            port,
        }
    }

    /// Its progress.
    #[must_use]
    pub const fn stage(&self) -> Stage {
        match self.phase {
            Phase::Waiting(at) => Stage::Waiting(at),
            Phase::Running(_) => Stage::Sending,
            Phase::Stopping(_) => Stage::Ending,
            Phase::Done => Stage::Done,
        }
    }

    /// The client's process, while there is one.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        match &self.phase {
            Phase::Running(client) | Phase::Stopping(client) => Some(client.id()),
            Phase::Waiting(_) | Phase::Done => None,
        }
    }

    /// Checks whether it ended.
    ///
    /// # Errors
    /// If it failed, with its own message.
    pub fn notice_end(&mut self) -> Result<()> {
        match self.has_ended()? {
            Some(false) => Err(self.failure()),
            _ => Ok(()),
        }
    }

    /// Returns whether the client has ended properly; `None` if it still runs or never ran.
    fn has_ended(&mut self) -> Result<Option<bool>> {
        let asked = matches!(self.phase, Phase::Stopping(_));
        let (Phase::Running(client) | Phase::Stopping(client)) = &mut self.phase else {
            return Ok(None);
        };
        let Some(status) = client.try_wait()? else { return Ok(None) };
        self.phase = Phase::Done;
        Ok(Some(asked || status.success()))
    }

    /// Starts the client.
    ///
    /// # Errors
    /// If that fails.
    pub fn start(&mut self) -> Result<()> {
        self.phase = Phase::Running(self.client()?);
        Ok(())
    }

    fn client(&self) -> Result<Child> {
        let seconds = (self.end_ns - self.flow.start_ns).div_ceil(1_000_000_000).max(1);
        let directory = self.output.parent().unwrap_or(Path::new("."));
        command(&self.iperf3.program, directory)
            .args(["-c", &self.to.to_string(), "-p", &self.port.to_string(), "-J", "-4"])
            .args(["--cport", &self.iperf3.data_port.to_string(), "-C", &self.flow.cca])
            .args(["-t", &seconds.to_string()])
            .args(
                self.flow
                    .dscp
                    .iter()
                    .flat_map(|dscp| ["--tos".into(), (dscp.bits() << 2).to_string()]),
            )
            .stdout(File::create(&self.output)?)
            .stderr(Stdio::null())
            .spawn()
    }

    /// Asks it to end if it runs; it still writes its report.
    ///
    /// # Errors
    /// Never in practice.
    pub fn stop(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.phase, Phase::Done) {
            Phase::Running(client) => {
                kill_process(Pid::from_child(&client), Signal::TERM)?;
                self.phase = Phase::Stopping(client);
            }
            other => self.phase = other,
        }
        Ok(())
    }

    /// Why iperf3 failed, by its report.
    fn failure(&self) -> Error {
        let text = std::fs::read_to_string(&self.output).unwrap_or_default();
        let report = serde_json::from_str::<serde_json::Value>(&text).unwrap_or_default();
        let reason = report["error"].as_str().unwrap_or("it says nothing").to_owned();
        Error::other(format!("iperf3 of flow \"{}\" failed: {reason}", self.flow.name))
    }

    /// Its state now, from the sockets of both hosts.
    pub fn sample(
        &mut self,
        ours: Option<&SocketState>,
        theirs: Option<&SocketState>,
    ) -> (Sample, ArrivedData) {
        if let Some((info, _)) = ours {
            self.totals = Totals::of(info);
        }
        if theirs.is_some() {
            self.arrived.update(theirs);
        }
        let open = if matches!(self.phase, Phase::Running(_)) { ours.copied() } else { None };
        if open.is_none() {
            self.arrived.update(None);
        }
        (Sample { instance: 0, info: open, totals: self.totals }, self.arrived)
    }

    /// The ports of its data (sender's, receiver's).
    #[must_use]
    pub const fn ports(&self) -> (u16, u16) {
        (self.iperf3.data_port, self.port)
    }

    /// Waits for its report, at the end of a run; `early` if the run ended before its time.
    ///
    /// # Errors
    /// Never in practice.
    pub fn finish(&mut self, early: bool) -> Result<()> {
        if early {
            self.stop()?;
        }
        self.await_end(GRACE)?;
        self.stop()?;
        self.await_end(LAST_GRACE)
    }

    fn await_end(&mut self, glances: u32) -> Result<()> {
        for _ in 0..glances {
            if matches!(self.phase, Phase::Done) || self.has_ended()?.is_some() {
                break;
            }
            thread::sleep(GLANCE);
        }
        Ok(())
    }
}

impl Drop for Iperf<'_> {
    fn drop(&mut self) {
        if let Phase::Running(client) | Phase::Stopping(client) = &mut self.phase {
            // It may have ended meanwhile.
            _ = client.kill();
            _ = client.wait();
        }
    }
}
