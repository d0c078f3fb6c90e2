//! Episodes of loss, and what each was.

use super::windows::{PathState, Vantage, Window, Windows};
use crate::analyze::units::float;

/// The nature of an episode of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// There was a queue when the packets were lost: the path was full.
    Congestion,
    /// There was none.
    NoQueue,
    /// Most of it was spent waiting for the timer.
    Timeout,
}

/// Windows in which packets were lost or retransmitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Episode {
    pub(super) begin: usize,
    pub(super) end: usize,
    pub(super) loss: Loss,
}

/// The episodes of a flow, in order; a single window without loss doesn't divide one.
pub(super) fn episodes(windows: &Windows) -> Vec<Episode> {
    let all = &windows.all;
    let lossy = |window: &Window| window.state == PathState::Lossy || window.stall_time() > 0;
    let mut found = Vec::new();
    let mut at = 0;
    while at < all.len() {
        if !lossy(&all[at]) {
            at += 1;
            continue;
        }
        let begin = at;
        while at < all.len() && all[at..].iter().take(2).any(lossy) {
            at += 1;
        }
        found.push(episode(windows, begin, at));
    }
    found
}

fn episode(windows: &Windows, begin: usize, end: usize) -> Episode {
    let part = &windows.all[begin..end];
    let stalled: u64 = part.iter().map(Window::stall_time).sum();
    let length: u64 = part.iter().map(|window| window.slice.length()).sum();
    let loss = if float(stalled) > 0.4 * float(length) {
        Loss::Timeout
    } else if lost_in_queue(windows, begin, end) {
        Loss::Congestion
    } else {
        Loss::NoQueue
    };
    Episode { begin, end, loss }
}

/// Most packets were lost in a queue, as the RTTs of their neighbours show.
fn lost_in_queue(windows: &Windows, begin: usize, end: usize) -> bool {
    let rtt = match windows.vantage {
        // An RTT includes the time for which the sender held data back.
        Vantage::Receiver { one_way: false } => Window::least_rtt,
        Vantage::Receiver { one_way: true } | Vantage::Sender => Window::mean_rtt,
    };
    let waited = |at: usize| {
        let next = windows.all[at..].iter().take(2).filter_map(rtt).max();
        next.map_or(0, |rtt| rtt.saturating_sub(windows.base)) > 2 * windows.least_queue
    };
    // The first loss may lie in the window before the one that shows it.
    let (mut with, mut without) = (0, 0);
    for at in begin.saturating_sub(1)..end {
        let lost = windows.all[at].slice.lost;
        *(if waited(at) { &mut with } else { &mut without }) += lost;
    }
    with > without
}
