//! Assigns a cause to every part of a flow's time.

use super::Cause;
use super::episodes::{Episode, Loss};
use super::evidence::Kinds;
use super::windows::{PathState, Window, Windows};

/// A window that stays within this part of its maximum isn't growing.
const GROWTH: f64 = 1.05;
/// Round trips without growth after which slow start is over.
const STEADY_WINDOWS: usize = 4;

/// Time with one cause, in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) cause: Cause,
    /// The time in it that counts; a window has several parts.
    pub(super) time: u64,
    /// How a full path shows in it.
    pub(super) full: Option<FullSign>,
}

/// The sign by which time counts as that of a full path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FullSign {
    /// There was a queue.
    Queue,
    /// Data arrived as fast as when one stood.
    Rate,
    /// A queue had stood when packets were lost, and the window didn't fill the path again yet.
    EarlierLoss,
}

/// The windows in which neither loss nor a queue nor growth was seen, from the beginning on.
pub(super) fn plateau(windows: &Windows) -> Vec<usize> {
    let (mut peak, mut grown) = (0_u64, 0);
    let mut found = Vec::new();
    for (at, window) in windows.all.iter().enumerate() {
        match window.state {
            PathState::Lossy => return found,
            PathState::Full => continue,
            PathState::Open => {}
        }
        let most = window.slice.flight_most;
        if crate::analyze::units::float(most) > GROWTH * crate::analyze::units::float(peak) {
            (peak, grown) = (most, at);
        } else if at - grown >= STEADY_WINDOWS {
            found.push(at);
        }
    }
    found
}

/// Every window's time by cause, in order.
pub(super) fn assign(
    windows: &Windows,
    episodes: &[Episode],
    plateau: &[usize],
    kinds: &Kinds,
) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut context = Cause::SlowStart;
    let blind = windows.are_blind();
    let mut coming = episodes.iter().peekable();
    for (at, window) in windows.all.iter().enumerate() {
        while coming.peek().is_some_and(|episode| episode.end <= at) {
            coming.next();
        }
        let episode = coming.peek().filter(|episode| episode.begin <= at);
        if let Some(episode) = episode {
            context = match episode.loss {
                Loss::Congestion => kinds.full,
                Loss::NoQueue => kinds.loss,
                Loss::Timeout => Cause::Timeouts,
            };
        }
        let steady = plateau.binary_search(&at).is_ok();
        let cause = match window.state {
            // Behind a policer the rate is steady too, but there is no queue.
            PathState::Full if kinds.policer.is_some() && !windows.has_queue(window) => kinds.loss,
            PathState::Full if episode.is_none() => kinds.full,
            // Such a sender may also wait for room for a longer burst (`tcp_tso_should_defer`).
            PathState::Open
                if window.is_held_by_receiver() && (steady || context != Cause::SlowStart) =>
            {
                Cause::ReceiverWindow
            }
            PathState::Open if steady => kinds.plateau,
            _ => context,
        };
        let cause = if blind { Cause::Unknown } else { cause };
        let sign = match window.state {
            PathState::Full if windows.has_queue(window) => FullSign::Queue,
            PathState::Full => FullSign::Rate,
            PathState::Lossy | PathState::Open => FullSign::EarlierLoss,
        };
        divide(window, cause, (cause == kinds.full).then_some(sign), &mut parts);
        if window.idle_time() > window.slice.length() / 2 {
            context = Cause::Application;
        }
    }
    parts
}

/// Divides a window's time among the ends and the cause of the rest.
fn divide(window: &Window, cause: Cause, full: Option<FullSign>, parts: &mut Vec<Part>) {
    let (begin, end) = (window.slice.begin, window.slice.end);
    let mut add = |cause, time, full| {
        if time > 0 {
            parts.push(Part { begin, end, cause, time, full });
        }
    };
    add(Cause::Timeouts, window.stall_time(), None);
    add(Cause::ReceiverWindow, window.window_time(), None);
    add(Cause::Application, window.idle_time(), None);
    add(cause, window.rest(), full);
}
