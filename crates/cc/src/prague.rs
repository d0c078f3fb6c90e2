//! Prague: DCTCP for the Internet, after draft-briscoe-iccrg-prague-congestion-control and
//! its reference, version 0.7 of the L4S team's tcp_prague.c.
//!
//! It reduces by the share of marked packets, keeps a fractional window, grows by unmarked packets
//! even while it reduces, is fair among RTTs below 25 ms, and paces in short bursts. Below four
//! packets it controls the rate instead of the window.
//!
//! Two things differ here: packets keep their size at rates below 1 Mbit/s, and the first mark
//! halves the window whatever else its ACK acknowledges.

use crate::progress::{Mark, Progress};
use narrows_base::registry::{EcnNeed, FormerNumbers, Info, Parameter, ParameterDefault, Role};
use narrows_base::{Duration, Rate, Time};

use crate::config::{CcConfig, Entry};
use crate::control::{CongestionControl, Control, INFINITE_SSTHRESH, Needs};
use crate::events::{AckSample, CongestionEvent, DeliveredSample, UndoEvent};
use crate::samples::{Congestion, RecoveryState};

/// The registry's entry.
pub(crate) static PRAGUE: Entry = Entry {
    info: Info {
        name: "prague",
        title: "Prague",
        family: "ecn",
        summary: "scalable control for L4S: ECT(1), counted marks, fair among short round trips",
        source: "draft-briscoe-iccrg-prague-congestion-control; L4STeam tcp_prague.c 0.7",
        role: Role::Control { ecn: Some(EcnNeed::L4s), paces: true },
        parameters: &[
            Parameter::whole(
                "rtt_transition",
                ParameterDefault::Whole(4),
                "round trips after slow start before it is fair among RTTs",
            )
            .at_most(1_000_000),
            Parameter::duration(
                "rtt_target",
                ParameterDefault::ms(25),
                "shorter round trips behave like this one",
            )
            .at_least(1_000_000)
            .at_most(100_000_000)
            .in_steps_of(1_000)
            .formerly("rtt_target_ms", FormerNumbers::Unit("ms")),
            Parameter::flag(
                "alpha_on_init",
                false,
                "begin as if all packets were marked, instead of halving at the first mark",
            ),
        ],
    },
    build: |config| Box::new(Prague::new(&config)),
};

/// IP and TCP header with timestamps: the reference counts whole packets.
const HEADER: u64 = 52;
const MIN_CWND: u64 = 2;
/// 100 kbit/s, in bytes a second.
const MIN_RATE: u64 = 12_500;
/// 8.8 Tbit/s, in bytes a second: with erratic RTTs, rate and window could otherwise drive each
/// other up without bound.
const MAX_RATE: u64 = 1 << 40;
/// Bits below 1 of the share of marks, and the weight of a round's: 1/16.
const ALPHA_BITS: u32 = 24;
const MAX_ALPHA: u64 = 1 << ALPHA_BITS;
const SHIFT_G: u32 = 4;
/// Bits below 1 of the window.
const UNIT: u32 = 20;
/// 1/4096 s: the longest burst.
const BURST_SHIFT: u32 = 12;
/// 4/128: how far the rate swings within a round trip.
const OFFSET: u64 = 4;
const OFFSET_SHIFT: u32 = 7;
/// Weight of an RTT sample in the slow average: 1/128.
const HSRTT_SHIFT: u32 = 7;
/// Eighths of a microsecond in a second, as a power of two.
const RTT_TO_SECOND: u32 = 23;
const SECOND_8_US: u64 = 8_000_000;
/// Above this RTT growth isn't scaled, in us.
const MAX_SCALED_RTT: u64 = 100_000;
/// Up to this many packets the rate is controlled instead of the window.
const RATE_MODE_PACKETS: u32 = 4;

/// Prague.
#[derive(Clone, Debug)]
struct Prague {
    mtu: u64,
    transition: u32,
    target_us: u64,
    alpha_on_init: bool,
    cwnd: u32,
    ssthresh: u32,
    /// The window in 2^-20 packets.
    frac_cwnd: u64,
    /// Bytes a second, headers included.
    rate: u64,
    /// The rate for the pacer, including its swing.
    pacing: u64,
    max_burst: u32,
    /// Share of marks, times 16, in 2^-24.
    alpha16: u64,
    alpha_at: Time,
    cwr_at: Option<Time>,
    /// Growth for each unmarked packet acknowledged, in 2^-20 of DCTCP's.
    increase: u64,
    /// The round ends when everything sent before this is acknowledged.
    round_end: Mark,
    round_start: (u64, u64),
    /// Rounds after slow start.
    rounds: u32,
    srtt8_us: u64,
    hsrtt: u64,
    saw_mark: bool,
    in_loss: bool,
    rate_mode: bool,
    loss: (u32, u64),
    latest: AckCounters,
    told_ce: u64,
    state: RecoveryState,
}

/// Counters at the latest ACK.
#[derive(Clone, Copy, Debug, Default)]
struct AckCounters {
    progress: Progress,
    delivered: u64,
    delivered_ce: u64,
}

impl Prague {
    fn new(config: &CcConfig) -> Self {
        let alpha_on_init = config.options.flag("alpha_on_init");
        let srtt8_us = config.initial_rtt.map_or(0, |rtt| rtt.as_micros() * 8);
        let mut prague = Self {
            mtu: u64::from(config.mss) + HEADER,
            transition: config.options.whole("rtt_transition"),
            target_us: config.options.duration("rtt_target").as_micros(),
            alpha_on_init,
            cwnd: config.initial_cwnd,
            ssthresh: INFINITE_SSTHRESH,
            frac_cwnd: u64::from(config.initial_cwnd) << UNIT,
            rate: MIN_RATE,
            pacing: MIN_RATE,
            max_burst: 1,
            alpha16: if alpha_on_init { MAX_ALPHA << SHIFT_G } else { 0 },
            alpha_at: Time::ZERO,
            cwr_at: None,
            increase: 1 << UNIT,
            round_end: Mark::START,
            round_start: (0, 0),
            rounds: 0,
            srtt8_us,
            hsrtt: (srtt8_us << HSRTT_SHIFT).max(1 << (HSRTT_SHIFT + 3)),
            saw_mark: false,
            in_loss: false,
            rate_mode: false,
            loss: (0, 0),
            latest: AckCounters::default(),
            told_ce: 0,
            state: RecoveryState::Open,
        };
        prague.set_pacing(0, Time::ZERO);
        prague
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Returns `true` if the control grows as if its RTT were the target (`prague_is_rtt_indep`).
    fn is_rtt_independent(&self) -> bool {
        !self.in_slow_start() && self.rounds >= self.transition
    }

    fn controls_rate(&self) -> bool {
        self.rate_mode && self.is_rtt_independent()
    }

    /// The longer of RTT and target, in eighths of a us.
    fn virtual_rtt8(&self) -> u64 {
        (self.target_us * 8).max(self.srtt8_us)
    }

    /// The window's goal (`prague_frac_cwnd_to_snd_cwnd`).
    fn goal(&self) -> u32 {
        let packets = self.frac_cwnd.div_ceil(1 << UNIT).max(MIN_CWND);
        u32::try_from(packets).unwrap_or(u32::MAX)
    }

    /// The rate of the window (`prague_frac_cwnd_to_pacing_rate`).
    fn rate_of_window(&self) -> u64 {
        let packet = SECOND_8_US * self.mtu / self.srtt8_us.max(1);
        multiply_shift(packet, self.frac_cwnd, UNIT).clamp(MIN_RATE, MAX_RATE)
    }

    /// The window of the rate over the slow average of the RTT
    /// (`prague_pacing_rate_to_frac_cwnd`).
    fn window_of_rate(&self) -> u64 {
        let rtt8 = match self.hsrtt >> HSRTT_SHIFT {
            0 => self.srtt8_us,
            average => average,
        };
        multiply_shift(self.rate, rtt8, RTT_TO_SECOND - UNIT).div_ceil(self.mtu)
    }

    /// Below the target, growth is proportional to the square of the RTT: a packet
    /// per target round trip, at the rate of a window in packets
    /// (`prague_rate_scaled_ai_ack_increase`).
    fn scale_increase(&mut self) {
        let (rtt8, target8) = (self.srtt8_us, self.target_us * 8);
        let plain = self.rounds < self.transition
            || rtt8 == 0
            || rtt8 > MAX_SCALED_RTT * 8
            || rtt8 >= target8;
        self.increase = if plain {
            1 << UNIT
        } else {
            divide_rounding(u128::from((rtt8 << UNIT) * rtt8), target8 * target8)
        };
    }

    /// `prague_update_cwnd`: grows by unmarked packets, then moves the window a packet towards its
    /// goal.
    fn update_window(&mut self, sample: &AckSample) {
        let marked = self.latest.delivered_ce - self.told_ce;
        self.told_ce = self.latest.delivered_ce;
        let first_mark = marked > 0 && !self.saw_mark;
        self.saw_mark |= marked > 0;
        if first_mark && !self.alpha_on_init {
            self.frac_cwnd = self.frac_cwnd.div_ceil(2);
        }
        let acked = u64::from(sample.acked).saturating_sub(marked);
        let grows = acked > 0 && !self.in_loss && sample.cwnd_limited && !first_mark;
        let left = if grows && self.in_slow_start() {
            match self.slow_start(acked) {
                0 => return self.scale_increase(),
                left => left,
            }
        } else if grows {
            acked
        } else {
            0
        };
        if left > 0 {
            self.grow(left);
        }
        self.step();
    }

    /// Grows up to the threshold; returns the remaining packets.
    fn slow_start(&mut self, acked: u64) -> u64 {
        let room = u64::from(self.ssthresh - self.cwnd);
        let used = acked.min(room);
        self.cwnd += u32::try_from(used).expect("no more than the room");
        self.frac_cwnd = u64::from(self.cwnd) << UNIT;
        acked - used
    }

    fn grow(&mut self, acked: u64) {
        if self.controls_rate() {
            let rtt8 = self.virtual_rtt8();
            let increase = (u128::from(acked * self.mtu) << RTT_TO_SECOND) / u128::from(rtt8);
            let packets = multiply_shift(self.rate, rtt8, RTT_TO_SECOND).div_ceil(self.mtu);
            self.rate = (self.rate + divide_rounding(increase, packets.max(1))).min(MAX_RATE);
            self.frac_cwnd = (self.frac_cwnd + acked).max(self.window_of_rate());
        } else {
            let growth = u128::from(acked * self.increase) << UNIT;
            let increase = divide_rounding(growth, self.frac_cwnd.max(1));
            self.frac_cwnd = self.frac_cwnd.saturating_add(increase.max(acked));
            self.rate = (self.rate + acked).max(self.rate_of_window()).min(MAX_RATE);
        }
    }

    fn step(&mut self) {
        let goal = self.goal();
        if self.cwnd > goal {
            self.cwnd -= 1;
            self.ssthresh = self.cwnd;
            self.scale_increase();
        } else if self.cwnd < goal {
            self.cwnd = self.cwnd.saturating_add(1);
            self.scale_increase();
        }
    }

    /// Once a round, and once a target round trip (`prague_update_alpha`).
    fn end_round(&mut self, now: Time) {
        let target = Duration::from_micros(self.target_us);
        let too_early = self.is_rtt_independent() && now.saturating_since(self.alpha_at) < target;
        if !self.latest.progress.has_reached(self.round_end) || too_early {
            return;
        }
        if self.saw_mark {
            let (delivered, marked) = self.round_start;
            let delivered = (self.latest.delivered - delivered).max(1);
            let share = ((self.latest.delivered_ce - marked) << ALPHA_BITS) / delivered;
            let alpha = self.alpha16 - (self.alpha16 >> SHIFT_G) + share;
            self.alpha16 = alpha.min(MAX_ALPHA << SHIFT_G);
            self.alpha_at = now;
        }
        self.hsrtt = self.hsrtt + self.srtt8_us - (self.hsrtt >> HSRTT_SHIFT);
        self.round_end = self.latest.progress.mark();
        self.round_start = (self.latest.delivered, self.latest.delivered_ce);
        if !self.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
        self.scale_increase();
    }

    /// `prague_update_pacing_rate`: a little faster in the first half of a round trip,
    /// slower in the second, so that a step marks some packets of each.
    fn set_pacing(&mut self, in_flight: u32, now: Time) {
        let mut rate = if self.controls_rate() {
            let offset = (self.rate * OFFSET) >> OFFSET_SHIFT;
            let half = Duration::from_micros(self.virtual_rtt8() / 16);
            let late = now.saturating_since(self.alpha_at) >= half;
            if late { self.rate - offset } else { self.rate + offset }
        } else {
            let packets = (self.frac_cwnd >> UNIT).max(u64::from(in_flight));
            let packet = SECOND_8_US * self.mtu / self.srtt8_us.max(1);
            self.rate = packet.saturating_mul(packets).clamp(MIN_RATE, MAX_RATE);
            self.rate
        };
        if self.cwnd < self.ssthresh / 2 {
            rate <<= 1;
        }
        self.pacing = rate;
        let burst = (rate / self.mtu) >> BURST_SHIFT;
        self.max_burst = u32::try_from(burst).unwrap_or(u32::MAX).max(1);
    }

    /// With few packets in flight the rate is finer than the window.
    fn choose_mode(&mut self) {
        let rate_mode = self.saw_mark && self.cwnd <= RATE_MODE_PACKETS;
        if rate_mode {
            self.frac_cwnd = self.window_of_rate();
        } else {
            self.rate = self.rate_of_window();
        }
        self.rate_mode = rate_mode;
    }

    /// `prague_enter_cwr`, at most once a target round trip.
    fn reduce(&mut self, now: Time) {
        let recent = self
            .cwr_at
            .is_some_and(|at| now.saturating_since(at) < Duration::from_micros(self.target_us));
        if self.is_rtt_independent() && recent {
            return;
        }
        self.cwr_at = Some(now);
        let alpha = self.alpha16 >> SHIFT_G;
        if self.controls_rate() {
            let cut = multiply_shift(self.rate, alpha, ALPHA_BITS + 1);
            self.rate = (self.rate - cut).max(MIN_RATE);
            self.frac_cwnd = self.window_of_rate();
        } else {
            let product = u128::from(alpha) * u128::from(self.frac_cwnd) + u128::from(MAX_ALPHA);
            let cut = u64::try_from(product >> (ALPHA_BITS + 1)).expect("half at most");
            self.frac_cwnd -= cut.min(self.frac_cwnd);
            self.rate = self.rate_of_window();
        }
    }

    /// A loss halves the window (`prague_enter_loss`).
    fn halve(&mut self) {
        self.loss = (self.cwnd, self.rate);
        if self.controls_rate() {
            self.rate -= self.rate >> 1;
            self.frac_cwnd = self.window_of_rate();
        } else {
            self.frac_cwnd -= self.frac_cwnd >> 1;
            self.rate = self.rate_of_window();
        }
        self.in_loss = true;
    }

    fn enter(&mut self, state: RecoveryState) {
        if state == RecoveryState::Open && self.state != state {
            self.in_loss = false;
        }
        self.state = state;
    }
}

/// `a * b >> shift`.
fn multiply_shift(a: u64, b: u64, shift: u32) -> u64 {
    u64::try_from((u128::from(a) * u128::from(b)) >> shift).unwrap_or(u64::MAX >> 16)
}

/// The quotient, rounded to the nearest.
fn divide_rounding(a: u128, b: u64) -> u64 {
    let quotient = (a + u128::from(b / 2)) / u128::from(b);
    u64::try_from(quotient).unwrap_or(u64::MAX >> 16)
}

impl CongestionControl for Prague {
    fn needs(&self) -> Needs {
        Needs { burst_bound: true, ..Needs::OWN_RECOVERY }
    }

    fn on_delivered(&mut self, sample: &DeliveredSample) {
        self.latest = AckCounters {
            progress: sample.progress,
            delivered: sample.delivered,
            delivered_ce: sample.delivered_ce,
        };
    }

    /// `prague_cong_control`.
    fn on_ack(&mut self, sample: &AckSample) {
        self.enter(sample.state);
        self.srtt8_us = sample.srtt.as_micros() * 8;
        self.update_window(sample);
        self.end_round(sample.now);
        self.set_pacing(sample.in_flight, sample.now);
        self.choose_mode();
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.enter(event.state);
        match event.kind {
            Congestion::Ecn | Congestion::TailLoss => self.reduce(event.now),
            Congestion::Loss => self.halve(),
            Congestion::Timeout { reduce } => {
                if reduce {
                    self.halve();
                }
                self.cwnd = event.in_flight.saturating_add(1);
            }
        }
        self.state = match event.kind {
            Congestion::Loss => RecoveryState::Recovery,
            Congestion::Timeout { .. } => RecoveryState::Loss,
            Congestion::Ecn | Congestion::TailLoss => RecoveryState::Cwr,
        };
    }

    /// `prague_cwnd_undo`.
    fn on_undo(&mut self, event: &UndoEvent) {
        self.in_loss = false;
        self.rate = self.rate.max(self.loss.1);
        self.frac_cwnd = self.window_of_rate();
        self.cwnd = event.cwnd.max(self.loss.0);
    }

    fn control(&self) -> Control {
        Control {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            pacing_rate: Some(Rate::from_bytes_per_sec(self.pacing)),
            app_limited: false,
        }
    }

    fn min_tso_segs(&self, _pacing_rate: Rate) -> u32 {
        1
    }

    fn max_tso_segs(&self) -> u32 {
        self.max_burst
    }

    #[expect(clippy::cast_precision_loss, reason = "for the recorder: 53 bits are enough")]
    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", (self.alpha16 >> SHIFT_G) as f64 / MAX_ALPHA as f64);
        visit("frac_cwnd", self.frac_cwnd as f64 / f64::from(1u32 << UNIT));
        visit("rate_mbps", self.rate as f64 * 8e-6);
    }

    fn state(&self) -> &'static str {
        match (self.in_slow_start(), self.controls_rate()) {
            (true, _) => "slow_start",
            (false, false) => "congestion_avoidance",
            (false, true) => "rate_control",
        }
    }
}
