//! Hybla as in Linux (`tcp_hybla.c`): on a long path it grows as on a short one.

use narrows_base::Duration;
use narrows_base::registry::{Info, Parameter, ParameterDefault, Role};

use super::{Classic, Hooks, SenderState, half};
use crate::config::{CcConfig, Entry};
use crate::events::AckSample;
use crate::samples::RecoveryState;
use crate::window::LossWindow;

/// The registry's entry.
pub(crate) static HYBLA: Entry = Entry {
    info: Info {
        name: "hybla",
        title: "Hybla",
        family: "loss",
        summary: "grows per second as Reno does on a path of 25 ms; made for satellites",
        source: "Caini and Firrincieli, IJSCN 22(5), 2004; Linux tcp_hybla.c",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[Parameter::duration(
            "rtt0",
            ParameterDefault::Whole(25_000_000),
            "the RTT of the path that it grows as",
        )
        .at_least(1_000_000)
        .at_most(10_000_000_000)],
    },
    build: |config| {
        let hybla = Hybla::new(&config);
        Box::new(Classic::new(hybla.ratio8 >> 3, hybla))
    },
};

/// The clamp of the window (`snd_cwnd_clamp` of `hybla_init`).
const LARGEST: u32 = 65_535;
/// One packet, in counted parts.
const PACKET: u32 = 128;
/// The largest power of two that slow start grows by.
const LARGEST_POWER: u32 = 16;
/// 2 to the power of eighths, in 1/128 (`hybla_fraction`).
const POWERS: [u32; 8] = [128, 139, 152, 165, 181, 197, 215, 234];

#[derive(Clone, Debug)]
struct Hybla {
    rtt0_us: u64,
    /// The path's RTT over the reference, in eighths (`rho_3ls`).
    ratio8: u32,
    /// The lowest smoothed RTT, in 1/8 us (`minrtt_us`).
    lowest8: u64,
    /// Parts of a packet earned by the window (`snd_cwnd_cents`).
    parts: u32,
    /// True if it is in Open (`hybla_en`); otherwise it is Reno.
    enabled: bool,
}

impl Hybla {
    fn new(config: &CcConfig) -> Self {
        let mut hybla = Self {
            rtt0_us: config.options.duration("rtt0").as_micros(),
            ratio8: 0,
            lowest8: 0,
            parts: 0,
            enabled: true,
        };
        hybla.lowest8 = config.initial_rtt.map_or(0, eighths);
        hybla.measure(hybla.lowest8);
        hybla
    }

    /// `hybla_recalc_param`.
    fn measure(&mut self, srtt8: u64) {
        self.ratio8 = u32::try_from(srtt8 / self.rtt0_us).unwrap_or(u32::MAX).clamp(8, 8 * LARGEST);
    }

    /// The increase per ACK in slow start, in 1/128 packets: 2^ratio - 1.
    fn doubling(&self) -> u32 {
        let power = 1u32 << (self.ratio8 >> 3).min(LARGEST_POWER);
        power * POWERS[(self.ratio8 & 7) as usize] - PACKET
    }

    /// The increase per ACK after it, in 1/128 packets: ratio^2 / cwnd.
    fn square(&self, cwnd: u32) -> u32 {
        let square = (u64::from(self.ratio8) * u64::from(self.ratio8)) << 1;
        u32::try_from(square / u64::from(cwnd)).unwrap_or(u32::MAX)
    }
}

impl Hooks for Hybla {
    /// `hybla_cong_avoid`.
    fn grow(&mut self, window: &mut LossWindow, sample: &AckSample, _: &SenderState) {
        let srtt8 = eighths(sample.srtt);
        if srtt8 < self.lowest8 {
            self.measure(srtt8);
            self.lowest8 = srtt8;
        }
        if !self.enabled {
            window.grow_as_reno(sample, |acked| acked);
            return;
        }
        if !sample.cwnd_limited {
            return;
        }
        let starts = window.in_slow_start();
        let increment = if starts { self.doubling() } else { self.square(window.cwnd) };
        if !starts && increment < PACKET {
            window.credit += 1;
        }
        window.cwnd = window.cwnd.saturating_add(increment / PACKET);
        self.parts += increment % PACKET;
        if self.parts >= PACKET {
            window.cwnd = window.cwnd.saturating_add(1);
            self.parts -= PACKET;
            window.credit = 0;
        }
        if increment == 0 && window.credit >= window.cwnd {
            window.cwnd += 1;
            window.credit = 0;
        }
        let limit = if starts { window.ssthresh.min(LARGEST) } else { LARGEST };
        window.cwnd = window.cwnd.min(limit);
    }

    fn ssthresh(&mut self, cwnd: u32, _: &SenderState) -> u32 {
        half(cwnd)
    }

    /// `hybla_state`.
    fn on_state(&mut self, state: RecoveryState, _: &SenderState) {
        self.enabled = state == RecoveryState::Open;
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("rtt_ratio", f64::from(self.ratio8) / 8.0);
    }
}

/// A duration in 1/8 us, as Linux keeps the smoothed RTT.
const fn eighths(span: Duration) -> u64 {
    span.as_nanos() / 125
}
