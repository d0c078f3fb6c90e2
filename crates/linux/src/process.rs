//! Processes and threads: their namespaces, scheduling and ends.

use std::convert::Infallible;
use std::fs::File;
use std::io::{Error, Result};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};
use rustix::system::{RebootCommand, reboot};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

/// Above interactive and below watchdog priorities.
const PRIORITY: libc::c_int = 50;

/// Moves this thread into new namespaces of these kinds.
///
/// # Errors
/// If that isn't allowed.
///
/// # Panics
/// If descriptors are among the kinds, as threads share them.
pub fn unshare(kinds: UnshareFlags) -> Result<()> {
    assert!(!kinds.contains(UnshareFlags::FILES), "descriptors are shared between threads here");
    // SAFETY: only FILES could affect other threads' descriptors.
    Ok(unsafe { rustix::thread::unshare_unsafe(kinds) }?)
}

/// Moves this thread into a network namespace.
///
/// # Errors
/// If it isn't one, or that isn't allowed.
pub fn enter_namespace(namespace: BorrowedFd<'_>) -> Result<()> {
    Ok(move_into_link_name_space(namespace, Some(LinkNameSpaceType::Network))?)
}

/// Moves this thread into the network namespace of a file such as `/run/netns/snd`.
///
/// # Errors
/// If the file can't be opened or isn't a network namespace.
pub fn enter_namespace_at(path: &Path) -> Result<()> {
    enter_namespace(File::open(path)?.as_fd())
}

fn set_scheduling(policy: libc::c_int, priority: libc::c_int) -> Result<()> {
    // The system call itself, because musl's function refuses: it would have to change the process.
    // The kernel's `struct sched_param` is the priority alone.
    let call = libc::SYS_sched_setscheduler;
    // SAFETY: `priority` outlives the call; 0 is this thread.
    match unsafe { libc::syscall(call, 0, policy, &raw const priority) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Gives this thread, and those that it will start, real-time priority (SCHED_FIFO).
///
/// # Errors
/// If that isn't allowed, as in a user namespace.
pub fn real_time_scheduling() -> Result<()> {
    set_scheduling(libc::SCHED_FIFO, PRIORITY)
}

/// Makes this thread an ordinary one again.
///
/// # Errors
/// Never in practice: it is always allowed.
pub fn normal_scheduling() -> Result<()> {
    set_scheduling(libc::SCHED_OTHER, 0)
}

/// Lets timers of this thread fire on time; ordinary threads are otherwise 50 us late.
pub fn exact_timers() {
    // It fails only if the kernel lacks the setting, and then there is nothing to do.
    _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// Lets the kernel kill this process when the thread that started it ends.
///
/// # Errors
/// If the process `parent` is already gone, since no signal would follow.
pub fn die_with_parent(parent: Option<Pid>) -> Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() == parent { Ok(()) } else { Err(Errno::SRCH.into()) }
}

/// Lets the kernel kill the child when the thread that starts it ends.
pub fn dies_with_us(command: &mut Command) -> &mut Command {
    let us = Some(getpid());
    // SAFETY: between fork and exec only prctl(2) and getppid(2) are called, which are
    // async-signal-safe.
    unsafe { command.pre_exec(move || die_with_parent(us)) }
}

/// Switches a virtual machine off.
///
/// # Errors
/// If this isn't the machine's first process: anyone who runs it elsewhere, perhaps as root,
/// doesn't mean the whole machine.
pub fn power_off() -> Result<Infallible> {
    let own = std::process::id();
    if own != 1 {
        return Err(Error::other(format!(
            "found process {own}; the first process of a guest would be right"
        )));
    }
    rustix::fs::sync();
    reboot(RebootCommand::PowerOff)?;
    Err(Error::other("the kernel went on"))
}
