//! Linux's integer cubic function: how many ACKs earn a packet (`bictcp_update`).

use narrows_base::Jiffies;

use super::root::cube_root;

/// Binary digits of a second in the curve's clock: 1/1024 s (`BICTCP_HZ`).
const CLOCK_BITS: u32 = 10;
/// Scale of `beta` and `scale` (`BICTCP_BETA_SCALE`).
const UNIT: u32 = 1024;

/// Parameters of the curve, as Linux's module parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurveParameters {
    /// Window after a loss, in 1/1024 (`beta`).
    pub(super) beta: u32,
    /// C in 1/10240 packets per second cubed (`bic_scale`).
    pub(super) scale: u32,
    /// Give room to newcomers (`fast_convergence`).
    pub(super) fast_convergence: bool,
    /// Grow at least as Reno would (`tcp_friendliness`).
    pub(super) friendly: bool,
}

/// The curve and the epoch that it is in.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    parameters: CurveParameters,
    clock: Jiffies,
    /// C in 1/1024 packets per second cubed (`cube_rtt_scale`).
    steepness: u64,
    /// The factor from packets to K cubed (`cube_factor`).
    factor: u64,
    /// Packets per growth of Reno's emulation by one, in eighths of a window (`beta_scale`).
    reno_scale: u32,
    /// ACKs that earn a packet (`cnt`).
    per_packet: u32,
    last_max: u32,
    last_cwnd: u32,
    last_update: u64,
    origin: u32,
    k: u32,
    epoch: Option<u64>,
    acked: u32,
    reno_cwnd: u32,
}

impl Curve {
    pub(super) fn new(parameters: CurveParameters, clock: Jiffies) -> Self {
        let CurveParameters { beta, scale, .. } = parameters;
        let steepness = u64::from(scale) * 10;
        Self {
            parameters,
            clock,
            steepness,
            factor: (1 << (10 + 3 * CLOCK_BITS)) / steepness,
            reno_scale: 8 * (UNIT + beta) / 3 / (UNIT - beta),
            per_packet: 0,
            last_max: 0,
            last_cwnd: 0,
            last_update: 0,
            origin: 0,
            k: 0,
            epoch: None,
            acked: 0,
            reno_cwnd: 0,
        }
    }

    /// Forgets everything (`bictcp_reset`).
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.parameters, self.clock);
    }

    /// When the epoch began, in jiffies.
    pub(super) const fn epoch(&self) -> Option<u64> {
        self.epoch
    }

    /// Ends the epoch at a window of `cwnd`; returns the new threshold
    /// (`cubictcp_recalc_ssthresh`).
    pub(super) fn end_epoch(&mut self, cwnd: u32) -> u32 {
        self.epoch = None;
        let UnitShares { kept, yielded } = self.shares(cwnd);
        let yields = self.parameters.fast_convergence && cwnd < self.last_max;
        self.last_max = if yields { yielded } else { cwnd };
        kept.max(2)
    }

    fn shares(&self, cwnd: u32) -> UnitShares {
        let share = |numerator: u32, denominator: u32| {
            let packets = u64::from(cwnd) * u64::from(numerator) / u64::from(denominator);
            u32::try_from(packets).expect("a share is smaller than the window")
        };
        let beta = self.parameters.beta;
        UnitShares { kept: share(beta, UNIT), yielded: share(UNIT + beta, 2 * UNIT) }
    }

    /// The flow sends again at `now` after a pause since `last`: the pause doesn't
    /// count as time of the epoch (`CA_EVENT_TX_START`).
    pub(super) fn skip_pause(&mut self, now: u64, last: u64) {
        if let Some(epoch) = &mut self.epoch {
            *epoch = (*epoch + now.saturating_sub(last)).min(now);
        }
    }

    /// Takes `acked` packets at `now` and a window of `cwnd`; `delay` is the lowest
    /// delay in jiffies. Returns how many ACKed packets earn a packet.
    pub(super) fn update(&mut self, now: u64, delay: u64, cwnd: u32, acked: u32) -> u32 {
        self.acked = self.acked.saturating_add(acked);
        let recent = now - self.last_update <= self.clock.per_second() / 32;
        if self.last_cwnd == cwnd && recent {
            return self.per_packet;
        }
        // The curve is updated at most once a jiffy, Reno's emulation with every ACK.
        if self.epoch.is_none() || now != self.last_update {
            self.last_cwnd = cwnd;
            self.last_update = now;
            self.follow(now, delay, cwnd, acked);
        }
        if self.parameters.friendly {
            self.keep_up_with_reno(cwnd);
        }
        self.per_packet = self.per_packet.max(2);
        self.per_packet
    }

    fn follow(&mut self, now: u64, delay: u64, cwnd: u32, acked: u32) {
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin_epoch(now, cwnd, acked),
        };
        let elapsed = ((now - epoch + delay) << CLOCK_BITS) / self.clock.per_second();
        let target = self.target(elapsed);
        self.per_packet =
            if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
        // Before the first loss the curve knows no plateau; don't crawl.
        if self.last_max == 0 {
            self.per_packet = self.per_packet.min(20);
        }
    }

    fn begin_epoch(&mut self, now: u64, cwnd: u32, acked: u32) -> u64 {
        self.epoch = Some(now);
        self.acked = acked;
        self.reno_cwnd = cwnd;
        self.k =
            cube_root(self.factor.saturating_mul(u64::from(self.last_max.saturating_sub(cwnd))));
        self.origin = self.last_max.max(cwnd);
        now
    }

    /// The window `elapsed` 1/1024 s into the epoch: `origin + C (t - K)^3`.
    ///
    /// Linux's product overflows some 350 s away from K; this one saturates.
    fn target(&self, elapsed: u64) -> u32 {
        let k = u64::from(self.k);
        let offset = elapsed.abs_diff(k);
        let cube = offset.saturating_mul(offset).saturating_mul(offset);
        let delta = self.steepness.saturating_mul(cube) >> (10 + 3 * CLOCK_BITS);
        let delta = u32::try_from(delta).expect("24 bits are left");
        if elapsed < k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        }
    }

    /// Emulates a Reno flow and grows at least as fast (RFC 9438 section 4.3).
    fn keep_up_with_reno(&mut self, cwnd: u32) {
        let per_packet = (u64::from(cwnd) * u64::from(self.reno_scale)) >> 3;
        // With a small `beta` and a window of a packet or two this is zero, and Linux would loop
        // for ever.
        let per_packet = u32::try_from(per_packet).unwrap_or(u32::MAX).max(1);
        while self.acked > per_packet {
            self.acked -= per_packet;
            self.reno_cwnd = self.reno_cwnd.saturating_add(1);
        }
        if self.reno_cwnd > cwnd {
            self.per_packet = self.per_packet.min(cwnd / (self.reno_cwnd - cwnd));
        }
    }

    /// Shows the internals to the recorder.
    pub(super) fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("w_last_max", f64::from(self.last_max));
        visit("k_s", f64::from(self.k) / f64::from(1 << CLOCK_BITS));
        visit("origin", f64::from(self.origin));
        visit("acks_per_packet", f64::from(self.per_packet));
        visit("reno_cwnd", f64::from(self.reno_cwnd));
    }
}

/// Parts of the window at a loss.
struct UnitShares {
    /// The part that the flow keeps.
    kept: u32,
    /// The part at which it aims if it yields to newcomers.
    yielded: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: CurveParameters =
        CurveParameters { beta: 717, scale: 41, fast_convergence: true, friendly: true };

    fn curve() -> Curve {
        Curve::new(LINUX, Jiffies::new(1000))
    }

    /// A curve whose last loss was at `last_max`, in an epoch from `cwnd`.
    fn after_loss(last_max: u32, cwnd: u32) -> Curve {
        let mut curve = curve();
        curve.last_max = last_max;
        curve.begin_epoch(0, cwnd, 0);
        curve
    }

    #[test]
    fn derived_constants_are_the_kernels() {
        let curve = curve();
        assert_eq!((curve.steepness, curve.reno_scale), (410, 15));
        assert_eq!(curve.factor, (1_u64 << 40) / 410);
    }

    #[test]
    fn renos_emulation_ends_with_any_beta_and_window() {
        for beta in [1, 100, 511] {
            let mut curve = Curve::new(CurveParameters { beta, ..LINUX }, Jiffies::new(1000));
            curve.acked = 10;
            let before = curve.reno_cwnd;
            curve.keep_up_with_reno(1);
            assert_eq!((curve.acked, curve.reno_cwnd - before), (1, 9), "{beta}");
        }
    }

    #[test]
    fn the_time_to_the_plateau_is_the_kernels() {
        for (last_max, cwnd, k) in [(100, 70, 4316), (666, 466, 8125), (1000, 700, 9294)] {
            assert_eq!(after_loss(last_max, cwnd).k, k, "{last_max} {cwnd}");
        }
    }

    #[test]
    fn targets_and_steps_are_the_kernels() {
        for (last_max, cwnd, millis, target, per_packet) in [
            (100, 70, 40, 71, 70),
            (100, 70, 1_000, 87, 4),
            (100, 70, 3_000, 100, 2),
            (100, 100, 4_000, 125, 4),
            (666, 466, 2_000, 583, 3),
            (1000, 700, 4_000, 948, 2),
        ] {
            let mut curve = after_loss(last_max, cwnd);
            let elapsed = (millis << CLOCK_BITS) / 1_000;
            assert_eq!(curve.target(elapsed), target, "{last_max} {cwnd} {millis}");
            // No Reno packets are due yet: the curve alone decides.
            assert_eq!(curve.update(millis, 0, cwnd, 1), per_packet, "{last_max} {cwnd} {millis}");
        }
    }

    #[test]
    fn a_loss_sets_threshold_and_plateau() {
        for (cwnd, ssthresh, plateau) in [
            (10, 7, 8),
            (30, 21, 25),
            (100, 70, 85),
            (333, 233, 283),
            (666, 466, 566),
            (1000, 700, 850),
        ] {
            let mut curve = curve();
            assert_eq!(curve.end_epoch(cwnd), ssthresh);
            assert_eq!(curve.last_max, cwnd, "the first loss sets the plateau");
            curve.last_max = cwnd + 1;
            assert_eq!(curve.end_epoch(cwnd), ssthresh);
            assert_eq!(curve.last_max, plateau, "a loss below the plateau yields");
        }
    }

    #[test]
    fn without_fast_convergence_the_plateau_is_the_window() {
        let mut curve =
            Curve::new(CurveParameters { fast_convergence: false, ..LINUX }, Jiffies::new(250));
        curve.end_epoch(100);
        curve.end_epoch(50);
        assert_eq!(curve.last_max, 50);
    }

    #[test]
    fn a_window_of_one_keeps_two() {
        assert_eq!(curve().end_epoch(1), 2);
    }

    #[test]
    fn before_the_first_loss_growth_is_at_least_a_twentieth() {
        assert_eq!(curve().update(5, 0, 1_000, 1), 20);
    }

    #[test]
    fn the_step_is_kept_for_a_32nd_of_a_second() {
        let mut curve = after_loss(100, 70);
        assert_eq!(curve.update(40, 0, 70, 1), 70);
        assert_eq!(curve.update(71, 0, 70, 1), 70, "31 ms later");
        assert!(curve.update(72, 0, 70, 1) < 70, "32 ms later");
    }

    #[test]
    fn within_a_jiffy_only_reno_moves() {
        let mut curve = after_loss(100, 70);
        assert_eq!(curve.update(40, 0, 70, 1), 70);
        // The window grew, the jiffy is the same: the curve isn't evaluated, and
        // 131 ACKs earn the emulated Reno flow one packet, too few to matter.
        assert_eq!(curve.update(40, 0, 71, 135), 70);
        assert_eq!((curve.last_cwnd, curve.reno_cwnd), (70, 71));
    }

    #[test]
    fn reno_leads_in_small_windows() {
        let mut curve = after_loss(10, 7);
        // 15/8 x 7 = 13 ACKs earn Reno a packet: after 40 it is 3 ahead.
        assert_eq!(curve.update(40, 0, 7, 40), 2);
        assert_eq!(curve.reno_cwnd, 10);
    }

    #[test]
    fn a_pause_moves_the_epoch() {
        let mut curve = after_loss(100, 70);
        curve.skip_pause(5_000, 2_000);
        assert_eq!(curve.epoch(), Some(3_000));
        curve.skip_pause(5_500, 0);
        assert_eq!(curve.epoch(), Some(5_500), "never past the present");
    }

    #[test]
    fn far_from_the_plateau_the_target_saturates() {
        assert_eq!(after_loss(100, 70).target(1 << 40), 100 + (1 << 24) - 1);
    }
}
