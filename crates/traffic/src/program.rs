//! A program of a flow: its command, its process, and how it ends.

use std::fs::{self, File};
use std::io::{Error, Result};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use narrows_linux::clock::monotonic_ns;
use narrows_linux::process::dies_with_us;
use narrows_spec::programs::fill;
use narrows_spec::scenario::Program;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::config::TrafficConfig;

/// Time between two checks of a process.
const GLANCE: Duration = Duration::from_millis(5);
/// The number of checks for which a server may not listen yet,
const START: u32 = 4000;
/// and for which a program may still live after it was asked to end.
const GRACE: u32 = 400;
/// Bytes of a program's last words in an error.
const LAST_WORDS: usize = 400;
const NS_PER_S: u64 = 1_000_000_000;

/// How a program is started.
pub struct Start {
    flow: String,
    role: Program,
    /// The program and its arguments.
    words: Vec<String>,
    /// The time that each of its system calls takes, if any, in ns.
    syscall_time_ns: Option<u64>,
    /// Where it runs and what it writes remains.
    directory: PathBuf,
    port: u16,
    /// True if its command contains the port, so that it has to listen there.
    takes_port: bool,
}

/// A running program.
pub struct RunningProgram {
    start: Start,
    process: Child,
}

/// The name of a program's part in its flow.
const fn name(role: Program) -> &'static str {
    match role {
        Program::Server => "server",
        Program::Client => "client",
    }
}

/// The addresses of the server's and the client's host.
fn addresses(config: &TrafficConfig, flow: usize) -> Option<(Ipv4Addr, Ipv4Addr)> {
    let (sender, receiver) = (config.sender?, config.receiver?);
    Some(match config.scenario.flows[flow].sender {
        Some(Program::Client) => (receiver, sender),
        _ => (sender, receiver),
    })
}

impl Start {
    /// The start of one of a flow's programs.
    ///
    /// # Errors
    /// If the addresses of the hosts are unknown, or an argument has an unknown placeholder.
    pub fn new(config: &TrafficConfig, index: usize, role: Program) -> Result<Self> {
        let (flow, run) = (&config.scenario.flows[index], &config.scenario.run);
        let missing = || Error::other("programs need the sending host's address");
        let (address, client_address) = addresses(config, index).ok_or_else(missing)?;
        let directory = config.out.join("programs").join(index.to_string()).join(name(role));
        let port = config.port(index)?;
        let end_ns = flow.stop_ns.unwrap_or(run.duration_ns).min(run.duration_ns);
        let value = |placeholder: &str| {
            Some(match placeholder {
                "address" => address.to_string(),
                "client_address" => client_address.to_string(),
                "port" => port.to_string(),
                "duration" => (end_ns - flow.start_ns).div_ceil(NS_PER_S).to_string(),
                "log" => directory.display().to_string(),
                "seed" => config.scenario.seed.to_string(),
                _ => return None,
            })
        };
        let command = if role == Program::Server { &flow.server } else { &flow.client };
        let unknown = |name: &str| Error::other(format!("{{{name}}} is not a placeholder"));
        let words = command.iter().map(|word| fill(word, value).map_err(unknown));
        Ok(Self {
            flow: flow.name.clone(),
            role,
            words: words.collect::<Result<_>>()?,
            syscall_time_ns: flow.syscall_time_ns.filter(|&ns| ns > 0),
            takes_port: command.iter().any(|word| word.contains("{port}")),
            directory,
            port,
        })
    }

    /// Starts it in the current namespace. It leads a group of processes, with its own directory as
    /// its working directory, its home and the place of its logs.
    ///
    /// # Errors
    /// If it can't be started.
    pub fn begin(self) -> Result<RunningProgram> {
        fs::create_dir_all(&self.directory)?;
        let mut command = self.command()?;
        command
            .current_dir(&self.directory)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(File::create(self.directory.join("stdout.txt"))?)
            .stderr(File::create(self.directory.join("stderr.txt"))?);
        for place in ["HOME", "TMPDIR", "QLOGDIR"] {
            command.env(place, &self.directory);
        }
        command.env("SSLKEYLOGFILE", self.directory.join("keys.log"));
        dies_with_us(&mut command);
        let process = command.spawn().map_err(|e| self.wrong(&format!("can't start: {e}")))?;
        Ok(RunningProgram { start: self, process })
    }

    /// The program, by itself or with its system calls charged.
    fn command(&self) -> Result<Command> {
        let (program, arguments) = self.words.split_first().ok_or_else(|| self.wrong("missing"))?;
        let Some(ns) = self.syscall_time_ns else {
            let mut command = Command::new(program);
            command.args(arguments);
            return Ok(command);
        };
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["charge", &ns.to_string(), program]).args(arguments);
        Ok(command)
    }

    fn wrong(&self, what: &str) -> Error {
        let (flow, role) = (&self.flow, name(self.role));
        Error::other(format!("the {role} of flow \"{flow}\" ({}) {what}", self.words.join(" ")))
    }
}

impl RunningProgram {
    /// Its process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// A descriptor that is readable once it has ended.
    ///
    /// # Errors
    /// If the kernel has none.
    pub fn descriptor(&self) -> Result<OwnedFd> {
        Ok(pidfd_open(Pid::from_child(&self.process), PidfdFlags::empty())?)
    }

    /// Waits until it listens in the current namespace: on its port, or on any
    /// port if its command names none.
    ///
    /// # Errors
    /// If it ends before, or doesn't listen before `until`.
    pub fn await_listening(&mut self, until: Option<u64>) -> Result<()> {
        let port = self.start.takes_port.then_some(self.start.port);
        for _ in 0..START {
            if is_bound(port) {
                return Ok(());
            }
            if let Some(status) = self.exit_status()? {
                return Err(self.failure(status));
            }
            if until.is_some_and(|until| monotonic_ns() >= until) {
                break;
            }
            thread::sleep(GLANCE);
        }
        let port = port.map_or_else(|| "any port".into(), |port| format!("port {port}"));
        Err(self.start.wrong(&format!("doesn't listen on {port} of any protocol in time")))
    }

    /// How it ended, if it did.
    ///
    /// # Errors
    /// Never in practice.
    pub fn exit_status(&mut self) -> Result<Option<ExitStatus>> {
        self.process.try_wait()
    }

    /// An error that says that the program failed, with its last words.
    #[must_use]
    pub fn failure(&self, status: ExitStatus) -> Error {
        let said = ["stderr.txt", "stdout.txt"].map(|file| {
            let text = fs::read(self.start.directory.join(file)).unwrap_or_default();
            let tail = &text[text.len().saturating_sub(LAST_WORDS)..];
            String::from_utf8_lossy(tail).trim().to_owned()
        });
        let said = said.iter().find(|said| !said.is_empty());
        let said = said.map_or("it said nothing", |said| said.as_str());
        self.start.wrong(&format!("failed ({status}): {said}"))
    }

    /// Asks it and the processes that it started to end, as from a terminal (SIGINT).
    ///
    /// # Errors
    /// Never in practice.
    pub fn interrupt(&self) -> Result<()> {
        self.signal_group(Signal::INT)
    }

    /// Sends a signal to it and the processes that it started; if they are gone, they need none.
    fn signal_group(&self, signal: Signal) -> Result<()> {
        match kill_process_group(Pid::from_child(&self.process), signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// Waits for its end, and ends it if that takes long.
    ///
    /// # Errors
    /// Never in practice.
    pub fn await_end(&mut self) -> Result<()> {
        for _ in 0..GRACE {
            if self.exit_status()?.is_some() {
                break;
            }
            thread::sleep(GLANCE);
        }
        Ok(())
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        // It may have ended; processes that it started may not.
        _ = self.signal_group(Signal::KILL);
        _ = self.process.wait();
    }
}

/// Returns `true` if the current namespace has a TCP socket that listens or a UDP socket, on this
/// port if one is given (proc_pid_net_tcp(5)).
fn is_bound(port: Option<u16>) -> bool {
    let tables = [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")];
    tables.iter().any(|(table, state)| {
        let rows = fs::read_to_string(format!("/proc/thread-self/net/{table}"));
        rows.is_ok_and(|rows| rows.lines().skip(1).any(|row| is_bound_row(row, state, port)))
    })
}

fn is_bound_row(row: &str, state: &str, port: Option<u16>) -> bool {
    let mut columns = row.split_whitespace().skip(1);
    let local = columns.next().and_then(|address| address.rsplit_once(':'));
    let is_there = |digits: &str| port.is_none_or(|port| format!("{port:04X}") == digits);
    local.is_some_and(|(_, digits)| is_there(digits)) && columns.nth(1) == Some(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_tells_its_port_and_state() {
        let row = "   5: 014D0A0A:1388 00000000:0000 07 00000000:00000000 00:00000000";
        assert!(is_bound_row(row, "07", Some(5000)) && is_bound_row(row, "07", None));
        assert!(!is_bound_row(row, "0A", Some(5000)) && !is_bound_row(row, "07", Some(5001)));
        assert!(!is_bound_row("", "07", None));
    }
}
