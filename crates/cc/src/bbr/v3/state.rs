//! The state of BBR: mode, probes, rounds, lowest RTT and losses, with the names of
//! draft-ietf-ccwg-bbr-06.

use narrows_base::{Duration, Time};

use crate::bbr::units::{self, GAIN_SCALE, UNIT};
use crate::events::AckSample;
use crate::samples::RateSample;

/// BBR's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Doubling to find the bandwidth.
    Startup,
    /// Emptying the queue that STARTUP built.
    Drain,
    /// Leaving headroom and draining the queue.
    Down,
    /// Sending as fast as packets are delivered.
    Cruise,
    /// Filling the pipe before a probe.
    Refill,
    /// Probing for bandwidth.
    Up,
    /// Emptying half of the pipe to see the lowest RTT.
    ProbeRtt,
}

impl Mode {
    /// The name in the recorder's tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Drain => "drain",
            Self::Down => "probe_bw_down",
            Self::Cruise => "probe_bw_cruise",
            Self::Refill => "probe_bw_refill",
            Self::Up => "probe_bw_up",
            Self::ProbeRtt => "probe_rtt",
        }
    }

    /// Returns `true` if the state machine may go from here to `next`: along the diagram of section
    /// 5.1.1, or back by an undo (5.5.11.2).
    pub(super) const fn may_become(self, next: Self) -> bool {
        use Mode::{Cruise, Down, Drain, ProbeRtt, Refill, Startup, Up};
        match (self, next) {
            (Startup, Drain) | (Drain, Down) => true,
            (Down, Cruise) | (Down | Cruise, Refill) | (Refill, Up) | (Up, Down) => true,
            (ProbeRtt, Startup | Down) => true,
            (ProbeRtt, _) => false,
            // Undone losses had ended STARTUP or a probe.
            (Drain | Down | Cruise | Refill | Up, Startup) | (Refill, Refill) => true,
            (_, next) => matches!(next, ProbeRtt),
        }
    }

    /// `IsInAProbeBWState`.
    pub(super) const fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }
}

/// How current ACKs relate to the latest probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    /// Nothing.
    #[default]
    Init,
    /// It began; its ACKs are a round away.
    Starting,
    /// They are arriving.
    Feedback,
    /// It ended; they come for another round.
    Stopping,
}

/// The cycle of probes.
#[derive(Clone, Debug, Default)]
pub(super) struct Probe {
    pub(super) ack_phase: AckPhase,
    /// Rounds since the last probe, plus a random one.
    pub(super) rounds: u32,
    pub(super) began: Time,
    pub(super) wait: Duration,
    /// True if samples come from a probe whose losses haven't been handled yet.
    pub(super) is_sample: bool,
    pub(super) too_high: bool,
    pub(super) precautionary: bool,
    /// Growth of the long-term volume while probing.
    pub(super) up_rounds: u32,
    pub(super) up_acked: u32,
    pub(super) acked_per_step: u32,
}

/// The contents of an ACK with a rate sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signals {
    /// `RS.delivery_rate`.
    pub(super) bw: u32,
    /// `RS.delivered`.
    pub(super) delivered: u32,
    pub(super) prior_delivered: u64,
    /// `RS.tx_in_flight`.
    pub(super) tx_in_flight: u32,
    /// `RS.lost`.
    pub(super) lost: u32,
    pub(super) app_limited: bool,
}

impl Signals {
    /// The contents of an ACK without a sample.
    pub(super) const NONE: Self = Self {
        bw: 0,
        delivered: 0,
        prior_delivered: 0,
        tx_in_flight: 0,
        lost: 0,
        app_limited: false,
    };

    /// A rate sample. If the sender keeps no state per packet, the volume in flight now stands for
    /// that at sending, and this ACK's losses for those since.
    pub(super) fn new(rate: &RateSample, sample: &AckSample, rounds_up: bool) -> Self {
        let (tx_in_flight, lost) = match rate.at_send {
            Some(then) => (then.in_flight, since(sample.lost_total, then.lost)),
            None => (sample.prior_in_flight, sample.lost),
        };
        let measured = if rounds_up { units::bandwidth_rounded_up } else { units::bandwidth };
        Self {
            bw: measured(rate.delivered, rate.interval.as_micros()),
            delivered: u32::try_from(rate.delivered).unwrap_or(u32::MAX),
            prior_delivered: rate.prior_delivered,
            tx_in_flight,
            lost,
            app_limited: rate.app_limited,
        }
    }
}

/// Packet-timed round trips (section 5.5.1).
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    pub(super) count: u32,
    /// True if this ACK began a round trip.
    pub(super) start: bool,
    pub(super) next_delivered: u64,
}

impl Round {
    /// `StartRound`.
    pub(super) const fn restart(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }
}

/// The round of losses under way, and the latest delivery in it.
#[derive(Clone, Debug, Default)]
pub(super) struct LossRound {
    /// True if this ACK began a round.
    pub(super) start: bool,
    /// True if the round has seen a loss.
    pub(super) is_lossy: bool,
    /// ACKs with losses in it.
    pub(super) events: u32,
    pub(super) ends_at: u64,
    pub(super) bw: u32,
    /// Most packets delivered over a round trip (`inflight_latest`).
    pub(super) volume: u32,
}

impl LossRound {
    /// `ResetCongestionSignals`.
    pub(super) const fn reset(&mut self) {
        self.is_lossy = false;
        self.bw = 0;
        self.volume = 0;
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) const fn advance(&mut self, signals: &Signals) {
        if self.start {
            self.bw = signals.bw;
            self.volume = signals.delivered;
        }
    }
}

/// The detector of a full pipe (section 5.3.1.2).
#[derive(Clone, Debug, Default)]
pub(super) struct FullPipe {
    /// True if the pipe has ever been full (`BBR.full_bw_reached`).
    pub(super) reached: bool,
    /// True if the pipe is full in this attempt (`BBR.full_bw_now`).
    pub(super) now: bool,
    pub(super) bw: u32,
    pub(super) rounds: u8,
}

impl FullPipe {
    /// Returns `true` if the bandwidth is at least 25 % above that of this attempt.
    pub(super) fn is_exceeded_by(&self, bw: u32) -> bool {
        u64::from(bw) >= (u64::from(self.bw) * u64::from(UNIT * 5 / 4)) >> GAIN_SCALE
    }

    /// Begins an attempt from a bandwidth (`ResetFullBW`).
    pub(super) const fn reset(&mut self, bw: u32) {
        self.now = false;
        self.rounds = 0;
        self.bw = bw;
    }
}

/// The lowest RTT and PROBE_RTT's clock (section 5.3.4.3).
#[derive(Clone, Debug)]
pub(super) struct MinRtt {
    /// In us; `u32::MAX` before the first sample.
    pub(super) us: u32,
    pub(super) stamp: Time,
    pub(super) probe_us: u32,
    pub(super) probe_stamp: Time,
    pub(super) expired: bool,
    /// When PROBE_RTT may end; set once little is in flight.
    pub(super) done: Option<Time>,
    pub(super) round_done: bool,
}

impl MinRtt {
    /// The handshake's RTT, or none.
    pub(super) fn new(initial: Option<Duration>) -> Self {
        let us = initial.map_or(u32::MAX, units::micros);
        Self {
            us,
            stamp: Time::ZERO,
            probe_us: us,
            probe_stamp: Time::ZERO,
            expired: false,
            done: None,
            round_done: false,
        }
    }

    /// The flow's first packet leaves.
    pub(super) const fn start(&mut self, now: Time) {
        self.stamp = now;
        self.probe_stamp = now;
    }
}

/// Packets lost since a total that is kept modulo 2^32.
#[expect(clippy::cast_possible_truncation, reason = "modulo 2^32")]
pub(super) const fn since(lost_total: u64, then: u32) -> u32 {
    (lost_total as u32).wrapping_sub(then)
}
