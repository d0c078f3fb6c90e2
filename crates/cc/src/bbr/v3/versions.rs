//! The versions and their texts as plain data: gains, and the rules in which the texts differ.
//!
//! The algorithm queries a version for a rule, never for a text. Functions named `bbr_*` are those
//! of google/bbr, `tcp_bbr.c` of branch v3 or `tcp_bbr2.c` of v2alpha; the draft is
//! draft-ietf-ccwg-bbr-06.

use crate::bbr::units::{self, UNIT};

/// Fewest packets in flight (`BBR.MinPipeCwnd`).
pub(super) const MIN_PIPE: u32 = 4;

/// A version by one of its texts; gains in 1/256.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    pub(super) startup_gain: u32,
    pub(super) startup_cwnd_gain: u32,
    pub(super) drain_gain: u32,
    pub(super) down_gain: u32,
    pub(super) up_cwnd_gain: u32,
    pub(super) probe_rtt_cwnd_gain: u32,
    /// ACKs with losses in a round that may end STARTUP.
    pub(super) full_loss_events: u32,
    /// Rounds after which DRAIN gives up.
    pub(super) drain_rounds: u32,
    pub(super) rules: Rules,
}

/// The bandwidth whose growth shows that the pipe isn't full yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// The maximum, once a round, until the pipe is full for the first time (version 2's code).
    Maximum,
    /// The sample of any ACK (version 3's code).
    AnyAck,
    /// The sample of the first ACK of a round (the draft).
    RoundStart,
}

/// The rules in which the texts differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    // Arithmetic.
    /// Times are in whole microseconds; the time of the lowest RTT is in ticks (`tcp_jiffies32`).
    pub(super) kernel_clock: bool,
    /// Bandwidths and the share that `beta` keeps are rounded up.
    pub(super) rounds_up: bool,

    // Model.
    /// The signal that bandwidth still grows.
    pub(super) growth: Growth,
    /// A sample equal to the lowest RTT renews it.
    pub(super) min_rtt_ties_refresh: bool,
    /// An expired lowest RTT isn't replaced by a suspected delayed ACK's.
    pub(super) min_rtt_skips_delayed_acks: bool,
    /// A sample equal to PROBE_RTT's lowest RTT postpones the next PROBE_RTT.
    pub(super) probe_rtt_ties_refresh: bool,
    /// ACKs of a flow with little to send leave a settled model alone (`bbr_run_fast_path`).
    pub(super) fast_path: bool,
    /// A raised bound or an undo doesn't unsettle the model.
    pub(super) settled_through_growth: bool,

    // Losses.
    /// An ACK's losses count when the model is updated, and only those with a sample open a lossy
    /// round; otherwise they count before anything else.
    pub(super) losses_in_model: bool,
    /// The latest delivery is updated with the congestion signals, not before the model.
    pub(super) latest_in_model: bool,
    /// STARTUP's losses are checked before its bandwidth.
    pub(super) startup_loss_first: bool,
    /// ACKs with losses count in STARTUP alone.
    pub(super) loss_events_in_startup_only: bool,
    /// STARTUP's losses bound the long-term volume by the BDP alone.
    pub(super) startup_bound_is_bdp: bool,
    /// A tail loss that a probe repaired is a loss (`bbr_run_loss_probe_recovery`).
    pub(super) heeds_tail_loss: bool,
    /// The state to which an undo returns is saved as recovery begins (`bbr_ssthresh`); otherwise
    /// at the first loss of a round.
    pub(super) saves_at_recovery: bool,
    /// Only a timeout cuts the window, and its end gives it back (`bbr_exit_loss_recovery`).
    pub(super) only_timeouts_cut: bool,
    /// A timeout begins a new attempt to fill the pipe.
    pub(super) timeout_restarts_full_pipe: bool,
    /// A timeout outside of a probe sets the short-term volume (`bbr_set_state`).
    pub(super) timeout_bounds_short: bool,
    /// An undo takes the saved window as it is; otherwise the larger one.
    pub(super) undo_takes_saved_window: bool,
    /// An undo returns to the probing that losses ended.
    pub(super) undo_returns_to_probing: bool,

    // Cycle.
    /// An ACK without a sample moves the cycle on.
    pub(super) cycle_without_sample: bool,
    /// DRAIN begins without STARTUP's losses.
    pub(super) drain_forgets_losses: bool,
    /// CRUISE begins with the lower of both volumes.
    pub(super) cruise_lowers_short: bool,
    /// PROBE_UP ends at 1.25 BDP; otherwise when bandwidth stops growing.
    pub(super) up_ends_at_volume: bool,
    /// An ACK with too many losses ends a probe, as a lost packet does.
    pub(super) acks_end_probe: bool,
    /// The cycle uses the packets in flight before the ACK; otherwise those after it.
    pub(super) prior_in_flight: bool,
    /// The smallest long-term volume after losses.
    pub(super) least_long: u32,
    /// A window that isn't used up restarts the count of ACKs of PROBE_UP's growth.
    pub(super) unused_window_restarts_growth: bool,
    /// PROBE_RTT doesn't replace a larger saved window.
    pub(super) probe_rtt_keeps_saved_window: bool,

    // Volumes.
    /// In-flight targets exclude packets waiting in the pacer (`bbr_packets_in_net_at_edt`).
    pub(super) departure_times: bool,
    /// Bursts grow on short paths (`bbr_tso_segs_generic`).
    pub(super) bursts_by_rtt: bool,
    /// Fewest packets of a burst; 1 leaves it to the rate.
    pub(super) least_burst: u32,
    /// The window allows for 100 ms of aggregation at most (`bbr_extra_acked_max_us`).
    pub(super) caps_aggregation: bool,
    /// The target volume has room for whole bursts.
    pub(super) target_has_budget: bool,
    /// The window may grow above its target below two initial windows; otherwise until an initial
    /// window is delivered.
    pub(super) starts_by_window: bool,
}

const CODE: Rules = Rules {
    kernel_clock: true,
    rounds_up: true,
    growth: Growth::AnyAck,
    min_rtt_ties_refresh: true,
    min_rtt_skips_delayed_acks: true,
    probe_rtt_ties_refresh: false,
    fast_path: true,
    settled_through_growth: false,
    losses_in_model: true,
    latest_in_model: false,
    startup_loss_first: true,
    loss_events_in_startup_only: false,
    startup_bound_is_bdp: false,
    heeds_tail_loss: true,
    saves_at_recovery: true,
    only_timeouts_cut: true,
    timeout_restarts_full_pipe: true,
    timeout_bounds_short: true,
    undo_takes_saved_window: true,
    undo_returns_to_probing: false,
    cycle_without_sample: true,
    drain_forgets_losses: true,
    cruise_lowers_short: true,
    up_ends_at_volume: false,
    acks_end_probe: true,
    prior_in_flight: true,
    least_long: 0,
    unused_window_restarts_growth: false,
    probe_rtt_keeps_saved_window: true,
    departure_times: true,
    bursts_by_rtt: true,
    least_burst: 2,
    caps_aggregation: true,
    target_has_budget: true,
    starts_by_window: true,
};

const DRAFT: Rules = Rules {
    kernel_clock: false,
    rounds_up: false,
    growth: Growth::RoundStart,
    min_rtt_ties_refresh: false,
    min_rtt_skips_delayed_acks: false,
    probe_rtt_ties_refresh: false,
    fast_path: false,
    settled_through_growth: false,
    losses_in_model: false,
    latest_in_model: false,
    startup_loss_first: false,
    loss_events_in_startup_only: true,
    startup_bound_is_bdp: false,
    heeds_tail_loss: false,
    saves_at_recovery: false,
    only_timeouts_cut: false,
    timeout_restarts_full_pipe: false,
    timeout_bounds_short: false,
    undo_takes_saved_window: false,
    undo_returns_to_probing: true,
    cycle_without_sample: false,
    drain_forgets_losses: false,
    cruise_lowers_short: false,
    up_ends_at_volume: false,
    acks_end_probe: false,
    prior_in_flight: false,
    least_long: MIN_PIPE,
    unused_window_restarts_growth: false,
    probe_rtt_keeps_saved_window: false,
    departure_times: false,
    bursts_by_rtt: false,
    least_burst: 2,
    caps_aggregation: false,
    target_has_budget: false,
    starts_by_window: false,
};

/// Version 3, `bbr_*` parameters of google/bbr v3.
pub(super) const V3: Version = Version {
    startup_gain: UNIT * 277 / 100 + 1,
    startup_cwnd_gain: 2 * UNIT,
    drain_gain: units::DRAIN_GAIN,
    down_gain: UNIT * 91 / 100,
    up_cwnd_gain: UNIT * 9 / 4,
    probe_rtt_cwnd_gain: UNIT,
    full_loss_events: 6,
    drain_rounds: u32::MAX,
    rules: CODE,
};

/// Version 3 by section 5.6.1 of the draft; 277, 50, 90, 225 percent.
pub(super) const V3_DRAFT: Version = Version {
    drain_gain: UNIT / 2,
    down_gain: UNIT * 90 / 100,
    probe_rtt_cwnd_gain: UNIT / 2,
    drain_rounds: 3,
    rules: DRAFT,
    ..V3
};

/// Version 2, `bbr_*` parameters of google/bbr v2alpha.
pub(super) const V2: Version = Version {
    startup_gain: units::HIGH_GAIN,
    startup_cwnd_gain: units::HIGH_GAIN,
    drain_gain: units::DRAIN_GAIN,
    down_gain: UNIT * 3 / 4,
    up_cwnd_gain: 2 * UNIT,
    probe_rtt_cwnd_gain: UNIT,
    full_loss_events: 8,
    drain_rounds: u32::MAX,
    rules: Rules {
        growth: Growth::Maximum,
        probe_rtt_ties_refresh: true,
        settled_through_growth: true,
        latest_in_model: true,
        startup_bound_is_bdp: true,
        heeds_tail_loss: false,
        up_ends_at_volume: true,
        unused_window_restarts_growth: true,
        least_burst: 1,
        ..CODE
    },
};

/// Version 2 by the rules of the draft, with its own numbers and its own end of a probe.
pub(super) const V2_DRAFT: Version = Version {
    probe_rtt_cwnd_gain: UNIT / 2,
    rules: Rules { startup_bound_is_bdp: true, up_ends_at_volume: true, ..DRAFT },
    ..V2
};
