//! Stops a program at its system calls (ptrace(2)).

use std::io::{Error, Result};
use std::mem::zeroed;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use libc::{c_int, c_long, c_void};
use rustix::io::Errno;
use rustix::process::{self, WaitOptions, WaitStatus, waitpid};

use crate::clock::timespec;
use crate::process::exact_timers;

/// The number of a process or thread.
pub type Pid = libc::pid_t;

/// An event of a traced thread.
pub enum TraceeEvent {
    /// It stopped.
    Stopped(Pid, Stop),
    /// It ended with this status.
    Exited(Pid, c_int),
    /// This signal ended it.
    Killed(Pid, c_int),
    /// All have ended.
    NothingLeft,
}

/// Why a thread stopped.
#[derive(Clone, Copy)]
pub enum Stop {
    /// It begins or ends a system call.
    Call,
    /// It executes another program.
    NewProgram,
    /// It has started a thread or process, which is traced, too.
    NewThread,
    /// It gets this signal.
    Signal(c_int),
}

/// The type of ptrace(2)'s requests: glibc and musl declare it with different signs.
#[cfg(target_env = "musl")]
type Request = c_int;
#[cfg(not(target_env = "musl"))]
type Request = libc::c_uint;

/// Children that were forked, and those that were cloned.
const ALL_THREADS: WaitOptions = WaitOptions::from_bits_retain(libc::__WALL.cast_unsigned());

/// Added to the signal of a stop at a system call.
const AT_CALL: c_int = 0x80;

fn check(result: c_long) -> Result<()> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

fn request(what: Request, thread: Pid, data: c_int) -> Result<()> {
    let none = std::ptr::null_mut::<c_void>();
    let data = c_long::from(data);
    // SAFETY: these requests take numbers, and no memory is involved.
    match check(unsafe { libc::ptrace(what, thread, none, data) }) {
        // It was killed in the meantime, which `event` will tell.
        Err(e) if e.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        other => other,
    }
}

/// Starts a program that stops at each of its system calls, as do the processes that it starts. From
/// then on this process blocks SIGINT and SIGTERM, which the program gets; if this process dies, the
/// program is killed.
///
/// # Errors
/// If it can't be started or traced.
pub fn start(command: &mut Command) -> Result<Pid> {
    mask(libc::SIG_BLOCK)?;
    // SAFETY: between fork and exec only ptrace(2) and what handles signal masks is called, which is
    // async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            mask(libc::SIG_UNBLOCK)?;
            check(libc::ptrace(libc::PTRACE_TRACEME))
        });
    }
    let child = command.spawn()?;
    let program = process::Pid::from_child(&child);
    waitpid(Some(program), ALL_THREADS)?;
    let pid = program.as_raw_pid();
    let options = libc::PTRACE_O_TRACESYSGOOD
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_EXITKILL;
    request(libc::PTRACE_SETOPTIONS, pid, options)?;
    exact_timers();
    resume(pid, 0)?;
    Ok(pid)
}

/// The signals that `await_event` takes, and those that only the program is to get.
fn signals() -> libc::sigset_t {
    // SAFETY: plain data, which the calls below fill.
    let mut set: libc::sigset_t = unsafe { zeroed() };
    // SAFETY: `set` is ours.
    unsafe {
        libc::sigemptyset(&raw mut set);
        for signal in [libc::SIGCHLD, libc::SIGINT, libc::SIGTERM] {
            libc::sigaddset(&raw mut set, signal);
        }
    }
    set
}

fn mask(how: c_int) -> Result<()> {
    let set = signals();
    // SAFETY: `set` outlives the call; a null pointer asks for no old mask.
    let done = unsafe { libc::sigprocmask(how, &raw const set, std::ptr::null_mut()) };
    check(done.into())
}

/// Lets a stopped thread run to its next stop; it gets `signal` if that isn't 0.
///
/// # Errors
/// If the thread isn't stopped.
pub fn resume(thread: Pid, signal: c_int) -> Result<()> {
    request(libc::PTRACE_SYSCALL, thread, signal)
}

/// The next event, if there is one now.
///
/// # Errors
/// Never in practice.
pub fn event() -> Result<Option<TraceeEvent>> {
    match waitpid(None, ALL_THREADS | WaitOptions::NOHANG) {
        Err(Errno::CHILD) => Ok(Some(TraceeEvent::NothingLeft)),
        Err(e) => Err(e.into()),
        Ok(changed) => {
            Ok(changed.map(|(thread, status)| tracee_event(thread.as_raw_pid(), status)))
        }
    }
}

fn tracee_event(thread: Pid, status: WaitStatus) -> TraceeEvent {
    if let Some(code) = status.exit_status() {
        TraceeEvent::Exited(thread, code)
    } else if let Some(signal) = status.terminating_signal() {
        TraceeEvent::Killed(thread, signal)
    } else {
        TraceeEvent::Stopped(thread, stop(status.as_raw()))
    }
}

fn stop(status: c_int) -> Stop {
    match (status >> 16, libc::WSTOPSIG(status)) {
        (0, signal) if signal == libc::SIGTRAP | AT_CALL => Stop::Call,
        (0, signal) => Stop::Signal(signal),
        (libc::PTRACE_EVENT_EXEC, _) => Stop::NewProgram,
        _ => Stop::NewThread,
    }
}

/// Waits for an event, or this long.
///
/// # Errors
/// Never in practice.
pub fn await_event(timeout_ns: u64) -> Result<()> {
    let timeout = timespec(timeout_ns);
    let set = signals();
    let limit = (&raw const timeout).cast();
    // SAFETY: both outlive the call; a null pointer asks for no details. rustix's `Timespec` is the
    // C library's on machines of 64 bits.
    let done = unsafe { libc::sigtimedwait(&raw const set, std::ptr::null_mut(), limit) };
    match check(done.into()) {
        Err(e) if matches!(e.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => Ok(()),
        other => other,
    }
}
