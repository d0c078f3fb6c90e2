//! Runs a program whose system calls take time of its host's one processor.
//!
//! A guest in virtual time computes for nothing. Here each system call of the program and of what it
//! starts waits for its turn on the processor, and takes it for a stated time, before the kernel
//! carries it out (ptrace(2)). That repeats exactly; the time between two calls stays free.

use std::collections::{BTreeMap, VecDeque};
use std::io::Result;
use std::process::{Command, ExitCode};

use narrows_linux::clock::monotonic_ns;
use narrows_linux::tracing::{self, Pid, Stop, TraceeEvent};

/// The longest wait for an event, which bounds nothing but a single wait, ns.
const LONG_NS: u64 = 1_000_000_000;
/// The number that shells add to the signal that ended a program.
const BY_SIGNAL: i32 = 128;

/// Carries out the words `charge NS PROGRAM ARGUMENT...` of the command line.
///
/// # Errors
/// If the words aren't that, or the program can't be started or traced.
pub fn run(cost: Option<String>, command: &[String]) -> std::result::Result<ExitCode, String> {
    let cost_ns = cost.and_then(|ns| ns.parse().ok()).ok_or("charge: a time in ns is missing")?;
    let (program, arguments) = command.split_first().ok_or("charge: a program is missing")?;
    let mut command = Command::new(program);
    command.args(arguments);
    let ended = Charge::start(&mut command, cost_ns).and_then(Charge::until_end);
    let code = ended.map_err(|e| format!("{program}: {e}"))?;
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)))
}

struct Charge {
    cost_ns: u64,
    /// The program itself, and its exit status once it has ended.
    program: Pid,
    status: i32,
    /// Every thread, and whether it is inside a system call.
    inside: BTreeMap<Pid, bool>,
    /// Threads that wait until their calls have had the processor, in the order of these times.
    due: VecDeque<(u64, Pid)>,
    /// Until when the processor is taken.
    busy_ns: u64,
}

impl Charge {
    fn start(command: &mut Command, cost_ns: u64) -> Result<Self> {
        let program = tracing::start(command)?;
        let inside = BTreeMap::from([(program, false)]);
        Ok(Self { cost_ns, program, status: 0, inside, due: VecDeque::new(), busy_ns: 0 })
    }

    /// Waits until the program and all that it started have ended; returns its exit status.
    fn until_end(mut self) -> Result<i32> {
        loop {
            while let Some(event) = tracing::event()? {
                match event {
                    TraceeEvent::Stopped(thread, stop) => self.handle_stop(thread, stop)?,
                    TraceeEvent::Exited(thread, code) => self.handle_exit(thread, code),
                    TraceeEvent::Killed(thread, signal) => {
                        self.handle_exit(thread, BY_SIGNAL + signal);
                    }
                    TraceeEvent::NothingLeft => return Ok(self.status),
                }
            }
            let left = self.release()?;
            tracing::await_event(left)?;
        }
    }

    fn handle_stop(&mut self, thread: Pid, stop: Stop) -> Result<()> {
        let known = self.inside.insert(thread, false);
        match stop {
            Stop::Call if known != Some(true) => {
                self.inside.insert(thread, true);
                self.busy_ns = self.busy_ns.max(monotonic_ns()) + self.cost_ns;
                self.due.push_back((self.busy_ns, thread));
                Ok(())
            }
            Stop::Call => tracing::resume(thread, 0),
            // It is still inside execve(2), of whichever thread that was.
            Stop::NewProgram => self.go_on(thread, true, 0),
            Stop::NewThread => self.go_on(thread, known.unwrap_or(false), 0),
            // A new thread begins with a stop that nobody sent.
            Stop::Signal(_) if known.is_none() => tracing::resume(thread, 0),
            Stop::Signal(signal) => self.go_on(thread, known.unwrap_or(false), signal),
        }
    }

    fn go_on(&mut self, thread: Pid, inside: bool, signal: i32) -> Result<()> {
        self.inside.insert(thread, inside);
        tracing::resume(thread, signal)
    }

    fn handle_exit(&mut self, thread: Pid, status: i32) {
        self.inside.remove(&thread);
        if thread == self.program {
            self.status = status;
        }
    }

    /// Lets the calls go on that have had the processor; returns the time until the next one, ns.
    fn release(&mut self) -> Result<u64> {
        while let Some(&(at, thread)) = self.due.front() {
            let now = monotonic_ns();
            if at > now {
                return Ok(at - now);
            }
            self.due.pop_front();
            tracing::resume(thread, 0)?;
        }
        Ok(LONG_NS)
    }
}
