//! CAIA Delay-Gradient as in Linux (`tcp_cdg.c`): it backs off at random, more likely the faster the
//! RTT grows, and takes a loss as a sign of congestion only if the RTT says so.

mod gradient;

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role, Values};
use narrows_base::{Stream, Time};

use self::gradient::{Extremes, Gradients};
use super::{Classic, Hooks, SenderState};
use crate::config::{CcConfig, Entry};
use crate::events::{AckSample, DeliveredSample};
use crate::progress::Mark;
use crate::samples::RecoveryState;
use crate::window::LossWindow;

/// The registry's entry.
pub(crate) static CDG: Entry = Entry {
    info: Info {
        name: "cdg",
        title: "CDG",
        family: "delay",
        summary: "backs off at random, more likely the faster the RTT grows",
        source: "Hayes and Armitage, IFIP Networking 2011; Linux tcp_cdg.c",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[
            Parameter::whole(
                "window",
                ParameterDefault::Whole(8),
                "round trips that a gradient spans",
            )
            .positive()
            .at_most(256),
            Parameter::whole(
                "backoff_beta",
                ParameterDefault::Whole(724),
                "part of the window that a backoff keeps, in 1/1024",
            )
            .at_most(1_024),
            Parameter::whole(
                "backoff_factor",
                ParameterDefault::Whole(42),
                "a gradient of g us backs off with probability 1 - exp(-g x factor / 10^6)",
            )
            .at_most(1_000_000),
            Parameter::word(
                "hystart_detect",
                &["off", "train", "delay", "both"],
                "both",
                "detectors that end slow start: the ACK train, the delay, or both",
            ),
            Parameter::whole(
                "use_ineff",
                ParameterDefault::Whole(5),
                "backoffs without effect after which there are no more; 0 is no limit",
            )
            .at_most(65_535),
            Parameter::flag(
                "use_shadow",
                true,
                "a loss reduces the window that there would be without backoffs",
            ),
            Parameter::flag(
                "use_tolerance",
                false,
                "a loss while the queue isn't full doesn't reduce the window",
            ),
        ],
    },
    build: |config| Box::new(Classic::new(config.initial_cwnd, Cdg::new(&config))),
};

/// Longest gap in a train of ACKs, in us.
const TRAIN_GAP_US: u64 = 3_000;
/// Shortest threshold of both detectors, in us.
const LEAST_THRESHOLD_US: i64 = 125;
/// RTT samples of a round before the delay is judged.
const ENOUGH_SAMPLES: u16 = 8;

/// The state of the queue by the gradients (`enum cdg_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queue {
    Unknown,
    NotFull,
    Full,
    /// The window is being reduced because of a gradient.
    BackedOff,
}

#[derive(Clone, Debug)]
struct CdgOptions {
    backoff_beta: u64,
    backoff_factor: u64,
    detects_train: bool,
    detects_delay: bool,
    use_ineff: u64,
    use_shadow: bool,
    use_tolerance: bool,
}

impl CdgOptions {
    fn new(values: &Values) -> Self {
        let detect = values.word("hystart_detect");
        Self {
            backoff_beta: values.whole("backoff_beta"),
            backoff_factor: values.whole("backoff_factor"),
            detects_train: detect == "train" || detect == "both",
            detects_delay: detect == "delay" || detect == "both",
            use_ineff: values.whole("use_ineff"),
            use_shadow: values.flag("use_shadow"),
            use_tolerance: values.flag("use_tolerance"),
        }
    }
}

/// The state that a restart after idleness clears.
#[derive(Clone, Debug)]
struct Memory {
    /// The RTTs of this round and of the one before it, in us; `None` before a sample.
    rtt: Extremes,
    rtt_prev: Extremes,
    gradients: Gradients,
    queue: Queue,
    /// How many single ACKs are taken for delayed ones.
    delayed: u8,
    round_end: Mark,
    /// The window that there would be without backoffs.
    shadow: u32,
    /// Backoffs without effect.
    backoffs: u64,
    samples: u16,
    /// The lowest RTT of slow start; zero before the first.
    delay_min: i64,
    last_ack_us: Option<u64>,
    train_start_us: u64,
}

impl Memory {
    fn new(window: usize, round_end: Mark, shadow: u32) -> Self {
        Self {
            rtt: Extremes::default(),
            rtt_prev: Extremes::default(),
            gradients: Gradients::new(window),
            queue: Queue::Unknown,
            delayed: 0,
            round_end,
            shadow,
            backoffs: 0,
            samples: 0,
            delay_min: 0,
            last_ack_us: None,
            train_start_us: 0,
        }
    }
}

#[derive(Clone, Debug)]
struct Cdg {
    options: CdgOptions,
    window: usize,
    random: Stream,
    memory: Memory,
    asks: bool,
}

impl Cdg {
    fn new(config: &CcConfig) -> Self {
        let window = config.options.whole("window");
        Self {
            options: CdgOptions::new(config.options),
            window,
            random: config.random.clone(),
            memory: Memory::new(window, Mark::START, config.initial_cwnd),
            asks: false,
        }
    }

    /// Ends slow start where the RTT or the ACKs of a round say that the path is full
    /// (`tcp_cdg_hystart_update`).
    fn find_end_of_slow_start(&mut self, window: &mut LossWindow, limited: bool, now: Time) {
        let memory = &mut self.memory;
        memory.delay_min = gradient::lower_nonzero(memory.delay_min, memory.rtt.min);
        if memory.delay_min == 0 {
            return;
        }
        let train = self.options.detects_train && self.is_train_long(limited, now.as_micros());
        if train || (self.options.detects_delay && self.is_delay_high()) {
            window.ssthresh = window.cwnd;
        }
    }

    fn is_train_long(&mut self, limited: bool, now_us: u64) -> bool {
        let memory = &mut self.memory;
        match memory.last_ack_us {
            Some(last_us) if limited => {
                if now_us >= last_us + TRAIN_GAP_US {
                    return false;
                }
                memory.last_ack_us = Some(now_us);
                let one_way = (memory.delay_min / 2).max(LEAST_THRESHOLD_US);
                now_us > memory.train_start_us + one_way.unsigned_abs()
            }
            _ => {
                memory.last_ack_us = Some(now_us);
                memory.train_start_us = now_us;
                false
            }
        }
    }

    const fn is_delay_high(&mut self) -> bool {
        let memory = &mut self.memory;
        if memory.samples < ENOUGH_SAMPLES {
            memory.samples += 1;
            return false;
        }
        let threshold = memory.delay_min + memory.delay_min / 8;
        memory.rtt.min > threshold && memory.rtt.min > LEAST_THRESHOLD_US
    }

    /// Ends a round; returns the gradient, or zero without one.
    fn end_round(&mut self, moment: &SenderState) -> i64 {
        let memory = &mut self.memory;
        let gradient = if memory.rtt_prev.is_none() { 0 } else { self.judge() };
        let memory = &mut self.memory;
        memory.round_end = moment.progress.mark();
        memory.rtt_prev = std::mem::take(&mut memory.rtt);
        memory.last_ack_us = None;
        memory.samples = 0;
        gradient
    }

    /// Takes the round's gradient (`tcp_cdg_grad`).
    fn judge(&mut self) -> i64 {
        let memory = &mut self.memory;
        let seen = memory.gradients.take(memory.rtt.minus(memory.rtt_prev));
        if seen.shows_relief() {
            memory.backoffs = 0;
        }
        if self.options.use_tolerance {
            memory.queue = match seen.without_noise() {
                (min, max) if min > 0 && max <= 0 => Queue::Full,
                (min, max) if (min > 0 && max > 0) || max < 0 => Queue::NotFull,
                _ => memory.queue,
            };
        }
        seen.gradient
    }

    /// Returns `true` if the control backs off at this gradient (`tcp_cdg_backoff`).
    fn backs_off(&mut self, gradient: i64, cwnd: u32) -> bool {
        let exponent = gradient.unsigned_abs().saturating_mul(self.options.backoff_factor);
        let drawn = self.random.next_u64() >> 32;
        if drawn <= u64::from(gradient::negative_exponential(exponent)) {
            return false;
        }
        let memory = &mut self.memory;
        if self.options.use_ineff > 0 {
            memory.backoffs += 1;
            if memory.backoffs > self.options.use_ineff {
                return false;
            }
        }
        memory.shadow = memory.shadow.max(cwnd);
        memory.queue = Queue::BackedOff;
        true
    }
}

impl Hooks for Cdg {
    /// `tcp_cdg_acked`.
    fn on_delivered(&mut self, _: &mut LossWindow, _: RecoveryState, sample: &DeliveredSample) {
        self.asks = false;
        let Some(rtt) = sample.rtt.filter(|rtt| rtt.as_micros() > 0) else { return };
        let us = i64::try_from(rtt.as_micros()).unwrap_or(i64::MAX);
        let memory = &mut self.memory;
        if sample.sacked == 0 {
            if sample.acked == 1 && memory.delayed > 0 {
                // A delayed ACK may only lower the minimum.
                memory.rtt.min = memory.rtt.min.min(us);
                memory.delayed -= 1;
                return;
            }
            if sample.acked > 1 && memory.delayed < 5 {
                memory.delayed += 1;
            }
        }
        memory.rtt.min = gradient::lower_nonzero(memory.rtt.min, us);
        memory.rtt.max = memory.rtt.max.max(us);
    }

    /// `tcp_cdg_cong_avoid`.
    fn grow(&mut self, window: &mut LossWindow, sample: &AckSample, moment: &SenderState) {
        if window.in_slow_start() {
            self.find_end_of_slow_start(window, sample.cwnd_limited, sample.now);
        }
        if moment.progress.has_passed(self.memory.round_end) && !self.memory.rtt.is_none() {
            let gradient = self.end_round(moment);
            if gradient > 0 && self.backs_off(gradient, window.cwnd) {
                self.asks = true;
                return;
            }
        }
        if !sample.cwnd_limited {
            self.memory.shadow = self.memory.shadow.min(window.cwnd);
            return;
        }
        let before = window.cwnd;
        window.grow_as_reno(sample, |acked| acked);
        self.memory.shadow = self.memory.shadow.saturating_add(window.cwnd - before);
    }

    /// `tcp_cdg_ssthresh`.
    fn ssthresh(&mut self, cwnd: u32, _: &SenderState) -> u32 {
        let memory = &mut self.memory;
        if memory.queue == Queue::BackedOff {
            let kept = (u64::from(cwnd) * self.options.backoff_beta) >> 10;
            return u32::try_from(kept).expect("at most the window").max(2);
        }
        if memory.queue == Queue::NotFull && self.options.use_tolerance {
            return cwnd;
        }
        memory.shadow = (memory.shadow >> 1).min(cwnd);
        let shadow = if self.options.use_shadow { memory.shadow } else { 0 };
        shadow.max(cwnd >> 1).max(2)
    }

    /// `CA_EVENT_COMPLETE_CWR` of `tcp_cdg_cwnd_event`.
    fn on_complete(&mut self, moment: &SenderState) {
        let memory = &mut self.memory;
        memory.queue = Queue::Unknown;
        memory.round_end = moment.progress.mark();
        memory.rtt_prev = std::mem::take(&mut memory.rtt);
    }

    /// `CA_EVENT_CWND_RESTART` of `tcp_cdg_cwnd_event`.
    fn on_idle(&mut self, cwnd: u32, moment: &SenderState) {
        self.memory = Memory::new(self.window, moment.progress.mark(), cwnd);
    }

    fn may_request_cwr(&self) -> bool {
        true
    }

    fn requests_cwr(&self) -> bool {
        self.asks
    }

    #[expect(clippy::cast_precision_loss, reason = "for the recorder: 53 bits are enough")]
    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("shadow_cwnd", f64::from(self.memory.shadow));
        visit("backoffs", self.memory.backoffs as f64);
        let (min, max) = self.memory.gradients.sums();
        visit("gradient_min_ms", min as f64 / 1e3);
        visit("gradient_max_ms", max as f64 / 1e3);
    }
}
