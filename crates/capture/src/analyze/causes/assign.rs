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
        let cause = match window.state {
            // Behind a policer the rate is steady too, but no queue stands.
            PathState::Full if kinds.policer.is_some() && !windows.has_queue(window) => kinds.loss,
            PathState::Full if episode.is_none() => kinds.full,
            PathState::Open if plateau.binary_search(&at).is_ok() => kinds.plateau,
            _ => context,
        };
        divide(window, cause, &mut parts);
        if window.idle_time() > window.slice.length() / 2 {
            context = Cause::Application;
        }
    }
    parts
}

/// Divides a window's time among the ends and the cause of the rest.
fn divide(window: &Window, cause: Cause, parts: &mut Vec<Part>) {
    let (begin, end) = (window.slice.begin, window.slice.end);
    let mut add = |cause, time| {
        if time > 0 {
            parts.push(Part { begin, end, cause, time });
        }
    };
    add(Cause::Timeouts, window.stall_time());
    add(Cause::ReceiverWindow, window.window_time());
    add(Cause::Application, window.idle_time());
    add(cause, window.rest());
}
