//! A flow's slices joined into windows of about a round trip.

use crate::analyze::connection::{ACTIVITIES, Activity, Slice, TICK_NS};
use crate::analyze::units::float;

/// RTT samples that a window should have, so that delayed acknowledgements don't look like a queue.
const SAMPLES: u128 = 6;
/// How many windows with a queue are needed to know the path's rate.
const FEWEST: usize = 3;
/// From this fraction of the full path's rate on, the path counts as full.
const NEARLY: f64 = 0.85;
/// One over the part of a round trip from which on a full receive window makes all of it the
/// receiver's.
const HELD: u128 = 10;
/// The longest that a window may become to collect its samples, in ns.
const LONGEST: u64 = 1_000_000_000;

/// At the receiver a round trip includes the wait for the sender's next packets. A sender that paces
/// sends about two for each acknowledgement, so a wait for this many hardly shows a queue. One-way
/// delays don't include it.
const PACED: u64 = 2;

/// The end of the path at which a flow was captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Vantage {
    #[default]
    Sender,
    /// With one-way delays from the sender if its clock shows them.
    Receiver { one_way: bool },
}

/// The state of the path in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathState {
    /// There was a queue, or data arrived as fast as with one.
    Full,
    /// Packets were lost or being retransmitted.
    Lossy,
    /// Neither.
    Open,
}

/// A window, with the state of the path in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) slice: Slice,
    pub(super) state: PathState,
}

impl Window {
    pub(super) fn stall_time(&self) -> u64 {
        self.slice.time_of(Activity::Stall)
    }

    pub(super) fn window_time(&self) -> u64 {
        self.slice.time_of(Activity::Window)
    }

    /// Time in which the application had nothing to send.
    pub(super) fn idle_time(&self) -> u64 {
        let free = self.slice.length().saturating_sub(self.held_time());
        self.slice.time_of(Activity::Idle).saturating_add(self.slice.starved).min(free)
    }

    /// The rest, in which the path or the control was the limit.
    pub(super) fn rest(&self) -> u64 {
        self.slice.length().saturating_sub(self.held_time()).saturating_sub(self.idle_time())
    }

    /// Time in which the flow stood still, by a timeout or the receiver's window.
    fn held_time(&self) -> u64 {
        self.stall_time().saturating_add(self.window_time())
    }

    /// Delivered bytes per ns.
    pub(super) fn rate(&self) -> f64 {
        float(self.slice.delivered) / float(self.slice.length().max(1))
    }

    pub(super) fn mean_rtt(&self) -> Option<u64> {
        self.slice.near.mean()
    }

    pub(super) fn least_rtt(&self) -> Option<u64> {
        self.slice.near.least
    }

    /// The least queueing delay in the window.
    pub(super) fn queueing(&self, base: u64) -> Option<u64> {
        self.least_rtt().map(|rtt| rtt.saturating_sub(base))
    }

    /// Measures the queue by round trips if they show a shorter one than one-way delays do, which
    /// are too long if the clocks drift apart.
    fn bound_by_round_trips(&mut self) {
        let (near, far) = (self.slice.near, self.slice.far);
        if far.mean().is_some_and(|far| near.mean().is_none_or(|near| far < near)) {
            self.slice.near = far;
        }
    }

    /// Counts a round trip in which data filled the receive window as limited by that window.
    fn hold(&mut self) {
        if self.slice.far_held > 0 {
            let stalled = self.stall_time();
            self.slice.activities[Activity::Window as usize] = self.slice.length() - stalled;
            self.slice.starved = 0;
        }
    }

    /// Returns whether the receiver's window had no room for a packet for a part that counts. A
    /// sender with a smaller limit fills it for moments at most.
    pub(super) fn is_held_by_receiver(&self) -> bool {
        u128::from(self.window_time()) * HELD >= u128::from(self.slice.length())
    }

    fn lossy(&self) -> bool {
        let slice = &self.slice;
        slice.again > 0 || slice.lost > 0 || slice.time_of(Activity::Repair) > slice.length() / 2
    }
}

/// The windows of a flow, the queueing delay that counts, and the rate of the full path.
#[derive(Clone, Debug, Default)]
pub(super) struct Windows {
    pub(super) all: Vec<Window>,
    /// The minimum RTT, in ns.
    pub(super) base: u64,
    /// A longer queueing delay than this shows a queue, in ns.
    pub(super) least_queue: u64,
    /// Bytes per ns with a queue; `None` if there never was one.
    pub(super) full_rate: Option<f64>,
    pub(super) vantage: Vantage,
    /// The length that windows have unless a pause or a stall cuts them off, in ns.
    pub(super) length: u64,
}

impl Windows {
    /// Joins slices that lie between `begin` and `end`.
    pub(super) fn of<'a>(
        slices: impl Iterator<Item = &'a Slice>,
        base: u64,
        vantage: Vantage,
        (begin, end): (u64, u64),
    ) -> Self {
        let mut slices: Vec<Slice> = slices.filter_map(|slice| clip(slice, begin, end)).collect();
        if let Vantage::Receiver { one_way } = vantage {
            slices.iter_mut().for_each(see_from_receiver);
            if one_way {
                use_one_way_delays(&mut slices, base);
            }
        }
        let samples: u128 = slices.iter().map(|slice| u128::from(slice.near.count)).sum();
        let apart = u128::from(end.saturating_sub(begin)) * SAMPLES / samples.max(1);
        let length = base.max(u64::try_from(apart).unwrap_or(LONGEST).min(LONGEST));
        let mut all = join(&slices, length);
        if vantage != Vantage::Sender {
            all.iter_mut().for_each(Window::bound_by_round_trips);
            all.iter_mut().for_each(Window::hold);
        }
        let base = if overtaking(&slices) { usual(&all).unwrap_or(base) } else { base };
        let mut least_queue = (base / 16).max(base.min(1_000_000));
        match vantage {
            Vantage::Sender => {}
            Vantage::Receiver { one_way: true } => least_queue += TICK_NS,
            Vantage::Receiver { one_way: false } => {
                least_queue = least_queue.max(PACED * spacing(&all));
            }
        }
        let mut windows = Self { all, base, least_queue, full_rate: None, vantage, length };
        windows.judge();
        windows
    }

    /// Returns whether there are no round trips, without which a queue can't be seen or ruled out.
    pub(super) fn are_blind(&self) -> bool {
        self.all.iter().all(|window| window.slice.near.count == 0)
    }

    /// Returns whether there was a queue throughout a window.
    pub(super) fn has_queue(&self, window: &Window) -> bool {
        window.slice.near.count >= 2
            && window.queueing(self.base).is_some_and(|wait| wait > self.least_queue)
    }

    fn judge(&mut self) {
        self.full_rate = self.rate_with_queue();
        let full = self.full_rate.unwrap_or(f64::INFINITY);
        let state = |window: &Window| match () {
            () if window.lossy() => PathState::Lossy,
            () if self.has_queue(window) || window.rate() >= NEARLY * full => PathState::Full,
            () => PathState::Open,
        };
        let states: Vec<_> = self.all.iter().map(state).collect();
        for (window, state) in self.all.iter_mut().zip(states) {
            window.state = state;
        }
    }

    /// The median rate with a queue; `None` if there was none, or if data arrived faster without.
    fn rate_with_queue(&self) -> Option<f64> {
        let busy = |window: &&Window| {
            4 * u128::from(window.rest()) > 3 * u128::from(window.slice.length())
        };
        let calm = self.all.iter().filter(busy).filter(|window| !window.lossy());
        let (with, without): (Vec<&Window>, Vec<_>) =
            calm.partition(|window| self.has_queue(window));
        let mut rates: Vec<f64> = with.iter().map(|window| window.rate()).collect();
        rates.sort_by(f64::total_cmp);
        let full = *rates.get(rates.len() / 2)?;
        let faster = without.iter().filter(|window| window.rate() * NEARLY > full).count();
        (rates.len() >= FEWEST && faster <= with.len()).then_some(full)
    }
}

/// The part of a slice between two instants; only times are scaled.
fn clip(slice: &Slice, begin: u64, end: u64) -> Option<Slice> {
    if slice.begin >= end || slice.end <= begin {
        return None;
    }
    let mut part = Slice { begin: slice.begin.max(begin), end: slice.end.min(end), ..*slice };
    let (old, new) = (u128::from(slice.length().max(1)), u128::from(part.length()));
    let scale = |time: u64| u64::try_from(u128::from(time) * new / old).unwrap_or(time);
    part.activities = slice.activities.map(scale);
    part.starved = scale(slice.starved);
    part.far_starved = scale(slice.far_starved);
    part.far_stalled = scale(slice.far_stalled);
    Some(part)
}

/// The mean time between packets while the path or the control was the limit, in ns.
fn spacing(windows: &[Window]) -> u64 {
    let packets: u64 = windows.iter().map(|window| u64::from(window.slice.packets)).sum();
    windows.iter().map(Window::rest).sum::<u64>() / packets.max(1)
}

/// Returns whether reordering is so frequent that the minimum RTT belongs to a faster path.
fn overtaking(slices: &[Slice]) -> bool {
    let sum = |part: fn(&Slice) -> u32| slices.iter().map(part).map(u64::from).sum::<u64>();
    50 * (sum(|slice| slice.overtaken) + sum(|slice| slice.spurious)) > sum(|slice| slice.packets)
}

/// The median of the windows' mean RTTs.
fn usual(windows: &[Window]) -> Option<u64> {
    let mut rtts: Vec<u64> = windows.iter().filter_map(Window::mean_rtt).collect();
    rtts.sort_unstable();
    rtts.get(rtts.len() / 2).copied()
}

/// Replaces round trips by `base` plus the one-way delays above their minimum.
fn use_one_way_delays(slices: &mut [Slice], base: u64) {
    let least = slices.iter().filter_map(|slice| slice.one_way.least).min().unwrap_or(0);
    slices.iter_mut().for_each(|slice| slice.near = slice.one_way.shift(base, least));
}

/// Sets the sender's state in a slice as a capture at the receiver shows it.
fn see_from_receiver(slice: &mut Slice) {
    let length = slice.length();
    let held = slice.time_of(Activity::Window);
    let stalled = slice.far_stalled.min(length - held);
    let repair = slice.time_of(Activity::Repair).min(length - held - stalled);
    slice.activities = [0; ACTIVITIES];
    slice.activities[Activity::Window as usize] = held;
    slice.activities[Activity::Stall as usize] = stalled;
    slice.activities[Activity::Repair as usize] = repair;
    slice.starved = slice.far_starved.min(length - held - stalled);
    slice.near = slice.far;
    let mean = slice.far.mean().unwrap_or(0);
    let flight = u128::from(slice.delivered) * u128::from(mean) / u128::from(length.max(1));
    slice.flight_most = u64::try_from(flight).unwrap_or(u64::MAX);
}

/// Joins slices until they are `length` long; those of a pause or a stall stay alone.
fn join(slices: &[Slice], length: u64) -> Vec<Window> {
    let mut windows: Vec<Window> = Vec::new();
    let mut open = false;
    for slice in slices {
        let idle = slice.time_of(Activity::Idle).max(slice.starved);
        let still = idle.saturating_add(slice.time_of(Activity::Stall));
        let alone = still > slice.length() / 2;
        match windows.last_mut().filter(|_| open && !alone) {
            Some(last) => last.slice.append(slice),
            None => windows.push(Window { slice: *slice, state: PathState::Open }),
        }
        let last = windows.last().expect("one was just added").slice.length();
        open = !alone && last < length;
    }
    windows
}
